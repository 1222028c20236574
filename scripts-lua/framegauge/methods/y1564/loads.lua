-- SPDX-License-Identifier: BSD-3-Clause

--- What the steps of the configuration test offer: loads of green and of yellow frames over time.
--
-- A load is { green = loads as framegauge.tester.streams takes them, yellow =, green_bursts = the same or
-- nil, burst_delay = seconds before the first burst, seconds =, burst = or nil }. Bursts have a stream of
-- their own: what the frames between them lose is not theirs. Rates in are information rates.
local ethernet = require "framegauge.core.ethernet"
local lag = require "framegauge.traffic.lag"

local M = {}

local MIN_PAUSE = 0.05 -- seconds on either side of a burst: the gap is twice that
local GROUP = 0.2 -- seconds of constant load between the gaps
local REFILL = 9 -- bits a bucket's byte is given to fill in again: 8 and an eighth more
local PLENTY = 1.25 -- of the shortest burst that a full bucket cannot pass

-- Where both colours are sent, their order must not decide which of them finds no token. Two constant loads
-- have a beat. So yellow frames are scattered, each within its own interval, but no closer than the line
-- carries them: a green frame waits for at most one of them. Green frames at exactly the token rate would
-- keep their phase to the tokens; a slightly lower green rate in a step, with more yellow frames, lets them
-- pass through all phases.
local SLIDE = 1.5
M.SEED = 1

--- Frames per second of an information rate.
local function fps_of(ir, path)
   return ir / ethernet.l2_bps(1, path.frame_size)
end

M.fps_of = fps_of

local function constant(fps, path, seconds)
   return { {
      fps = fps, seconds = seconds, overhead = path.sizes and 0 or nil,
      max_lag = lag.of_buckets(path.cbs, path.cir, path.ebs, path.eir),
   } }
end

--- A constant load; yellow frames among green ones are scattered.
-- @param green, yellow  information rates; yellow may be nil
function M.constant(path, green, yellow, seconds)
   local load, slide = { seconds = seconds }, yellow and SLIDE / seconds or 0
   load.green = constant(fps_of(green, path) - slide, path, seconds)
   if yellow then
      load.yellow = constant(fps_of(yellow, path) + slide, path, seconds)
      load.yellow[1].shape, load.yellow[1].seed, load.yellow[1].burst_fps = "scatter", M.SEED, path.line_fps
   end
   return load
end

--- How long both buckets need to be full again, with an eighth more.
local function refill(path)
   local committed, excess = path.cir > 0 and path.cbs / path.cir or 0, path.eir > 0 and path.ebs / path.eir
      or 0
   return math.max(MIN_PAUSE, REFILL * math.max(committed, excess))
end

-- The frames of a path after which their sizes begin anew: a whole number of cycles.
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
   -- each stream is silent while the other one sends
   local function all_cycles(one, last)
      local list = {}
      for cycle = 1, o.cycles do
         list[cycle] = {
            fps = one.fps, frames = one.frames, seconds = before + after, overhead = one.overhead,
            max_lag = one.max_lag,
         }
      end
      list[o.cycles].seconds = last
      return list
   end
   local in_group = constant(fps, path)[1]
   in_group.frames = group
   return {
      green = all_cycles(in_group, before + after),
      [o.colour == "yellow" and "yellow" or "green_bursts"] = all_cycles({
         fps = o.fps, frames = burst, overhead = path.sizes and ethernet.OVERHEAD or nil,
         max_lag = lag.of_burst(burst / o.fps, fps),
      }, after),
      burst_delay = before, seconds = o.cycles * (before + after),
      burst = { frames = burst, group = group, cycles = o.cycles, fps = o.fps },
   }
end

--- Frames of a burst that is longer than what a full bucket passes: twice the bucket, or more where that much
-- flows in meanwhile.
-- @param size   bytes of the bucket
-- @param inflow  bits per second that flow into it
-- @param fps    of the burst
-- @return frames; nil when the line is so slow that any burst passes
function M.over_burst(path, size, inflow, fps)
   local arriving = ethernet.l2_bps(fps, path.frame_size)
   if arriving <= inflow * 1.01 then
      return nil
   end
   local passes = size * arriving / (arriving - inflow) / path.frame_size
   return math.ceil(math.max(2 * size / path.frame_size, PLENTY * passes + 2))
end

--- Frames of a burst that the bytes of a bucket are sure to hold.
function M.within(path, octets)
   if path.sizes then
      return math.floor(octets / (path.frame_size * #path.sizes)) * #path.sizes
   end
   return math.floor(octets / path.frame_size)
end

return M
