-- SPDX-License-Identifier: BSD-3-Clause

--- The calls of the API, whatever brings them here: each takes a decoded request and returns an answer.
--
-- A request that cannot be followed raises an error with all that is wrong, and leaves everything as it was.
-- Calls that change something come one after the other; a call may wait, so all are made inside jobs.
local Tester = require "framegauge.tester"
local change = require "framegauge.services.otg.change"
local Captures = require "framegauge.services.otg.captures"
local config = require "framegauge.services.otg.config"
local failure = require "framegauge.core.failure"
local generator = require "framegauge.report.generator"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local lags = require "framegauge.services.otg.lags"
local Link = require "framegauge.tester.link"
local Links = require "framegauge.services.otg.links"
local Live = require "framegauge.tester.live"
local monitor = require "framegauge.services.otg.monitor"
local Neighbours = require "framegauge.services.otg.neighbours"
local read = require "framegauge.services.otg.read"
local refusal = require "framegauge.services.otg.refusal"
local request_of = require "framegauge.services.otg.request_of"
local reverse = require "framegauge.services.otg.reverse"
local starts = require "framegauge.services.otg.starts"
local tables = require "framegauge.core.tables"
local Traffic = require "framegauge.services.otg.traffic"
local updates = require "framegauge.services.otg.updates"

local Calls = {}
Calls.__index = Calls

local refuse, NOT_THERE = refusal.raise, refusal.NOT_THERE
local WIRE_SECONDS = 0.01

local function done(warnings)
   return { warnings = read.printable(warnings or {}) }
end

-- One after the other. A call whose client has gone when its turn comes is not made.
local function exclusive(call)
   return function(self, value, is_awaited)
      while self.busy do
         job.wait(function(wake)
            table.insert(self.waiting, wake)
         end)
      end
      if is_awaited and not is_awaited() then
         refuse { "given up by its client" }
      end
      self.busy = true
      return failure.finally(function()
         self.busy = false
         local wake = table.remove(self.waiting, 1)
         if wake then
            wake()
         end
      end, call, self, value)
   end
end

-- The interface of a port of the kernel; of another one its device.
local function interface_of(port)
   return port.device:match "^kernel:([^,]+)" or port.device
end

-- What scripts may call a port.
local function places_of(plan)
   local places = {}
   for i, port in ipairs(plan.ports) do
      places[interface_of(port)] = i
      places[port.device] = i
   end
   for i, port in ipairs(plan.ports) do
      places[port.name] = i
   end
   for _, one in ipairs(plan.otg.locations or {}) do
      places[one.name] = tables.index_of(plan.ports, one.port)
   end
   return places
end

--- Open the ports of a plan.
function Calls.new(plan)
   local self = setmetatable({
      plan = plan, places = places_of(plan), waiting = {}, value = {}, max_frame = plan.otg.max_frame,
      links = Links.new(),
   }, Calls)
   self:open()
   self.env = {
      locate = function(location)
         return self.places[location] or self.places[location:match "^(.-)%+" or ""]
      end,
      locations = function() return tables.keys(self.places) end,
      line_rate = function(place)
         return self.tester.ports[place].line_rate or plan.ports[place].line_rate
      end,
      port = function(place)
         return { mac = self.tester.ports[place].mac, interface = interface_of(plan.ports[place]) }
      end,
      link = function(place)
         return Live.port(self.tester, place).link
      end,
      max_lag = plan.host.max_lag, inner_fcs = plan.otg.inner_fcs, capture_mask = plan.otg.capture_mask,
   }
   self:take(config.read({}, self.env, read.found()))
   return self
end

function Calls:open()
   local tester, err = Tester.open(self.plan, { max_frame = self.max_frame, unasked = true })
   if not tester then
      error(err, 0)
   end
   self.tester = tester
end

-- Open the ports again where frames are longer than they are open for. Where that fails, they have the flows
-- of before again, which start from 0.
function Calls:make_room(state)
   local longest = self.max_frame
   for _, stream in ipairs(state.streams) do
      longest = math.max(longest, stream.about.most)
   end
   if longest == self.max_frame then
      return
   end
   self.tester:close()
   local before, speaks = self.max_frame, self.neighbours.running or self.link.running
   self.max_frame = longest
   local ok, err = pcall(self.open, self)
   if not ok then
      self.max_frame = before
      self:open()
      self:take(self.state)
      if speaks then
         self:speak("start")
      end
      refuse { ("flows: frames of %d bytes: %s"):format(longest, tostring(err)) }
   end
