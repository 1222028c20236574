-- SPDX-License-Identifier: BSD-3-Clause

--- Traffic without a set end: streams that are started, stopped and given other rates while they run.
--
-- It is one trial of the engine that lasts until it is ended. All streams are in it from the beginning, idle
-- until they are started; others may be added if there is room (o.spares), and removed. To restart a stream
-- with counts of 0 and its first header values, remove it and add it again. At the end the streams are
-- stopped, frames under way are waited for, and the counts are like any trial's.
local api = require "framegauge.core.api"
local counts = require "framegauge.tester.counts"
local ffi = require "ffi"
local host = require "framegauge.tester.host"
local job = require "framegauge.core.job"
local overdue = require "framegauge.tester.overdue"
local tester_streams = require "framegauge.tester.streams"
local uv = require "luv"

local C, nanoseconds = api.C, api.nanoseconds

local ENDLESS = 0xffffffffffffffffULL -- FG_ENDLESS, which is too large for a constant of the FFI
local MANY = 1000 -- with more streams than that, variation is not measured
-- Seconds that a frame may be on its way where the phases have no drain.
local OVERDUE = 0.5

local POLL_SECONDS = 0.002
local AGAIN, NO_SPACE = -11, -28 -- EAGAIN, ENOSPC
local PLACES = 64 -- over which equal streams are spread that are added
local PATIENCE = 5 -- seconds of real time that the drain may take at most

local Live = {}
Live.__index = Live

-- The engine's configuration of a stream.
-- @return struct fg_stream_config, which needs `kept` as long as it is read
local function config_of(stream, place, measure)
   local loads, count = tester_streams.loads(stream.loads)
   local sizes, frames, kept = tester_streams.cycle(stream.cycle, stream.template)
   local values = stream.values and ffi.new("struct fg_value_fields", stream.values) or nil
   return {
      tx_port = stream.from - 1, rx_port = stream.to - 1, frame = frames[0],
      sizes = stream.cycle[2] and sizes or nil, frames = frames, load = loads,
      loads = count, idle = not stream.running, phase = stream.phase or place, measure = measure,
      faults = stream.faults, copies_of = stream.copies_of or 0, first = stream.first or 0,
      limit = stream.limit or 0, values = values,
      fields_first = stream.fields and stream.fields.first or 0,
      fields_every = stream.fields and stream.fields.every or 0,
   }, { kept, loads, values }
end

--- Begin.
-- @param tester   the open tester; it must not be running a trial
-- @param streams  list of { name =, from =, to = (indexes of ports), cycle = sizes one after the other,
--                 template = function(size), running =, loads = (framegauge.tester.streams.loads),
--                 faults = errors on purpose (framegauge.traffic.faults) or nil,
--                 copies_of = number of a stream before it whose frames are to arrive here, too, or nil,
--                 phase = by how much its first departure is put off, in times between two frames,
--                 limit = frames after which it is done, or nil,
--                 values = bits by whose values it is counted (struct fg_value_fields), or nil,
--                 fields = { first =, every = more than 1 }: which headers its frames have, of a flow
--                 that several streams send, or nil }
-- @param phases   learning and drain, seconds; silent: no port announces its addresses; max_lag: seconds a
--                 frame may be late and still be sent, unless its load says less (default: host.max_lag);
--                 values: whether streams that are added may have such;
--                 spares: how many streams may be added; then streams are measured by their plain counts,
--                 and finish() has none of single streams
function Live.start(tester, streams, phases)
   local n, spares = #streams, phases.spares or 0
   local self = setmetatable({
      tester = tester, streams = streams, count = n, phases = phases, kept = {}, added = 0, noted = {},
      retiring = {}, leaving = {}, -- by number: streams to be stopped, and then removed
   }, Live)
   local measure = n <= MANY and spares == 0 and C.FG_MEASURE_VARIATION or 0
   local array = ffi.new("struct fg_stream_config[?]", n)
   for i, stream in ipairs(streams) do
      array[i - 1], self.kept[i] = config_of(stream, (i - 1) / n, measure)
   end
   local trial = ffi.new("struct fg_trial_config", {
      streams = n, stream = array, learn_ns = nanoseconds(phases.learning), traffic_ns = ENDLESS,
      max_lag_ns = nanoseconds(phases.max_lag or tester.plan.host.max_lag), silent = phases.silent or false,
      spares = spares, values = phases.values or false,
   })
   tester.trials = tester.trials + 1
   tester:start(trial)
   tester.totals:begin(tester.engine, streams)
   self.sampled = ffi.new("struct fg_stream_live[?]", n + spares)
   return self
