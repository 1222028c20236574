-- SPDX-License-Identifier: BSD-3-Clause

--- What the devices of uncertainty_truth.lua are drawn with, and a figure beside its truth.
local rows = require "framegauge.text.rows"
local uncertainty = require "framegauge.report.uncertainty"

local M = {}

--- A number between two others, whose logarithm is evenly distributed.
function M.log_between(draw, low, high)
   return math.exp(draw(math.log(low), math.log(high)))
end

--- One of the usual frame sizes.
function M.size_of(draw)
   local sizes = { 64, 128, 256, 512, 1024, 1518 }
   return sizes[math.min(#sizes, 1 + math.floor(draw(0, #sizes)))]
end

--- A figure of a row.
-- @param truth, to  the truth, or between what it lies
function M.figure(what, row, path, truth, to)
   return { what = what, value = rows.value(row, path), truth = truth, to = to or truth,
      u = uncertainty.of(row, path) }
end

return M
