-- SPDX-License-Identifier: BSD-3-Clause

-- What tests of the API's conformance suite do beyond those that otg.py makes with snappi: the quickstart's
-- three requests, many flows each way, and frames that nobody receives.
local job = require "framegauge.core.job"
local octets = require "framegauge.core.octets"
local Served = require "otg_served"

local QUICKSTART = [[{"ports": [{"location": "wire0", "name": "ptx"}%s],
 "flows": [{"name": "flow", "metrics": {"enable": true, "loss": false, "timestamps": false},
  "duration": {"choice": "fixed_packets", "fixed_packets": {"gap": 12, "packets": 100}},
  "size": {"choice": "fixed", "fixed": 128}, "tx_rx": {"choice": "port", "port": {"tx_name": "ptx"}},
  "packet": [
   {"choice": "ethernet", "ethernet": {"dst": {"choice": "value", "value": "00:11:22:33:44:66"},
    "src": {"choice": "value", "value": "00:11:22:33:44:55"}}},
   {"choice": "ipv4", "ipv4": {"dst": {"choice": "value", "value": "20.1.1.1"},
    "src": {"choice": "value", "value": "10.1.1.1"}}},
   {"choice": "udp", "udp": {
    "dst_port": {"choice": "increment", "increment": {"count": 5, "start": 6010, "step": 5}},
    "src_port": {"choice": "values", "values": [5010, 5015, 5020, 5025, 5030]}}},
   {"choice": "custom", "custom": {"bytes": "2e2e515549434b535441525420534e415050492e2e"}}]}]}]]
local CAPTURED = ', {"location": "west", "name": "p2"}], "captures": [{"name": "c", "port_names": ["p2"]}'
local START = [[{"choice": "traffic", "traffic": {"choice": "flow_transmit",
 "flow_transmit": {"state": "start"}}}]]
local METRICS = '{"choice": "flow", "flow": {"flow_names": ["flow"]}}'

describe("the Open Traffic Generator server", function()
   local served

   setup(function()
      served = Served.open()
   end)
   teardown(function()
      served:close()
   end)

   -- The row of the quickstart's flow when it has stopped.
   local function quickstart(more)
      assert.same({ warnings = {} }, served:must("POST /config", QUICKSTART:format(more)))
      if more ~= "" then
         served:capture "start"
      end
      assert.same({ warnings = {} }, served:must("POST /control/state", START))
      local row
      repeat
         job.sleep(0.05)
         row = served:must("POST /monitor/metrics", METRICS).flow_metrics[1]
      until row.transmit == "stopped"
      return row
   end

   it("follows the quickstart, whose flow has no port that receives", function()
      local row = quickstart ""
      assert.same({ "flow", "ptx", "", "100", "0", "12800" }, { row.name, row.port_tx, row.port_rx,
         row.frames_tx, row.frames_rx, row.bytes_tx })
      quickstart(CAPTURED)
      local frames = served:captured "p2"
      assert.equal(100, #frames)
      for i, frame in ipairs(frames) do
         local k = (i - 1) % 5
         assert.same({ 128, 5010 + 5 * k, 6010 + 5 * k, "..QUICKSTART SNAPPI.." }, { #frame,
            tonumber(octets.number(frame:sub(35, 36))), tonumber(octets.number(frame:sub(37, 38))),
            frame:sub(43, 63) })
      end
   end)

   it("runs many flows each way, each with all of its frames", function()
      local flows = {}
      for i = 1, 128 do
         local from, to = i % 2 == 1 and "p1" or "p2", i % 2 == 1 and "p2" or "p1"
         flows[i] = Served.flow("f" .. i, { duration = { fixed_packets = { packets = 10 } },
            rate = { pps = 50 }, tx_rx = { port = { tx_name = from, rx_names = { to } } } })
      end
      served:must("POST /config", Served.configuration(flows))
      served:transmit "start"
      for i = 1, 128 do
         local row = served:await("f" .. i)
         assert.same({ 10, 10, 0 }, { row.frames_tx, row.frames_rx, row.loss })
      end
      local ports = served:must("POST /monitor/metrics", { port = {} }).port_metrics
      assert.same({ "640", "640", "640", "640" }, { ports[1].frames_tx, ports[1].frames_rx,
         ports[2].frames_tx, ports[2].frames_rx })
   end)

   it("counts exactly what leaves at half the line and at all of it, in each size", function()
      for _, size in ipairs { 64, 512, 1518 } do
         for _, percentage in ipairs { 50, 100 } do
            served:must("POST /config", Served.configuration({ Served.flow("f1", { size = { fixed = size },
               rate = { percentage = percentage }, duration = { fixed_packets = { packets = 2000 } },
               tx_rx = { port = { tx_name = "p1" } } }) }, { layer1 = { { name = "l", port_names = { "p1" },
               speed = "speed_100_fd_mbps" } } }))
            served:transmit "start"
            local row = served:await "f1"
            assert.same({ 2000, 2000 * size, 0 }, { row.frames_tx, row.bytes_tx, row.frames_rx })
         end
      end
   end)
end)
