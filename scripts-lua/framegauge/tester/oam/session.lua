-- SPDX-License-Identifier: BSD-3-Clause

--- One OAM session on a tester, as a trial: probes from a port to a reflector, which is at another port
-- of the tester, or a peer somewhere.
local api = require "framegauge.core.api"
local counts = require "framegauge.tester.counts"
local ffi = require "ffi"
local figures = require "framegauge.tester.oam.figures"
local octets = require "framegauge.core.octets"

local C, nanoseconds = api.C, api.nanoseconds
local M = {}

local STEP_SECONDS = 100e-9 -- on the wire: how exactly an answer follows what it answers
local LOOK_NS = 200e6 -- between two looks at the common time
local FIRST_PORT, PORTS = 49152, 16384 -- from which probes are sent
local TAG = 4

--- The tests, as C knows them.
M.TESTS = {
   stamp = C.FG_OAM_STAMP, twamp_light = C.FG_OAM_TWAMP_LIGHT, loopback = C.FG_OAM_LOOPBACK,
   delay = C.FG_OAM_DELAY, synthetic_loss = C.FG_OAM_SYNTHETIC, loss = C.FG_OAM_LOSS,
}

-- What is counted, and what it means if the standard is broken by it.
local COUNTERS, text = {}, ffi.new "const char *[1]"
repeat
   local name = C.fg_oam_counter_name(#COUNTERS, text)
   if name ~= nil then
      COUNTERS[#COUNTERS + 1] = { ffi.string(name), text[0] ~= nil and ffi.string(text[0]) or nil }
   end
until name == nil

local function set_addresses(config, port)
   ffi.copy(config.host.mac, octets.mac(port.mac), 6)
   for key, parse in pairs { ipv4 = octets.ipv4, ipv6 = octets.ipv6 } do
      if port[key] then
         config.host["has_" .. key] = true
         ffi.copy(config.host[key], parse(port[key]), key == "ipv4" and 4 or 16)
      end
   end
end

-- Addresses of a port: its own MAC is known only once it is open.
local function port_of(tester, i)
   local port = tester.plan.ports[i]
   return { mac = tester.ports[i].mac, ipv4 = port.ipv4, ipv6 = port.ipv6, vlan = port.vlan }
end

local function create_sender(tester, o)
   local out, err, port = ffi.new("struct fg_oam_sender *[1]"), api.error(), port_of(tester, o.from)
   local config = ffi.new("struct fg_oam_sender_config", {
      test = M.TESTS[o.test], ipv6 = o.ipv6 ~= nil, from = FIRST_PORT + o.number % PORTS, to = o.port,
      dscp = o.dscp, ttl = o.ttl, level = o.level, mep = o.mep, ssid = 1 + o.number % 65535, id = o.number,
      ptp = o.ptp, frame_size = o.frame_size - (port.vlan and TAG or 0), count = o.count,
      interval_ns = nanoseconds(o.interval), between = o.between, skip = o.skip or 0,
   })
   set_addresses(config, port)
   ffi.copy(config.mac, o.mac, 6)
   if o.ipv4 or o.ipv6 then
      ffi.copy(config.peer, o.ipv6 and octets.ipv6(o.ipv6) or octets.ipv4(o.ipv4), o.ipv6 and 16 or 4)
   end
   api.check(C.fg_oam_sender_create(config, out, err), err)
   return out[0]
end

local function create_station(tester, o)
   local out, err = ffi.new("struct fg_oam_station *[1]"), api.error()
   local config = ffi.new("struct fg_oam_reflector_config", {
      test = M.TESTS[o.test], port = o.port, level = o.level, mep = o.mep + 1,
   })
   set_addresses(config, port_of(tester, o.to))
   api.check(C.fg_oam_station_create(config, out, err), err)
   return out[0]
end

local function create_port(tester, i, endpoint, max_frame)
   local out, err = ffi.new("struct fg_endpoint_port *[1]"), api.error()
   local config = ffi.new("struct fg_endpoint_port_config", {
      port = tester.handles[i], endpoint = endpoint, max_frame = max_frame + C.FG_OAM_ROOM + TAG,
      vlan = tester.plan.ports[i].vlan or 0,
      line_rate_bps = tester.wires and tester.ports[i].line_rate or 0,
   })
   api.check(C.fg_endpoint_port_create(config, out, err), err)
   return { index = i, handle = out[0] }
end

local function open(tester, o, self)
   self.sender = create_sender(tester, o)
   self.ports[1] = create_port(tester, o.from, C.fg_oam_sender_endpoint(self.sender), o.frame_size)
   if o.to then
      self.station = create_station(tester, o)
      self.ports[2] = create_port(tester, o.to, C.fg_oam_station_endpoint(self.station), o.frame_size)
   end
end

local function close(tester, self)
   if tester.wires then
      tester.wires:reset()
   end
   for _, port in ipairs(self.ports) do
      C.fg_endpoint_port_free(port.handle)
   end
   C.fg_oam_sender_free(self.sender)
   C.fg_oam_station_free(self.station)
end

-- Tell both ends the time.
local function tell(self, common_time)
   local ahead, estimate = common_time:look()
   C.fg_oam_sender_set_clock(self.sender, ahead - self.shift, estimate)
   if self.station then
      C.fg_oam_reflector_set_clock(C.fg_oam_station_reflector(self.station), ahead - self.shift, estimate)
   end
end

local function start(tester, o, self)
   local tasks = ffi.new("struct fg_trial_task[2]")
   local trial = ffi.new("struct fg_trial_config", {
      tasks = #self.ports, task = tasks, learn_ns = nanoseconds(o.learning_wait),
      traffic_ns = nanoseconds(o.count * o.interval), drain_ns = nanoseconds(o.timeout),
      settle_ns = nanoseconds(o.settle), step_ns = nanoseconds(STEP_SECONDS),
      max_lag_ns = nanoseconds(tester.plan.host.max_lag),
   })
   for i, port in ipairs(self.ports) do
      tasks[i - 1].task, tasks[i - 1].port = C.fg_endpoint_port_task(port.handle), port.index - 1
      tasks[i - 1].at_receive = true
      trial.sink[port.index - 1] = C.fg_endpoint_port_sink(port.handle)
   end
   tester.trials = tester.trials + 1
   tester:start(trial, function(begin)
      local clock = ffi.new "struct fg_clock"
      C.fg_engine_clock(tester.engine, clock)
      for _, port in ipairs(self.ports) do
         local at = C.fg_endpoint_port_align(port.handle, begin, clock)
         self.shift = ffi.cast("int64_t", at - begin)
         C.fg_oam_sender_schedule(self.sender, at)
         self.first_due = at
      end
      tell(self, o.common_time)
   end)
end

local function run(tester, o, self)
   local told = 0
   start(tester, o, self)
   tester.running = { duration = o.count * o.interval }
   tester:await(function()
      local now = tonumber(C.fg_engine_now_ns(tester.engine))
      if not tester.wires and now - told > LOOK_NS then
         told = now
         tell(self, o.common_time)
      end
   end)
end

-- What the sender counted: its numbers, and what is wrong with the replies.
local function read_counts(sender)
   local raw, out, wrong = ffi.new("struct fg_oam_counters"), {}, {}
   C.fg_oam_sender_read(sender, raw)
   for _, counter in ipairs(COUNTERS) do
      local n = tonumber(raw[counter[1]])
      if not counter[2] then
         out[counter[1]] = n
      elseif n > 0 then
         wrong[#wrong + 1] = { what = counter[2], count = n }
      end
   end
   return out, wrong
end

local function longest_gap(tester)
   local gap = 0
   for _, lcore in ipairs(counts.lcores(tester.engine, tester.lcores)) do
      gap = math.max(gap, lcore.poll_gap_max_ns or 0)
   end
   return gap
end

-- What of the tester itself a session depends on.
local function read_tester(tester, self, o)
   local evidence = { ports = counts.ports(tester.engine, tester.ports), refused = 0 }
   evidence.step_ns = o.interval * 1e9 / (o.test == "loss" and o.between + 1 or 1)
   evidence.off_schedule, evidence.lag_max_ns = figures.lateness(C.fg_oam_sender_probes(self.sender), o.count,
      self.first_due, nanoseconds(o.interval), evidence.step_ns)
   evidence.gap_max_ns = tester.wires and 0 or longest_gap(tester)
   for _, port in ipairs(self.ports) do
      local raw = ffi.new "struct fg_endpoint_port_result"
      C.fg_endpoint_port_read(port.handle, raw)
      evidence.refused = evidence.refused + tonumber(raw.refused) + tonumber(raw.no_mbuf)
   end
   return evidence
end

--- Run a session and wait for its end. Inside a job.
-- @param o.from, o.to     ports of the tester, by number: of the probes, and of the reflector; to = nil: the
--                         reflector is another's
-- @param o.test           a key of TESTS
-- @param o.mac            of the next hop, or of the peer's MEP: six bytes
-- @param o.ipv4, o.ipv6   of the reflector, one of them where the test is over UDP; o.port: of UDP
-- @param o.frame_size, o.count, o.interval, o.timeout, o.learning_wait, o.settle
-- @param o.dscp, o.ttl, o.level, o.mep, o.ptp
-- @param o.between        of the test loss: frames of the service from one probe to the next
-- @param o.number         of the session: sessions of different numbers are not taken for one another
-- @param o.skip           number that is not sent; nil: none
-- @param o.common_time    framegauge.tester.oam.common_time
-- @param read             function(probes, seen, stamp_ns): called with the records of the probes (struct
--                         fg_oam_probe *) while they live, counts { sent =, received =, duplicates = }, and
--                         how late a timestamp may be
-- @return what read returned, what is wrong with the replies: list of { what =, count = }, and of the tester:
-- { ports =, refused = times that a frame was not taken at once, off_schedule = probes that left when the
-- next frame was due or later, step_ns = from one frame to the next, lag_max_ns = how late any left,
-- gap_max_ns = the longest time that no worker looked }
function M.run(tester, o, read)
   local self = { ports = {} }
   local ok, result, wrong, evidence = pcall(function()
      open(tester, o, self)
      run(tester, o, self)
      local seen, faults = read_counts(self.sender)
      local stamp_ns = tester.wires and STEP_SECONDS * 1e9 or longest_gap(tester)
      return read(C.fg_oam_sender_probes(self.sender), seen, stamp_ns), faults, read_tester(tester, self, o)
   end)
   close(tester, self)
   if not ok then
      error(result, 0)
   end
   return result, wrong, evidence
end

return M
