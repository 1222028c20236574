-- SPDX-License-Identifier: BSD-3-Clause
local Tester = require "framegauge.tester"
local plans = require "framegauge.plan"
local Session = require "framegauge.trial.session"

local FOUR = [[
test: rfc2544
ports: {a: {device: wire0}, b: {device: wire1}, c: {device: wire2}, d: {device: wire3}}
rfc2544: {frame_sizes: [64], learning_wait: 10ms, drain: 10ms, settle: 0}
reference_switch:
]]

local function wrong(...)
   local _, errors = plans.load_text(FOUR .. "   rate: 1Gbps\n", "x.yaml", { sets = { ... } })
   local lines = {}
   for i, err in ipairs(errors or {}) do
      lines[i] = tostring(err)
   end
   return table.concat(lines, "\n")
end

-- Frames per second that come out of each direction at a load, and what the switch says.
local function send(keys, directions, fps, seconds)
   local plan = assert(plans.load_text(FOUR .. keys, "x.yaml"))
   local tester = assert(Tester.open(plan))
   local session = Session.new { tester = tester, retries = 0, phases = plan.rfc2544, sink = function() end }
   local ok, record = pcall(session.trial, session, {
      test = "mine", frame_size = 64, direction = "all", directions = directions, fps = fps,
      seconds = seconds,
   })
   local counters = {}
   for _, port in ipairs(plan.ports) do
      counters[port.name] = tester.wires:counters(port.name)
   end
   tester:close()
   assert(ok, record)
   return record, counters
end

describe("the reference switch in a plan", function()
   it("has keys of its own, and gives every port its rate", function()
      local plan = assert(plans.load_text(FOUR .. "   ports: {c: {rate: 10Gbps}}\n", "x.yaml"))
      assert.same({
         time = "free", rate = 1e9, ports = { { name = "c", rate = 10e9 } }, replication = "egress",
         drop_cost = 0, queues = "output", buffer = 512, buffer_unit = "frames", reserve = 0, alpha = 1,
         latency = 20e-6, latency_per_byte = 0, switching = "store-and-forward", gap = 12, ppm = 0, cell = 0,
         min_frame = 64, max_frame = 1518, forwards_bad_fcs = false, forwards_runts = false,
         keeps_fcs = false, arbitration = "round-robin", flow_control = "none",
         xoff = 49152, xon = 24576, pause_quanta = 65535,
         mac_table = { size = 8192, ageing = 300, learning_queue = 0, skip_every = 0, buckets = 1, ways = 0 },
      }, plan.reference_switch)
      assert.is_nil(plan.reference_device)
      assert.same({ 1e9, 1e9, 10e9, 1e9 }, { plan.ports[1].line_rate, plan.ports[2].line_rate,
         plan.ports[3].line_rate, plan.ports[4].line_rate })
   end)

   it("is told what does not fit", function()
      for settings, expected in pairs {
         ["reference_device.rate=1Gbps"] = "x.yaml:5:4: reference_switch: not together with reference_device",
         ["reference_switch.ports.zz.rate=1Gbps"] = "reference_switch.ports.zz: there is no such port",
         ["reference_switch.arbitration=oldest"] = "arbitration: no frame waits behind its ingress",
         ["reference_switch.xoff=1KiB"] = "xoff: no port is told to pause; expected flow_control: pause",
         ["reference_switch.reserve=10"] = "no buffer is shared; expected queues: shared in addition",
         ["reference_switch.alpha=2"] = "alpha: no buffer is shared",
         ["reference_switch.mac_table.buckets=4"] = "buckets: the size of one is unknown",
         ["reference_switch.min_frame=1518 reference_switch.max_frame=100"] = "min_frame: longer than max_frame",
         ["reference_switch.queues=shared reference_switch.reserve=129"] = "more than the buffer; expected at most 128",
         ["ports.a.gateway=198.18.1.1 ports.b.gateway=198.19.1.1"] = "ports.a.gateway: the reference switch is no router",
         ["ports.a.device=memif:/run/a"] = "wires as devices, or no reference_switch",
         ["reference_switch.uplink.rate=1Gbps reference_switch.queues=input"] = "queues: with an uplink",
         ["reference_switch.uplink.ports=[a,zz]"] = "uplink.ports[2]: there is no port 'zz'",
         ["reference_switch.uplink.ports=[a,b,c,d]"] = "uplink.ports: all ports; expected some of them",
         ["reference_switch.gap=0"] = "reference_switch.gap",
         ["reference_switch.snooping.router_ports=[zz]"] = "there is no port 'zz'; expected the name of a port",
         ["reference_switch.snooping.last_member_count=3"] = "it does not ask who leaves; expected fast_leave: false in addition",
      } do
         local sets = {}
         for one in settings:gmatch "%S+" do
            sets[#sets + 1] = one
         end
         assert.truthy(wrong(unpack(sets)):find(expected, 1, true), settings .. ": " .. wrong(unpack(sets)))
      end
      assert.equal("", wrong "reference_switch.queues=shared")
   end)
end)

describe("a trial on the reference switch", function()
   it("reaches every port from every other", function()
      local directions = { "a->b", "a->c", "a->d", "b->a", "c->b", "d->a" }
      local record, counters = send("   latency: 10us\n", directions, 60000, 0.1)
      assert.same({ "valid", 24000, 0 }, { record.validity, record.tx, record.lost })
      assert.equal(0, record.misdirected)
      -- stored for 512 ns, and then 10 us; three frames meet now and then
      assert.near(10512, record.latency.min_ns, 1)
      assert.equal(0, tonumber(counters.a.queue_drops))
      assert.near(6000, tonumber(counters.a.received), 20) -- and what teaches it where the ports are
   end)

   it("loses what the lines and the engine do not carry", function()
      local line = 1e9 / 672
      local record, counters = send("   buffer: 10\n", { "a->d", "b->d", "c->d" }, line, 0.1)
      local sent = math.floor(3 * math.floor(line * 0.1 + 0.5))
      assert.near(2 / 3, record.loss_ratio, 20 / sent)
      assert.equal(record.lost, tonumber(counters.d.queue_drops))
      record, counters = send("   capacity: 1Mfps\n", { "a->b", "b->a" }, 1e6, 0.1)
      assert.near(0.5, record.loss_ratio, 600 / 2e5)
      assert.equal(record.lost, tonumber(counters.a.engine_drops + counters.b.engine_drops))
   end)

   it("is slow where a line is", function()
      local record = send("   ports: {d: {rate: 100Mbps}}\n", { "a->d" }, 200000, 0.1)
      assert.near(148809.5 * 0.1 + 512, record.rx, 2)
   end)

   it("gives the same record twice", function()
      local directions = { "a->b", "b->c", "c->d", "d->b" }
      local first = send("   {capacity: 2Mfps, buffer: 7}\n", directions, 700000, 0.05)
      local second = send("   {capacity: 2Mfps, buffer: 7}\n", directions, 700000, 0.05)
      assert.is_true(first.lost > 0)
      for _, record in ipairs { first, second } do
         record.poll_gap_max_ns = nil
      end
      assert.same(first, second)
   end)
end)
