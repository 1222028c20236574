-- SPDX-License-Identifier: BSD-3-Clause

--- The model of a device in one direction, computed: a server that takes one frame at a time, and a buffer
-- for waiting frames. The reference device does the same (lib/device/device.c), with delays in addition. The
-- code is written twice, so that neither can hide a fault of the other.
local ethernet = require "framegauge.core.ethernet"

local M = {}

--- Seconds that the server needs for a frame.
-- @param device  { capacity_fps =, bandwidth_bps =, frame_s =, byte_s = (nil: no such limit), counted_more =
--                bytes that count in the bandwidth in addition to the frame, line_bps = }
-- @usage queue.service({ capacity_fps = 1000, line_bps = 1e9 }, 64) --> 0.001
function M.service(device, frame_size)
   return math.max(1 / (device.capacity_fps or math.huge),
      8 * (frame_size + (device.counted_more or 0)) / (device.bandwidth_bps or math.huge),
      ethernet.l1_bps(1, frame_size) / device.line_bps,
      (device.frame_s or 0) + (device.byte_s or 0) * frame_size)
end

--- Frames per second of a size that it forwards under a lasting load.
-- @param device  as for service(), or a policer or shaper as for pass()
-- @usage queue.rate({ cir_bps = 5120, cbs_bytes = 64, line_bps = 1e9 }, 64) --> 10
function M.rate(device, frame_size)
   return device.cir_bps and device.cir_bps / 8 / (frame_size + (device.counted_more or 0))
      or 1 / M.service(device, frame_size)
end

--- Frames of a size that can wait, in addition to the one being served.
-- @usage queue.places({ buffer_bytes = 200 }, 64) --> 3
function M.places(device, frame_size)
   if device.cir_bps then -- or pass at once, for which there are tokens
      return math.floor((device.cbs_bytes + (device.shapes and device.buffer_bytes or 0))
         / (frame_size + (device.counted_more or 0)))
   elseif device.buffer_bytes then
      return math.floor(device.buffer_bytes / frame_size)
   end
   return device.buffer_frames or math.huge
end

-- function(time of arrival) -> seconds for which the frame waits; nil: it is lost.
local function queue(device, frame_size)
   local service, places = M.service(device, frame_size), M.places(device, frame_size)
   local free, recovered = 0, 0 -- when the server will have done what it has, and frames may enter again
   return function(now)
      local wait = math.max(0, free - now)
      if now < recovered then
         return nil
      elseif wait == 0 then
         free = now + service
      elseif math.ceil(wait / service - 1e-6) <= places then -- this many have not begun
         free = free + service
      else
         recovered = now + (device.recovery_s or 0)
         return nil
      end
      return wait
   end
end

-- A bucket of tokens, full at first (MEF 10, without colours). A shaper's frames wait for tokens, as long as
-- the queue before it holds them; a waiting frame has taken its tokens in advance.
local function bucket(device, frame_size)
   local counted, tokens, last = frame_size + (device.counted_more or 0), device.cbs_bytes, 0
   local held = device.shapes and device.buffer_bytes or 0
   return function(now)
      tokens, last = math.min(device.cbs_bytes, tokens + (now - last) * device.cir_bps / 8), now
      if tokens + held >= counted then
         tokens = tokens - counted
         return math.max(0, -tokens * 8 / device.cir_bps)
      end
      return nil
   end
end

--- What becomes of evenly spaced frames.
-- @param device      as above, with buffer_frames or buffer_bytes (neither: no end to it), and recovery_s,
--                    for which all frames are lost after one that found it full (nil: none); or a policer's
--                    cir_bps and cbs_bytes, in which counted_more counts, too; of a shaper
--                    shapes = true and buffer_bytes, too
-- @param loads       one after the other: list of { fps =, seconds = }
-- @return { tx =, rx =, wait_max_s = longest wait before service }
-- @usage local d = { capacity_fps = 734000, buffer_frames = 512, line_bps = 1e9 }
-- return queue.pass(d, 64, { { fps = 1488095, seconds = 0.5 } }).rx --> 367512
function M.pass(device, frame_size, loads)
   local enter = (device.cir_bps and bucket or queue)(device, frame_size)
   local out, from = { tx = 0, rx = 0, wait_max_s = 0 }, 0
   for _, load in ipairs(loads) do
      local n = math.floor(load.fps * load.seconds + 0.5)
      for i = 0, n - 1 do
         local wait = enter(from + i / load.fps)
         if wait then
            out.rx, out.wait_max_s = out.rx + 1, math.max(out.wait_max_s, wait)
         end
      end
      out.tx, from = out.tx + n, from + (n > 0 and n / load.fps or load.seconds)
   end
   return out
end

return M
