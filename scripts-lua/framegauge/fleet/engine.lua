-- SPDX-License-Identifier: BSD-3-Clause

--- An agent's use of its ports' engine between trials. Tests replace it by a mock with the same functions.
local C = require("framegauge.core.api").C
local ffi = require "ffi"

local M = {}

local stream, queue = ffi.new "struct fg_stream_result", ffi.new "struct fg_queue_result"

-- A place of another agent's stream needs a stream, too. There may be thousands, so the copies are doubled.
local function fill(array, count, one)
   array[0] = {
      idle = true, elsewhere = true, unknown = true, frame = one.frame, sizes = one.sizes,
      frames = one.frames, load = one.load, loads = one.loads,
   }
   local size, filled = ffi.sizeof "struct fg_stream_config", 1
   while filled < count do
      ffi.copy(array + filled, array, math.min(filled, count - filled) * size)
      filled = 2 * filled
   end
end

--- The streams of a trial as the engine takes them: all of them, in their places.
-- @param list   of fleet/recipe.lua @param count  of all streams
function M.streams(list, count)
   local array, places = ffi.new("struct fg_stream_config[?]", count), list.places
   if places[1] then
      fill(array, count, list.own[0])
   end
   for k, i in ipairs(places) do
      array[i - 1] = list.own[k - 1]
   end
   return { array = array, count = count, kept = list.kept }
end

--- Frames that a stream sent. @param i  from 1
function M.sent(tester, i)
   C.fg_engine_stream_result(tester.engine, i - 1, stream)
   return tonumber(stream.tx)
end

--- The number of frames that another tester sends of a stream when all goes as planned.
function M.planned(tester, i)
   return tonumber(C.fg_engine_peer_planned(tester.engine, i - 1))
end

--- Set the number of frames that another tester sent of a stream.
function M.peer_sent(tester, i, frames)
   C.fg_engine_peer_sent(tester.engine, i - 1, frames)
end

--- Set the offset of the sending tester's clock for a stream, nanoseconds ahead of ours.
function M.peer_clock(tester, i, ns)
   C.fg_engine_peer_clock(tester.engine, i - 1, ns)
end

--- Misdirected frames by port: list of { place of the stream, name of the port, number }.
-- @param count  of streams
function M.strays(tester, count)
   local list = {}
   for i = 1, count do
      for k, port in ipairs(tester.ports) do
         local frames = tonumber(C.fg_engine_misdirected(tester.engine, i - 1, k - 1))
         list[#list + 1] = frames > 0 and { i, port.name, frames } or nil
      end
   end
   return list
end

--- How late the first frame of each port that sends left, nanoseconds.
function M.starts(tester)
   local list = {}
   for i in ipairs(tester.ports) do
      C.fg_engine_queue_result(tester.engine, i - 1, 0, queue)
      list[#list + 1] = queue.tx > 0 and tonumber(queue.first_ns - queue.first_due_ns) or nil
   end
   return list
end

return M
