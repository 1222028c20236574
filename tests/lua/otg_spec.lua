-- SPDX-License-Identifier: BSD-3-Clause

-- The calls of the Open Traffic Generator API on the reference device: states, counts and captures of flows.
local Calls = require "framegauge.services.otg.calls"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local Served = require "otg_served"

local flow, configuration = Served.flow, Served.configuration

describe("the Open Traffic Generator server", function()
   local served, calls

   local function open(device)
      served = Served.open(device)
      calls = served.calls
   end

   setup(open)
   teardown(function()
      calls:close()
   end)

   local function ask(...)
      return served:ask(...)
   end

   local function set(value)
      assert.same({ 200, { warnings = {} } }, { ask("POST /config", value) })
   end

   it("tells its version, and takes an empty configuration", function()
      local _, version = ask "GET /capabilities/version"
      assert.equal("^1.0.0", version.api_spec_version)
      set "{}"
      assert.same({ 200, {} }, { ask "GET /config" })
   end)

   it("sends a number of frames, and shows a flow as stopped with its final counts", function()
      set(configuration { flow "f1" })
      local before = served:row "f1"
      assert.same({ "stopped", 0, 0 }, { before.transmit, before.frames_tx, before.frames_rx })
      served:transmit "start"
      local seen = served:row "f1"
      assert.equal("started", seen.transmit)
      while seen.transmit == "started" do
         -- a late look may find all sent, and nothing more within the time that rates are of
         assert.is_true(seen.frames_tx_rate > 0 or seen.frames_tx == 0 or seen.frames_tx == 100)
         job.sleep(0.01)
         seen = served:row "f1"
      end
      local final = seen
      assert.same({ 100, 100, 12800, 12800, 0 },
         { final.frames_tx, final.frames_rx, final.bytes_tx, final.bytes_rx, final.loss })
      local both = served:ports()
      assert.same({ "100", "12800", "0" }, { both.p1.frames_tx, both.p1.bytes_tx, both.p1.frames_rx })
      assert.same({ "100", "12800", "0" }, { both.p2.frames_rx, both.p2.bytes_rx, both.p2.frames_tx })
      assert.same({ "up", "stopped", "east" }, { both.p1.link, both.p1.transmit, both.p1.location })
   end)

   it("counts anew what is started again, beside a flow that goes on", function()
      set(configuration { flow "f1", flow("f2", { duration = { choice = "continuous" } }) })
      served:transmit "start"
      served:await "f1"
      local other = served:row "f2"
      assert.equal("started", other.transmit)
      served:transmit("start", { "f1" })
      assert.same({ 100, 100 }, { served:await("f1").frames_tx, served:row("f1").frames_rx })
      assert.is_true(served:row("f2").frames_tx > other.frames_tx)
      served:transmit "stop"
      local stopped = served:row "f2"
      assert.equal("stopped", stopped.transmit)
      assert.equal(stopped.frames_tx, stopped.frames_rx)
      assert.equal(tostring(200 + stopped.frames_tx), served:ports().p1.frames_tx)
      assert.same(stopped, served:row "f2")
   end)

   it("pauses, and goes on without a gap", function()
      set(configuration { flow "f1" })
      served:transmit "start"
      served:transmit("pause", { "f1" })
      local paused = served:row "f1"
      assert.same({ "paused", 0 }, { paused.transmit, paused.frames_tx_rate })
      job.sleep(0.15)
      assert.equal(paused.frames_tx, served:row("f1").frames_tx)
      served:transmit("resume", { "f1" })
      local final = served:await "f1"
      assert.same({ 100, 100, 0 }, { final.frames_tx, final.frames_rx, final.loss })
   end)

   it("keeps time, waits for a delay, and sends bursts", function()
      set(configuration {
         flow("time", { duration = { fixed_seconds = { seconds = 0.1, delay = { nanoseconds = 5e7 } } } }),
         flow("bursts", { rate = { percentage = 50 }, duration = {
            burst = { bursts = 3, packets = 5, inter_burst_gap = { microseconds = 1000 } } } }),
      })
      served:transmit "start"
      assert.same({ 100, 15 }, { served:await("time").frames_tx, served:await("bursts").frames_rx })
   end)

   it("measures latency both ways of its definition", function()
      local function latency(mode)
         return { enable = true, latency = { enable = true, mode = mode } }
      end
      set(configuration({ flow("cut", { metrics = latency "cut_through" }),
         flow("stored", { metrics = latency "store_forward" }), flow "none" },
         { layer1 = { { name = "l", port_names = { "p1" }, speed = "speed_1_gbps" } } }))
      served:transmit("start", { "cut" })
      local cut = served:await("cut").latency
      served:transmit("start", { "stored" })
      local stored = served:await("stored").latency
      assert.near(50000 + 8 * 128, cut.minimum_ns, 100) -- the device and storing the frame in it
      assert.near(8 * 128, cut.minimum_ns - stored.minimum_ns, 1)
      assert.is_true(cut.minimum_ns <= cut.average_ns and cut.average_ns <= cut.maximum_ns)
      assert.is_nil(served:row("none").latency)
   end)

   it("tells when the first and the last frame arrived", function()
      set(configuration { flow("f1", { metrics = { enable = true, timestamps = true } }) })
      assert.same({ first_timestamp_ns = 0, last_timestamp_ns = 0 }, served:row("f1").timestamps)
      served:transmit "start"
      local times = served:await("f1").timestamps
      assert.near(52000, times.first_timestamp_ns, 1000) -- the device's latency, and two lines
      assert.near(99e6, times.last_timestamp_ns - times.first_timestamp_ns, 1000)
   end)

   it("captures what a port receives, with the FCS", function()
      set(configuration({ flow "f1" }, { captures = { { name = "c", port_names = { "p2" },
         format = "pcap" } } }))
      served:capture "start"
      assert.equal("started", served:ports().p2.capture)
      served:transmit "start"
      served:await "f1"
      served:capture "stop"
      local _, file = ask("POST /monitor/capture", { port_name = "p2" })
      assert.equal("d4c3b2a1" .. "02000400", (file:sub(1, 8):gsub(".", function(c)
         return ("%02x"):format(c:byte())
      end)))
      assert.equal(24 + 100 * (16 + 128), #file)
      -- the remainder of a frame with its FCS is always the same
      local crc = 0xffffffff
      local bit = require "bit"
      for i = 41, 40 + 128 do
         crc = bit.bxor(crc, file:byte(i))
         for _ = 1, 8 do
            crc = bit.bxor(bit.rshift(crc, 1), bit.band(crc, 1) == 1 and 0xedb88320 or 0)
         end
      end
      assert.equal(bit.tobit(0xdebb20e3), bit.tobit(crc))
      local _, part = ask("POST /monitor/capture", { port_name = "p2", packets = { slice = { initial = {
         start = 10, count = 2 } } } })
      assert.equal(24 + 2 * (16 + 128), #part)
      assert.equal(file:sub(24 + 9 * 144 + 1, 24 + 11 * 144), part:sub(25))
   end)

   it("has the rows and columns that are asked for", function()
      set(configuration { flow "f1", flow("quiet", { metrics = { enable = false } }) })
      local _, rows = ask("POST /monitor/metrics", { flow = {} })
      assert.equal(1, #rows.flow_metrics)
      local _, columns = ask("POST /monitor/metrics", { port = { column_names = { "frames_tx" } } })
      assert.same({ { name = "p1", frames_tx = "0" }, { name = "p2", frames_tx = "0" } },
         columns.port_metrics)
      local status, answer = ask("POST /monitor/metrics", { flow = { flow_names = { "nope" } } })
      assert.same({ 400, { 'flow.flow_names[0]: "nope" is no flow' } }, { status, answer.errors })
      assert.same({ 200, { choice = "bgpv4_metrics", bgpv4_metrics = {} } },
         { ask("POST /monitor/metrics", { choice = "bgpv4" }) })
      assert.same({ 200, { choice = "dhcpv4_client", dhcpv4client_metrics = {} } },
         { ask("POST /monitor/metrics", { choice = "dhcpv4_client", dhcpv4_client = {} }) })
      assert.same({ 200, { choice = "ipv6_neighbors", ipv6_neighbors = {} } },
         { ask("POST /monitor/states", { choice = "ipv6_neighbors" }) })
   end)

   it("refuses a request as a whole and keeps what was there", function()
      set(configuration { flow "f1" })
      served:transmit "start"
      served:await "f1"
      local value = configuration { flow("f1", { rate = { pps = "x" } }), flow("f2",
         { size = { fixed = 1 } }) }
      local status, answer = ask("POST /config", value)
      assert.same({ 400, 400, "validation", 2 }, { status, answer.code, answer.kind, #answer.errors })
      assert.equal(100, served:row("f1").frames_rx)
      assert.equal("f1", select(2, ask "GET /config").flows[1].name)
      assert.equal(400, (ask("POST /config", "{")))
      assert.equal(501, (ask("POST /control/action", { port = { choice = "reboot" } })))
      assert.equal(501, (ask("POST /control/state", { protocol = { bgp = {} } })))
      local link, why = ask("POST /control/state", { port = { link = { state = "down" } } })
      assert.same({ 501, { 'port.link: ports[0] "p1": the driver of wire0 (wire) cannot set a link up or down'
         } }, { link, why.errors })
      assert.equal(400, (ask("POST /control/state", { port = { link = { state = "down",
         port_names = { "p9" } } } })))
      assert.same({ "up", "up" }, { served:ports().p1.link, served:ports().p2.link })
      assert.equal(400, (ask("POST /control/state", { traffic = { flow_transmit = { state = "go" } } })))
   end)

   it("does not start more than a line carries", function()
      local half = { rate = { percentage = 60 }, duration = { choice = "continuous" } }
      local status, warned = ask("POST /config", configuration { flow("f1", half), flow("f2", half) })
      assert.same({ 200, 1 }, { status, #warned.warnings })
      local refused, answer = ask("POST /control/state",
         { traffic = { flow_transmit = { state = "start" } } })
      assert.same({ 400, { 'ports[0] "p1": its flows together have 120.0 % of the line\'s rate' } },
         { refused, answer.errors })
      assert.equal("stopped", served:row("f1").transmit)
   end)

   it("takes a flow that is named twice once, and null for nothing", function()
      set(configuration { flow "f1", flow "f2" })
      local twice = { config_delete_list = { { flows = { "f1", "f1" } } } }
      local status, answer = ask("PATCH /config/delete", twice)
      assert.same({ 400, { 'config_delete_list.flows[1]: "f1" is there twice' } }, { status, answer.errors })
      assert.equal(2, #select(2, ask "GET /config").flows)
      served:transmit("start", { "f1", "f1" })
      served:await "f1"
      served:transmit("start", { "f1", "f1" })
      served:await "f1"
      assert.equal("200", served:ports().p1.frames_tx)
      set { ports = configuration({}).ports, flows = json.null }
      assert.equal(200, (ask("PATCH /config/append", { config_append_list = json.null })))
      assert.equal(200, (ask("PATCH /config/append", { config_append_list = { { choice = "flows",
         flows = json.null } } })))
      assert.equal(200, (ask("PATCH /config/append", { config_append_list = { { choice = "flows",
         flows = { flow "f1" } } } })))
      assert.equal("f1", select(2, ask "GET /config").flows[1].name)
   end)

   it("shows names of clients as text that JSON can carry", function()
      local name = ("x"):rep(36) .. "\195\164\195\164\195\164"
      local _, answer = ask("POST /config", { layer1 = { { name = "l", port_names = {}, speed = name } } })
      assert.matches('^layer1%[0%] "l".speed: "' .. ("x"):rep(36) .. '%?%.%.%." is not one of ',
         answer.errors[1])
   end)

   it("lets others run while it reads a large configuration", function()
      local flows, turns, done = {}, 0, false
      for i = 1, 1000 do
         flows[i] = flow("f" .. i, { rate = { pps = 1 } })
      end
      job.spawn(function()
         repeat
            job.sleep(0)
            turns = turns + 1
         until done
      end)
      set(configuration(flows))
      done = true
      assert.is_true(turns >= 3, tostring(turns))
      set "{}"
   end)

   it("tells for how long a flow lost frames, if that is asked for", function()
      calls:close()
      open ", loss_every: 20"
      set(configuration({ flow "f1" }, { options = { flow_options = { packet_loss_duration = true } } }))
      assert.same({ value = 0 }, served:row("f1").packet_loss_duration)
      served:transmit "start"
      assert.same({ value = 5 }, served:await("f1").packet_loss_duration) -- 5 of 100 frames, 1 ms apart
      set(configuration { flow "f1" })
      assert.is_nil(served:row("f1").packet_loss_duration)
      calls:close()
      open()
   end)

   it("counts copies as frames that were received", function()
      calls:close()
      open ", duplicate: {every: 10}, loss_every: 25"
      set(configuration { flow "f1" })
      served:transmit "start"
      local final = served:await "f1"
      assert.same({ 100, 105, 0 }, { final.frames_tx, final.frames_rx, final.loss })
      calls:close()
      open()
   end)

   it("keeps its flows where the ports cannot be opened for longer frames", function()
      set(configuration { flow "f1" })
      calls.open = function(self)
         if self.max_frame > 2000 then
            error("no memory", 0)
         end
         Calls.open(self)
      end
      local status, answer = ask("POST /config", configuration { flow("f2", { size = { fixed = 4000 } }) })
      calls.open = nil
      assert.same({ 400, { "flows: frames of 4000 bytes: no memory" } }, { status, answer.errors })
      served:transmit "start"
      assert.equal(100, served:await("f1").frames_rx)
   end)

   it("opens the ports again for longer frames", function()
      set(configuration { flow("f1", { size = { fixed = 9000 } }) })
      served:transmit "start"
      assert.equal(900000, served:await("f1").bytes_rx)
   end)
end)
