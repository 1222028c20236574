-- SPDX-License-Identifier: BSD-3-Clause

--- When the frames of a capture are to leave: its own times, faster or slower, or a rate.
local api = require "framegauge.core.api"
local units = require "framegauge.text.units"
local user_error = require "framegauge.core.user_error"

local C = api.C
local M = {}

local BAD_INPUT = 2
local OVERHEAD = 20 -- bytes of preamble and gap

local function refuse(...)
   user_error.raise("replay", BAD_INPUT, "replay: %s", string.format(...))
end

-- "2x" or 2
local function factor(text)
   local number = tonumber((text:gsub("x$", "")))
   if not number or not (number > 0 and number < math.huge) then
      refuse("speed: '%s' is no factor above 0; expected such as 2x or 0.5x", text)
   end
   return number
end

--- What is asked for.
-- @param speed      "2x", or nil
-- @param rate       as units.parse_rate gives it, or nil
-- @param line_rate  bits per second of the port, nil where it is not known
-- @return enum fg_replay_pace, its number, and in words
function M.of(speed, rate, line_rate)
   if speed and rate then
      refuse("speed and rate exclude each other")
   elseif not rate then
      local number = factor(speed or "1x")
      return C.FG_REPLAY_RECORDED, number,
         number == 1 and "as recorded" or ("%.6g times as fast as recorded"):format(number)
   elseif rate.value <= 0 then
      refuse("rate: '%s' sends nothing", rate.text)
   elseif rate.unit == "fps" then
      return C.FG_REPLAY_FRAMES, rate.value, "at " .. units.format_frame_rate(rate.value)
   elseif rate.unit == "ratio" then
      if not line_rate then
         refuse("rate: '%s' is a share of a line whose rate is not known; give bits or frames per second",
            rate.text)
      end
      return C.FG_REPLAY_BITS_L1, rate.value * line_rate,
         ("at %s of the line"):format(units.format_ratio(rate.value))
   elseif rate.layer == 3 then
      refuse("rate: '%s': a capture has frames without IP; expected L1 or L2", rate.text)
   end
   return rate.layer == 1 and C.FG_REPLAY_BITS_L1 or C.FG_REPLAY_BITS_L2, rate.value,
      "at " .. units.format_bits(rate.value, rate.layer)
end

--- What one loop of a capture takes at a pace: how long, and bits per second of the line (layer 1) meanwhile.
-- @param facts  frames, octets, last_octets, duration_ns
-- @return seconds and bits per second; of frames that come all at once no rate is known (nil)
function M.load(pace, number, facts)
   local wire_bits = 8 * (facts.octets + OVERHEAD * facts.frames)
   local seconds
   if pace == C.FG_REPLAY_RECORDED then
      seconds = facts.duration_ns / 1e9 / number
      -- the last frame leaves when this time is over
      return seconds, seconds > 0 and (wire_bits - 8 * (facts.last_octets + OVERHEAD)) / seconds or nil
   elseif pace == C.FG_REPLAY_FRAMES then
      seconds = facts.frames / number
   else
      seconds = (pace == C.FG_REPLAY_BITS_L1 and wire_bits or 8 * facts.octets) / number
   end
   return seconds, wire_bits / seconds
end

--- Rates of what was sent, by the frames whose times lie between the first departure and the last: those but
-- the last. So frames and bits count the same frames, and no rate is above what the line carried.
-- @param sent  frames, octets, last_octets
-- @param seconds  from the first departure to the last
-- @return frames per second, bits per second of layer 2 and of layer 1; nil of a single frame, or of frames
--         at one time
function M.rates(sent, seconds)
   if seconds <= 0 or sent.frames < 2 then
      return nil
   end
   local frames, octets = sent.frames - 1, sent.octets - sent.last_octets
   return frames / seconds, 8 * octets / seconds, 8 * (octets + OVERHEAD * frames) / seconds
end

-- Loops at the recorded pace follow each other at the average distance of frames, which must be there.
-- @return bits per second of the line (layer 1) over many loops; nil where there is one, or a rate
local function load_of_loops(replay)
   local facts = replay.facts
   if replay.loops == 1 or replay.pace ~= C.FG_REPLAY_RECORDED then
      return nil
   elseif facts.duration_ns == 0 then
      refuse("%s has no duration, so its loops have no distance; give a rate (--rate)", replay.texts.file)
   end
   local period = facts.duration_ns / 1e9 / replay.number * facts.frames / (facts.frames - 1)
   return 8 * (facts.octets + OVERHEAD * facts.frames) / period
end

--- Refuse what no line can carry, and loops without a time between them.
-- @param replay  pace, number, loops, facts, and texts with its file
-- @param port    that sends, with its name and line_rate
function M.check(replay, port)
   local loops, _, bits = load_of_loops(replay), M.load(replay.pace, replay.number, replay.facts)
   bits = math.max(bits or 0, loops or 0)
   if not port.line_rate or bits <= port.line_rate * (1 + 1e-9) then
      return
   end
   refuse("this takes %s of a line of %s (%s): at most %s of the %s asked for",
      units.format_bits(bits, 1), units.format_bits(port.line_rate), port.name,
      units.format_ratio(port.line_rate / bits), replay.pace == C.FG_REPLAY_RECORDED and "speed" or "rate")
end

return M
