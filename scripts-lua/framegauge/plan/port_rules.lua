-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold between the ports of a plan: their devices, and their addresses and gateways.
--
-- As in plan/rules.lua, each rule gets the values and the list of problems.
local address = require "framegauge.plan.address"
local ports = require "framegauge.plan.ports"
local registry = require "framegauge.plan.registry"
local tables = require "framegauge.core.tables"
local topology = require "framegauge.traffic.topology"

local M = {}

local is_wire, linked, path = ports.is_wire, ports.linked, ports.path

local families = {
   { own = "ipv4", gateway = "gateway" },
   { own = "ipv6", gateway = "gateway6" },
}

-- Every two ports with the value that a rule is about, in the order of the plan.
local function pairs_with(values, key)
   local list = {}
   for j, b in ipairs(values.ports) do
      for i = 1, j - 1 do
         list[#list + 1] = values.ports[i][key] and b[key] and { values.ports[i], b } or nil
      end
   end
   return list
end

-- What the registry says of the test.
local function method_of(values)
   return registry.of(values.test) or {}
end

-- The tests with a property in the registry, in words.
local function names_of(key)
   local names = tables.map(registry.ALL, function(method)
      return method[key] and method.name or nil
   end)
   return table.concat(names, ", ", 1, #names - 1) .. " or " .. names[#names]
end

-- Whether a single port will do.
local function stands_alone(values)
   return method_of(values).alone or values.topology == "loopback"
end

local function ports_are_even(values, found)
   if stands_alone(values) then
      return
   elseif #values.ports < 2 and not found:has("ports") and not found:below("ports") then
      found:add("ports", ("%d given"):format(#values.ports), "at least 2")
   elseif #values.ports > 2 and #values.ports % 2 == 1 and topology.takes_even_numbers(values.topology) then
      found:add("ports", ("%d ports: one is left over"):format(#values.ports), "an even number of ports")
   end
end

local function devices_differ(values, found)
   for _, two in ipairs(pairs_with(values, "device")) do
      local a, b = two[1], two[2]
      if a.device.id == b.device.id and not found:has(path(b, "device")) then
         found:add(path(b, "device"), ("%s is used by the port %s already"):format(b.device.name, a.name),
            "a device of its own")
      end
   end
end

local function wire_number(port)
   return tonumber(port.device.name:match "%d+$")
end

-- The wires of a plan for its number of ports, in words.
local function wires_in_words(n)
   return n <= 2 and "wire0 or wire1" or ("one of wire0 to wire%d"):format(n - 1)
end

local function wires_are_whole(values, found)
   local first
   for _, port in ipairs(values.ports) do
      first = first or port.device and port
      if port.device and is_wire(port) ~= is_wire(first) then
         local other = is_wire(first) and port or first
         found:add(path(other, "device"), ("%s cannot be joined with a wire"):format(other.device.name),
            "wire0 and wire1, or two other devices")
         return
      elseif is_wire(port) and wire_number(port) >= math.max(2, #values.ports) then
         found:add(path(port, "device"), port.device.name .. " does not exist", wires_in_words(#values.ports))
      end
   end
end

local PAIRED = { pairs = true, loopback = true }

-- Wires are joined in pairs, each pair by its own device, or all by a switch.
local function wires_reach_their_partners(values, found)
   if values.reference_switch then
      return
   elseif values.ports[1] and is_wire(values.ports[1]) and #values.ports > 2
      and not PAIRED[values.topology] then
      found:add(method_of(values).topology_key or "ports",
         "every two wires have a device of their own, so no input reaches all outputs",
         "pairs, or reference_switch, which joins all")
      return
   end
   for _, two in ipairs(linked(values)) do
      local a, b = two[1], two[2]
      if a and b and is_wire(a) and is_wire(b) and not found:has(path(b, "device"))
         and math.floor(wire_number(a) / 2) ~= math.floor(wire_number(b) / 2) then
         local number = wire_number(a)
         found:add(path(b, "device"), ("%s is not joined with %s of the port %s"):format(b.device.name,
            a.device.name, a.name), "wire" .. (number % 2 == 0 and number + 1 or number - 1))
      end
   end
end

local function reference_device_needs_wires(values, found)
   for _, port in ipairs(values.ports) do
      if port.device and not is_wire(port) and found:given("reference_device") then
         found:add("reference_device", ("cannot be given: the port %s is not a wire"):format(port.name),
            "wire0 and wire1 as devices, or no reference_device")
         return
      elseif is_wire(port) and port.line_rate then
         found:add(path(port, "line_rate"), "a wire has the rate of the reference device",
            "reference_device.rate instead")
      end
   end
end

-- The far end of a loopback is its gateway.
local function loopbacks_have_a_far_end(values, found)
   local device = values.reference_device
   local key = method_of(values).topology_key
   if values.topology ~= "loopback" then
      local has_topology = key and key ~= "ports"
      if device.reflect and values.ports[1] and is_wire(values.ports[1]) and has_topology then
         found:add("reference_device.reflect", "no frame reaches the other port", key .. ": loopback")
      end
      return
   end
   for _, port in ipairs(values.ports) do
      if is_wire(port) and not device.reflect then
         found:add(key, "the reference device does not reflect",
            "reference_device.reflect: true")
         return
      elseif not port.gateway and not port.gateway6 then
         found:add(path(port, "gateway"), "missing: a loopback sends to its gateway",
            "the reflector's address")
      end
   end
end

local MAY_REACH = " may reach a network in use, and RFC 2544 tests must not be run on a production network (RFC 6815)"
local ISOLATED = "'isolated_network: true' in the plan, once nothing is connected but the device under test"

local function network_is_isolated(values, found)
   for _, port in ipairs(values.ports) do
      if port.device and port.device.physical and not values.isolated_network then
         found:add(path(port, "device"), port.device.name .. MAY_REACH, ISOLATED)
      end
   end
end

-- One port's address and gateway in one family.
local function check_address(port, family, found)
   local own, gateway = port[family.own], port[family.gateway]
   local own_key, gateway_key = path(port, family.own), path(port, family.gateway)
   local why = own and address.unusable(own.address, own.prefix)
   if why then
      found:add(own_key, own.address .. " " .. why, "the address of a host")
   end
   if not gateway or found:has(own_key) then
      return
   elseif not own then
      found:add(gateway_key, "a gateway without an address to reach it from", own_key .. " in addition")
   elseif not address.same_network(gateway, own.address, own.prefix) then
      found:add(gateway_key, gateway .. " is outside the port's network",
         ("an address in the network of %s/%d"):format(own.address, own.prefix))
   elseif address.equal(gateway, own.address) then
      found:add(gateway_key, gateway .. " is the port's own address", "the router's address")
   elseif address.unusable(gateway, own.prefix) then
      found:add(gateway_key, gateway .. " " .. address.unusable(gateway, own.prefix), "a router's address")
   end
end

local function check_gateway_mac(port, found)
   if port.gateway_mac and not port.gateway and not port.gateway6 then
      found:add(path(port, "gateway_mac"), "there is no gateway", "gateway or gateway6 in addition")
   end
end

-- Two ports' networks: the same one with no router between, or two that do not overlap.
local function check_networks(a, b, family, found)
   local key, one, other = path(b, family.own), a[family.own], b[family.own]
   local written = ("%s/%d"):format(other.address, other.prefix)
   if found:has(key) then
      return
   elseif address.equal(one.address, other.address) then
      found:add(key, ("%s is the address of the port %s already"):format(other.address, a.name),
         "an address of its own")
   elseif not address.same_network(one.address, other.address, math.min(one.prefix, other.prefix)) then
      return
   elseif one.prefix ~= other.prefix then
      found:add(key, ("%s overlaps with %s/%d of the port %s"):format(written, one.address, one.prefix,
         a.name), "the same network (a bridge) or another one (a router)")
   elseif a[family.gateway] or b[family.gateway] then
      found:add(key, ("%s is the network of the port %s too, yet a gateway is given"):format(written, a.name),
         "a network of its own for each port, or no gateways")
   end
end

-- The reference device is a router or a bridge; another device may route on one side and bridge on the other.
local function check_gateways(a, b, family, found)
   local without = not a[family.gateway] and a or b
   local with = without == a and b or a
   local key = path(without, family.gateway)
   if is_wire(a) and with[family.gateway] and not without[family.gateway] and not found:has(key) then
      found:add(key, ("missing, while the port %s has one"):format(with.name),
         "a gateway for both wires or for none")
   end
end

-- Ports that send to each other need a family in common.
local function check_links(values, found)
   for _, two in ipairs(linked(values)) do
      local a, b = two[1], two[2]
      local common, doubtful = false, false
      for _, family in ipairs(families) do
         doubtful = doubtful or found:has(path(a, family.own)) or found:has(path(b, family.own))
         if a[family.own] and b[family.own] then
            common = true
            check_gateways(a, b, family, found)
         end
      end
      if not common and not doubtful then
         found:add("ports", "one port has only IPv4, the other only IPv6", "addresses of one family on both")
         return
      end
   end
end

local function addresses_fit(values, found)
   for _, port in ipairs(values.ports) do
      check_gateway_mac(port, found)
   end
   for _, family in ipairs(families) do
      for _, port in ipairs(values.ports) do
         check_address(port, family, found)
      end
      for _, two in ipairs(pairs_with(values, family.own)) do
         check_networks(two[1], two[2], family, found)
      end
   end
   check_links(values, found)
end

local ONE_QUEUE = { wire = "a wire", kernel = "a kernel interface", pcap = "a capture file" }

local function queues_are_there(values, found)
   for _, port in ipairs(values.ports) do
      local kind = port.device and ONE_QUEUE[port.device.kind]
      if (port.queues or 1) > 1 and kind then
         found:add(path(port, "queues"), kind .. " has one", "1, or a PCI, memif or vdev device")
      elseif (port.queues or 1) > 1 and method_of(values).one_queue then
         found:add(path(port, "queues"), ("the test %s uses one of each port"):format(values.test), "1")
      end
   end
end

local UNSTAMPED = {
   wire = "a wire stamps every frame itself", kernel = "a kernel interface has no stamps of its card's",
   pcap = "a capture file has no card", memif = "memif has no card",
}

local function stamps_are_of_cards(values, found)
   for _, port in ipairs(values.ports) do
      local reason = port.device and UNSTAMPED[port.device.kind]
      if port.rx_stamps == "card" and reason then
         found:add(path(port, "rx_stamps"), reason, "software, or a PCI device")
      end
   end
end

-- The clock of a service is the processor's, but the other end of a wire is in this process.
local function services_need_other_devices(values, found)
   local method = method_of(values)
   for _, port in ipairs(method.service and not method.on_wires and values.ports or {}) do
      if port.device and is_wire(port) then
         found:add(path(port, "device"),
            ("nothing comes out of %s that does not come from this process"):format(port.device.name),
            "a device that others send to, such as memif:/run/a.sock or kernel:eth1")
      end
   end
end

-- A port that joins segments delivers frames that were never on a line.
local function segments_are_of_tcp(values, found)
   for _, port in ipairs(values.ports) do
      if port.device and port.device.name:find "^kernel:.*,offload$" and not method_of(values).tcp then
         found:add(path(port, "device"), (",offload joins and cuts TCP segments, and the test %s is about frames"):format(values.test), ("%s, or a test of TCP: %s"):format(
            port.device.name:match "^(.*),", names_of "tcp"))
      end
   end
end

-- The port of an agent is only for a test of two testers.
local function agents_are_used(values, found)
   local list, method = {}, method_of(values)
   for _, port in ipairs(values.ports) do
      list[#list + 1] = port.device and port.device.kind == "agent" and port or nil
   end
   local two = method.two_testers and method.two_testers(values)
   if two and (#list ~= 1 or #values.ports ~= 2) then
      found:add(method.topology_key, ("%d of %d ports belong to an agent"):format(#list, #values.ports),
         "two ports, one of them with a device such as agent:127.0.0.1:5564")
   elseif list[1] and not two then
      found:add(path(list[1], "device"), "the port of an agent", "test: y1564 with topology: two-testers")
   end
end

-- Ports of agents by name: all ports of a plan whose agents have an address in it.
local function fleets_are_whole(values, found)
   local shared, own = {}, nil
   for _, port in ipairs(values.ports) do
      if port.device and port.device.kind == "fleet" then
         shared[#shared + 1] = port
      else
         own = own or port
      end
   end
   for _, port in ipairs(shared) do
      local name = port.device.name:match "^agent:(.-)/"
      if not values.fleet.bus and not tables.find(values.fleet.agents, "name", name) then
         found:add(path(port, "device"), ("there is no agent %s in fleet.agents"):format(name),
            ("fleet: {agents: {%s: ADDRESS:PORT}}, or fleet: {bus: SOCKET}"):format(name))
      end
   end
   if shared[1] and own then
      found:add(path(own, "device"),
         own.device and own.device.name .. " is not the port of an agent" or "no device",
         "agent:NAME/PORT for every port of a plan, or for none")
   elseif shared[1] and not method_of(values).fleet then
      found:add("test", ("%s cannot use the ports of agents"):format(values.test), names_of "fleet")
   elseif shared[1] and type(method_of(values).fleet) == "function" then
      method_of(values).fleet(values, found)
   end
end

--- All of them, in order.
M.rules = {
   ports_are_even, devices_differ, wires_are_whole, wires_reach_their_partners, reference_device_needs_wires,
   loopbacks_have_a_far_end, network_is_isolated, addresses_fit, queues_are_there, stamps_are_of_cards,
   services_need_other_devices, segments_are_of_tcp, agents_are_used, fleets_are_whole,
}

return M
