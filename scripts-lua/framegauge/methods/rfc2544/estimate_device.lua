-- SPDX-License-Identifier: BSD-3-Clause

--- A simulated device: computes the counts of a trial without sending a frame.
--
-- For the reference device the plan gives all parameters, for any other device at most an earlier result
-- does. Without one, it is a device that carries a good half of the highest load and holds some frames. Only
-- what decides on further trials needs to be right: which load loses frames, and roughly how many.
local ethernet = require "framegauge.core.ethernet"
local impairments = require "framegauge.tester.impairments"
local loads = require "framegauge.traffic.loads"
local mixes = require "framegauge.core.mixes"
local tables = require "framegauge.core.tables"
local tests = require "framegauge.methods.rfc2544.tests"
local throughput = require "framegauge.methods.rfc2544.throughput"

local M = {}

local Device = {}
Device.__index = Device

local LATENCY_NS = 1000

local UNKNOWN = { share = 0.618, buffer = 1000 } -- neither a round share nor near an end

--- A device.
-- @param plan    a loaded plan
-- @param tester  max_fps(self, frame_size), as a tester has it
-- @param o       { share = of the greatest load tried that it carries, buffer = frames it holds }; nil: the
--                device of the plan
function M.new(plan, tester, o)
   return setmetatable({
      plan = plan, tester = tester, made_up = o or not plan.reference_device and UNKNOWN or nil,
   }, Device)
end

-- The plan's data of the path from a port through the reference device.
local function way_from(plan, name)
   local device = plan.reference_device
   for _, port in ipairs(plan.ports) do
      if port.name == name and tonumber(port.device:match "%d+$") % 2 == 1 then
         return device.reverse or device
      end
   end
   return device
end

-- The greatest load that is tried: a simulated device that carried all of it would test no search.
local function greatest(plan, max, frame_size)
   local most = math.huge
   for _, method in ipairs(tests.of(plan)) do
      local cap = plan.rfc2544[method.KEY] and plan.rfc2544[method.KEY].max
      most = math.min(most, cap and loads.of_rate(cap, frame_size, max) or math.huge)
   end
   local carried = plan.tester_limits and plan.tester_limits[frame_size] or math.huge
   return math.min(most, carried, max or loads.of_rate(plan.rfc2544.throughput.max, frame_size))
end

-- Frames per second that a profile lets through, and how many at once; nil: no profile applies to all frames.
-- A profile for a tag or a priority may match no frame.
local function policed(way, frame_size)
   frame_size = mixes.mean(frame_size)
   local one = (way.profiles or {})[1]
   if not one or one.vlan or one.inner_vlan or one.pcp or one.dscp then
      return nil
   end
   local bps = one.algorithm == "rfc2698" and one.eir or one.cir + one.eir
   local bytes = one.cbs + one.ebs + one.shaping * one.cir / 8
   return bps / 8 / frame_size, math.floor(bytes / frame_size)
end

-- Frames per second that a way through the reference device forwards: each frame takes the time of its size.
local function forwarded(tester, way, frame_size)
   local cycle, seconds, fps = mixes.cycle(frame_size), 0, nil
   for _, size in ipairs(cycle) do
      fps = math.min(tester:max_fps(size), way.capacity or math.huge,
         way.bandwidth and ethernet.fps(way.bandwidth, 2, size) or math.huge)
      seconds = seconds + 1 / fps
   end
   return cycle[2] and #cycle / seconds or fps
end

-- Frames per second that leave the device, and how many may wait in it.
function Device:limits(direction, frame_size)
   local plan, max = self.plan, self.tester:max_fps(frame_size)
   local learned = self.made_up == UNKNOWN and throughput.learned(plan.rfc2544.throughput, frame_size)
   if learned then
      return math.min(max or learned, learned), UNKNOWN.buffer, {}
   elseif self.made_up then
      return self.made_up.share * greatest(plan, max, frame_size), self.made_up.buffer, {}
   end
   local way = way_from(plan, direction:match "^(.-)%->")
   local buffer = way.buffer_unit == "bytes" and math.floor(way.buffer / mixes.mean(frame_size)) or way.buffer
   local most = forwarded(self.tester, way, frame_size)
   local passing, tokens = policed(way, frame_size)
   if passing and passing < most then
      return passing, tokens, way
   end
   return most, buffer, way