end

-- Begin with another configuration.
function Calls:take(state)
   self.state = state
   self.traffic = Traffic.new(self.tester, state.streams, self.plan.otg.drain)
   self.captures = Captures.new(self.tester, state.captures, self.plan)
   self.neighbours = Neighbours.new(self.tester, state.devices)
   self.link = Link.new(self.tester, tables.joined(state.lldp, state.lags.agents))
end

-- Start or stop the frames of devices and link agents.
function Calls:speak(start)
   self.neighbours[start](self.neighbours)
   self.link[start](self.link, function()
      self:let_wire_pass()
   end)
end

-- The wire's time passes in trials only: let the agents' frames arrive.
Calls.let_wire_pass = exclusive(function(self)
   if self.link.running and self.link:waits() then
      self.link:pass(WIRE_SECONDS, function() return false end)
   end
end)

function Calls:close_state()
   self.link:close()
   self.links:restore(self.tester)
   self.traffic:close()
   self.captures:close()
end

--- Replace the configuration.
Calls.set_config = exclusive(function(self, value)
   local found = read.found()
   local state = config.read(value, self.env, found)
   refusal.raise_found(found)
   self:close_state()
   self:make_room(state)
   self:take(state)
   if state.speaks then
      self:speak "start"
   end
   self.value = {}
   for key, one in pairs(value) do
      self.value[key] = one ~= json.null and one or nil
   end
   return done(found.warnings)
end)

--- The configuration, with the keys that came.
function Calls:get_config()
   return read.mark("Config", self.value)
end

-- Read a change, and its subject; raise all its faults.
function Calls:change(message, of, value)
   local request, found = request_of.read(message, value), read.found()
   local one, other = of(request, value, {
      value = self.value, state = self.state, env = self.env, flows = self.traffic.by_name,
   }, found)
   refusal.raise_found(found)
   return found, one, other
end

-- Frames longer than the ports are open for would need other ports.
function Calls:check_room(streams)
   for _, stream in ipairs(streams) do
      if stream.about.most > self.max_frame then
         refuse { ("%s: frames of %d bytes need set_config"):format(stream.path, stream.about.most) }
      end
   end
end

