-- SPDX-License-Identifier: BSD-3-Clause

--- The load that a trial really offered, and whether it is the intended one.
--
-- Both are computed in whole frames. A load of 54.9 frames per second for a quarter of a second is 14 frames,
-- not 13.7, and takes 0.255 s; with frames of several sizes every frame that has begun is sent.
local flow_control = require "framegauge.trial.flow_control"
local format = require "framegauge.text.format"
local loads = require "framegauge.traffic.loads"

local count, plural = format.count, format.plural

local M = {}

--- How many of the frames that were to be sent may be missing, in seconds of the load.
M.MISSING_TOLERANCE = 10e-6

--- The share by which the load may be too low although all frames were sent: each within its allowed lag, but
-- over a longer time.
M.STRETCH_TOLERANCE = 1e-3

--- Load really offered: n frames span n - 1 intervals between the first and the last departure. It is the
-- load of the port, and the direction sends a share of it. Bursts count with the pause after the last burst,
-- and successive loads with the interval after the last frame.
-- @param direction  of tester:trial()
-- @param ask        of the trial: seconds, and fps and burst where bursts were sent, or loads
function M.fps(direction, ask)
   local share, burst = direction.share or 1, ask.burst
   if burst and direction.tx > 0 then
      local pause = (burst.interval_frames / share - burst.frames + 1) * burst.frames
         / (burst.interval_frames * ask.fps)
      return direction.tx / ((direction.tx_duration_ns or 0) / 1e9 + pause) / share
   elseif direction.uneven then
      return direction.tx / math.max(ask.seconds, direction.tx_duration_ns / 1e9)
   elseif ask.loads and direction.tx > 0 then
      return direction.tx / ((direction.tx_duration_ns or 0) / 1e9 + 1 / ask.loads[#ask.loads].fps) / share
   elseif direction.tx > 1 and (direction.tx_duration_ns or 0) > 0 then
      return (direction.tx - 1) * 1e9 / direction.tx_duration_ns / share
   end
   return direction.tx / ask.seconds / share
end

-- The allowed share of missing load: a burst is short, and its last frame leaves at the sender's next poll.
local function stretch_tolerance(d, intended)
   return math.max(M.STRETCH_TOLERANCE, M.MISSING_TOLERANCE * intended / (d.tx - 1))
end

-- A rate with enough digits to tell it from another a thousandth away.
local function rate(fps)
   return fps < 1e5 and ("%.5g"):format(fps) or count(fps)
end

-- Frames per second intended, and sent. An uneven load is compared by the frames of its own schedule, over
-- the time in which they had to leave.
-- @param d, raw  a direction of the record, and as the tester counted it
local function loads_of(d, raw, ask)
   if raw.uneven then
      local seconds = raw.sends_s or ask.seconds
      return d.intended_frames / seconds, d.tx / math.max(seconds, raw.tx_duration_ns / 1e9)
   elseif ask.loads then
      local _, seconds = loads.whole(ask.loads)
      return d.intended_frames / seconds / (raw.share or 1), d.offered_fps
   end
   return ask.streams and raw.intended_fps or ask.fps, d.offered_fps
end

--- Whether nothing was to be sent at all: a repetition would be the same.
function M.is_nothing(record)
   for _, direction in ipairs(record.directions or {}) do
      if direction.intended_frames ~= 0 then
         return false
      end
   end
   return record.directions ~= nil and record.directions[1] ~= nil
end

--- Frames that were not sent, or were sent too slowly.
-- @param d, raw  a direction of the record, and as the tester counted it
-- @param found   framegauge.trial.shortfalls
-- @param paused  the port that sends it, where the device paused it
function M.judge(d, raw, ask, found, paused)
   local missing = d.intended_frames - d.tx
   local intended, offered = loads_of(d, raw, ask)
   local short = missing > (raw.exact and 0 or math.max(1, M.MISSING_TOLERANCE * intended))
   local why = paused and flow_control.cause(paused) or "the tester was late"
   local because = paused and ", because " .. why or ""
   if d.late > 0 then
      found:add("directions late", d.late, "%s: %s of %s were not sent, because %s", d.direction,
         count(paused and missing or d.late), plural(d.intended_frames, "frame"), why)
   elseif short then
      found:add("directions unsent", missing, "%s: %s of %s were not sent when the trial ended%s",
         d.direction, count(missing), plural(d.intended_frames, "frame"), because)
   elseif not (paused and ask.patient) and d.tx > 1
      and offered < intended * (1 - stretch_tolerance(d, intended)) then
      found:add("directions stretched", 1 - offered / intended, "%s: all frames were sent, but at %s frames per second instead of %s%s",
         d.direction, rate(offered), rate(intended), because)
   end
end

return M
