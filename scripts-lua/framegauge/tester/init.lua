-- SPDX-License-Identifier: BSD-3-Clause

--- The tester: a plan's ports, opened, with an engine behind them, as test methods use it.
--
-- It makes the complete configuration of a trial from the plan, and returns the trial's counts as plain
-- tables. A tester is used inside a job, because trials take time.
local api = require "framegauge.core.api"
local arguments = require "framegauge.plan.arguments"
local card = require "framegauge.tester.card"
local counts = require "framegauge.tester.counts"
local ethernet = require "framegauge.core.ethernet"
local ffi = require "ffi"
local gateways = require "framegauge.tester.gateways"
local host = require "framegauge.tester.host"
local job = require "framegauge.core.job"
local members = require "framegauge.tester.members"
local overdue = require "framegauge.tester.overdue"
local mixes = require "framegauge.core.mixes"
local modifiers = require "framegauge.traffic.modifiers"
local octets = require "framegauge.core.octets"
local placement = require "framegauge.tester.placement"
local streams = require "framegauge.tester.streams"
local Totals = require "framegauge.tester.totals"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"
local wires = require "framegauge.tester.wires"

local C, nanoseconds = api.C, api.nanoseconds

local POLL_SECONDS = 0.001 -- how often a running trial is polled
local DRAIN, ANNOUNCEMENT_DRAIN = 0.5, 0.1 -- s: where a trial sets none; after an announcement to a bridge
local TSC_BUFFERS = 8192 -- per stream on ports that copy or queue what they send

local TIMES = {
   [C.FG_TIME_TSC] = "tsc", [C.FG_TIME_WIRE_REAL] = "wire-real", [C.FG_TIME_WIRE_FREE] = "wire-free",
}

-- The arguments of open() and trial().
local OPEN_ROWS = { { "max_frame", "size", min = 64 }, { "frame_sizes", "table" }, { "unasked", "boolean" } }
local TRIAL_ROWS = {
   { "frame_size", "frame_size" }, { "directions", "table" }, { "fps", "frame_rate" }, { "duration", "time" },
   { "loads", "table" }, { "burst", "table" }, { "streams", "table" }, { "tags", "table" },
   { "modifier", "string" }, { "outage", "table" }, { "max_lag", "time" }, { "management", "table" },
   { "learning_wait", "time" }, { "drain", "time" }, { "settle", "time" }, { "silent", "boolean" },
   { "broadcast", "boolean" }, { "patient", "boolean" }, { "gap", "integer" }, { "stagger", "table" },
   { "stations", "table" }, { "members", "table" }, { "continues", "boolean" },
   { "taps", "table" }, { "addresses", "table" },
}

local Tester = {}
Tester.__index = Tester

-- All ports of the plan, with their links up.
function Tester:open_ports()
   if self.plan.reference_device or self.plan.reference_switch then
      self.wires = wires.open(self.plan, self.frame_sizes)
      self.handles, self.buffers = self.wires.handles, self.wires.buffers
      return
   end
   self.buffers = TSC_BUFFERS
   host.open(self.handles, self.plan.ports, self.max_frame)
end