--- Give flows another rate or size.
Calls.update_config = exclusive(function(self, value)
   if request_of.choice(value) == "protocols" then
      refuse({ "protocols: not supported" }, NOT_THERE)
   end
   local found, list = self:change("ConfigUpdate", change.updates, value)
   self:check_room(tables.field(list, "stream"))
   local ways = {}
   for _, one in ipairs(list) do
      local flow = self.traffic.by_name[one.stream.name]
      ways[#ways + 1] = { flow = flow, stream = one.stream }
      ways[#ways + 1] = flow.back and { flow = flow.back, stream = one.stream.back }
   end
   if not updates.have_room(self.traffic, ways) then
      refuse { "flows.flows: there is no room for this many flows that get another size while they run" }
   end
   for _, one in ipairs(list) do
      self.value.flows[one.index] = one.raw
   end
   for _, one in ipairs(ways) do
      Neighbours.keep(one.flow.stream, one.stream)
      self.traffic:update(one.flow, one.stream)
   end
   return done(found.warnings)
end)

--- Add flows.
Calls.append_config = exclusive(function(self, value)
   local found, streams, raw = self:change("ConfigAppend", change.additions, value)
   self:check_room(streams)
   self.traffic:append(streams)
   self.value.flows = tables.joined(self.value.flows or {}, raw)
   return done(found.warnings)
end)

--- Remove flows.
Calls.delete_config = exclusive(function(self, value)
   local found, names = self:change("ConfigDelete", function(request, _, c, faults)
      return change.removals(request, c, faults)
   end, value)
   self.traffic:delete(reverse.both_ways(tables.map(names, function(name)
      return self.traffic.by_name[name]
   end)))
   for _, name in ipairs(names) do
      table.remove(self.value.flows, tables.index_of(self.value.flows, name))
   end
   return done(found.warnings)
end)

-- The flows of a request; all of them where none is named.
function Calls:flows_of(names, path)
   local found, seen = read.found(), {}
   local flows = tables.map(found:named(names, path .. ".flow_names", function(name)
      return self.traffic.by_name[name], "is no flow"
   end), function(flow)
      local again = seen[flow]
      seen[flow] = true
      return not again and flow or nil
   end)
   refusal.raise_found(found)
   return names[1] and reverse.both_ways(flows) or self.traffic.flows
end

-- What each state of flows does.
local transmit = {}

function transmit.start(self, flows, all)
   starts.check(self, flows, all)
   self.traffic:start(flows, all)
end

function transmit.stop(self, flows)
   self.traffic:stop(flows)
end

function transmit.pause(self, flows)
   self.traffic:pause(flows)
end

function transmit.resume(self, flows)
   starts.check(self, flows, false)
   self.traffic:resume(flows)
end

-- The ports of a request, or all that have a place.
function Calls:places_named(names, path)
   local found = read.found()
   local function placed(name)
      local port = self.state.ports[name]
      return port and port.place and port or nil, port and "has no location" or "is no port"
   end
   local list = found:named(names, path .. ".port_names", placed)
   refusal.raise_found(found)
   return names[1] and list or tables.map(self.state.order, function(name) return (placed(name)) end)
end

local control = {}

function control.traffic(self, traffic)
   local o = traffic.flow_transmit
   local flows = self:flows_of(o.flow_names, "traffic.flow_transmit")
   transmit[o.state](self, flows, not o.flow_names[1])
   return done()
end

function control.port(self, port)
   if port.choice == "link" then
      local ports = self:places_named(port.link.port_names, "port.link")
      local wrong = self.links:set(self.tester, ports, port.link.state)
      return wrong and refuse({ wrong }, NOT_THERE) or done()
   end
   local found = read.found()
   local names = port.capture.port_names
   found:named(names, "port.capture.port_names", function(name)
      return self.captures:has(name), "is no port with a capture"
   end)
   refusal.raise_found(found)
   for _, name in ipairs(names[1] and names or self.captures:names()) do
      self.captures[port.capture.state](self.captures, name)
   end
   return done()
end

function control.protocol(self, protocol)
   if protocol.choice == "lacp" then
      local found = read.found()
      lags.control(self.state.lags, protocol.lacp, found)
      refusal.raise_found(found)
      return done()
   elseif protocol.choice ~= "all" then
      refuse({ ("protocol.%s: not supported"):format(protocol.choice) }, NOT_THERE)
   end
   self:speak(protocol.all.state)
   return done()
end

--- Start and stop flows, captures and protocols.
Calls.set_control_state = exclusive(function(self, value)
   local protocol = type(value) == "table" and request_of.choice(value.protocol)
   if request_of.choice(value) == "protocol" and protocol and protocol ~= "all" and protocol ~= "lacp" then
      control.protocol(self, { choice = protocol })
   end
   local request = request_of.read("ControlState", value)
   return control[request.choice](self, request[request.choice])
end)

--- Have devices ping; there are no other actions.
Calls.set_control_action = exclusive(function(self, value)
   local kind = request_of.choice(value)
   local version = kind == "protocol" and ({ ipv4 = 4, ipv6 = 6 })[request_of.choice(value.protocol)]
   if not version then
      refuse({ ("%s: not supported; there is ping, of ipv4 and ipv6"):format(
         kind == "protocol" and "protocol.choice" or "choice") }, NOT_THERE)
   end
   local protocol = request_of.read("ControlAction", value).protocol
   local key = protocol.choice
   local responses = self.neighbours:ping(protocol[key].ping.requests, version,
      ("protocol.%s.ping"):format(key))
   return { warnings = {}, response = json.object { choice = "protocol", protocol = json.object {
      choice = key, [key] = json.object { choice = "ping", ping = json.object { responses = responses } },
   } } }
end)

--- Metrics of flows, ports or protocols.
function Calls:get_metrics(value)
   return monitor.metrics(self, value)
end

--- States of neighbours.
Calls.get_states = exclusive(monitor.states)

--- The file of a capture, which ends with it.
Calls.get_capture = exclusive(function(self, value)
   local request = request_of.read("CaptureRequest", value)
   if not self.captures:has(request.port_name) then
      refuse { ('port_name: "%s" is no port with a capture'):format(request.port_name) }
   end
   local packets = request.packets
   local slice = packets and packets.choice == "slice" and packets.slice.initial or {}
   return self.captures:file(request.port_name, slice.start, slice.count)
end)

--- Versions. Clients read the first one as a constraint that their own version has to fulfil.
function Calls.get_version()
   local about = generator.of()
   return json.object {
      api_spec_version = "^1.0.0", sdk_version = "1.61.0", app_version = about.name .. "-" .. about.version,
   }
end

--- Close the ports.
Calls.close = exclusive(function(self)
   self:close_state()
   self.tester:close()
end)

return Calls
