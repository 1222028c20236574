-- SPDX-License-Identifier: BSD-3-Clause

--- Replay: a capture sent again from a port of a tester, as a trial.
--
--    local replay = require("framegauge.replay").open(tester, {
--       port = "east", file = "site.pcapng", speed = "2x", verify = "west",
--       rewrite = { destination_mac = "02:00:00:00:00:01", networks = { "10.0.0.0/8=198.18.0.0/8" } },
--    })
--    local result = replay:run()
--    replay:close()
--
-- The file is read through when it is opened, so a broken one is refused before anything is sent. One that
-- fits the memory is sent from there, a larger one is read while it is sent. The port sends nothing else.
local api = require "framegauge.core.api"
local arguments = require "framegauge.plan.arguments"
local counts = require "framegauge.tester.counts"
local ffi = require "ffi"
local pace = require "framegauge.tester.replay.pace"
local remarks = require "framegauge.tester.replay.remarks"
local rewrite = require "framegauge.tester.replay.rewrite"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local C = api.C
local M = {}

local Replay = {}
Replay.__index = Replay

-- The arguments of open().
local ROWS = {
   { "port", "string" }, { "file", "string", required = true }, { "speed", "string" }, { "rate", "rate" },
   { "loops", "integer", min = 0 }, { "duration", "time", min = 1e-6 }, { "memory", "size", min = 1 },
   { "fcs", { "auto", "strip", "keep" } }, { "rewrite", "table" }, { "verify", "string" },
}

local RUN_ROWS = { { "drain", "time" }, { "look", "function" } }

local BAD_INPUT = 2
local ENDLESS = 0xffffffffffffffffULL -- FG_ENDLESS
local LONGEST = 100 * 86400 -- seconds that a replay may take, which fit the clock twice
local END = LONGEST * 1000000000ULL -- ns
local SLIPS = 10 -- seconds, on the wire
local DRAIN = 0.5 -- seconds

local COUNTS = {
   "frames", "octets", "last_octets", "oversize", "truncated", "refused", "no_mbuf", "starved", "slips",
   "slipped_ns", "first_ns", "last_ns",
}
local FACTS = {
   "frames", "octets", "last_octets", "duration_ns", "oversize", "truncated", "times_back", "times_anew",
   "gap_max_ns", "gap_frame", "too_short", "wrong_length", "fcs_removed",
}
local FCS = { auto = C.FG_REPLAY_FCS_AS_SAID, strip = C.FG_REPLAY_FCS_REMOVE, keep = C.FG_REPLAY_FCS_KEEP }
local VERIFIED = { "sent", "same", "reordered", "duplicates", "talk", "unchecked" }

-- Whatever is wrong with the capture is the caller's.
local function check(rc, err)
   local ok, why = pcall(api.check, rc, err)
   if not ok then
      api.raise_refused(why)
      user_error.raise("replay", BAD_INPUT, "replay: %s", tostring(why))
   end
end

local function port_of(tester, name, default)
   local port, message = tester:port_index(name or tester.ports[default].name)
   if not port then
      user_error.raise("replay", BAD_INPUT, "replay: %s", message)
   end
   return port
end

local function open_verify(self, values)
   if not values.verify then
      return
   end
   self.receiver = port_of(self.tester, values.verify)
   if self.receiver == self.port then
      user_error.raise("replay", BAD_INPUT, "replay: verify: %s is the port that sends", values.verify)
   end
   local err, out = api.error(), ffi.new("struct fg_verify *[1]")
   local config = ffi.new("struct fg_verify_config", { patient = self.tester.wires ~= nil })
   api.check(C.fg_verify_create(config, out, err), err)
   self.verify = out[0]
end

-- Networks with the addresses of each that were found in the file.
local function found(raw, networks)
   return tables.map(networks, function(text, i)
      return { network = tostring(text), addresses = tonumber(raw.rewritten.moved[i - 1]) }
   end)
end

local function facts_of(handle, networks)
   local raw = ffi.new("struct fg_replay_facts")
   C.fg_replay_get_facts(handle, raw)
   local facts = api.numbers(raw, FACTS, { streams = raw.streams })
   facts.unmoved, facts.networks = tonumber(raw.rewritten.unmoved), found(raw, networks)
   return facts
end

local function open_file(self, values)
   local tester, err, out = self.tester, api.error(), ffi.new("struct fg_replay *[1]")
   local config = ffi.new("struct fg_replay_config", {
      path = values.file, pace = self.pace, speed = self.number, loops = self.loops,
      memory = values.memory or 0, fcs = FCS[values.fcs or "auto"], max_frame = tester.max_frame,
      max_lag_ns = tester.plan.host.max_lag * 1e9, verify = self.verify, patient = tester.wires ~= nil,
      facts_only = not tester.engine, -- of a dry run
   })
   rewrite.fill(config.rewrite, values.rewrite or {})
   check(C.fg_replay_open(config, out, err), err)
   self.handle = out[0]
   self.facts = facts_of(self.handle, (values.rewrite or {}).networks or {})
   pace.check(self, tester.ports[self.port])
