-- SPDX-License-Identifier: BSD-3-Clause

--- What a run of the plan's streams would send, for `run --dry-run`.
local ansi = require "framegauge.text.ansi"
local format = require "framegauge.text.format"
local grid = require "framegauge.text.grid"
local sizes = require "framegauge.traffic.sizes"
local stack = require "framegauge.traffic.stack"
local stream_config = require "framegauge.traffic.stream_config"
local units = require "framegauge.text.units"

local M = {}

local MOST = 100 -- rows

local COLUMNS = {
   { "", "stream", function(r) return r.name end, left = true },
   { "", "direction", function(r) return r.direction end, left = true },
   { "frame", "size", function(r) return format.count(r.size) end },
   { "load", "fps", function(r) return r.fps and format.count(r.fps) or "-" end },
   { "", "frames", function(r) return r.fps and format.count(r.fps * r.seconds) or "-" end },
}

--- The text.
-- @param tester  the ports, as far as they are known
-- @param notes   lines on what had to be assumed
function M.text(plan, tester, notes)
   local rows, lines = {}, {}
   for i = 1, math.min(MOST, #plan.streams) do
      local stream = plan.streams[i]
      local from, to = stack.ends(plan.ports, stream)
      local _, size = sizes.of(stream)
      rows[i] = {
         name = stream.name, direction = plan.ports[from].name .. "->" .. plan.ports[to].name,
         size = size.mean, fps = stream_config.fps(plan.ports, stream, tester.ports[from].line_rate),
         seconds = plan.traffic.duration,
      }
   end
   lines[1] = grid.text(COLUMNS, rows, ansi.new(false))
   if #plan.streams > MOST then
      lines[2] = ("and %s more\n"):format(format.plural(#plan.streams - MOST, "stream"))
   end
   for _, note in ipairs(notes) do
      lines[#lines + 1] = note .. "\n"
   end
   lines[#lines + 1] = ("\nOne trial of %s.\n"):format(units.format_time(plan.traffic.duration))
   return table.concat(lines)
end

return M
