-- SPDX-License-Identifier: BSD-3-Clause

-- Flows that are changed, added, removed and started again while others run, on the reference device.
local failure = require "framegauge.core.failure"
local job = require "framegauge.core.job"
local octets = require "framegauge.core.octets"
local Served = require "otg_served"
local slots_of = require "framegauge.services.otg.slots"

local flow, configuration = Served.flow, Served.configuration
local ENDLESS = { choice = "continuous" }

describe("the Open Traffic Generator server, while flows run,", function()
   local served

   setup(function()
      served = Served.open()
   end)
   teardown(function()
      served:close()
   end)

   local function ask(...)
      return served:ask(...)
   end

   local function update(one, names)
      return ask("PATCH /config", { flows = { property_names = names, flows = { one } } })
   end

   local function append(...)
      return ask("PATCH /config/append", { config_append_list = { { flows = { ... } } } })
   end

   -- UDP destination ports and lengths, of those frames that were captured from a flow's source port.
   local function captured(source)
      local ports, lengths = {}, {}
      for _, frame in ipairs(served:captured "p2") do
         if tonumber(octets.number(frame:sub(35, 36))) == source then
            ports[#ports + 1], lengths[#lengths + 1] = tonumber(octets.number(frame:sub(37, 38))), #frame
         end
      end
      return ports, lengths
   end

   -- A flow whose destination ports count from 1 on, one a frame.
   local function counting(name, source, more)
      local one = flow(name, more)
      one.packet = { one.packet[1], one.packet[2], { udp = {
         src_port = { value = source }, dst_port = { increment = { start = 1, count = 60000 } } } } }
      return one
   end

   it("starts one anew, with counts, delays and header values of its own, as often as one likes", function()
      local latency = { enable = true, timestamps = true, latency = { enable = true } }
      served:must("POST /config", configuration({
         counting("f1", 7, { rate = { pps = 10000 }, metrics = latency }), flow("f2", { duration = ENDLESS }),
      }, { captures = { { name = "c", port_names = { "p2" } } } }))
      served:transmit "start"
      local first = served:await "f1"
      for _ = 1, 70 do -- more often than there is room in a trial
         served:transmit("start", { "f1" })
      end
      served:await "f1"
      served:capture "start"
      served:transmit("start", { "f1" })
      local again = served:await "f1"
      assert.same({ 100, 100, 0 }, { again.frames_tx, again.frames_rx, again.loss })
      assert.equal(first.latency.minimum_ns, again.latency.minimum_ns)
      assert.near(again.latency.minimum_ns, again.latency.maximum_ns, 3000) -- behind a frame of the other
      assert.is_true(again.timestamps.first_timestamp_ns > first.timestamps.last_timestamp_ns)
      local ports = captured(7)
      assert.same({ 100, 1, 100 }, { #ports, ports[1], ports[100] })
      served:transmit "stop"
      assert.equal(served:row("f2").frames_tx, served:row("f2").frames_rx)
   end)

   it("gives one another size, and its frames, their order and their header values go on", function()
      local frames = { fixed_packets = { packets = 3000 } }
      served:must("POST /config", configuration({ counting("f1", 7, { duration = frames }),
         flow("f2", { duration = ENDLESS }) }, { captures = { { name = "c", port_names = { "p2" } } } }))
      served:capture "start"
      served:transmit "start"
      repeat
         job.sleep(0.01)
      until served:row("f1").frames_tx > 0
      local longer = counting("f1", 7, { duration = frames, size = { fixed = 256 } })
      assert.equal(200, (update(longer, { "size" })))
      local seen = served:row "f1"
      assert.equal("started", seen.transmit)
      longer.rate = { pps = 20000 }
      assert.equal(200, (update(longer, { "rate", "size" })))
      local final = served:await "f1"
      assert.same({ 3000, 3000, 0 }, { final.frames_tx, final.frames_rx, final.loss })
      assert.equal(final.bytes_tx, final.bytes_rx)
      local ports, lengths = captured(7)
      assert.equal(3000, #ports)
      local changed = 0
      for i = 1, 3000 do
         assert.equal(i, ports[i])
         changed = changed + (lengths[i] ~= (lengths[i - 1] or 128) and 1 or 0)
      end
      assert.same({ 128, 256, 1 }, { lengths[1], lengths[3000], changed })
      assert.equal("started", served:row("f2").transmit)
      assert.equal(256, select(2, ask "GET /config").flows[1].size.fixed)
   end)

   it("gives one that is paused another size, and one that is stopped", function()
      served:must("POST /config", configuration { flow "f1", flow "f2", flow("f3", { duration = ENDLESS }) })
      served:transmit("start", { "f1", "f3" })
      served:transmit("pause", { "f1" })
      local paused = served:row("f1").frames_tx
      for _, name in ipairs { "f1", "f2" } do
         assert.equal(200, (update(flow(name, { size = { fixed = 256 } }), { "size" })))
      end
      assert.same({ "paused", paused }, { served:row("f1").transmit, served:row("f1").frames_tx })
      served:transmit("resume", { "f1" })
      served:transmit("start", { "f2" })
      local one, other = served:await "f1", served:await "f2"
      assert.same({ 100, 100, 100 * 256 - 128 * paused }, { one.frames_tx, one.frames_rx, one.bytes_rx })
      assert.equal(25600, other.bytes_rx)
   end)

   it("changes a rate while a flow runs, and nothing else", function()
      served:must("POST /config", configuration { flow("f1", { duration = ENDLESS }) })
      served:transmit "start"
      job.sleep(0.1)
      local before = served:row "f1"
      local faster = flow("f1", { duration = ENDLESS, rate = { pps = 3000 } })
      assert.equal(200, (ask("PATCH /config", { flows = { property_names = { "rate" },
         flows = { faster } } })))
      local looks, now = 0
      repeat
         job.sleep(0.05)
         looks, now = looks + 1, served:row "f1"
      until now.frames_tx_rate > 2500 or looks == 200
      assert.near(3000, now.frames_tx_rate, 500)
      assert.is_true(now.frames_tx >= before.frames_tx)
      local other = flow("f1", { duration = ENDLESS, rate = { pps = 3000 }, payload = {},
         tx_rx = { port = { tx_name = "p2", rx_names = { "p1" } } } })
      local status, answer = ask("PATCH /config", { flows = { property_names = { "rate" },
         flows = { other } } })
      assert.same({ 400, { "payload property update is not supported on flow f1",
         "tx_rx property update is not supported on flow f1" } }, { status, answer.errors })
      served:transmit "stop"
      assert.equal(served:row("f1").frames_tx, served:row("f1").frames_rx)
      assert.equal(3000, select(2, ask "GET /config").flows[1].rate.pps)
   end)

   it("adds flows and removes them, also one that runs", function()
      served:must("POST /config", configuration { flow("f1", { duration = ENDLESS }), flow("f2",
         { duration = ENDLESS }) })
      served:transmit "start"
      assert.equal(200, (append(flow "f3")))
      assert.equal(400, (append(flow "f3")))
      served:transmit("start", { "f3" })
      assert.same({ 100, 100 }, { served:await("f3").frames_tx, served:row("f3").frames_rx })
      assert.equal(200, (ask("PATCH /config/delete", { config_delete_list = { { flows = { "f1" } } } })))
      assert.equal(400, (ask("PATCH /config/delete", { config_delete_list = { { flows = { "f1" } } } })))
      assert.equal(400, (ask("POST /monitor/metrics", { flow = { flow_names = { "f1" } } })))
      assert.equal("started", served:row("f2").transmit)
      served:transmit "stop"
      served:transmit("start", { "f3" })
      assert.equal(100, served:await("f3").frames_rx)
      local _, config = ask "GET /config"
      assert.same({ "f2", "f3" }, { config.flows[1].name, config.flows[2].name })
   end)

   it("starts flows that were added while others run, as far as there is room", function()
      local many, names = {}, { "f1" }
      served:must("POST /config", configuration { flow("f1", { duration = ENDLESS, rate = { pps = 10 } }) })
      served:transmit "start"
      for i = 1, 70 do
         many[i] = flow("more" .. i, { duration = { fixed_packets = { packets = 3 } } })
         names[i + 1] = many[i].name
      end
      assert.equal(200, (append(unpack(many))))
      local status, answer = ask("POST /control/state", { traffic = { flow_transmit = { state = "start",
         flow_names = names } } })
      assert.equal(400, status)
      assert.matches('"more64": there is no room for this many flows', answer.errors[1])
      assert.same({ "started", "stopped" }, { served:row("f1").transmit, served:row("more1").transmit })
      served:transmit("start", { unpack(names, 1, 60) })
      assert.equal(3, served:await("more59").frames_rx)
      served:transmit("start", { unpack(names, 60) })
      assert.same({ 3, 3 }, { served:await("more59").frames_rx, served:await("more70").frames_rx })
      served:transmit "stop"
      served:transmit "start"
      assert.equal(3, served:await("more70").frames_rx)
   end)

   it("reads what each has counted once for a request, whatever is shown of it", function()
      served:must("POST /config", configuration {
         flow("f1", { duration = ENDLESS }), flow("f2", { duration = ENDLESS }), flow "f3",
      })
      served:transmit("start", { "f1", "f2" })
      local read, reads = slots_of.read, 0
      slots_of.read = function(...)
         reads = reads + 1
         return read(...)
      end
      local rows = failure.finally(function()
         slots_of.read = read
      end, served.must, served, "POST /monitor/metrics", { choice = "flow", flow = {} }).flow_metrics
      assert.same({ 3, 2 }, { #rows, reads })
      served:transmit "stop"
   end)
end)
