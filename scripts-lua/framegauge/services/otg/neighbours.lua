-- SPDX-License-Identifier: BSD-3-Clause

--- The devices of a configuration as they live: started or stopped, the neighbours they know and reach.
--
-- Each address is an emulated host of the tester. The frames of a flow between devices go to the MAC of a
-- gateway, which is known only when it has answered, so they are made when the flow starts.
local devices = require "framegauge.services.otg.devices"
local Hosts = require "framegauge.tester.hosts"
local json = require "framegauge.text.json"
local read = require "framegauge.services.otg.read"
local refusal = require "framegauge.services.otg.refusal"
local tables = require "framegauge.core.tables"

local FIRST_SECONDS = 0.3 -- of the wire, for the first answers
local LOOK_SECONDS = 0.1 -- of the wire, whenever somebody asks
local START_SECONDS = 5 -- that a flow waits for the MACs of its frames

local Neighbours = {}
Neighbours.__index = Neighbours

--- The devices of a configuration, at rest.
-- @param tester  the open tester, which runs no trial
-- @param state   of framegauge.services.otg.devices
function Neighbours.new(tester, state)
   local hosts = Hosts.new(tester, tables.map(state.hosts, function(host)
      return {
         port = host.port.place, mac = host.mac, tags = host.tags, address = host.address,
         gateway = not host.gateway_mac and devices.has_gateway(host) and host.gateway or nil,
      }
   end))
   return setmetatable({ state = state, hosts = hosts, on_wire = tester.wires ~= nil }, Neighbours)
end

-- The MAC of a host's gateway; nil while it is not known.
function Neighbours:gateway_mac(host)
   return self.running and (host.gateway_mac or self.hosts:gateway_mac(host.index)) or nil
end

-- The wire's time passes in trials only: let some pass until all have answered.
function Neighbours:let_wire_pass(seconds)
   local function all_known()
      for _, host in ipairs(self.state.hosts) do
         if devices.has_gateway(host) and not self:gateway_mac(host) then
            return false
         end
      end
      return true
   end
   if self.on_wire and self.running and not all_known() then
      self.hosts:pass(seconds, all_known)
   end
end

--- Start the devices: they resolve their gateways. Call it inside a job, like the next functions.
function Neighbours:start()
   self.hosts:start()
   self.running = true
   self:let_wire_pass(FIRST_SECONDS)
end

--- Stop them.
function Neighbours:stop()
   self.hosts:stop()
   self.running = false
end

--- Rows of neighbours, one for each address.
-- @param version  4 or 6
-- @param names    of Ethernet interfaces; none: all
-- @param path     of the names
function Neighbours:states(version, names, path)
   local found, wanted = read.found(), {}
   found:named(names, path .. ".ethernet_names", function(name)
      wanted[name] = true
      return self.state.interfaces[name], "is no Ethernet of a device"
   end)
   refusal.raise_found(found)
   self:let_wire_pass(LOOK_SECONDS)
   return tables.map(self.state.hosts, function(host)
      local shown = host.version == version and (not names[1] or wanted[host.ethernet])
      return shown and json.object {
         ethernet_name = host.ethernet, [("ipv%d_address"):format(version)] = host.gateway,
         link_layer_address = self:gateway_mac(host),
      } or nil
   end)
end

-- The MACs that a flow's frames go to; nil and the host whose gateway is not known.
function Neighbours:macs_of(stream)
   local macs, same = {}, true
   for i, pair in ipairs(stream.pairs) do
      local mac, host = devices.next_hop(pair)
      local gateway = host and self:gateway_mac(host)
      if host and not gateway then
         return nil, host
      end
      macs[i] = mac or gateway
      same = same and macs[i] == macs[1]
   end
   return same and { macs[1] } or macs
end

-- The unresolved gateways of a list of flows: sentences.
function Neighbours:unknown(flows)
   local list = {}
   for _, flow in ipairs(flows) do
      local macs, host = true, nil
      if flow.stream.templates_to then
         macs, host = self:macs_of(flow.stream)
      end
      if not macs then
         list[#list + 1] = ('%s: MAC address of %s (gateway of "%s") was not resolved'):format(
            flow.stream.path, host.gateway, host.name)
      end
   end
   return list
end

-- Make the frames of a flow for the MACs they go to.
local function aim_one(stream, macs)
   if not tables.same(macs, stream.macs) then
      stream.templates, stream.macs = stream.templates_to(macs), macs
   end
end

--- A flow that runs has another rate or size: its frames go where they went before.
function Neighbours.keep(before, after)
   if before.macs and after.templates_to then
      aim_one(after, before.macs)
   end
end

--- Make the frames of flows between devices, whose MACs are waited for.
-- @param flows  that are to start
function Neighbours:aim(flows)
   local errors = self:unknown(flows)
   if errors[1] and self.running then
      self.hosts:pass(START_SECONDS, function()
         return #self:unknown(flows) == 0
      end)
      errors = self:unknown(flows)
   end
   if errors[1] then
      refusal.raise(errors)
   end
   for _, flow in ipairs(flows) do
      if flow.stream.templates_to then
         aim_one(flow.stream, self:macs_of(flow.stream))
      end
   end
end

-- The pings of a request, as the hosts take them.
local function pings_of(self, requests, version, path)
   local found = read.found()
   local list = tables.map(requests, function(one, i)
      local from = self.state.ends[one.src_name]
      local host = from and from.host
      if not host or host.version ~= version then
         return found:fault(("%s.requests[%d].src_name"):format(path, i - 1),
            '"%s" is no IPv%d interface of a device', one.src_name, version)
      end
      return { host = host.index, to = one.dst_ip,
         hop = not devices.is_near(host, one.dst_ip) and host.gateway or nil }
   end)
   refusal.raise_found(found)
   return list
end

--- Send an echo request for each of a list of { src_name =, dst_ip = }.
-- @return the list with results
function Neighbours:ping(requests, version, path)
   local results = self.hosts:ping(pings_of(self, requests, version, path))
   return tables.map(requests, function(one, i)
      return json.object { src_name = one.src_name, dst_ip = one.dst_ip,
         result = results[i] and "succeeded" or "failed" }
   end)
end

return Neighbours
