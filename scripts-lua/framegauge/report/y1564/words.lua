-- SPDX-License-Identifier: BSD-3-Clause

--- What the figures of a Y.1564 report are, in words: no delay without its way, no variation without its
-- statistic.
local M = {}

local FDV = {
   p999 = "99.9th percentile of the delay less its minimum", range = "maximum of the delay less its minimum",
}

--- Which way figures are of.
function M.way(plan)
   return plan.y1564.topology == "loopback" and "round trip" or "one-way"
end

--- What a delay variation is.
function M.fdv(plan)
   return FDV[plan.y1564.fdv_statistic]
end

--- What is held against the criteria, in sentences.
function M.definitions(plan)
   local o, way = plan.y1564, M.way(plan)
   local list = {
      "FTD: " .. way .. ", from the first bit in to the last bit out; its " .. (o.ftd_statistic == "mean"
         and "mean"
         or "maximum") .. " is held against the criterion.",
      "FDV: " .. way .. ", " .. M.fdv(plan) .. ".",
      "FLR: frames lost of those sent; frames later than the drain count as lost.",
      "IR: bits of frames with FCS, over the time in which they were sent. ULR: with preamble and gap.",
   }
   if o.topology == "loopback" then
      list[#list + 1] = "Loopback: every figure is of the way to the far end and back. Loss and delay of "
         .. "the two "
         .. "ways add up, and the slower of both bounds the rate: which one it was cannot be told."
   end
   return list
end

return M
