-- SPDX-License-Identifier: BSD-3-Clause

--- What a device will probably do, for the estimate of a run before it begins.
--
-- The reference device does what the plan says. Of any other nothing is known, so it is taken to carry a good
-- half of what could be tried and to hold a thousand frames.
local M = {}

local UNKNOWN_SHARE, UNKNOWN_BUFFER = 0.618, 1000 -- the share is neither a round one nor near an end

-- What the plan says of the way a direction takes through the reference device.
local function way_of(plan, direction)
   local device, from = plan.reference_device, direction:match "^(.-)%->"
   for _, port in ipairs(plan.ports) do
      if port.name == from and tonumber(port.device:match "%d+$") % 2 == 1 then
         return device.reverse or device
      end
   end
   return device
end

local function one_way(plan, frame_size, max, direction)
   local way = way_of(plan, direction)
   local by_bits = way.bandwidth and way.bandwidth / (8 * frame_size)
   return {
      fps = math.min(max, way.capacity or max, by_bits or max),
      buffer = way.buffer_unit == "bytes" and math.floor(way.buffer / frame_size) or way.buffer,
   }
end

--- What the device carries without loss in some directions, all at once.
-- @param max         highest load that could be tried, frames per second
-- @param directions  list of "from->to"
-- @return { fps =, buffer = frames that may wait }
function M.device(plan, frame_size, max, directions)
   if not plan.reference_device then
      return { fps = UNKNOWN_SHARE * max, buffer = UNKNOWN_BUFFER }
   end
   local weakest
   for _, direction in ipairs(directions) do
      local way = one_way(plan, frame_size, max, direction)
      weakest = (not weakest or way.fps < weakest.fps) and way or weakest
   end
   return weakest
end

return M
