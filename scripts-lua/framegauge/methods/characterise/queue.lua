-- SPDX-License-Identifier: BSD-3-Clause

--- The model of a device in one direction, computed: a server that takes one frame at a time, and a buffer
-- for those that wait. It is what the reference device does to frames of a constant size
-- (lib/device/device.c), without its delays, written again, so that neither can hide a fault of the other.
local ethernet = require "framegauge.core.ethernet"

local M = {}

--- Seconds that the server needs for a frame.
-- @param device  { capacity_fps =, bandwidth_bps =, frame_s =, byte_s = (nil: no such limit), line_bps = }
-- @usage queue.service({ capacity_fps = 1000, line_bps = 1e9 }, 64) --> 0.001
function M.service(device, frame_size)
   return math.max(1 / (device.capacity_fps or math.huge), 8 * frame_size / (device.bandwidth_bps
      or math.huge),
      ethernet.l1_bps(1, frame_size) / device.line_bps,
      (device.frame_s or 0) + (device.byte_s or 0) * frame_size)
end

--- Frames of a size that can wait, besides the one that is served.
-- @usage queue.places({ buffer_bytes = 200 }, 64) --> 3
function M.places(device, frame_size)
   if device.buffer_bytes then
      return math.floor(device.buffer_bytes / frame_size)
   end
   return device.buffer_frames or math.huge
end

-- The time from which a frame is served, by whether it may wait; nil: it is lost.
local function queue(device, frame_size)
   local service, places = M.service(device, frame_size), M.places(device, frame_size)
   local free = 0 -- when the server will have done what it has
   return function(now)
      local wait = math.max(0, free - now)
      if wait == 0 then
         free = now + service
      elseif math.ceil(wait / service - 1e-6) <= places then -- so many have not begun
         free = free + service
      else
         return nil
      end
      return wait
   end
end

-- A bucket of tokens, full at first (MEF 10, without colours).
local function policer(device, frame_size)
   local tokens, last = device.cbs_bytes, 0
   return function(now)
      tokens, last = math.min(device.cbs_bytes, tokens + (now - last) * device.cir_bps / 8), now
      if tokens >= frame_size then
         tokens = tokens - frame_size
         return 0
      end
      return nil
   end
end

--- What becomes of evenly spaced frames.
-- @param device      as above, with buffer_frames or buffer_bytes (neither: no end to it); or a policer's
--                    cir_bps and cbs_bytes
-- @param loads       one after the other: list of { fps =, seconds = }
-- @return { tx =, rx =, wait_max_s = longest wait before service }
-- @usage local d = { capacity_fps = 734000, buffer_frames = 512, line_bps = 1e9 }
-- return queue.pass(d, 64, { { fps = 1488095, seconds = 0.5 } }).rx --> 367512
function M.pass(device, frame_size, loads)
   local enter = (device.cir_bps and policer or queue)(device, frame_size)
   local out, from = { tx = 0, rx = 0, wait_max_s = 0 }, 0
   for _, load in ipairs(loads) do
      local n = math.floor(load.fps * load.seconds + 0.5)
      for i = 0, n - 1 do
         local wait = enter(from + i / load.fps)
         if wait then
            out.rx, out.wait_max_s = out.rx + 1, math.max(out.wait_max_s, wait)
         end
      end
      out.tx, from = out.tx + n, from + n / load.fps
   end
   return out
end

return M
