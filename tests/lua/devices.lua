-- SPDX-License-Identifier: BSD-3-Clause

--- Devices made of arithmetic, for tests of searches: functions of load and seconds that give a trial record.
-- Loads are in units; each is a number of frames per second.
local M = {}

M.FRAMES_PER_UNIT = 10000

local function frames(load, seconds)
   return math.floor(load * M.FRAMES_PER_UNIT * seconds + 0.5)
end

--- A device with a capacity and a buffer in frames; beyond o.tester the tester itself is too slow.
function M.device(o)
   return function(load, seconds)
      local tx = frames(load, seconds)
      local record = {
         validity = "valid", tx = tx, lost = math.max(0, tx - frames(o.capacity, seconds) - (o.buffer or 0)),
      }
      if o.tester and load > o.tester then
         record.validity = "tester-limited"
      end
      return record
   end
end

--- A device that loses a share of the frames, by function(load) -> ratio.
function M.lost_on_path(ratio)
   return function(load, seconds)
      local tx = frames(load, seconds)
      return { validity = "valid", tx = tx, lost = tx - math.floor(tx * (1 - ratio(load))) }
   end
end

--- The same device, but one trial in `every` loses a few frames whatever the load.
-- @param phase  which one
function M.transient(device, every, phase, lost)
   local n = phase
   return function(load, seconds)
      n = n + 1
      local record = device(load, seconds)
      if n % every == 0 then
         record.lost = math.min(record.tx, math.max(record.lost, lost or 12))
      end
      return record
   end
end

--- Random numbers from a seed; written out so that every machine draws the same ones.
function M.generator(seed)
   local state = seed
   return function(low, high)
      state = (state * 16807) % 2147483647
      return low + (high - low) * (state / 2147483647)
   end
end

--- Run a search and keep what it asked for.
-- @return result, list of { load =, seconds =, phase =, record = }, seconds of sending
function M.traced(search, goal)
   local trace, total = {}, 0
   local defaults = {
      min = 0, max = 100, tolerance = 0, search_trial = 1, final_trial = 1, resolution = 0.5,
      trial = function(load, seconds, phase)
         local record = goal.device(load, seconds)
         trace[#trace + 1] = { load = load, seconds = seconds, phase = phase, record = record }
         total = total + seconds
         return record
      end,
   }
   local result = search.run(setmetatable({}, { __index = function(_, key)
      local value = goal[key]
      if value == nil then
         value = defaults[key]
      end
      return value
   end }))
   return result, trace, total
end

--- Its loads.
function M.loads(trace)
   local list = {}
   for i, step in ipairs(trace) do
      list[i] = step.load
   end
   return list
end

return M
