-- SPDX-License-Identifier: BSD-3-Clause

--- The load of a stream of the plan, as the engine takes it: frames per second and the shape of their times.
--
-- Where the frames of a stream differ in size, a load in frames per second sends them evenly spaced, and
-- one in bits or in percent of the line by their octets: after a long frame comes a long pause, so that the
-- bit rate is right at every moment and not only in the mean. What counts are the bytes of the layer that
-- the rate names; percent are of layer 1.
local ethernet = require "framegauge.core.ethernet"
local format = require "framegauge.text.format"
local lag = require "framegauge.traffic.lag"
local units = require "framegauge.text.units"

local M = {}

--- The slowest load above 0 and the fastest, frames per second, that every clock of a port can pace: the wire
-- counts picoseconds, a processor at least nanoseconds.
M.SLOWEST, M.FASTEST = 1e-6, 1e9

-- Bytes that a frame counts at a layer besides its own.
local function overhead(layer, tags)
   return ({ ethernet.OVERHEAD, 0, -18 - 4 * tags })[layer]
end

--- Frames per second of a rate.
-- @param rate   { unit =, value =, layer = } of the plan
-- @param sizes  framegauge.traffic.sizes' describe()
-- @param bps    rate of the line, or nil
-- @param tags   VLAN tags of a frame
-- @return frames per second in the mean of a cycle; nil for percent of an unknown line
function M.fps(rate, sizes, bps, tags)
   if rate.unit == "fps" then
      return rate.value
   elseif rate.unit == "bps" then
      return ethernet.fps(rate.value, rate.layer, sizes.mean, tags)
   end
   return bps and rate.value * bps / (8 * (sizes.mean + ethernet.OVERHEAD))
end

-- What a load in this unit is paced by.
local function pacing(rate, tags)
   if rate.unit == "fps" then
      return {}
   end
   return { overhead = overhead(rate.unit == "bps" and rate.layer or 1, tags) }
end

local function load_of(rate, c, seconds)
   local load = pacing(rate, c.tags)
   load.fps = M.fps(rate, c.sizes, c.bps, c.tags)
   load.mean_fps, load.seconds = load.fps, seconds
   return load
end

-- Frames per second within a burst: as told, or as the line goes.
local function within(o, c)
   if o.within then
      return M.fps(o.within, c.sizes, c.bps, c.tags)
   end
   return c.bps and c.bps / (8 * (c.sizes.mean + ethernet.OVERHEAD))
end

local function bursts(o, c, seconds)
   local load, inside = load_of(o.rate, c, seconds), within(o, c)
   if o.per_second then
      load.fps = o.per_second * o.burst
   elseif o.gap and inside then
      load.fps = o.burst / ((o.burst - 1) / inside + o.gap)
   end
   if inside and load.fps and load.fps > inside and load.fps < inside * (1 + 1e-9) then
      load.fps = inside -- it was rounded
   end
   load.mean_fps, load.shape, load.burst, load.burst_fps = load.fps, "bursts", o.burst, inside
   load.max_lag = inside and lag.of_burst(o.burst / inside) or nil
   return load
end

local function ramp(o, c, seconds)
   local load, last = load_of(o.from, c, seconds), M.fps(o.to, c.sizes, c.bps, c.tags)
   load.shape, load.end_fps = "ramp", last
   load.mean_fps = load.fps and last and (load.fps + last) / 2
   return load
end

local function poisson(o, c, seconds)
   local fps = M.fps(o.poisson, c.sizes, c.bps, c.tags)
   return { fps = fps, mean_fps = fps, seconds = seconds, shape = "poisson", seed = o.seed }
end

local function one(o, c, seconds)
   return (o.poisson and poisson or o.from and ramp or o.burst and bursts or function()
      return load_of(o.rate, c, seconds)
   end)(o, c, seconds)
end

-- A load that ends early: of a ramp only the beginning.
local function cut(load, seconds)
   if load.mean_fps and load.end_fps and seconds < load.seconds then
      load.end_fps = load.fps + (load.end_fps - load.fps) * seconds / load.seconds
      load.end_fps = math.max(load.fps, load.end_fps) >= M.SLOWEST and load.end_fps or load.fps
      load.mean_fps = (load.fps + load.end_fps) / 2
   end
   load.seconds = math.min(seconds, load.seconds)
   return load