end

-- Frames lost of a load that meets a queue, and the queue it leaves.
local function overflow(fps, frames, seconds, limit, buffer, queue)
   if fps <= limit then
      return 0, math.max(0, queue - (limit - fps) * seconds)
   end
   local share = 1 - limit / fps -- of the frames that come in stays
   local longest = math.ceil((buffer - queue) / share)
   if frames <= longest then
      return 0, queue + frames * share
   end
   return math.max(1, math.floor(frames * share - (buffer - queue))), buffer
end

-- Whether a burst is lost: a single one is too long, or remainders add up when the next bursts arrive.
local function overflow_of_bursts(o, frames, limit, buffer)
   local burst = o.burst
   local fps = o.fps * burst.interval_frames / burst.frames
   local lost, queue = overflow(fps, burst.frames, burst.frames / fps, limit, buffer, 0)
   local bursts, left = frames / burst.frames, queue - limit * (burst.interval_frames - burst.frames) / fps
   if lost > 0 or left <= 0 then
      return math.floor(lost * bursts)
   end
   return math.max(0, math.floor((bursts - 1 - (buffer - queue) / left) * left))
end

-- One direction of a trial: frames sent and lost, and when the last lost one was due, in seconds.
function Device:forward(direction, o)
   local limit, buffer, way = self:limits(direction, o.frame_size)
   local queue, sent, lost, time, last = 0, 0, 0, 0, nil
   local overloaded
   for _, part in ipairs(o.loads or { { fps = o.fps, seconds = o.duration } }) do
      local frames = math.floor(part.fps * part.seconds + 0.5)
      local more
      if overloaded and (way.recovery or 0) > 0 then -- during this time it loses every second frame
         local dull = math.min(way.recovery, part.seconds)
         lost, last = lost + math.floor(part.fps * dull / 2), time + dull
      end
      if o.burst then
         more = overflow_of_bursts(o, frames, limit, buffer)
      else
         more, queue = overflow(part.fps, frames, part.seconds, limit, buffer, queue)
      end
      sent, lost, time, overloaded = sent + frames, lost + more, time + part.seconds, more > 0
      last = more > 0 and time or last
   end
   if o.outage then
      lost, last = lost + math.floor(o.fps * o.outage.seconds), o.outage.at + o.outage.seconds
   end
   lost = lost + impairments.lost(way, sent)
   return sent, math.min(lost, sent), last or time
end

local function latency(frames)
   return frames > 0 and {
      count = frames, min_ns = LATENCY_NS, mean_ns = LATENCY_NS, p50_ns = LATENCY_NS, p99_ns = LATENCY_NS,
      p999_ns = LATENCY_NS, max_ns = LATENCY_NS, source = "", error_bound_ns = 0, definition = "",
   } or nil
end

local function tags(n)
   local list = {}
   for i = 1, n do
      list[i] = LATENCY_NS
   end
   return list
end

-- From the first departure to the last, seconds: without the pause behind the last frame or burst.
local function sending(sent, o)
   local burst, pause = o.burst, 1 -- in frames of the load
   if burst then
      pause = burst.frames * (burst.interval_frames - burst.frames + 1) / burst.interval_frames
   end
   return math.max(0, sent - pause) / o.fps
end

function Device:counts(direction, o)
   local sent, lost, last = self:forward(direction, o)
   return {
      name = direction, intended_frames = sent, tx = sent, rx = sent - lost,
      tx_duration_ns = sending(sent, o) * 1e9, last_lost_ns = last * 1e9,
      gap_max_ns = 1e9 / o.fps + (o.outage and o.outage.seconds or 0) * 1e9, gap_max_begin_ns = 0,
      latency = latency(sent - lost), tags_ns = o.tags and tags(o.tags.count),
   }
end

--- The counts that a tester would return for a trial (framegauge.tester).
function Device:trial(o)
   local directions = tables.map(o.directions, function(direction) return self:counts(direction, o) end)
   return { time = "none", duration_s = o.duration, directions = directions, ports = {}, lcores = {} }
end

return M
