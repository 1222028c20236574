-- SPDX-License-Identifier: BSD-3-Clause

--- Counts of streams of iperf3, as its reports have them (framegauge.tester.iperf3.session).
local M = {}

local SUMS = { "octets", "datagrams", "lost", "out_of_order", "left_out", "retransmits", "jitter_ms" }

--- A count of nothing.
function M.zero()
   local c = { from = 0, to = 0 }
   for _, key in ipairs(SUMS) do
      c[key] = 0
   end
   return c
end

--- What was counted between two moments. What was late has not been lost: there may be less lost than before.
function M.difference(now, before)
   local c = M.zero()
   for _, key in ipairs { "octets", "datagrams", "lost", "out_of_order", "left_out" } do
      c[key] = math.max(0, now[key] - before[key])
   end
   return c
end

--- Counts of several streams together: jitter is their mean, times are the longest's. What is not
-- known of one of them is nil.
function M.sum(list)
   local sum = M.zero()
   for _, one in ipairs(list) do
      for _, key in ipairs(SUMS) do
         sum[key] = sum[key] and one[key] and one[key] + sum[key]
      end
   end
   sum.jitter_ms = #list > 0 and sum.jitter_ms / #list or 0
   sum.from = math.huge
   for _, one in ipairs(list) do
      sum.from, sum.to = math.min(sum.from, one.from), math.max(sum.to, one.to)
   end
   return sum
end

return M
