-- SPDX-License-Identifier: BSD-3-Clause

--- What the tester said to the device beside the test, and what came of it (modifiers management-frames and
-- routing-updates), in sentences.
local format = require "framegauge.report.format"

local M = {}

local count = format.count

local function total(trials)
   local sum = { queries = 0, replies = 0, updates = 0 }
   for _, trial in ipairs(trials) do
      local management = trial.management or { queries = 0, replies = 0 }
      sum.queries, sum.replies = sum.queries + management.queries, sum.replies + management.replies
      sum.updates = sum.updates + (trial.routing_updates or 0)
   end
   return sum
end

--- The sentences; none where nothing was said.
-- @param trials  of a result
function M.of(trials)
   local sum, list = total(trials), {}
   if sum.queries > 0 then
      list[1] = ("Management queries: %s sent, %s answered and verified."):format(count(sum.queries),
         count(sum.replies))
      if sum.replies == 0 then
         list[1] = list[1] .. " Nothing shows that the device had this work to do: is there an SNMP agent at "
            .. "the gateways, with the community of rfc2544.management?"
      end
   end
   if sum.updates > 0 then
      list[#list + 1] = ("Routing updates: %s sent."):format(count(sum.updates))
   end
   return list
end

return M
