-- SPDX-License-Identifier: BSD-3-Clause

--- What a Y.1564 run is going to do, for `run --dry-run`: every step, for the device decides on none of them.
local ansi = require "framegauge.text.ansi"
local format = require "framegauge.text.format"
local grid = require "framegauge.text.grid"
local units = require "framegauge.text.units"

local M = {}

local COLUMNS = {
   { "", "test", function(ask) return ask.test:match "[^.]+$" end, left = true },
   { "", "service, step", function(ask) return ask.phase end, left = true },
   { "", "direction", function(ask) return ask.direction end, left = true },
   { "frame", "size", function(ask) return tostring(ask.frame_size) end },
   { "frames", "per second", function(ask) return format.count(ask.fps) end },
   { "", "sends for", function(ask) return units.format_time(ask.seconds) end },
}

--- The text.
-- @param asks   every trial
-- @param notes  lines on what had to be assumed
function M.text(plan, asks, notes)
   local o, seconds = plan.y1564, 0
   for _, ask in ipairs(asks) do
      seconds = seconds + ask.seconds + o.learning_wait + o.drain + o.settle
   end
   local lines = { grid.text(COLUMNS, asks, ansi.new(false)) }
   lines[2] = ("Each trial waits besides: %s for learning, %s for the drain, %s to settle.\n"):format(
      units.format_time(o.learning_wait), units.format_time(o.drain), units.format_time(o.settle))
   for _, note in ipairs(notes) do
      lines[#lines + 1] = note .. "\n"
   end
   lines[#lines + 1] = ("\nEstimate: %s in %s.\n"):format(format.plural(#asks, "trial"),
      format.clock(seconds))
   return table.concat(lines)
end

return M
