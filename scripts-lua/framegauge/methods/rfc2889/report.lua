-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889: the tests of a switch, a section for each.
local format = require "framegauge.text.format"
local lines = require "framegauge.report.chart.lines"
local result_rows = require "framegauge.methods.rfc2889.result"
local tables = require "framegauge.report.html.tables"
local tiles = require "framegauge.report.html.tiles"

local M = {}

M.NAME = "RFC 2889 LAN switch benchmark"

-- The rows of all patterns.
local function patterns_of(result)
   local list = {}
   for _, one in ipairs(result_rows.TABLES) do
      for _, row in ipairs(one.record == result_rows.MESH and one.rows(result.results) or {}) do
         list[#list + 1] = row
      end
   end
   return list
end

function M.notes(result, add)
   if not patterns_of(result)[1] then
      return
   end
   local of_agents = result.ports[1].device:find "^agent:"
   add("Loads are loads of a port, as shares of the slowest line; all ports that send begin at one instant"
      .. (of_agents and ", as exactly as start_skew_ns of the trial says." or "."))
   add "Forwarding rates are of all receiving ports together, over the time of sending."
end

function M.chart(one, rows)
   local points, is_line = {}, false
   for _, row in ipairs(rows) do
      is_line = is_line or row.series and row.series[2] ~= nil
      for _, point in ipairs(row.series or {}) do
         points[#points + 1] = setmetatable({ frame_size = row.frame_size }, { __index = point })
      end
   end
   return is_line and lines.draw {
      id = one.name, title = one.title .. ": forwarding rate against the load", rows = points,
      group = function(point) return ("%d bytes"):format(point.frame_size) end,
      description = "Frames per second forwarded at each load from the throughput to the maximum.",
      caption = "What the switch forwarded of each load, all ports together.",
      x = { of = "iload_percent", label = "load of a port, % of the line" },
      y = { label = "forwarded, frames/s" },
      lines = { { y = "forwarding_fps", name = tostring } },
      say = function(point, y)
         return ("%.4g %%: %s frames/s"):format(point.iload_percent, format.count(y))
      end,
   } or nil
end

local DEFINITIONS = {
   { "Throughput", "the highest load of a port at which no frame was lost." },
   { "MOL", "maximum offered load: what all ports together sent at the highest load (RFC 2285)." },
   { "FRMOL", "forwarding rate at the maximum offered load: what the switch forwarded of it." },
   { "MFR", "maximum forwarding rate: the highest that was seen at any load." },
}

--- The table at the top: all patterns.
function M.summary(result)
   local list = patterns_of(result)
   return list[1] and {
      tables.of {
         result_rows.MESH, "summary", list, caption = "Throughput and forwarding rates",
            below = tables.reasons,
      }, tables.definitions(DEFINITIONS),
   } or nil
end

local LINE = { "throughput_percent", ">=", "% of the line" }
local TILES = {
   congestion_control = { "uncongested_loss_ratio", "<=", "% lost, uncongested port" },
   forward_pressure = "passed", address_caching = { "addresses", ">=", "addresses" },
   learning_rate = { "learning_fps", ">=", "frames/s" }, errored_frames = "passed",
}
for _, one in ipairs(result_rows.TABLES) do
   TILES[one.name] = TILES[one.name] or LINE
end

--- Figures to remember: the worst row of each test.
function M.tiles(result)
   return tiles.of(result_rows.TABLES, result.results, TILES)
end

return M
