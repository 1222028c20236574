-- SPDX-License-Identifier: BSD-3-Clause

--- Load classification: what all trials at one load say about it, to one target (RFC 9971).
--
-- A trial is *high-loss* when it lost more than the target's loss ratio, *full-length* when it took at least
-- the target's trial duration. The exceed ratio is the share of the duration sum that may be high-loss. A
-- load is an upper bound once even luck in all the time that is still missing could not bring it below the
-- exceed ratio, a lower bound once even bad luck could not bring it above. Short high-loss trials count as
-- far as they are more than the short low-loss ones make up for; short low-loss trials prove nothing else.
--
-- A trial that is not valid counts as high-loss: without evidence no load is a lower bound.
local outcome = require "framegauge.search.outcome"

local M = {}

local function sums(trials, target, counts)
   local sum = { full_low = 0, full_high = 0, short_low = 0, short_high = 0 }
   for _, trial in ipairs(trials) do
      local result = outcome.of(trial.record, target.loss_ratio)
      if counts(result) then
         local kind = (trial.ns >= target.trial_ns and "full_" or "short_")
            .. (result == "pass" and "low" or "high")
         sum[kind] = sum[kind] + trial.ns
      end
   end
   return sum
end

local function every()
   return true
end

--- Classify a load.
-- @param trials  at this load (framegauge.search.mlr.ledger)
-- @param target  trial_ns, sum_ns (integers, so that a sum is never short of itself), loss_ratio,
--                exceed_ratio
-- @param counts  function(outcome) -> whether trials of this outcome count (default: all do)
-- @return "upper", "lower" or "undecided"
function M.of(trials, target, counts)
   local sum, exceed = sums(trials, target, counts or every), target.exceed_ratio
   local balance = sum.short_low * exceed / (1 - exceed)
   local high = sum.full_high + math.max(0, sum.short_high - balance)
   local whole = math.max(sum.full_low + high, target.sum_ns)
   if high > exceed * whole then
      return "upper"
   elseif whole - sum.full_low <= exceed * whole then
      return "lower"
   end
   return "undecided"
end

return M
