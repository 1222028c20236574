-- SPDX-License-Identifier: BSD-3-Clause

-- The Open Traffic Generator API over gRPC: its messages as protobuf, and requests with broken bytes.
local Calls = require "framegauge.services.otg.calls"
local grpc = require "framegauge.services.otg.grpc"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local mutate = require "mutate"
local plans = require "framegauge.plan"
local protobuf = require "framegauge.services.otg.protobuf"

local PLAN = [[
test: otg
ports:
  east: {device: wire0}
  west: {device: wire1}
reference_device: {time: real, rate: 1Gbps, latency: 50us}
otg: {drain: 20ms}
]]

local function octets(hex)
   return (hex:gsub("%s", ""):gsub("%x%x", function(two)
      return string.char(tonumber(two, 16))
   end))
end

local function decode(name, text)
   return protobuf.decode_field(name, protobuf.envelope(text), 1)
end

describe("protobuf by the schema", function()
   -- Bytes that snappi makes of VALUE.
   local FLOW = octets [[
      0a 10 08 01 12 0c 0a 02 70 31 1a 02 70 32 1a 02 70 33
      12 1a 08 0a 5a 16 0a 08 08 03 1a 04 88 27 8a 27  12 0a 08 04 2a 06 08 05 10 02 18 0a
      22 09 08 06 10 07 3d 00 00 48 41
      3a 02 66 31
   ]]
   local VALUE = {
      tx_rx = { choice = "port", port = { tx_name = "p1", rx_names = { "p2", "p3" } } },
      packet = { { choice = "udp", udp = {
         src_port = { choice = "values", values = { 5000, 5002 } },
         dst_port = { choice = "increment", increment = { start = 5, step = 2, count = 10 } } } } },
      rate = { choice = "percentage", percentage = 12.5, pps = 7 }, name = "f1",
   }

   it("reads each kind of field", function()
      assert.same(VALUE, (decode("Flow", FLOW)))
   end)

   it("writes what it reads, and only the alternative that is chosen", function()
      local again = protobuf.encode("Flow", decode("Flow", FLOW))
      VALUE.rate.pps = nil
      assert.same(VALUE, (decode("Flow", again)))
      VALUE.rate.pps = 7
   end)

   it("takes numbers of a list one by one, parts of a message, and what it does not know", function()
      assert.same({ choice = "values", values = { 1, 300 } },
         (decode("P(u16,0,RT)", octets "18 01 08 03 18 ac 02")))
      assert.same({ tx_rx = { port = { tx_name = "a", rx_name = "b" } } },
         (decode("Flow", octets "0a 05 12 03 0a 01 61  0a 05 12 03 12 01 62")))
      assert.same({ name = "f" }, assert(decode("Flow", octets("ba 3e 01 78  c5 3e 00 00 00 00  3a 01 66"
         .. "c1 3e 00 00 00 00 00 00 00 00  c8 3e ff 01"))))
   end)

   it("keeps what is for reading to refuse", function()
      assert.same({ choice = 77 }, (decode("FlowHeader", octets "08 4d")))
      assert.same({ egress_only_tracking = { true }, stateful_flows = true },
         (decode("Config", octets "5a 02 08 01  52 00")))
      assert.same({ choice = "auto" }, (decode("P(u8,61,AT,def=auto)", octets "20 06")))
   end)

   it("tells what is no protobuf", function()
      for hex, text in pairs {
         ["a0 06"] = "a number is cut", ["a0 06 ff"] = "a number is cut", ["0a 05 12"] = "a field is cut",
         ["3a 02 ff fe"] = "name is not UTF-8", ["38 01"] = "name has wire type 0",
         ["00 01"] = "a field has the number 0",
         ["c5 3e 00"] = "a field of wire type 5 is cut or not allowed",
         ["c3 3e"] = "a field of wire type 3 is cut or not allowed",
         ["80 80 80 80 80 80 80 80 80 80 01"] = "a number is cut",
      } do
         local value, wrong = decode("Flow", octets(hex))
         assert.is_nil(value)
         assert.equal("protobuf: " .. text, wrong, hex)
      end
   end)
end)

