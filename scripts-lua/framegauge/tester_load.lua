-- SPDX-License-Identifier: BSD-3-Clause

--- How much of the load that the tester carries by its calibration the trials of a run asked for.
--
-- Searches stay below that load. A load that the plan itself gives, a service's rate or a burst at line rate,
-- is sent as it is, and the report says where it was more than the calibration found. The streams of one port
-- share its capacity: each takes its frames per second over those of a tester that sends nothing else.
local cycles = require "framegauge.traffic.sizes"
local paths = require "framegauge.method.y1564.paths"
local stack = require "framegauge.traffic.stack"

local M = {}

local ROUNDING = 1 + 1e-6

-- The frames of streams that have names: { from =, sizes = }.
local function named(plan)
   local streams = {}
   if plan.test == "y1564" then
      for _, path in ipairs(paths.of(plan)) do
         for _, colour in ipairs { "green", "yellow" } do
            streams[("%s %s %s"):format(path.name, path.direction, colour)] =
               { from = path.from, sizes = (paths.sizes(path.service)) }
         end
      end
   elseif plan.test == "traffic" then
      for _, stream in ipairs(plan.streams) do
         streams[stream.name] = { from = stack.ends(plan.ports, stream), sizes = (cycles.of(stream)) }
      end
   end
   return streams
end

-- Seconds of the tester that a frame takes in the mean; 0 where one of the sizes is not known.
local function cost(sizes, limits)
   local sum = 0
   for _, size in ipairs(sizes) do
      if not limits[size] then
         return 0
      end
      sum = sum + 1 / limits[size]
   end
   return sum / #sizes
end

local function share(record, streams, limits)
   local ports, most = {}, 0
   for _, direction in ipairs(record.directions or {}) do
      local one = streams[direction.direction]
         or { from = direction.direction:match "^(.-)%->", sizes = { record.frame_size } }
      local port = one.from or ""
      local fps = direction.intended_fps or record.intended_fps
      ports[port] = (ports[port] or 0) + fps * cost(one.sizes, limits)
      most = math.max(most, ports[port])
   end
   return most
end

--- Trials that asked for more.
-- @param plan    of the run
-- @param limits  loads that the tester carries, by frame size (framegauge.calibration's limits), or nil
-- @param trials  records
-- @return nil when there are none; else { trials = how many, most = the greatest load over that which the
-- tester carries, trial = the number of that trial }
function M.beyond(plan, limits, trials)
   local streams, found = limits and named(plan), nil
   for _, record in ipairs(limits and trials or {}) do
      local load = share(record, streams, limits)
      if load > ROUNDING then
         found = found or { trials = 0, most = 0 }
         found.trials = found.trials + 1
         if load > found.most then
            found.most, found.trial = load, record.trial
         end
      end
   end
   return found
end

return M
