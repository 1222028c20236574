-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 3918: the tests of multicast, a section for each, with the graphs that it asks for.
local core = require "framegauge.core.tables"
local format = require "framegauge.text.format"
local formats = require "framegauge.methods.rfc3918.plan.formats"
local lines = require "framegauge.report.chart.lines"
local result_rows = require "framegauge.methods.rfc3918.result"
local tiles = require "framegauge.report.html.tiles"

local M = {}

M.NAME = "RFC 3918 multicast benchmark"

function M.notes(result, add)
   if result.results.rfc3918 and next(result.results.rfc3918) then
      add "Loads are loads of the source. A frame counts at each receiver, by its number."
      add "Joins and leaves are known to the time between two frames of the group."
   end
end

local function by_size()
   return "all sizes"
end

local CHARTS = {
   group_matrix = { x = "groups", y = "aggregate_fps", x_label = "groups", y_label = "forwarded, frames/s",
      title = "Forwarding rate against the number of groups", caption = "What all receivers together got.",
      group = function(row) return ("%d bytes"):format(row.frame_size) end },
   aggregated = { x = "frame_size", y = "aggregate_fps", x_label = "frame size, bytes",
      y_label = "aggregate throughput, frames/s", title = "Aggregated multicast throughput against frame size",
      caption = "What all receivers together get without loss.", group = by_size },
   mixed_class = { x = "frame_size", y = "throughput_fps", x_label = "frame size, bytes",
      y_label = "throughput, frames/s", title = "Mixed class throughput against frame size",
      caption = "Multicast and unicast frames of the source together.", group = by_size },
   latency = { x = "frame_size", y = "latency_max_ns", x_label = "frame size, bytes",
      y_label = "latency, µs", title = "Multicast latency against frame size",
      caption = "The maximum of a tagged frame at a receiver.", group = by_size },
   burdened_latency = { x = "frame_size", y = "added_mean_ns", x_label = "frame size, bytes",
      y_label = "added latency, µs", title = "Latency that the burden adds against frame size",
      caption = "Of the tagged frames, the mean of all receivers.", group = by_size },
}
for _, key in ipairs(formats.TESTS) do
   CHARTS[key] = { x = "frame_size", y = "throughput_fps", x_label = "frame size without a tunnel, bytes",
      y_label = "throughput, frames/s", title = "Throughput through tunnels against frame size",
      caption = "Frames of the source without a lost copy.", group = by_size }
end

function M.chart(one, rows)
   local o = CHARTS[one.name]
   local kept = core.map(o and rows or {}, function(row) return row[o.y] and row or nil end)
   local scale = o and o.y:find "_ns$" and 1e3 or 1
   return kept[2] and lines.draw {
      id = one.name, title = o.title, rows = kept, group = o.group, description = o.title,
      caption = o.caption, x = { of = o.x, label = o.x_label }, y = { label = o.y_label },
      lines = { { y = function(row) return row[o.y] / scale end, name = tostring } },
      say = function(row, y)
         return ("%s: %s"):format(format.count(row[o.x]), scale == 1 and format.count(y) or ("%.6g µs"):format(y))
      end,
   } or nil
end

local LINE = { "throughput_percent", ">=", "% of the line" }
local TILES = {
   mixed_class = LINE, aggregated = LINE, group_matrix = { "aggregate_fps", ">=", "frames/s" },
   latency = { "latency_max_ns", "<=", "at most" }, join_delay = { "delay_max_ns", "<=", "at most" },
   leave_delay = { "delay_max_ns", "<=", "at most" }, group_capacity = { "groups", ">=", "groups" },
   burdened_latency = { "added_mean_ns", "<=", "added" }, burdened_join_delay = { "added_mean_ns", "<=", "added" },
}
for _, key in ipairs(formats.TESTS) do
   TILES[key] = LINE
end

--- Figures to remember: the worst row of each test.
function M.tiles(result)
   return tiles.of(result_rows.TABLES, result.results, TILES)
end

return M
