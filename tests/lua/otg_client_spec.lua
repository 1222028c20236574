-- SPDX-License-Identifier: BSD-3-Clause

-- Our client of the Open Traffic Generator API and our server, over HTTP.
local client = require "framegauge.services.otg.client"
local curl = require "curl"
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local server = require "framegauge.services.otg.service"

local PLAN = [[
test: otg
ports:
  east: {device: wire0}
  west: {device: wire1}
reference_device: {time: real, rate: 1Gbps, latency: 50us, loss_every: 4}
otg: {drain: 20ms, listen: ["http://127.0.0.1:0", "https://127.0.0.1:0"]}
]]

local YAML = [[
# as a script may keep it
ports:
- {name: p1, location: east}
- name: p2
  location: "west"
captures:
- {name: c, port_names: [p2], format: pcap, overwrite: null}
flows:
- name: f1
  tx_rx: {port: {tx_name: p1, rx_names: [p2]}}
  packet:
  - ethernet: {src: {value: 00:00:01:01:01:01}}
  - ipv4: {src: {value: 198.18.0.1}, dst: {value: 198.19.0.1}}
  payload: {choice: fixed, fixed: {pattern: 00}}
  size: {fixed: 128}
  rate: {pps: 2000}
  duration: {fixed_packets: {packets: 100}}
  metrics: {enable: true}
]]

describe("the client of the Open Traffic Generator API", function()
   local own, api

   setup(function()
      own = server.open(assert(plans.load_text(PLAN, "otg")))
      api = client.new(own.urls[1] .. "/")
   end)
   teardown(function()
      api:close()
      own:close()
   end)

   local function flow(name)
      return {
         name = name, tx_rx = { port = { tx_name = "p1", rx_names = { "p2" } } }, size = { fixed = 128 },
         rate = { pps = 2000 }, duration = { fixed_packets = { packets = 100 } },
         metrics = { enable = true },
      }
   end

   local function configuration(...)
      return {
         ports = { { name = "p1", location = "east" }, { name = "p2", location = "west" } },
         captures = { { name = "c", port_names = { "p2" }, format = "pcap" } }, flows = { ... },
      }
   end

   it("drives flows from their configuration to their last count", function()
      assert.equal("^1.0.0", api:get_version().api_spec_version)
      assert.same({ warnings = {} }, api:set_config(configuration(flow "f1", flow "f2")))
      assert.equal("f2", api:get_config().flows[2].name)
      api:set_control_state { port = { capture = { state = "start" } } }
      api:transmit("start", { "f1" })
      local row = api:await({ "f1" }, 30).f1
      assert.same({ 100, 75, 12800, 25 }, { row.frames_tx, row.frames_rx, row.bytes_tx, row.loss })
      assert.equal(0, api:flow_metrics().f2.frames_tx)
      assert.equal(100, api:port_metrics({ "p1" }).p1.frames_tx)
      assert.equal(24 + 75 * (16 + 128), #api:get_capture { port_name = "p2" })
   end)

   it("raises what a server refuses", function()
      local ok, err = pcall(api.transmit, api, "start", { "f1", "nope" })
      assert.is_false(ok)
      assert.same({ 400, "validation", { 'traffic.flow_transmit.flow_names[1]: "nope" is no flow' } },
         { err.code, err.kind, err.errors })
      assert.matches("nope", tostring(err))
      ok, err = pcall(api.call, api, "GET", "/nowhere")
      assert.same({ false, 404 }, { ok, err.code })
   end)

   it("waits no longer than it is told", function()
      local endless = flow "f1"
      endless.duration = { choice = "continuous" }
      api:set_config(configuration(endless))
      api:transmit "start"
      local ok, err = pcall(api.await, api, nil, 0.1)
      assert.is_false(ok)
      assert.matches('flow "f1" still runs after 0.1 s', tostring(err))
      api:transmit "stop"
      local row = api:flow_metrics().f1
      assert.equal("stopped", row.transmit)
   end)

   it("speaks TLS, and reports a server that is not there", function()
      local secure = client.new(own.urls[2])
      assert.equal("^1.0.0", secure:get_version().api_spec_version)
      secure:close()
      local nobody = client.new "http://127.0.0.1:1"
      local ok, err = pcall(nobody.get_version, nobody)
      assert.is_false(ok)
      assert.matches("^http://127.0.0.1:1: no answer: curl", tostring(err))
      nobody:close()
   end)

   it("finds that a server takes YAML, and says where it is wrong", function()
      local function post(text)
         return json.decode((curl("--data-binary", text, own.urls[1] .. "/config")))
      end
      assert.same({ warnings = {} }, post(YAML))
      local sent = api:get_config().flows[1]
      assert.same({ "00", 128, "198.18.0.1" },
         { sent.payload.fixed.pattern, sent.size.fixed, sent.packet[2].ipv4.src.value })
      api:transmit "start"
      assert.equal(75, api:await(nil, 30).f1.frames_rx)
      assert.equal("the body is no object", post("[]").errors[1])
      assert.matches("^the body is no JSON, and no YAML: line 2, column 1: ", post("ports: [\n").errors[1])
      assert.same({ "the body is no object" }, post("42").errors)
      assert.same({ 'flows[0]: "x" is not an object' }, post("flows: [x]").errors)
   end)

   it("is told where a path of older clients has gone", function()
      local text = curl("-w", "%{http_code}", "--data-binary", '{"state": "start"}',
         own.urls[1] .. "/control/transmit")
      assert.matches("404$", text)
      assert.matches('"there is nothing at /control/transmit; .* it is POST /control/state', text)
   end)

   it("is told which methods a path has", function()
      local text = curl("-i", "-X", "DELETE", own.urls[1] .. "/config")
      assert.matches("^HTTP/1.1 405 ", text)
      assert.matches("\r\nAllow: GET, PATCH, POST, HEAD\r\n", text)
      assert.matches('"kind":"validation"', text)
   end)
end)