describe("the Open Traffic Generator API over gRPC", function()
   local calls, methods

   setup(function()
      calls = Calls.new(assert(plans.load_text(PLAN, "otg")))
      methods = grpc.methods(calls)
   end)
   teardown(function()
      calls:close()
   end)

   local UDP = {
      { choice = "ethernet", ethernet = { src = { choice = "value", value = "00:00:01:01:01:01" } } },
      { choice = "ipv4", ipv4 = { src = { choice = "values", values = { "1.1.1.1", "1.1.1.3" } } } },
      { choice = "udp", udp = { dst_port = { choice = "increment",
         increment = { start = 7, count = 5 } } } },
   }

   local function flow(name)
      return {
         name = name, packet = UDP,
         tx_rx = { choice = "port", port = { tx_name = "p1", rx_names = { "p2" } } },
         size = { choice = "fixed", fixed = 128 }, rate = { choice = "pps", pps = 1000 },
         metrics = { enable = true, latency = { enable = true } },
         duration = { choice = "fixed_packets", fixed_packets = { packets = 100 } },
      }
   end

   local function configuration(...)
      return {
         ports = { { name = "p1", location = "east" }, { name = "p2", location = "west" } }, flows = { ... },
      }
   end

   -- A call: its answer, or the status and the decoded error.
   local function ask(name, request, answer, value, is_awaited)
      local text = request and protobuf.envelope(protobuf.encode(request, value)) or ""
      local ok, result = pcall(methods["/otg.Openapi/" .. name], { text }, is_awaited)
      if not ok then
         assert(type(result) == "table" and result.grpc_status, result)
         return result.grpc_status, json.decode(result.message)
      end
      assert.equal(1, #result)
      return 0, assert(protobuf.decode_field(answer, result[1], 1))
   end

   local function transmit(state)
      assert.equal(0, (ask("SetControlState", "ControlState", "Warning", { choice = "traffic", traffic = {
         choice = "flow_transmit", flow_transmit = { state = state } } })))
   end

   local function row()
      local _, answer = ask("GetMetrics", "MetricsRequest", "MetricsResponse", { choice = "flow", flow = {} })
      return answer.flow_metrics[1]
   end

   it("sets, starts, counts and tells what was set", function()
      assert.same({ 0, {} }, { ask("SetConfig", "Config", "Warning", configuration(flow "f1")) })
      assert.same(configuration(flow "f1"), select(2, ask("GetConfig", nil, "Config")))
      assert.same({ "stopped", 0, 0 }, { row().transmit, row().frames_tx, row().loss })
      transmit "start"
      local final
      repeat
         job.sleep(0.02)
         final = row()
      until final.transmit == "stopped"
      assert.same({ 100, 100, 12800 }, { final.frames_tx, final.frames_rx, final.bytes_rx })
      assert.near(50000, final.latency.minimum_ns, 100)
      assert.equal("^1.0.0", select(2, ask("GetVersion", nil, "Version")).api_spec_version)
   end)

   it("answers errors with the status and the texts of the API", function()
      local wrong = configuration(flow "f1", flow "f1")
      wrong.flows[1].rate = { choice = "pps", pps = 0 }
      local status, about = ask("SetConfig", "Config", "Warning", wrong)
      assert.same({ 3, 400, "validation", 2 }, { status, about.code, about.kind, #about.errors })
      assert.matches('^flows%[0%] "f1".rate.pps: ', about.errors[1])
      assert.equal("f1", select(2, ask("GetConfig", nil, "Config")).flows[1].name)
      assert.equal(12, (ask("SetControlAction", "ControlAction", "Warning", { choice = "port" })))
   end)

   it("says as many faults as a header carries", function()
      local many = configuration()
      for i = 1, 300 do
         many.flows[i] = flow "a name that \195\164ll have"
      end
      local status, about = ask("SetConfig", "Config", "Warning", many)
      assert.equal(3, status)
      assert.is_true(#json.encode(about) < 8000)
      assert.matches("^%.%.%. and %d+ more$", about.errors[#about.errors])
   end)

   it("takes and gives large messages in pieces", function()
      local text, pieces = protobuf.encode("Config", configuration(flow "f2")), {}
      for at = 1, #text, 50 do
         pieces[#pieces + 1] = protobuf.encode("Data", { chunk_size = 50, datum = text:sub(at, at + 49) })
      end
      assert.same({ "\10\0" }, methods["/otg.Openapi/streamSetConfig"](pieces))
      local answer = methods["/otg.Openapi/streamGetConfig"] { "" }
      assert.same(configuration(flow "f2"), (protobuf.decode_field("Config", table.concat(answer), 2)))
   end)

   it("does not do what nobody awaits any more", function()
      local status, about = ask("SetConfig", "Config", "Warning", {}, function()
         return false
      end)
      assert.same({ 3, { "given up by its client" } }, { status, about.errors })
      assert.equal("f2", select(2, ask("GetConfig", nil, "Config")).flows[1].name)
   end)

   -- Two flows, and a LAG of one port.
   local function with_lag()
      local value = configuration(flow "f1", flow "f2")
      value.lags = { { name = "g", min_links = 1, ports = { { port_name = "p1",
         ethernet = { name = "e", mac = "00:00:00:00:00:01" }, lacp = { actor_port_number = 3 } } },
         protocol = { choice = "lacp", lacp = { actor_system_id = "00:00:00:00:00:01", actor_key = 1 } } } }
      return value
   end

   -- Requests whose bytes are changed, removed, added or cut.
   local REQUESTS = {
      { "SetConfig", "Config", configuration(flow "f1", flow "f2") },
      { "SetControlState", "ControlState", { choice = "traffic", traffic = { choice = "flow_transmit",
         flow_transmit = { state = "start", flow_names = { "f1" } } } } },
      { "SetControlState", "ControlState", { choice = "port", port = { choice = "link", link = {
         state = "up", port_names = { "p1" } } } } },
      { "UpdateConfig", "ConfigUpdate", { choice = "flows", flows = { property_names = { "rate" },
         flows = { flow "f1" } } } },
      { "AppendConfig", "ConfigAppend", { config_append_list = { { choice = "flows",
         flows = { flow "new" } } } } },
      { "DeleteConfig", "ConfigDelete", { config_delete_list = { { choice = "flows", flows = { "f2" } } } } },
      { "GetMetrics", "MetricsRequest", { choice = "flow", flow = { flow_names = { "f1" },
         metric_names = { "frames_tx", "tx_rate_bps" } } } },
      { "SetControlState", "ControlState", { choice = "protocol", protocol = { choice = "lacp", lacp = {
         choice = "admin", admin = { state = "down", lag_member_names = { "p1" } } } } } },
      { "GetMetrics", "MetricsRequest", { choice = "lacp", lacp = { lag_names = { "g" },
         column_names = { "system_id" } } } },
      { "GetStates", "StatesRequest", { choice = "ipv4_neighbors", ipv4_neighbors = {} } },
      { "GetCapture", "CaptureRequest", { port_name = "p2" } },
   }

   local function changed(text, draw)
      for _ = 0, draw(3) do
         local at = draw(#text) + 1
         local kinds = {
            function() return text:sub(1, at - 1) .. string.char(draw(256)) .. text:sub(at + 1) end,
            function() return text:sub(1, at - 1) .. text:sub(at + 1) end,
            function() return text:sub(1, at) .. string.char(draw(256)) .. text:sub(at + 1) end,
            function() return text:sub(1, at) end,
            function() return text .. text:sub(at) end,
         }
         text = kinds[draw(#kinds) + 1]()
         if #text == 0 then
            return text
         end
      end
      return text
   end

   -- What a refusal must leave as it was.
   local function state()
      local flows = {}
      for _, one in ipairs(calls.traffic.flows) do
         flows[one.name] = one.run or 0
      end
      return json.encode { calls:get_config(), flows }
   end

   it("takes configurations with broken bytes or refuses them, and then keeps the one before", function()
      local refused, draw = 0, mutate.draws(5)
      local whole = protobuf.encode("Config", with_lag())
      for round = 1, 500 do
         local text, before = protobuf.envelope(changed(whole, draw)), state()
         local ok, result = pcall(methods["/otg.Openapi/SetConfig"], { text })
         if not ok then
            refused = refused + 1
            assert.equal(3, type(result) == "table" and result.grpc_status,
               ("round %d: %s"):format(round, tostring(result)))
            assert.equal(before, state())
         end
      end
      assert.is_true(refused > 300 and refused < 500, tostring(refused))
   end)

   it("follows requests with broken bytes or refuses them with a text, and then changes nothing", function()
      local statuses, draw = {}, mutate.draws(11)
      for round = 1, 500 do
         if round % 10 == 1 then
            assert.equal(0, (ask("SetConfig", "Config", "Warning", with_lag())))
         end
         local name, request, value = unpack(REQUESTS[draw(#REQUESTS) + 1])
         local text = protobuf.envelope(changed(protobuf.encode(request, value), draw))
         local before = state()
         local ok, result = pcall(methods["/otg.Openapi/" .. name], { text })
         local status = ok and 0 or type(result) == "table" and result.grpc_status
         assert(status, ("round %d, %s: %s"):format(round, name, tostring(result)))
         statuses[status] = (statuses[status] or 0) + 1
         if status ~= 0 then
            assert.equal(before, state(), name)
            for _, one in ipairs(json.decode(result.message).errors) do
               assert.truthy(one:find "^[%w_]+[ .:%[]" or one:find "^%.%.%. and", one)
            end
         else
            assert.is_string(result[1])
         end
      end
      assert.is_true(statuses[0] > 10 and statuses[3] > 250, json.encode { statuses[0], statuses[3] })
   end)
end)
