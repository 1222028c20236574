-- SPDX-License-Identifier: BSD-3-Clause

-- Frames of flows as they arrive: what they are made of, and how those are counted that are not measured.
local job = require "framegauge.core.job"
local octets = require "framegauge.core.octets"
local Served = require "otg_served"
local templates = require "framegauge.traffic.frame"

local flow = Served.flow

local CAPTURES = { captures = { { name = "c", port_names = { "p2" } } } }

describe("frames of an Open Traffic Generator flow", function()
   local served

   setup(function()
      served = Served.open()
   end)
   teardown(function()
      served:close()
   end)

   -- Send these flows to their end. @return the frames that p2 has captured
   local function run(...)
      assert.same({ warnings = {} }, served:must("POST /config", Served.configuration({ ... }, CAPTURES)))
      served:capture "start"
      served:transmit "start"
      for _, one in ipairs { ... } do
         served:await(one.name)
      end
      return served:captured "p2"
   end

   -- A flow of TCP whose metrics nobody asks for.
   local function unsigned(name, more)
      local one = flow(name, more)
      one.metrics = nil
      one.packet = { one.packet[1], one.packet[2], { tcp = { src_port = { values = { 1, 2, 3 } } } } }
      one.payload = { fixed = { pattern = "c0ffee" } }
      return one
   end

   it("are exactly what is described, where its metrics are off", function()
      local frames = run(unsigned("f1", { size = { fixed = 64 } }))
      assert.equal(100, #frames)
      for i, frame in ipairs(frames) do
         assert.equal(64, #frame)
         assert.equal((i - 1) % 3 + 1, tonumber(octets.number(frame:sub(35, 36))))
         assert.equal("c0ffeec0ffee", octets.hex(frame:sub(55, 60)))
      end
      local row, both = served:row "f1", served:ports()
      assert.same({ 100, 0, 6400, 0, "stopped" },
         { row.frames_tx, row.frames_rx, row.bytes_tx, row.bytes_rx, row.transmit })
      assert.same({ "100", "6400" }, { both.p1.frames_tx, both.p1.bytes_tx })
      assert.same({ "100", "6400" }, { both.p2.frames_rx, both.p2.bytes_rx })
      assert.same({}, served:must("POST /monitor/metrics", { flow = {} }).flow_metrics)
   end)

   it("are so in all sizes, and beside a flow that is measured", function()
      local frames = run(flow "f1", unsigned("f2", { rate = { pps = 2000 },
         size = { increment = { start = 64, ["end"] = 68, step = 2 } } }))
      local seen = {}
      for _, frame in ipairs(frames) do
         if #frame < 128 then
            seen[#seen + 1] = frame
            assert.equal(64 + 2 * ((#seen - 1) % 3), #frame)
            assert.equal(("c0ffee"):rep(4):sub(1, 2 * (#frame - 58)), octets.hex(frame:sub(55, -5)))
         end
      end
      assert.same({ 100, 200 }, { #seen, #frames })
      assert.same({ 100, 100, 0 }, { served:row("f1").frames_tx, served:row("f1").frames_rx,
         served:row("f1").loss })
      assert.same({ "200", "200" }, { served:ports().p1.frames_tx, served:ports().p2.frames_rx })
   end)

   it("start anew and change their size while another flow runs", function()
      local endless = { duration = { choice = "continuous" } }
      served:must("POST /config", Served.configuration({ flow("f1", endless), unsigned("f2", endless) },
         CAPTURES))
      served:transmit "start"
      local looks = 0
      repeat
         job.sleep(0.05)
         looks = looks + 1
      until served:ports().p2.frames_rx_rate > 1500 or looks == 200 -- of the one and of the other
      assert.near(2000, served:ports().p2.frames_rx_rate, 500)
      served:must("POST /config", Served.configuration({ flow("f1", endless), unsigned "f2" }, CAPTURES))
      served:transmit "start"
      served:await "f2"
      served:must("PATCH /config", { flows = { property_names = { "size" },
         flows = { unsigned("f2", { size = { fixed = 64 } }) } } })
      served:transmit("start", { "f2" })
      assert.same({ 100, 6400 }, { served:await("f2").frames_tx, served:row("f2").bytes_tx })
      served:transmit "stop"
      local row, both = served:row "f1", served:ports()
      assert.equal(row.frames_tx, row.frames_rx)
      assert.same({ tostring(row.frames_tx + 200), both.p1.frames_tx }, { both.p2.frames_rx,
         both.p2.frames_rx })
   end)

   it("have sizes by their weights, and are counted by these", function()
      local weights = { [92] = 25.2, [560] = 24.8, [600] = 50 }
      local custom = {}
      for size, weight in pairs(weights) do
         custom[#custom + 1] = { size = size, weight = weight }
      end
      local frames = run(flow("f1", { size = { weight_pairs = { custom = custom } }, rate = { pps = 5000 },
         duration = { fixed_packets = { packets = 1000 } } }))
      local counts, bytes = {}, 0
      for _, frame in ipairs(frames) do
         counts[#frame], bytes = (counts[#frame] or 0) + 1, bytes + #frame
      end
      for size, count in pairs(counts) do
         local part = assert(weights[size], size) / 100
         assert.near(1000 * part, count, 4 * math.sqrt(1000 * part * (1 - part)))
      end
      local row = served:row "f1"
      assert.same({ 1000, bytes, bytes }, { #frames, row.bytes_tx, row.bytes_rx })
   end)

   it("count as received with lengths and checksums that are wrong", function()
      local one = flow "f1"
      one.packet = { one.packet[1], { ipv4 = { header_checksum = { generated = "bad" } } },
         { udp = { length = { value = 38 }, checksum = { custom = 5 } } } }
      local frames = run(one)
      assert.same({ 100, 100 }, { #frames, served:row("f1").frames_rx })
      assert.equal("00260005", octets.hex(frames[100]:sub(39, 42)))
   end)

   it("are built once for each size, without another one for the length of their headers", function()
      local built, build = {}, templates.build
      stub(templates, "build", function(size, ...)
         built[#built + 1] = size
         return build(size, ...)
      end)
      finally(function() templates.build:revert() end)
      served:must("POST /config", Served.configuration { flow("f1", { size = { fixed = 200 } }),
         flow("f2", { size = { increment = { start = 128, ["end"] = 132, step = 2 } } }) })
      assert.same({ 200, 128, 130, 132 }, built)
   end)
end)

describe("an Open Traffic Generator flow to several ports of a switch", function()
   local served

   setup(function()
      served = Served.open_switch()
   end)
   teardown(function()
      served:close()
   end)

   -- The row of a flow whose frames go to a MAC, when it has stopped.
   local function run(mac, ratio)
      local one = flow("f1", { metrics = { enable = true, rx_tx_ratio = ratio } })
      one.tx_rx.port.rx_names = { "p2", "p3" }
      one.packet = { { ethernet = { src = { value = "00:00:01:01:01:01" }, dst = { value = mac } } } }
      served:must("POST /config", Served.switch_configuration({ one }, { options = { flow_options = {
         packet_loss_duration = true } } }))
      served:transmit "start"
      return served:await "f1"
   end

   it("counts its frames at all of them, and its loss by how often each should come", function()
      local flooded = run("ff:ff:ff:ff:ff:ff", { choice = "rx_count" })
      assert.same({ 100, 200, 25600, 0, "p1", "" }, { flooded.frames_tx, flooded.frames_rx, flooded.bytes_rx,
         flooded.loss, flooded.port_tx, flooded.port_rx })
      assert.equal(0, run("ff:ff:ff:ff:ff:ff").loss)
      local short = run("ff:ff:ff:ff:ff:ff", { value = 2.5 })
      assert.same({ 20, { value = 20 } }, { short.loss, short.packet_loss_duration })
   end)
end)
