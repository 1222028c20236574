-- SPDX-License-Identifier: BSD-3-Clause

--- What trials say: about a load, to one target (load classification), and about the answer: its bounds, and
-- the conditional throughput at the lower one (RFC 9971).
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

-- The relevant bounds: what all loads together say to one target (RFC 9971).
--
-- The relevant upper bound is the smallest load that is an upper bound, the relevant lower bound the largest
-- lower bound below it. Where a device loses frames at a load and none at a higher one (loss inversion), the
-- higher one is thereby left out: no lower bound is ever published above a load that failed.

-- Rounding must not cost a trial.
local SLACK = 1 + 1e-9

--- The bounds of a target.
-- @return relevant lower and upper bound; nil for what there is not
function M.bounds(ledger, target)
   local lower
   for _, load in ipairs(ledger.loads) do
      local class = M.of(ledger:at(load), target)
      if class == "upper" then
         return lower, load
      elseif class == "lower" then
         lower = load
      end
   end
   return lower, nil
end

--- Whether a result with these bounds is regular: both exist, no further apart than the width.
-- @param width  share of the upper bound
function M.are_regular(lower, upper, width)
   return lower ~= nil and upper ~= nil and (upper - lower) / upper <= width * SLACK
end

-- Conditional throughput: what the device forwarded at a relevant lower bound (RFC 9971).
--
-- The full-length trials at that load, best first, are laid end to end until they fill the share of the
-- duration sum that must not exceed the goal's loss ratio. The loss of the last one laid down is what the
-- device is charged with.

local function loss_ratio(record)
   return record.tx > 0 and record.lost / record.tx or 0
end

local function charged_loss(trials, target)
   local full, total = {}, 0
   for _, trial in ipairs(trials) do
      if trial.ns >= target.trial_ns and trial.record.validity == "valid" then
         full[#full + 1] = trial
      end
      total = total + (trial.ns >= target.trial_ns and trial.ns or 0)
   end
   table.sort(full, function(a, b)
      return loss_ratio(a.record) < loss_ratio(b.record)
   end)
   local left, loss = math.max(target.sum_ns, total) * (1 - target.exceed_ratio), 1
   for _, trial in ipairs(full) do
      left = left - trial.ns
      -- part of a nanosecond is rounding, not time
      if left < 1 then
         loss = loss_ratio(trial.record)
         break
      end
   end
   return loss
end

--- Conditional throughput.
-- @param trials  at the load (framegauge.search.mlr.ledger)
-- @param load    frames per second of one direction
-- @return frames per second of one direction; 0 where the trials do not fill the duration sum
function M.conditional_throughput(trials, load, target)
   return load * (1 - charged_loss(trials, target))
end

return M
