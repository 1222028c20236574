-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 9693 section 4.9: how many connections the table of the device holds. Above that number the rate at
-- which they can be established and validated collapses: the number is doubled until it does, and then the
-- interval is halved. One experiment at the rate of the collapse shows whether there is one, so that no
-- search continues below that rate.
local outcome = require "framegauge.search.outcome"

local M = {}

local ATTEMPTS = 3 -- at a number of connections, while the tester is the reason of the failure

-- @param c.elementary  function(connections, rate) -> record
-- @param c.search      function(connections, least, most) -> highest rate that passes, or nil
-- @param c.least       function(connections) -> rate below which entries expire during the experiment
-- @param o             the group rfc9693 of the plan
-- @param most          connections that can be tried
-- @param first         rate found with o.capacity.start
-- @return { connections =, upper = that failed or nil, rate = at capacity, steps =, limited_by = collapse,
-- tuples, timeout or tester, upper_trial = record or nil }
function M.find(c, o, most, first)
   local found = { connections = o.capacity.start, rate = first, steps = {} }
   local in_time = math.floor(first / c.least(1))
   -- does the device carry n connections at this share of the rate?
   local function holds(n, share)
      local threshold = math.min(first, math.max(share * found.rate, c.least(n)))
      local record
      for _ = 1, ATTEMPTS do
         record = c.elementary(n, threshold)
         if outcome.of(record, 0) ~= "tester" then
            break
         end
      end
      local passed = outcome.of(record, 0) == "pass"
      local rate = passed and o.capacity.method == "search" and c.search(n, threshold, first)
         or passed and found.rate or threshold
      found.steps[#found.steps + 1] = { connections = n, passed = passed, rate = rate,
         failed_because = record.failed_because }
      if passed then
         found.connections, found.rate = n, rate
      else
         found.upper, found.upper_trial = n, record
      end
      return passed
   end
   local reachable = math.min(most, in_time)
   while found.connections < reachable and holds(math.min(2 * found.connections, reachable), o.beta) do
   end
   while found.upper and found.upper - found.connections > math.max(1, o.capacity.error * found.upper) do
      holds(math.floor((found.connections + found.upper) / 2), o.gamma)
   end
   local why = found.upper and outcome.of(found.upper_trial, 0)
   found.limited_by = why == "loss" and "collapse" or why or in_time < most and "timeout" or "tuples"
   return found
end

return M
