-- SPDX-License-Identifier: BSD-3-Clause

--- What the steps of the configuration test offer: loads of green and of yellow frames over time.
--
-- A load is { green = list of { fps =, seconds = }, yellow = the same or nil, seconds =, burst = or nil }.
-- Rates in are information rates. A pause is the last frame before it in a load of its own, which lasts as
-- long as that frame and the pause.
local line = require "framegauge.line"

local M = {}

local MIN_PAUSE = 0.05 -- seconds on either side of a burst: the gap is twice that
local GROUP = 0.2 -- seconds of constant load between the gaps
local REFILL = 9 -- bits a bucket's octet is given to fill in again: 8 and an eighth more
local PLENTY = 1.25 -- of the shortest burst that a full bucket cannot pass

-- Two constant loads keep their place to each other, and then it may always be the yellow frame that finds no
-- token, whatever the policer makes of its colour. So many more yellow frames in a step let them pass the
-- green ones.
local SLIDE = 1.5

--- Frames per second of an information rate.
local function fps_of(ir, path)
   return ir / line.l2_bps(1, path.frame_size)
end

M.fps_of = fps_of

local function constant(ir, path, seconds)
   return { { fps = fps_of(ir, path), seconds = seconds } }
end

--- A constant load.
-- @param green, yellow  information rates; yellow may be nil
function M.constant(path, green, yellow, seconds)
   local sliding = yellow and constant(yellow, path, seconds) or nil
   if sliding then
      sliding[1].fps = sliding[1].fps + SLIDE / seconds
   end
   return { green = constant(green, path, seconds), yellow = sliding, seconds = seconds }
end

-- n frames at a rate, and then silence.
local function add_frames(loads, n, fps, pause)
   if n > 1 then
      loads[#loads + 1] = { fps = fps, seconds = (n - 1) / fps }
   end
   loads[#loads + 1] = { fps = 1 / (1 / fps + pause), seconds = 1 / fps + pause }
end

--- How long both buckets need to be full again, with an eighth more.
local function refill(path)
   local excess = path.eir > 0 and path.ebs / path.eir or 0
   return math.max(MIN_PAUSE, REFILL * math.max(path.cbs / path.cir, excess))
end

--- Groups of frames at a constant load with a burst in the gap after each (the pattern of MEF 19).
-- @param o.group   information rate of the groups, green
-- @param o.burst   frames of a burst
-- @param o.colour  of the burst
-- @param o.fps     of the burst: what the line carries
-- @param o.cycles  how many
-- @return the load; burst = { frames =, group = frames of a group, cycles =, fps = }
function M.bursts(path, o)
   local fps, pause = fps_of(o.group, path), refill(path)
   local group = math.ceil(GROUP * fps)
   local before, green, yellow = group / fps + pause, {}, nil
   if o.colour == "yellow" then
      yellow = {}
   end
   for _ = 1, o.cycles do
      if yellow then
         -- yellow frames wait for the group to be over, green ones for the burst
         yellow[#yellow + 1] = { fps = 1 / before, seconds = before }
         add_frames(yellow, o.burst, o.fps, pause)
         add_frames(green, group, fps, pause + o.burst / o.fps + pause)
      else
         add_frames(green, group, fps, pause)
         add_frames(green, o.burst, o.fps, pause)
      end
   end
   return {
      green = green, yellow = yellow, seconds = o.cycles * (before + o.burst / o.fps + pause),
      burst = { frames = o.burst, group = group, cycles = o.cycles, fps = o.fps },
   }
end

--- Frames of a burst that is longer than what a full bucket passes: twice the bucket, or more where that much
-- flows in meanwhile.
-- @param size   octets of the bucket
-- @param inflow  bits per second that flow into it
-- @param fps    of the burst
-- @return frames; nil when the line is so slow that any burst passes
function M.over_burst(path, size, inflow, fps)
   local arriving = line.l2_bps(fps, path.frame_size)
   if arriving <= inflow * 1.01 then
      return nil
   end
   local passes = size * arriving / (arriving - inflow) / path.frame_size
   return math.ceil(math.max(2 * size / path.frame_size, PLENTY * passes + 2))
end

return M
