-- SPDX-License-Identifier: BSD-3-Clause

--- What a row of Y.1564 holds, in the order a person reads it: the keys of result.json, null where nothing is
-- known, and the columns of the CSV files. docs/results.md says what they mean.
local nulls = require "framegauge.report.nulls"
local tables = require "framegauge.tables"

local M = {}

M.ORDER = {
   "y1564", "services", "name", "verdict", "configuration", "performance", "step", "direction", "frame_size",
   "seconds", "avail_percent", "unavailable_s", "severely_errored_s", "ir_bps", "offered_ir_bps",
   "offered_ulr_bps", "received_ir_bps", "received_ulr_bps", "tx", "rx", "lost",
   "flr", "ftd_ns", "min", "mean", "max", "ftd_corrected_ns", "fdv_ns", "clock_error_ns",
   "reordered", "duplicates", "remarked", "marks", "pcp", "dei", "dscp", "limits", "ir_min_bps",
   "ir_max_bps", "burst", "frames", "group", "cycles", "fps", "inferred", "least", "most", "green", "yellow",
   "failed", "reasons", "trial", "percent", "octets", "rx_octets", "availability", "series", "interval_s",
   "ir_min_bps", "ir_mean_bps", "ir_max_bps", "ftd_min_ns", "ftd_mean_ns", "ftd_max_ns", "fdv_max_ns",
}

local FIGURES = {
   "offered_ir_bps", "offered_ulr_bps", "received_ir_bps", "received_ulr_bps", "ir_bps", "tx", "rx", "lost",
   "flr", "ftd_ns", "ftd_corrected_ns", "fdv_ns", "reordered", "duplicates", "remarked", "trial",
}

local COLOUR = { "ftd_ns", "ftd_corrected_ns", "fdv_ns" }
local STEP = { "limits", "burst", "green", "yellow" }

local function published_row(row)
   return nulls.fill(row, FIGURES)
end

local function published_step(row)
   local copy = nulls.fill(published_row(row), STEP)
   for _, colour in ipairs { "green", "yellow" } do
      copy[colour] = row[colour] and nulls.fill(row[colour], COLOUR) or copy[colour]
   end
   copy.burst = row.burst and nulls.fill(row.burst, { "inferred" }) or copy.burst
   copy.limits = row.limits and nulls.fill(row.limits, { "ir_min_bps", "ir_max_bps" }) or copy.limits
   return copy
end

--- The results as result.json has them.
function M.published(results)
   return { y1564 = { services = nulls.each(results.y1564 and results.y1564.services or {}, function(service)
      local copy = nulls.fill(service, {})
      copy.configuration = nulls.each(service.configuration, published_step)
      copy.performance = nulls.each(service.performance, published_row)
      return copy
   end) } }
end

--- Every row with the name of its service: list of { service =, test =, row = }.
-- @param test  "configuration" or "performance"; nil: both
function M.rows(results, test)
   local list = {}
   for _, service in ipairs(results.y1564 and results.y1564.services or {}) do
      for _, kind in ipairs(test and { test } or { "configuration", "performance" }) do
         for _, row in ipairs(service[kind]) do
            list[#list + 1] = { service = service.name, test = kind, row = row }
         end
      end
   end
   return list
end

local COMMON = {
   "row.direction", "row.frame_size", "row.offered_ir_bps", "row.offered_ulr_bps", "row.received_ir_bps",
   "row.received_ulr_bps", "row.ir_bps.min", "row.ir_bps.max",
   "row.tx", "row.rx", "row.lost", "row.flr", "row.ftd_ns.min", "row.ftd_ns.mean",
   "row.ftd_ns.max", "row.ftd_corrected_ns.min", "row.ftd_corrected_ns.mean", "row.ftd_corrected_ns.max",
   "row.fdv_ns", "row.clock_error_ns", "row.reordered", "row.duplicates", "row.remarked",
}

local function columns(first, last)
   return tables.joined(first, COMMON, last)
end

--- Columns of the CSV files, of rows as M.rows() has them.
M.CONFIGURATION = columns({ "service", "row.step", "row.name" }, {
   "row.limits.ir_min_bps", "row.limits.ir_max_bps", "row.green.flr", "row.yellow.tx", "row.yellow.rx",
   "row.yellow.flr", "row.burst.frames", "row.burst.cycles", "row.burst.inferred.least",
   "row.burst.inferred.most", "row.verdict", "failed", "row.trial",
})
M.PERFORMANCE = columns({ "service", "row.seconds", "row.avail_percent", "row.unavailable_s" }, {
   "row.verdict", "failed", "row.trial" })

return M
