-- SPDX-License-Identifier: BSD-3-Clause

--- The calls of the Open Traffic Generator API on the reference device, as HTTP makes them.
local Calls = require "framegauge.services.otg.calls"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local server = require "framegauge.services.otg.service"

local Served = {}
Served.__index = Served

local PLAN = [[
test: otg
ports:
  east: {device: wire0}
  west: {device: wire1}
reference_device: {time: real, rate: 1Gbps, latency: 50us%s}
otg: {drain: 20ms}
]]

-- Three ports of one switch.
local SWITCH = [[
test: otg
ports:
  east: {device: wire0}
  west: {device: wire1}
  south: {device: wire2}
reference_switch: {time: real, rate: 1Gbps, latency: 10us}
otg: {drain: 20ms}
]]

local UDP = {
   { ethernet = { src = { value = "00:00:01:01:01:01" } } },
   { ipv4 = { src = { value = "1.1.1.1" }, dst = { value = "1.1.1.2" } } },
   { udp = { src_port = { value = 5000 }, dst_port = { value = 6000 } } },
}

--- The same table, with more fields or others.
function Served.with(one, more)
   for key, value in pairs(more or {}) do
      one[key] = value
   end
   return one
end

--- A flow from p1 to p2: 100 frames of 128 bytes, 1000 in a second.
-- @param more  what it has besides, or has otherwise
function Served.flow(name, more)
   return Served.with({
      name = name, tx_rx = { port = { tx_name = "p1", rx_names = { "p2" } } }, packet = UDP,
      size = { fixed = 128 }, rate = { pps = 1000 }, metrics = { enable = true },
      duration = { fixed_packets = { packets = 100 } },
   }, more)
end

--- A configuration of flows between two ports.
function Served.configuration(flows, more)
   return Served.with({
      ports = { { name = "p1", location = "east" }, { name = "p2", location = "wire1" } }, flows = flows,
   }, more)
end

--- The same for the ports of open_switch().
function Served.switch_configuration(flows, more)
   local value = Served.configuration(flows, more)
   value.ports[3] = { name = "p3", location = "south" }
   return value
end

--- With a plan of its own.
function Served.open_plan(text)
   local calls = Calls.new(assert(plans.load_text(text, "otg")))
   return setmetatable({ calls = calls, routes = server.routes(calls) }, Served)
end

--- @param device  more of the reference device than its rate and latency, such as ", loss_every: 25"
function Served.open(device)
   return Served.open_plan(PLAN:format(device or ""))
end

--- Behind a switch, which has a third port.
function Served.open_switch()
   return Served.open_plan(SWITCH)
end

function Served:close()
   self.calls:close()
end

--- A request by HTTP.
-- @param value  what is sent, or its text
-- @return status and decoded answer
function Served:ask(route, value)
   local handler = self.routes[route]
   handler = type(handler) == "table" and handler[1] or handler
   local answer = handler { method = route:match "%u+", body = type(value) == "string" and value
      or value and json.encode(value) or "" }
   return answer.status or 200, answer.type == "application/json" and json.decode(answer.body) or answer.body
end

--- A request that is not refused. @return decoded answer
function Served:must(route, value)
   local status, answer = self:ask(route, value)
   assert(status == 200, json.encode(answer))
   return answer
end

function Served:transmit(state, names)
   self:must("POST /control/state", { traffic = { flow_transmit = { state = state, flow_names = names } } })
end

--- Start or stop the captures of all ports.
function Served:capture(state)
   self:must("POST /control/state", { port = { capture = { state = state } } })
end

--- Frames that a port has captured, with their FCS.
function Served:captured(port)
   local _, file = self:ask("POST /monitor/capture", { port_name = port })
   local frames, at = {}, 25
   while at < #file do
      local length = file:byte(at + 8) + 256 * file:byte(at + 9)
      frames[#frames + 1] = file:sub(at + 16, at + 15 + length)
      at = at + 16 + length
   end
   return frames
end

--- Rows of all ports by name, as they come.
function Served:ports()
   local out = {}
   for _, one in ipairs(self:must("POST /monitor/metrics", { port = {} }).port_metrics) do
      out[one.name] = one
   end
   return out
end

--- The row of a flow, in numbers.
function Served:row(name)
   local one = self:must("POST /monitor/metrics", { flow = { flow_names = { name } } }).flow_metrics[1]
   for key, value in pairs(one) do
      one[key] = (key:find "^frames" or key:find "^bytes") and tonumber(value) or value
   end
   return one
end

--- The same when it has stopped.
function Served:await(name)
   local one
   repeat
      job.sleep(0.01)
      one = self:row(name)
   until one.transmit == "stopped"
   return one
end

return Served
