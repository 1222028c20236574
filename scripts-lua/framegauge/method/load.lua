-- SPDX-License-Identifier: BSD-3-Clause

--- Loads of a plan as frames per second of one direction.
local line = require "framegauge.line"

local M = {}

--- Frames per second of a rate.
-- @param rate        { unit = "ratio" | "fps" | "bps", value =, layer = 1 | 2 | 3 }
-- @param frame_size  octets with FCS
-- @param whole       what a ratio is a part of, frames per second; nil when it is not known
-- @return frames per second; nil for a ratio of the unknown
function M.fps(rate, frame_size, whole)
   if rate.unit == "fps" then
      return rate.value
   elseif rate.unit == "bps" then
      return line.fps(rate.value, rate.layer, frame_size)
   end
   return whole and rate.value * whole
end

return M
