-- SPDX-License-Identifier: BSD-3-Clause

--- Traffic without a set end: streams that are started, stopped and given other rates while they run.
--
-- It is one trial of the engine that lasts until it is ended. All streams are in it from the beginning,
-- those that do not run are idle. At the end they are stopped, what is on its way is waited for, and then
-- the counts are those of any trial.
local api = require "framegauge.core.api"
local counts = require "framegauge.tester.counts"
local ffi = require "ffi"
local job = require "framegauge.core.job"
local tester_streams = require "framegauge.tester.streams"
local uv = require "luv"

local C = api.C

local ENDLESS = 0xffffffffffffffffULL -- FG_ENDLESS, which is too large for a constant of the FFI
local MANY = 1000 -- of more streams than that, variation is not measured
local POLL_SECONDS = 0.002
local PATIENCE = 5 -- seconds of real time that the drain may take at most

local Live = {}
Live.__index = Live

local function nanoseconds(seconds)
   return math.floor(seconds * 1e9 + 0.5)
end

--- Begin.
-- @param bench    the open bench; it must not be running a trial
-- @param streams  list of { name =, from =, to = (indexes of ports), cycle = sizes one after the other,
--                 template = function(size), running =, loads = (framegauge.tester.streams.loads),
--                 faults = errors on purpose (framegauge.traffic.faults) or nil }
-- @param phases   learning and drain, seconds
function Live.start(bench, streams, phases)
   local n = #streams
   local self = setmetatable({
      bench = bench, streams = streams, count = n, phases = phases, kept = {},
   }, Live)
   local array = ffi.new("struct fg_stream_config[?]", n)
   for i, stream in ipairs(streams) do
      local loads, count = tester_streams.loads(stream.loads)
      local sizes, frames, kept = tester_streams.cycle(stream.cycle, stream.template)
      self.kept[i] = { kept, loads }
      array[i - 1] = {
         tx_port = stream.from - 1, rx_port = stream.to - 1, frame = frames[0],
         sizes = stream.cycle[2] and sizes or nil, frames = frames, load = loads,
         loads = count, idle = not stream.running, phase = (i - 1) / n,
         measure = n <= MANY and C.FG_MEASURE_VARIATION or 0, faults = stream.faults,
      }
   end
   local trial = ffi.new("struct fg_trial_config", {
      streams = n, stream = array, learn_ns = nanoseconds(phases.learning), traffic_ns = ENDLESS,
      max_lag_ns = nanoseconds(bench.plan.host.max_lag),
   })
   bench.trials = bench.trials + 1
   bench:start(trial)
   self.sampled, self.engine = ffi.new("struct fg_stream_live[?]", n), bench.engine
   return self
end

--- Let a stream begin, or go on.
function Live:start_stream(i)
   local err = api.error()
   api.check(C.fg_engine_stream_start(self.engine, i - 1, err), err)
end

--- Let a stream send no more.
function Live:stop_stream(i)
   local err = api.error()
   api.check(C.fg_engine_stream_stop(self.engine, i - 1, err), err)
end

--- Give a stream another load, from now on.
-- @param load  one of those of framegauge.tester.streams.loads
function Live:set_load(i, load)
   local err = api.error()
   api.check(C.fg_engine_stream_load(self.engine, i - 1, tester_streams.loads { load }, err), err)
end

--- Seconds since the beginning, in the bench's time.
function Live:elapsed()
   local live = ffi.new("struct fg_live")
   C.fg_engine_live(self.engine, live)
   return tonumber(live.elapsed_ns) / 1e9
end

--- Counts of all streams now.
-- @return array of struct fg_stream_live from 0, ours until the next call, and the time of them
function Live:sample()
   local before = self:elapsed()
   for i = 0, self.count - 1 do
      C.fg_engine_stream_live(self.engine, i, self.sampled + i)
   end
   return self.sampled, (before + self:elapsed()) / 2
end

--- Delays of a stream now, of all its frames since the beginning, ns.
-- @return { p50_ns =, p99_ns =, p999_ns =, jitter_ns = (RFC 3550) or nil where it is not measured }
function Live:delays(i)
   local raw = ffi.new("struct fg_stream_delays")
   C.fg_engine_stream_delays(self.engine, i - 1, raw)
   return {
      p50_ns = tonumber(raw.p50_ns), p99_ns = tonumber(raw.p99_ns), p999_ns = tonumber(raw.p999_ns),
      jitter_ns = raw.jitter_ns >= 0 and raw.jitter_ns or nil,
   }
end

-- RFC 3550, at the end of the stream; nil where it was not measured.
function Live:jitter(i)
   local result = ffi.new("struct fg_stream_result")
   C.fg_engine_stream_result(self.engine, i - 1, result)
   return result.variation.pairs > 0 and result.variation.jitter or nil
end

--- Stop all streams, wait for what is on its way, and end. Call it inside a job.
-- @return counts by stream and port, as of a trial (framegauge.tester)
function Live:finish()
   for i = 1, self.count do
      self:stop_stream(i)
   end
   local waited, why = pcall(function()
      local over, latest = self:elapsed() + self.phases.drain, uv.hrtime() + PATIENCE * 1e9
      while self:elapsed() < over and uv.hrtime() < latest do
         job.sleep(POLL_SECONDS)
      end
   end)
   local seconds = self:elapsed()
   C.fg_engine_stop(self.engine)
   C.fg_engine_poll(self.engine)
   if not waited then
      error(why, 0)
   end
   local lcores = counts.lcores(self.engine, self.bench.lcores)
   local streams = counts.directions(self.engine, self.streams, {
      duration = seconds, ports = self.bench.ports, tags = 0, on_wire = self.bench.wires ~= nil,
      lcores = lcores,
   })
   for i, stream in ipairs(streams) do
      stream.jitter_ns = self:jitter(i)
   end
   return {
      seconds = seconds,
      streams = streams,
      ports = counts.ports(self.engine, self.bench.ports),
      lcores = lcores,
   }
end

return Live