end

local function refuse_endless(self)
   local seconds, pause = self:seconds(), remarks.pause(self.facts)
   if seconds > LONGEST then
      user_error.raise("replay", BAD_INPUT, "replay: this takes %s, and 100 days is the longest; give a duration%s", units.format_time(seconds),
         pause and self.pace == C.FG_REPLAY_RECORDED and (" or a rate (%s)"):format(pause) or "")
   end
end

--- Open a capture.
-- @param tester      an open tester (framegauge.tester); larger frames than its max_frame are left out
-- @param o.port      name of the port that sends (default: the first)
-- @param o.file      pcap or pcapng, of Ethernet
-- @param o.speed     "2x": twice as fast as it was recorded (default: 1x); or
-- @param o.rate      frames per second (1Mfps, or a number), bits per second of layer 1 or 2 (5Gbps L2), or
--                    a share of the line (40%)
-- @param o.loops     how often it is sent (default: 1); 0: until the duration is over
-- @param o.duration  nothing is sent that is due later (default: no end)
-- @param o.memory    bytes of frames that may be read beforehand (default: 256MiB)
-- @param o.fcs       "auto": the FCS of frames is not sent where the file says that it has one (default);
--                    "strip": all frames have one; "keep": what stands there is sent as payload
-- @param o.rewrite   see framegauge.tester.replay.rewrite
-- @param o.verify    name of the port where the same frames must arrive in the same order
-- @return the replay: facts (frames, octets, last_octets, duration_ns; oversize, too_short and wrong_length:
--         left out; truncated, fcs_removed, streams; times_back: frames whose time is before one ahead of
--         them, times_anew: frames whose time goes back by 128 ms or more, where the recorded distances go
--         on; gap_max_ns: the longest time without a frame, gap_frame: the frame that ends it; unmoved:
--         frames in which no address moved to another network, networks: { network =, addresses = that
--         moved }), pace in words, and the methods run, counts, close. What is wrong raises an error with a
--         status.
-- @usage local site = replay.open(tester, { port = "east", file = recorded, speed = "2x" })
-- local frames = site.facts.frames site:close()
-- return frames --> 100
function M.open(tester, o)
   local values = arguments.read("replay", o, ROWS)
   local self = setmetatable({
      tester = tester, port = port_of(tester, values.port, 1), loops = values.loops or 1,
      duration = values.duration,
   }, Replay)
   if self.loops == 0 and not self.duration then
      user_error.raise("replay", BAD_INPUT, "replay: loops without end need a duration")
   end
   self.pace, self.number, self.words = pace.of(values.speed, values.rate, tester.ports[self.port].line_rate)
   self.texts = values -- the C side keeps pointers into them
   local ok, why = pcall(function()
      open_verify(self, values)
      open_file(self, values)
      refuse_endless(self)
   end)
   if not ok then
      self:close()
      error(why, 0)
   end
   return self
end

--- Seconds that it will take, the rests before and after left out.
-- @usage local site = replay.open(tester, { file = recorded, rate = "1kfps", loops = 3 })
-- local seconds = site:seconds() site:close()
-- return seconds --> 0.3
function Replay:seconds()
   local seconds = pace.load(self.pace, self.number, self.facts)
   local all = self.loops > 0 and seconds * self.loops or math.huge
   return math.min(all, self.duration or math.huge)
end

local function raw_counts(self)
   local raw = ffi.new("struct fg_replay_counts")
   C.fg_replay_get_counts(self.handle, raw)
   return raw
end

--- What was sent so far: frames, octets (with FCS), last_octets (of the last frame), oversize and truncated
-- frames, how often the port refused a frame, no buffer was free, the file was not read yet (starved), the
-- schedule slipped and by how many ns, done (all was sent), behind (percentiles of the time behind the
-- schedule: p50_ns, p99_ns, p999_ns, max_ns), and verified. Exact after run().
-- @usage local site = replay.open(tester, { file = recorded })
-- local counts = site:counts() site:close()
-- return counts.frames, counts.done --> 0 false
function Replay:counts()
   local raw = raw_counts(self)
   local out = api.numbers(raw, COUNTS, { done = raw.done })
   out.behind = api.numbers(raw, {
      p50_ns = "error_p50_ns", p99_ns = "error_p99_ns", p999_ns = "error_p999_ns", max_ns = "error_max_ns",
   })
   out.verified = self:verified(out.frames)
   return out
