-- SPDX-License-Identifier: BSD-3-Clause

--- Conditional throughput: what the device forwarded at a relevant lower bound (RFC 9971).
--
-- The full-length trials at that load, best first, are laid end to end until they fill the share of the
-- duration sum that must not exceed the goal's loss ratio. The loss of the last one laid down is what the
-- device is charged with.
local M = {}

local function loss_ratio(record)
   return record.tx > 0 and record.lost / record.tx or 0
end

local function charged_loss(trials, target)
   local full, total = {}, 0
   for _, trial in ipairs(trials) do
      if trial.ns >= target.trial_ns and trial.record.verdict == "valid" then
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
function M.throughput(trials, load, target)
   return load * (1 - charged_loss(trials, target))
end

return M