end

-- The engine, whose trial belongs to these streams until their end.
function Live:running()
   if self.result then
      error("the streams have ended", 0)
   end
   return self.tester.engine
end

--- Start a stream, or let it continue.
function Live:start_stream(i)
   local err = api.error()
   api.check(C.fg_engine_stream_start(self:running(), i - 1, err), err)
end

--- Stop a stream.
function Live:stop_stream(i)
   local err = api.error()
   api.check(C.fg_engine_stream_stop(self:running(), i - 1, err), err)
end

--- Give a stream another load, from now on.
-- @param load  one of framegauge.tester.streams.loads
function Live:set_load(i, load)
   local err = api.error()
   api.check(C.fg_engine_stream_load(self:running(), i - 1, tester_streams.loads { load }, err), err)
end

--- Add a stream while the others go on. Call it inside a job.
-- @param stream  as Live.start takes it, but errors on purpose; first: number of its first frame, where it
--                goes on for another one (default: 0)
-- @return its number; nil: there is no room for it
function Live:add(stream)
   local err, out = api.error(), ffi.new "unsigned[1]"
   local rc
   local fields, kept = config_of(stream, self.added % PLACES / PLACES, 0)
   local config = ffi.new("struct fg_stream_config", fields)
   repeat
      self:sweep()
      rc = C.fg_engine_stream_add(self:running(), config, out, err)
      local again = rc == AGAIN or rc == NO_SPACE and next(self.leaving) ~= nil
      if again then
         job.sleep(POLL_SECONDS)
      end
   until not again
   if rc == NO_SPACE then
      return nil
   end
   api.check(rc, err)
   self.added, self.kept[out[0] + 1] = self.added + 1, kept
   self.tester.totals:join(stream, out[0] + 1)
   return out[0] + 1
end

--- The number of streams that can be added.
function Live:room()
   local room = self.result and 0 or C.fg_engine_stream_room(self.tester.engine)
   for _ in pairs(self.leaving) do
      room = room + 1
   end
   return room
end

-- Stop a stream for good, once: another stream may get its place soon.
function Live:give_up(i)
   if not self.retiring[i] then
      local err = api.error()
      api.check(C.fg_engine_stream_retire(self:running(), i - 1, err), err)
      self.retiring[i] = true
   end
end

--- Stop a stream for good, and wait until it has stopped. Frames under way still count. Call it inside a job.
-- @return how many frames it has sent
function Live:retire(i)
   self:give_up(i)
   while not C.fg_engine_stream_retired(self:running(), i - 1) do
      job.sleep(POLL_SECONDS)
   end
   C.fg_engine_stream_live(self.tester.engine, i - 1, self.sampled + (i - 1))
   return tonumber(self.sampled[i - 1].tx_frames)
end

--- Remove a stream: it will soon stop sending and counting.
function Live:remove(i)
   self:give_up(i)
   self.leaving[i] = true
end

-- A gap shows by later arrivals. Without later arrivals, frames sent longer than the waiting time ago are
-- missing.
function Live:add_overdue(copied, after)
   local sent = {}
   for i = 1, self.count + (self.phases.spares or 0) do
      local one = self.sampled[i - 1]
      sent[i] = tonumber(one.tx_frames - one.tx_wrong)
   end
   local drain = self.phases.drain or OVERDUE
   for i, frames in pairs(overdue(self.noted, sent, after, copied, drain) or {}) do
      local one = self.sampled[i - 1]
      one.missing = math.max(tonumber(one.missing), frames - tonumber(one.rx_frames))
   end
end

-- Another stream has this place now.
function Live:forget_sent(i)
   for _, one in ipairs(self.noted) do
      one.sent[i] = nil
   end
end

-- Free the places of streams that are to be removed and have stopped.
function Live:sweep()
   for i in pairs(self.leaving) do
      if C.fg_engine_stream_retired(self:running(), i - 1) then
         self.tester.totals:leave(i)
         local err = api.error()
         api.check(C.fg_engine_stream_forget(self:running(), i - 1, err), err)
         self:forget_sent(i)
         self.leaving[i], self.retiring[i] = nil, nil
      end
   end
end

--- Seconds since the beginning, in the tester's time.
-- @return now, and when the oldest of the receivers' counts was copied
function Live:elapsed()
   local live = ffi.new("struct fg_live")
   C.fg_engine_live(self.tester.engine, live)
   return tonumber(live.elapsed_ns) / 1e9, tonumber(live.copied_ns) / 1e9