end

--- Time behind the schedule that a share of the frames kept to, ns. After run().
-- @param share  0 to 1
-- @usage local site = replay.open(tester, { file = recorded })
-- site:run()
-- local most = site:behind(1) site:close()
-- return most --> 0
function Replay:behind(share)
   return tonumber(C.fg_replay_error_ns(self.handle, share))
end

--- What the verification found so far; nil without one.
-- @return same (frames that arrived as they were sent), lost, reordered, duplicates, unsolicited (changed, or
-- of
--         somebody else), talk (ARP and the like), unchecked; and whole: all arrived, unchanged, in order
-- @usage local site = replay.open(tester, { file = recorded, verify = "west" })
-- site:run()
-- local whole = site:verified(site:counts().frames).whole site:close()
-- return whole --> true
function Replay:verified(frames)
   if not self.verify then
      return nil
   end
   local raw = ffi.new("struct fg_verify_counts")
   C.fg_verify_get_counts(self.verify, raw)
   local out = api.numbers(raw, VERIFIED)
   out.unsolicited = tonumber(raw.foreign)
   out.sent = frames -- those noted and then not taken by the port were not sent
   out.lost = frames - out.same
   out.whole = out.lost == 0 and out.reordered + out.duplicates + out.unsolicited + out.unchecked == 0
   return out
end

local function put_in_place(self, start)
   local tester, err = self.tester, api.error()
   local place = ffi.new("struct fg_replay_place", {
      port = tester.handles[self.port], start_ns = start,
      end_ns = start + (self.duration and api.nanoseconds(self.duration) or END),
   })
   C.fg_engine_clock(tester.engine, place.clock)
   check(C.fg_replay_start(self.handle, place, err), err)
end

-- How long the trial may last, ns. Where time keeps step with the world it is ended when all is sent; time
-- that runs free must come to an end of its own, and that is what makes it repeatable.
local function longest(self)
   if self.duration then
      return api.nanoseconds(self.duration)
   elseif self.tester.wires then
      return math.floor((math.min(2 * self:seconds(), LONGEST) + SLIPS) * 1e9)
   end
   return ENDLESS
end

-- Ends the trial when all is sent and the drain is over.
local function watch(self, drain, look)
   local free, ended = self.tester.time == C.FG_TIME_WIRE_FREE, nil
   return function()
      look()
      if not ended and not free and raw_counts(self).done then
         ended = uv.hrtime()
      end
      return ended and (uv.hrtime() - ended) / 1e9 >= drain
   end
end

local function trial(self, drain, look)
   local tester, task = self.tester, ffi.new("struct fg_trial_task[1]")
   task[0].task, task[0].port = C.fg_replay_task(self.handle), self.port - 1
   local config = ffi.new("struct fg_trial_config", {
      tasks = 1, task = task, traffic_ns = longest(self),
      drain_ns = math.floor(drain * 1e9), max_lag_ns = tester.plan.host.max_lag * 1e9,
   })
   if self.verify then
      config.tap[self.receiver - 1] = C.fg_verify_tap(self.verify)
   end
   tester.trials = tester.trials + 1
   tester:start(config, function(start)
      put_in_place(self, start)
   end)
   tester:await(watch(self, drain, look))
end

--- Send it, and wait until all has had the time to arrive.
-- @param o.drain  seconds that frames may still arrive after the last was sent (default: 0.5)
-- @param o.look   called now and then while it runs (default: nobody looks)
-- @return as counts(), and ports: what each port counted (framegauge.tester.counts). Raises
--         {interrupted = true} when the job is interrupted; counts() then still says how far it came.
-- @usage local site = replay.open(tester, { file = recorded, verify = "west" })
-- local result = site:run { drain = "100ms" } site:close()
-- return result.frames, result.verified.lost --> 100 0
function Replay:run(o)
   local tester, err = self.tester, api.error()
   local values = arguments.read("replay:run", o or {}, RUN_ROWS)
   if self.verify then
      api.check(C.fg_verify_start(self.verify, err), err)
   end
   local ok, why = pcall(trial, self, values.drain or DRAIN, values.look or function() end)
   if self.verify then
      C.fg_verify_finish(self.verify)
   end
   if not ok then
      error(why, 0)
   end
   check(C.fg_replay_failure(self.handle, err), err)
   local result = self:counts()
   result.ports = counts.ports(tester.engine, tester.ports)
   return result
end

--- Close the file. May be called twice; not while it runs.
-- @usage local site = replay.open(tester, { file = recorded }) site:close() site:close()
function Replay:close()
   C.fg_replay_close(self.handle)
   C.fg_verify_free(self.verify)
   self.handle, self.verify = nil, nil
end

return M