local function engine_port(plan_port, handle, mac, place)
   local c = ffi.new("struct fg_engine_port", { port = handle, queues = #place })
   for queue, lcore in ipairs(place) do
      c.tx_lcore[queue - 1], c.rx_lcore[queue - 1] = lcore.tx, lcore.rx
   end
   ffi.copy(c.mac, mac, 6)
   c.vlan = plan_port.vlan or 0
   for key, parse in pairs {
      ipv4 = octets.ipv4, gateway4 = octets.ipv4, ipv6 = octets.ipv6, gateway6 = octets.ipv6,
   } do
      if plan_port[key] then
         local address = parse(plan_port[key])
         c["has_" .. key] = true
         ffi.copy(c[key], address, #address)
      end
   end
   return c
end

-- The engine on the open ports; each gets its lcores.
function Tester:create_engine()
   local err, out = api.error(), ffi.new("struct fg_engine *[1]")
   local places, workers, notes = placement.place(self.ports, self.wires ~= nil,
      self.plan.needs.one_lcore_a_port)
   local config = ffi.new("struct fg_engine_config", {
      time = self.time, ports = #self.ports, lcores = #workers, buffers = self.buffers,
      max_frame = self.max_frame,
   })
   for i, worker in ipairs(workers) do
      config.lcore[i - 1] = worker
   end
   for i, port in ipairs(self.ports) do
      port.notes = notes[i]
      config.port[i - 1] = engine_port(self.plan.ports[i], self.handles[i], octets.mac(port.mac), places[i])
   end
   api.check(C.fg_engine_create(config, out, err), err)
   self.engine, self.lcores = out[0], #workers
end

-- Wait for the trial; if the wait ends early for any reason, the trial ends, too.
-- @param look  called regularly meanwhile; ends the trial by returning true. Default: none
function Tester:await(look)
   local ok, why = pcall(function()
      while C.fg_engine_poll(self.engine) == C.FG_ENGINE_RUNNING do
         if look and look() then
            C.fg_engine_stop(self.engine)
         else
            job.sleep(POLL_SECONDS)
         end
      end
   end)
   self.running = nil
   if not ok then
      self.totals:drop()
      C.fg_engine_stop(self.engine)
      C.fg_engine_poll(self.engine)
      error(why, 0)
   end
end

-- Does a trial run? A caller that does not await() its end must call this regularly: it polls the links.
function Tester:is_running()
   return C.fg_engine_poll(self.engine) == C.FG_ENGINE_RUNNING
end

-- Start a trial; await() waits for its end.
-- @param trial    struct fg_trial_config
-- @param arrange  called with the time traffic will start at (ns of the engine, uint64_t) before anything
--                 happens; or nil
-- @param continues, draw  of the reference device: as the trial before left it, not idle; number of its draws
-- @param gap      bytes between frames, less than the standard's; or nil
function Tester:start(trial, arrange, continues, draw, gap)
   local err, start = api.error(), ffi.new("uint64_t[1]")
   if self:is_running() then
      user_error.raise("tester", 2,
         "the ports are busy with another trial, or with streams that were started")
   elseif self.wires and not continues then
      self.wires:reset(draw or self.trials)
   end
   if gap then -- before senders are made: they space their frames by it
      self.wires:set_gap(gap)
   end
   api.check(C.fg_engine_prepare(self.engine, trial, start, err), err)
   if arrange then
      arrange(start[0])
   end
   C.fg_engine_start(self.engine)
end

-- Can ports leave less than 12 bytes between frames?
function Tester:can_set_gap()
   return self.wires ~= nil and self.wires.set_gap ~= nil
end

-- Settings of the wires before a trial, or nil. @param o  as trial() takes it
function Tester:arrange(o)
   return o.outage and function(start)
      local from = start + nanoseconds(o.outage.at)
      self.wires:outage(from, from + nanoseconds(o.outage.seconds))
   end
end

-- Let a tap see every frame that a port receives from now on, in trials and between them.
-- @param port  its number
-- @param tap   struct fg_tap *; nil: no tap any more
function Tester:tap(port, tap)
   local err = api.error()
   self.taps[port] = tap
   if tap then
      api.check(C.fg_engine_tap(self.engine, port - 1, tap, err), err)
   elseif not self.closed then
      C.fg_engine_untap(self.engine, port - 1)
   end
end

--- Number of the port of a name, or nil and a sentence that names the existing ports.
-- @usage tester:port_index "west" --> 2
function Tester:port_index(name)
   local names = {}
   for i, port in ipairs(self.ports) do
      if port.name == name then
         return i
      end
      names[i] = port.name
   end
   return nil, ("there is no port '%s'; there is %s"):format(tostring(name), table.concat(names, ", "))
end

-- MAC of a port's gateway for an IP version, six bytes; nil while the gateway has not replied.
function Tester:gateway_mac(i, version)
   return gateways.mac(self, i, version)
end

--- Open a plan's ports and start the engine on them.
-- @param plan  a loaded plan (framegauge.plan)
-- @param o.frame_sizes  bytes with FCS of all frames, or o.max_frame: of the largest; default: the method's
-- @param o.unasked    do not ask gateways for their addresses: for those who only listen
-- @return the tester, or nil and an error object (status, tostring)
-- @usage local mine = "test: rfc2544\nports: {a: {device: wire0}, b: {device: wire1}}"
-- local loaded = plan.load_text(mine, "mine")
-- local other = Tester.open(loaded, { max_frame = 1518 })
-- local name = other.ports[1].name other:close()
-- return name --> a
function Tester.open(plan, o)
   o = arguments.read("tester.open", o or {}, OPEN_ROWS)
   local tester = setmetatable({ plan = plan, handles = {}, ports = {}, taps = {}, trials = 0,
      totals = Totals.new() }, Tester)
   tester.frame_sizes = o.max_frame and { ethernet.MIN_FRAME, o.max_frame } or o.frame_sizes
      or plan.needs.frame_sizes
   tester.max_frame = tables.max(tester.frame_sizes)
   local device = plan.reference_device or plan.reference_switch
   tester.time = not device and C.FG_TIME_TSC
      or device.time == "free" and C.FG_TIME_WIRE_FREE
      or C.FG_TIME_WIRE_REAL
   tester.clock = TIMES[tester.time]
   local ok, err = pcall(function()
      host.start(plan)
      tester:open_ports()
      for i, port in ipairs(plan.ports) do
         tester.ports[i] = card.describe(port, tester.handles[i])
      end
      tester:create_engine()
      if not o.unasked then
         gateways.resolve(tester)
      end
   end)
   if not ok then
      tester:close()
      return nil, err
   end
   return tester
end

-- A closed tester: objects made from it still refer to it, and would pass a freed engine to C.
local Closed = {}
function Closed.__index(_, key)
   if key == "engine" then
      error("the tester is closed", 0)
   end
   return Tester[key]
end

--- Stop the engine and close the ports. May be called twice; any later use of the ports raises an error.
-- @usage tester:close() tester:close()
function Tester:close()
   if self.closed then
      return
   end
   self.totals:drop()
   C.fg_engine_free(self.engine)
   self.engine, self.closed = nil, true
   if self.wires then
      self.wires:close()
   else
      host.close(self.handles)
   end
   self.wires, self.handles = nil, {}
   setmetatable(self, Closed)
end

-- Let time of the tester pass; the device keeps its state.
function Tester:pause(seconds)
   local config = ffi.new("struct fg_trial_config", { drain_ns = nanoseconds(seconds), silent = true })
   self:start(config, nil, true)
   self:await()
end

--- Highest frame rate of the slowest port's line, or nil when a port does not know its rate.
-- @param frame_size  bytes with FCS
-- @usage tester:max_fps(64) --> 1,488,095
function Tester:max_fps(frame_size)
   return ethernet.slowest_fps(self.ports, frame_size)
end

-- Announce the stations behind every port to a bridge.
function Tester:announce_stations(o)
   local list, seconds = streams.announcements(self, o)
   self:start(ffi.new("struct fg_trial_config", {
      streams = list.count,
      stream = list.array,
      traffic_ns = nanoseconds(seconds),
      drain_ns = nanoseconds(ANNOUNCEMENT_DRAIN),
      max_lag_ns = nanoseconds(self.plan.host.max_lag),
   }))
   self.running = { duration = seconds, streams = list, drain = ANNOUNCEMENT_DRAIN, sent = {} }
   self:await()
end

-- The streams of a trial: the engine's list, their descriptions (counts.lua), and their length in seconds.
function Tester:streams_of(o)
   local described = {}
   if o.streams then
      local list, seconds = streams.given(self, o.streams)
      for i, stream in ipairs(o.streams) do
         described[i] = {
            name = stream.name, from = list.array[i - 1].tx_port + 1,
            to = list.array[i - 1].rx_port + 1, fps = streams.mean_fps(stream.loads, seconds),
            uneven = streams.is_uneven(stream), sends_s = streams.seconds_of(stream),
            exact = stream.limit ~= nil, by_count = streams.is_by_count(stream),
            over_time = stream.over_time, marks = stream.marks,
            measure = stream.measure, errors = stream.errors, unmeasured = stream.unmeasured,
         }
      end
      return list, described, seconds
   end
   local loads, n, seconds, share_of_test = streams.loads_of_trial(o)
   local list, turns = streams.of_trial(self, o, loads, n)
   for i, name in ipairs(o.directions) do
      local share = turns[i].share * share_of_test
      described[i] = {
         name = name, from = list.array[i - 1].tx_port + 1, to = list.array[i - 1].rx_port + 1,
         fps = o.loads and o.loads[1].fps or o.fps,
         share = share < 1 and share or nil, measure = o.broadcast and {} or nil,
         uneven = mixes.CYCLES[o.frame_size] ~= nil,
      }
   end
   return list, described, seconds
end

--- Run one trial and wait for its end.
-- @param o.frame_size   bytes with FCS, or a mix of sizes by its name (framegauge.core.mixes)
-- @param o.directions   list of "east->west"; those that start from one port take turns in its load
-- @param o.fps          frames per second of each port that sends, constant ...
-- @param o.duration     ... for this many seconds, in the tester's time
-- @param o.loads        or several loads in a row: list of { fps =, seconds = }
-- @param o.burst        send fps in bursts at the rate of the line: { frames =, interval_frames = from the
--                       first frame of one to the next one's, in frame times }; or nil
-- @param o.streams      or, instead of all of these, streams of the method's own making, each with its loads
--                       (framegauge.tester.streams); the trial lasts as long as the longest of them
-- @param o.tags         frames whose delay is kept by itself: { first =, every = seconds, count = at most
--                       10,000 of a stream }; or nil
-- @param o.modifier     what makes the stream other than the plain one (framegauge.traffic.modifiers); or nil
-- @param o.management   what the modifier management-frames asks for: { community =, interface = }
-- @param o.max_lag      how late a frame of fps or loads may be and still be sent, seconds; nil: as late as
--                       the plan's host.max_lag
-- @param o.outage       of the reference device, { at =, seconds = } from the start of traffic; or nil
-- @param o.learning_wait, o.settle  phases of RFC 2544, 23, before and after (default: 0)
-- @param o.drain        how long frames may still arrive after the last was sent (default: 0.5 s)
-- @param o.silent       whether no port announces its own addresses; default: all do, as a bridge needs it
-- @param o.broadcast    whether the frames of the directions are broadcasts; then it is counted at which
--                       other ports they arrive, too (measured.misdirected)
-- @param o.patient      whether a frame that a port cannot send in time, because the device has it pause, may
--                       leave until the trial ends; default: it is given up after the plan's host.max_lag
-- @param o.gap          bytes from one frame to the next of ports of the reference switch; default: 12
-- @param o.stagger      by how many frame times of its load each port begins late, by name; default: none
-- @param o.stations     behind each port, which frames go between: { count =, fps = that announce them }
-- @param o.members      of multicast groups, each a port for a while (framegauge.tester.members); or nil
-- @param o.continues    whether the reference device keeps what the trial before left in it, such as sessions
-- @param o.taps         by the number of a port: struct fg_tap * that sees what it receives in this trial
-- @param o.addresses    by the number of a port: for how many addresses it answers, from its own on
-- @return counts by direction (or stream), port and lcore. Raises {interrupted = true} when the job is
-- interrupted.
-- @usage local raw = tester:trial {
--    frame_size = 64, fps = "10kfps", duration = "1s", directions = { "east->west" },
-- }
-- return raw.directions[1].tx, raw.directions[1].rx --> 10000 10000
function Tester:trial(o)
   o = arguments.read("tester:trial", o, TRIAL_ROWS)
   self.trials = self.trials + 1
   if modifiers.needs_announcement(o.modifier) or o.stations then
      self:announce_stations(o)
   end
   local list, described, seconds = self:streams_of(o)
   return self:run(o, list, described, seconds)
end

-- Run a trial of prepared streams.
-- @param o                         as of trial(): all keys except the streams
-- @param o.joint  a trial together with other testers: { first_id = of its streams, start = function() ->
--                 when traffic starts, armed = called when all is prepared, look = as of await, finish =
--                 called at its end, before its counts are read }; or nil
-- @param list, described, seconds  as streams_of() gave them
-- @return as trial()
function Tester:run(o, list, described, seconds)
   local joint, member, count = o.joint or {}, members.list(self, o.members or {})
   local config = ffi.new("struct fg_trial_config", {
      streams = list.count, stream = list.array,
      learn_ns = nanoseconds(o.learning_wait or 0),
      traffic_ns = nanoseconds(seconds),
      drain_ns = nanoseconds(o.drain or DRAIN),
      settle_ns = nanoseconds(o.settle or 0),
      max_lag_ns = nanoseconds(o.patient and seconds + (o.drain or DRAIN) or self.plan.host.max_lag),
      series_ns = nanoseconds(streams.interval_of(described)),
      first_id = joint.first_id or 0,
      start_ns = joint.start and joint.start() or 0,
      members = count, member = member,
      talk = modifiers.talk(o.modifier, o.management), silent = o.silent or false,
   })
   for i = 1, #self.ports do
      config.tap[i - 1] = o.taps and o.taps[i]
      config.addresses[i - 1] = o.addresses and o.addresses[i] or 0
   end
   self:start(config, joint.armed or self:arrange(o), o.continues, nil, o.gap)
   self.running = { duration = seconds, streams = list, drain = o.drain or DRAIN, sent = {} }
   self.totals:begin(self.engine, described)
   self:await(joint.look)
   if joint.finish then
      joint.finish()
   end
   local lcores = counts.lcores(self.engine, self.lcores)
   local result = {
      time = self.clock,
      duration_s = seconds,
      drain_s = o.drain or DRAIN,
      directions = counts.directions(self.engine, described, {
         duration = seconds, ports = self.ports, tags = o.tags and o.tags.count or 0,
         on_wire = self.wires ~= nil, delays = o.joint ~= nil or described[2] ~= nil,
      }),
      ports = counts.ports(self.engine, self.ports),
      queues = counts.queues(self.engine, self.ports),
      lcores = lcores,
      members = o.members and members.results(self.engine, o.members) or nil,
   }
   self.totals:finish(result.directions, result.ports, lcores)
   return result
end

--- Totals of the running trial, for the screen; nil without a trial. Lost frames are those overtaken by later
-- frames of their stream, or, if these are more, frames sent longer than the drain ago.
-- @usage tester:snapshot() --> nil
function Tester:snapshot()
   if not self.running then
      return nil
   end
   local live = ffi.new("struct fg_live")
   C.fg_engine_live(self.engine, live)
   local tx, rx, elapsed = tonumber(live.tx), tonumber(live.rx), tonumber(live.elapsed_ns) / 1e9
   local sent = overdue(self.running.sent, tx, elapsed, tonumber(live.copied_ns) / 1e9, self.running.drain)
   return {
      elapsed = elapsed, duration = self.running.duration, tx = tx, rx = rx,
      lost = math.max(tonumber(live.missing), (sent or 0) - rx),
      own_queue_max_ns = tonumber(live.own_queue_max_ns),
   }
end

return Tester