end

--- Counts of all streams now; 0 for absent streams.
-- @return array of struct fg_stream_live from 0, ours until the next call, and the time of them
function Live:sample()
   if not self.result then
      self:sweep()
   end
   local before, copied = self:elapsed()
   for i = 0, self.count + (self.phases.spares or 0) - 1 do
      C.fg_engine_stream_live(self.tester.engine, i, self.sampled + i)
   end
   local after = self:elapsed()
   self:add_overdue(copied, after)
   return self.sampled, (before + after) / 2
end

--- All frames that a port has received in the running or last trial, of any kind.
-- @param tester  the open tester
-- @param i      index of the port
-- @return { rx = frames, rx_bytes = with FCS, link = whether it is up now }
function Live.port(tester, i)
   local raw = ffi.new("struct fg_port_live")
   C.fg_engine_port_live(tester.engine, i - 1, raw)
   return { rx = tonumber(raw.rx_frames), rx_bytes = tonumber(raw.rx_octets), link = raw.link_up }
end

--- Take the link of a port down, or allow it up.
-- @return true; or nil and why not
function Live.set_link(tester, i, up)
   local err = api.error()
   if not up and tester.handles[i] then
      host.note_link(tester.handles, tester.plan.ports[i])
   end
   local result, why = api.try(C.fg_port_set_link(tester.handles[i], up, err), err)
   return result ~= nil or nil, why
end

--- The received frames of a stream by their values, also after its end.
-- @return array of struct fg_value, which the next call overwrites, its length, and the count of frames with
-- other values
function Live:values(i)
   local max = C.FG_MAX_VALUES
   self.found = self.found or ffi.new("struct fg_value[?]", max + 1)
   return self.found, C.fg_engine_values(self.tester.engine, i - 1, self.found, max, self.found + max),
      self.found[max]
end

--- Delays of a stream now, of all its frames since the beginning, ns.
-- @return { p50_ns =, p99_ns =, p999_ns =, jitter_ns = (RFC 3550) or nil where it is not measured }
function Live:delays(i)
   local raw = ffi.new("struct fg_stream_delays")
   C.fg_engine_stream_delays(self.tester.engine, i - 1, raw)
   return {
      p50_ns = tonumber(raw.p50_ns), p99_ns = tonumber(raw.p99_ns), p999_ns = tonumber(raw.p999_ns),
      jitter_ns = raw.jitter_ns >= 0 and raw.jitter_ns or nil,
   }
end

-- RFC 3550, at the end of the stream; nil where it was not measured.
function Live:jitter(i)
   local result = ffi.new("struct fg_stream_result")
   C.fg_engine_stream_result(self.tester.engine, i - 1, result)
   return result.variation.pairs > 0 and result.variation.jitter or nil
end

--- Stop all streams, wait for frames under way, and end. Call it inside a job; may be called twice.
-- @return counts by stream and port, as of a trial (framegauge.tester)
function Live:finish()
   if self.result then
      return self.result
   end
   local dynamic = (self.phases.spares or 0) > 0
   for i = 1, dynamic and 0 or self.count do -- else the owner of added streams has stopped them
      self:stop_stream(i)
   end
   local waited, why = pcall(function()
      local over, latest = self:elapsed() + self.phases.drain, uv.hrtime() + PATIENCE * 1e9
      while self:elapsed() < over and uv.hrtime() < latest do
         job.sleep(POLL_SECONDS)
      end
   end)
   local seconds = self:elapsed()
   C.fg_engine_stop(self.tester.engine)
   C.fg_engine_poll(self.tester.engine)
   if not waited then
      error(why, 0)
   end
   local lcores = counts.lcores(self.tester.engine, self.tester.lcores)
   local streams = dynamic and {} or counts.directions(self.tester.engine, self.streams, {
      duration = seconds, ports = self.tester.ports, tags = 0, on_wire = self.tester.wires ~= nil,
   })
   if dynamic then
      self.tester.totals:leave_all()
   end
   for i, stream in ipairs(self.count <= MANY and streams or {}) do
      stream.jitter_ns = self:jitter(i)
   end
   local ports = counts.ports(self.tester.engine, self.tester.ports)
   self.tester.totals:finish(streams, ports, lcores)
   self.result = { seconds = seconds, streams = streams, ports = ports, lcores = lcores }
   return self.result
end

return Live