end

--- The loads of a stream, one after the other.
-- @param rate     the group `rate` of a stream of the plan
-- @param c        { sizes =, bps =, tags = } as M.fps takes them
-- @param seconds  how long the stream may send: a ramp may end before, a profile is repeated until then; nil:
--                 as long as the load is
-- @return list of loads as framegauge.tester.streams takes them
function M.of(rate, c, seconds)
   local profile = rate.profile
   if not profile or #profile == 0 then
      local load = one(rate, c, rate.from and rate.over or seconds)
      return { seconds and cut(load, seconds) or load }
   end
   local list, left, i = {}, seconds or M.length(rate), 0
   while left > 1e-9 do
      local step = profile[i % #profile + 1]
      local load = cut(one(step, c, step["for"] or step.over), left)
      list[#list + 1], left, i = load, left - load.seconds, i + 1
   end
   return list
end

--- Loads one after the other as they are sent: in whole frames, each with its time.
-- @param list  of { fps =, seconds = }
-- @return how many frames, in how many seconds
-- @usage loads.whole { { fps = 10, seconds = 0.96 }, { fps = 100, seconds = 0.1 } } --> 20 1.1
function M.whole(list)
   local frames, seconds = 0, 0
   for _, load in ipairs(list) do
      local n = math.floor(load.fps * load.seconds + 0.5)
      frames, seconds = frames + n, seconds + (load.fps > 0 and n / load.fps or load.seconds)
   end
   return frames, seconds
end

-- Frames of bursts; each burst begins a period after the one before.
local function frames_of_bursts(load)
   local period = load.burst / load.fps
   local whole = math.max(0, math.ceil(load.seconds / period - 1e-9) - 1)
   local rest = load.seconds - whole * period
   return whole * load.burst + math.min(load.burst, math.ceil(rest * load.burst_fps - 1e-6))
end

--- Frames of loads with an end; of a Poisson process in the mean. Steps of a profile are one curve
-- (lib/tx/loads.c): a frame is due whenever its integral has reached a whole number, and only the last step
-- rounds. nil where the line of a share is not known.
function M.frames(list)
   local in_bursts, before, all = 0, 0, 0
   for _, load in ipairs(list) do
      if not load.mean_fps then
         return nil
      elseif load.shape == "bursts" and load.burst_fps and load.fps > 0 then
         in_bursts = in_bursts + frames_of_bursts(load)
      else
         before, all = all, all + load.mean_fps * load.seconds
      end
   end
   return in_bursts + math.max(math.floor(all + 0.5), math.ceil(math.max(0, before - 1e-6)))
end

--- Frames per second of loads at their fastest, but not within a burst.
function M.fastest(list)
   local fps = 0
   for _, load in ipairs(list) do
      fps = math.max(fps, load.fps, load.end_fps or 0)
   end
   return fps
end

--- The load that stands for all of a stream where one is to be named.
function M.foremost(rate)
   local step = rate.profile and rate.profile[1] or rate
   return step.poisson or step.from or step.rate
end

--- Seconds after which a load begins anew, or a ramp ends; 1 where it does neither.
function M.length(rate)
   local seconds = rate.from and rate.over or 0
   for _, step in ipairs(rate.profile or {}) do
      seconds = seconds + (step["for"] or step.over)
   end
   return seconds > 0 and seconds or 1
end

local function wrong(key, message, expected)
   return { key = key, message = message, expected = expected }
end

--- Most loads one after the other: each takes about a kilobyte while a trial is prepared.
M.MOST = 100000

--- What is wrong with a profile that is repeated until a trial is over.
-- @return nil, or { key =, message =, expected = }
function M.profile_problem(rate, seconds)
   local n = math.ceil(#(rate.profile or {}) * seconds / M.length(rate) - 1e-9)
   return n > M.MOST and wrong("rate.profile", ("%s loads one after the other in %s"):format(format.count(n),
      units.format_time(seconds)), ("at most %s: longer ones, or a shorter trial"):format(format.count(M.MOST)))
      or nil
end

-- What is wrong with bursts by their numbers: they can be no faster than the line, and no slower than all.
local function burst_problem(o, c, prefix)
   local inside, load = within(o, c), bursts(o, c, 1)
   local line = c.bps and c.bps / (8 * (c.sizes.mean + ethernet.OVERHEAD))
   if inside == 0 then
      return wrong(prefix .. "within", "no frame leaves within a burst", "a load above 0")
   elseif inside and line and inside > line * (1 + 1e-9) then
      return wrong(prefix .. "within", ("%s within a burst, more than the line carries"):format(
         units.format_frame_rate(inside)), "at most " .. units.format_frame_rate(line))
   elseif not inside or not load.fps or load.fps <= inside then
      return nil
   elseif o.gap then
      return wrong(prefix .. "gap", "shorter than the time between two frames of a burst",
         "at least " .. units.format_time(1 / inside))
   end
   local key = o.per_second and "per_second" or o.within and "within" or "rate"
   return wrong(prefix .. key, ("%s within a burst is slower than the mean load, %s"):format(
      units.format_frame_rate(inside), units.format_frame_rate(load.fps)),
      key == "within" and "at least " .. units.format_frame_rate(load.fps) or "fewer frames")
end

-- The keys of loads that a step uses.
local function used(o)
   return o.poisson and { "poisson" } or o.from and { "from", "to" } or o.burst and { "rate", "within" }
      or { "rate" }
end

-- What no clock of a port could pace.
local function pace_problem(o, c, prefix)
   for _, key in ipairs(used(o)) do
      local fps = o[key] and M.fps(o[key], c.sizes, c.bps, c.tags) or 0
      if fps > 0 and fps < M.SLOWEST then
         return wrong(prefix .. key, "less than a frame in eleven days", "0, or at least 0.000001fps")
      elseif fps > M.FASTEST then
         return wrong(prefix .. key, units.format_frame_rate(fps) .. " is too fast", "at most 1Gfps")
      end
   end
   return o.burst and burst_problem(o, c, prefix) or nil
end

--- What is wrong with a group `rate`, where its keys do not go together.
-- @param c  as M.fps takes it, or nil: then the numbers are not looked at
-- @return nil, or { key =, message =, expected = }
function M.problem(rate, c)
   local function of_step(o, prefix)
      if o.poisson and (o.burst or o.from) or o.from and o.burst then
         return wrong(prefix .. (o.poisson and "poisson" or "from"), "bursts, a ramp or a Poisson process",
            "one of them")
      elseif o.from and not (o.to and o.over) then
         return wrong(prefix .. "from", "a ramp has no end", "`to`, and `over` what time")
      elseif not o.from and (o.to or o.over) then
         return wrong(prefix .. (o.to and "to" or "over"), "a ramp has no beginning", "`from`")
      elseif not o.burst and (o.within or o.gap or o.per_second) then
         return wrong(prefix .. (o.within and "within" or o.gap and "gap" or "per_second"),
            "there are no bursts", "`burst`, frames in each")
      elseif o.gap and o.per_second then
         return wrong(prefix .. "gap", "bursts come so often or after such a gap", "one of both")
      end
      return c and pace_problem(o, c, prefix) or nil
   end
   for i, step in ipairs(rate.profile or {}) do
      local prefix = ("profile[%d]."):format(i)
      local found = of_step(step, prefix)
      if found then
         return found
      elseif not step.from and not step["for"] then
         return wrong(prefix .. "for", "missing", "how long")
      end
   end
   c = not (rate.profile and rate.profile[1]) and c or nil -- with a profile it counts for nothing
   return of_step(rate, "")
end

--- Frames per second of a rate.
-- @param rate        { unit = "ratio" | "fps" | "bps", value =, layer = 1 | 2 | 3 }
-- @param frame_size  bytes with FCS
-- @param whole       what a ratio is a part of, frames per second; nil when it is not known
-- @return frames per second; nil for a ratio of the unknown
function M.of_rate(rate, frame_size, whole)
   if rate.unit == "fps" then
      return rate.value
   elseif rate.unit == "bps" then
      return ethernet.fps(rate.value, rate.layer, frame_size)
   end
   return whole and rate.value * whole
end

return M
