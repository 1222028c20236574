-- SPDX-License-Identifier: BSD-3-Clause

--- What the steps of the configuration test offer: loads of green and of yellow frames over time.
--
-- A load is { green = loads as framegauge.bench.streams takes them, yellow = the same or nil, yellow_delay =
-- seconds, seconds =, burst = or nil }. Rates in are information rates.
local lag = require "framegauge.traffic.lag"
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

local function constant(fps, path, seconds)
   return { {
      fps = fps, seconds = seconds, overhead = path.sizes and 0 or nil,
      max_lag = lag.of_buckets(path.cbs, path.cir, path.ebs, path.eir),
   } }
end

--- A constant load.
-- @param green, yellow  information rates; yellow may be nil
function M.constant(path, green, yellow, seconds)
   return {
      green = constant(fps_of(green, path), path, seconds), seconds = seconds,
      yellow = yellow and constant(fps_of(yellow, path) + SLIDE / seconds, path, seconds) or nil,
   }
end

--- How long both buckets need to be full again, with an eighth more.
local function refill(path)
   local committed, excess = path.cir > 0 and path.cbs / path.cir or 0, path.eir > 0 and path.ebs / path.eir
      or 0
   return math.max(MIN_PAUSE, REFILL * math.max(committed, excess))
end

-- So many frames of a path that their sizes begin anew: a whole number of cycles.
local function whole_cycles(n, path)
   local cycle = path.sizes and #path.sizes or 1
   return math.ceil(n / cycle) * cycle
end

--- Groups of frames at a constant load with a burst in the gap after each (the pattern of MEF 19).
-- @param o.group   information rate of the groups, green
-- @param o.burst   frames of a burst
-- @param o.colour  of the burst
-- @param o.fps     of the burst: what the line carries
-- @param o.cycles  how many
-- @return the load; burst = { frames =, group = frames of a group, cycles =, fps = }
function M.bursts(path, o)
   local fps, pause, burst = fps_of(o.group, path), refill(path), whole_cycles(o.burst, path)
   local group = whole_cycles(GROUP * fps, path)
   local before, after = group / fps + pause, burst / o.fps + pause
   local in_group = constant(fps, path, before)[1]
   in_group.frames = group
   local in_burst = {
      fps = o.fps, frames = burst, seconds = after, overhead = path.sizes and line.OVERHEAD or nil,
      max_lag = lag.of_burst(burst / o.fps, fps),
   }
   local load = {
      green = {}, seconds = o.cycles * (before + after),
      burst = { frames = burst, group = group, cycles = o.cycles, fps = o.fps },
   }
   if o.colour == "yellow" then
      -- each colour is silent while the other one sends
      in_group.seconds, in_burst.seconds = before + after, before + after
      load.yellow, load.yellow_delay = {}, before
   end
   for cycle = 1, o.cycles do
      load.green[#load.green + 1] = in_group
      table.insert(load.yellow or load.green, in_burst)
      if load.yellow and cycle == o.cycles then
         load.yellow[cycle] = {
            fps = in_burst.fps, frames = burst, seconds = after, overhead = in_burst.overhead,
            max_lag = in_burst.max_lag,
         }
      end
   end
   return load
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

--- Frames of a burst that so many octets of a bucket are sure to hold.
function M.within(path, octets)
   if path.sizes then
      return math.floor(octets / (path.frame_size * #path.sizes)) * #path.sizes
   end
   return math.floor(octets / path.frame_size)
end

return M
