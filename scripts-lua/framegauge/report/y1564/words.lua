-- SPDX-License-Identifier: BSD-3-Clause

--- What the figures of a Y.1564 report are, in words: no delay without its way, no variation without its
-- statistic.
local calibration = require "framegauge.report.calibration"
local fields = require "framegauge.report.y1564.fields"
local format = require "framegauge.report.format"

local M = {}

local WAYS = {
   ["two-ports"] = "one-way", loopback = "round trip", ["two-testers"] = "one-way, between two testers",
}

local FDV = {
   p999 = "99.9th percentile of the delay less its minimum", range = "maximum of the delay less its minimum",
}

--- Which way figures are of.
function M.way(plan)
   return WAYS[plan.y1564.topology]
end

-- The greatest bound of the clocks' difference, nanoseconds; nil where there is one clock, or no delay.
local function clock_error(result)
   local most
   for _, one in ipairs(fields.rows(result.results)) do
      most = math.max(most or 0, one.row.clock_error_ns or 0)
   end
   return most
end

local function on_clocks(result)
   local o, off = result.plan.y1564, clock_error(result)
   if not o.delays then
      return "Delays were not measured: nobody compared the clocks of the two testers."
   elseif off == 0 then
      return "Both testers have one clock: they run on one machine."
   end
   return ("Delays are by the clocks of both testers, which were at most %s apart, by what their kernels say "
      .. "of NTP or PTP; every delay is uncertain by that."):format(format.nanoseconds(off))
end

--- What a delay variation is.
function M.fdv(plan)
   return FDV[plan.y1564.fdv_statistic]
end

--- What is held against the criteria, in sentences.
function M.definitions(result)
   local plan = result.plan
   local o, way = plan.y1564, M.way(plan)
   local list = {
      "FTD: " .. way .. ", from the first bit in to the last bit out; its " .. (o.ftd_statistic == "mean"
         and "mean"
         or "maximum") .. " is held against the criterion.",
      "FDV: " .. way .. ", " .. M.fdv(plan) .. ".",
      "FLR: frames lost of those sent; frames later than the drain count as lost.",
      "IR: bits of frames with FCS, over the time in which they were sent. ULR: with preamble and gap.",
   }
   list[#list + 1] = calibration.in_words(result.calibration)
   list[#list + 1] = calibration.beyond_in_words(result.calibration)
   if o.topology == "loopback" then
      list[#list + 1] = "Loopback: every figure is of the way to the far end and back. Loss and delay of "
         .. "the two "
         .. "ways add up, and the slower of both bounds the rate: which one it was cannot be told."
   elseif o.topology == "two-testers" then
      list[#list + 1] = on_clocks(result)
   end
   return list
end

return M
