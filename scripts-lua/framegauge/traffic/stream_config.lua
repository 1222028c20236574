-- SPDX-License-Identifier: BSD-3-Clause

--- The streams of a plan as a trial takes them (framegauge.tester.streams).
local faults = require "framegauge.traffic.faults"
local format = require "framegauge.text.format"
local loads = require "framegauge.traffic.loads"
local sizes = require "framegauge.traffic.sizes"
local stack = require "framegauge.traffic.stack"
local units = require "framegauge.text.units"

local MEASURE = { "variation", "payload" } -- framegauge.tester.measures

local M = {}

-- What the arithmetic of a stream's load needs (framegauge.traffic.loads).
function M.context(ports, stream, line_rate)
   local _, description = sizes.of(stream)
   return { sizes = description, bps = line_rate, tags = stack.tags(ports, stream) }
end

-- Frames per second of a stream.
-- @param ports      of the plan
-- @param line_rate  bits per second of the line it is sent on; nil: it has none
-- @param rate       group `rate`; default: the stream's
-- @return in the mean, and at most; nil for a share of a line that is not known
function M.fps(ports, stream, line_rate, rate)
   local frames, seconds, peak = 0, 0, 0
   rate = rate or stream.rate
   for _, load in ipairs(loads.of(rate, M.context(ports, stream, line_rate), loads.length(rate))) do
      if not load.mean_fps then
         return nil
      end
      frames, seconds = frames + load.mean_fps * load.seconds, seconds + load.seconds
      peak = math.max(peak, load.fps, load.end_fps or 0)
   end
   return frames / seconds, peak
end

-- Frames that a stream sends in a time; of a Poisson process in the mean.
-- @return a whole number, nil for a share of a line that is not known; and how many its load alone would send
function M.frames(ports, stream, line_rate, seconds)
   local frames = loads.frames(loads.of(stream.rate, M.context(ports, stream, line_rate), seconds))
   return frames and math.min(frames, stream.frames or frames), frames
end

-- What is wrong with the number of a stream's loads, or of its frames: its load has to send them in the time.
-- @return nil, or { key =, message =, expected = }
function M.count_problem(ports, stream, line_rate, seconds)
   local problem = loads.profile_problem(stream.rate, seconds)
   if problem then
      return problem
   end
   local _, most = M.frames(ports, stream, line_rate, seconds)
   if not (stream.frames and most and stream.frames > most) then
      return nil
   end
   return { key = "frames", message = ("its rate sends %s in %s"):format(format.plural(most, "frame"),
      units.format_time(seconds)), expected = "no more, or another rate or duration" }
end

-- When and in what sizes the streams send. Those that leave a port together are spread: the first frame of
-- the k-th of n is put off by k/n of the time between two of its own, or of all the time if that is shorter.
-- @param ports    of the plan
-- @param streams  of the plan
-- @param tester   with ports, whose line_rate is bits per second or nil
-- @param seconds  how long each is sent
-- @return list of { name =, from = index of a port, sizes =, frame_size = the mean, loads =, limit = most
-- frames or nil, phase = }
function M.times(ports, streams, tester, seconds)
   local list, count, before = {}, {}, {}
   for _, stream in ipairs(streams) do
      local from = stack.ends(ports, stream)
      count[from] = (count[from] or 0) + 1
   end
   for i, stream in ipairs(streams) do
      local from = stack.ends(ports, stream)
      local made = loads.of(stream.rate, M.context(ports, stream, tester.ports[from].line_rate), seconds)
      local apart = math.min(1, seconds * loads.fastest(made)) -- the first frame has to leave in the trial
      local cycle, size = sizes.of(stream)
      list[i] = {
         name = stream.name, from = from, frame_size = size.mean, sizes = cycle[2] and cycle, loads = made,
         limit = stream.frames, phase = (before[from] or 0) / count[from] * apart,
      }
      before[from] = (before[from] or 0) + 1
   end
   return list
end

--- The streams of a tester's plan.
-- @param tester   with plan, ports and gateway_mac
-- @param seconds  how long each is sent
-- @return list of { name =, from =, to =, frame = and sizes = (framegauge.tester.streams), frame_size = the
-- mean, loads =, limit =, phase = (as M.times() gives them), measure =, t_max =, errors =, and faults = the
-- same as the engine takes it }
-- @usage local loaded = plan.load_text([[
-- test: traffic
-- ports: {east: {device: wire0}, west: {device: wire1}}
-- streams: {voice: {from: east, to: west, size: imix, rate: 1kfps}}
-- ]], "own plan")
-- local own = Tester.open(loaded)
-- local raw = own:trial { streams = stream_config.streams(own, 1), drain = "10ms" }
-- own:close()
-- return raw.directions[1].name, raw.directions[1].rx --> voice 1000
function M.streams(tester, seconds)
   local macs, ports = stack.known(tester), tester.plan.ports
   local list = M.times(ports, tester.plan.streams, tester, seconds)
   for i, stream in ipairs(tester.plan.streams) do
      local from, to = stack.ends(ports, stream)
      local one, _, size = list[i], sizes.of(stream)
      local function template(octets)
         return stack.template(ports, stream, macs, octets)
      end
      for _, load in ipairs(one.loads) do
         load.timed = one.loads[2] ~= nil
      end
      local shortest = template(size.least)
      one.from, one.to = tester.ports[from].name, tester.ports[to].name
      one.frame = one.sizes and template or shortest
      one.measure, one.errors = MEASURE, stream.errors
      one.t_max = tester.plan.traffic and tester.plan.traffic.t_max
      if stream.errors then
         one.faults, one.oversize = faults.config(stream, shortest, {
            fps = M.fps(ports, stream, tester.ports[from].line_rate) or 0, make = template,
         })
      end
   end
   return list
end

return M
