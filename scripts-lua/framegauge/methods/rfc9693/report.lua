-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 9693: the figures of each test, and charts of the rate against the number of connections, of the
-- throughput and of the delays against the frame size.
local format = require "framegauge.text.format"
local lines = require "framegauge.report.chart.lines"
local result_rows = require "framegauge.methods.rfc9693.result"
local tiles = require "framegauge.report.html.tiles"
local units = require "framegauge.text.units"

local M = {}

M.NAME = "RFC 9693 stateful gateway benchmark"

function M.notes(result, add)
   local o = result.plan.rfc9693
   add(("A connection is a four tuple of UDP. Before each trial the table was emptied, and all connections were established by frames of 64 bytes; %s later they were used."):format(units.format_time(o.gap)))
   if o.validate then
      add(("Connections are validated at %.4g %% of the rate at which they were established; where that lost frames, at half of it."):format(o.alpha * 100))
   end
   for _, text in ipairs(o.settings) do
      add("Device: " .. text)
   end
end

local SIZES = { of = "frame_size", label = "frame size, bytes (with FCS)", scale = "values" }

local function per_second(row, y)
   return ("%s connections: %s/s"):format(format.count(row.connections), format.count(y))
end

local function at_size(row, y)
   return ("%d bytes: %s"):format(row.frame_size, format.nanoseconds(y))
end

-- Of each test: what is drawn.
local CHARTS = {
   connection_rate = { y = "connections_per_s", label = "connections/s", say = per_second,
      x = { of = "connections", label = "connections" } },
   throughput = { y = "throughput_fps", label = "frames/s, each way", x = SIZES,
      say = function(row, y) return ("%d bytes: %s frames/s"):format(row.frame_size, format.count(y)) end },
   latency = { y = "latency_typical_ns", label = "typical latency, ns", x = SIZES, say = at_size,
      group = "direction" },
   pdv = { y = "pdv_ns", label = "PDV, ns", x = SIZES, say = at_size, group = "direction" },
   teardown = { y = "teardown_per_s", label = "connections/s", say = per_second,
      x = { of = "connections", label = "connections" } },
   capacity = { y = "rate", label = "connections/s", say = per_second, group = "verdict",
      x = { of = "connections", label = "connections" } },
}

-- The steps of the search for the capacity.
local function steps(rows)
   local list = {}
   for _, step in ipairs(rows[1].steps) do
      list[#list + 1] = setmetatable({ verdict = step.passed and "established" or step.failed_because
         or "failed" }, { __index = step })
   end
   return list
end

function M.chart(one, rows)
   local o = CHARTS[one.name]
   rows = one.name == "capacity" and steps(rows) or rows
   return rows[2] and lines.draw {
      id = "chart-" .. one.name, title = one.title, rows = rows,
      group = o.group and function(row) return row[o.group] end,
      description = one.title .. ".", caption = one.title .. ".", x = o.x, y = { label = o.label },
      lines = { { y = o.y, name = o.group and tostring or o.label } }, say = o.say,
   } or nil
end

-- Figures to remember.
local TILES = {
   connection_rate = { "connections_per_s", ">=", "connections/s" },
   throughput = { "throughput_fps", ">=", "frames/s each way" },
   latency = { "latency_typical_ns", "<=", "typical" }, pdv = { "pdv_ns", "<=", "" },
   teardown = { "teardown_per_s", ">=", "connections/s" }, capacity = { "capacity", ">=", "connections" },
}

--- Figures to remember: the worst row of each test.
function M.tiles(result)
   return tiles.of(result_rows.TABLES, result.results, TILES)
end

return M
