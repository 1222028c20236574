-- SPDX-License-Identifier: BSD-3-Clause

--- The devices of a configuration: their interfaces and addresses, and the flows between them.
--
-- Every address becomes an emulated host behind a port (framegauge.tester.hosts). The ends of a flow are
-- interfaces or addresses, by name.
local address = require "framegauge.plan.address"
local read = require "framegauge.services.otg.read"

local M = {}

local TPIDS = { x8100 = 0x8100, x88A8 = 0x88a8, x9100 = 0x9100, x9200 = 0x9200, x9300 = 0x9300 }
local MAX_TAGS = 4 -- FG_HOST_TAGS
local VERSIONS = { 4, 6 }
local MAX_PAIRS = 65536 -- values of a list (framegauge.services.otg.pattern)

-- A MAC of our own where the configuration has none.
local function own_mac(port, n)
   return ("02:46:47:%02x:%02x:%02x"):format(port.index % 256, math.floor(n / 256) % 256, n % 256)
end

local function tags_of(ethernet, path, found)
   local tags = {}
   if #ethernet.vlans > MAX_TAGS then
      found:fault(path .. ".vlans", "%d are more than %d", #ethernet.vlans, MAX_TAGS)
   end
   for i, vlan in ipairs(ethernet.vlans) do
      tags[i] = { type = TPIDS[vlan.tpid], id = vlan.id, priority = vlan.priority }
   end
   return tags
end

-- What tells a host from others behind a port: VLANs and address.
local function key_of(port, tags, host)
   local parts = { port.name, address.bytes(host.address, host.version) }
   for _, tag in ipairs(tags) do
      parts[#parts + 1] = ("%d.%d"):format(tag.type or 0, tag.id or 0)
   end
   return table.concat(parts, "\0")
end

-- One address of an interface.
local function host_of(o, version, interface, path)
   local mac = o.gateway_mac and o.gateway_mac.choice == "value" and o.gateway_mac.value
   return {
      name = o.name, ethernet = interface.name, version = version, path = path, port = interface.port,
      mac = interface.mac, tags = interface.tags, address = o.address, prefix = o.prefix or 0,
      gateway = o.gateway, gateway_mac = mac and mac:gsub("-", ":"):lower() or nil,
   }
end

-- The addresses of an interface, behind those that are in the list already.
local function add_hosts(state, ethernet, interface, path, found)
   for _, version in ipairs(VERSIONS) do
      local key = ("ipv%d_addresses"):format(version)
      for i, o in ipairs(ethernet[key]) do
         local below = read.item_path(path .. "." .. key, i, o)
         local host = host_of(o, version, interface, below)
         local same = key_of(interface.port, interface.tags, host)
         if state.taken[same] then
            found:fault(below .. ".address", "%s is the address of %s", o.address, state.taken[same])
         end
         state.taken[same] = below
         state.hosts[#state.hosts + 1] = host
         host.index = #state.hosts
         interface.hosts[#interface.hosts + 1] = host
         state.ends[host.name] = { interface = interface, host = host }
      end
   end
end

local function add_interface(state, ethernet, path, port_named, found)
   local connection = ethernet.connection
   if connection.choice ~= "port_name" then
      return found:fault(path .. ".connection", "%s is not supported; use port_name",
         tostring(connection.choice))
   end
   local port = port_named(connection.port_name, path .. ".connection.port_name")
   if not port then
      return nil
   end
   state.count = state.count + 1
   local interface = {
      name = ethernet.name, port = port, hosts = {}, tags = tags_of(ethernet, path, found),
      mac = ethernet.mac and found:mac(ethernet.mac, path .. ".mac") or own_mac(port, state.count),
   }
   state.interfaces[interface.name] = interface
   state.ends[interface.name] = { interface = interface }
   add_hosts(state, ethernet, interface, path, found)
   return interface
end

--- Read the devices of a configuration that was read.
-- @param port_named  function(name, path) -> a port of the configuration, or nil after a fault
-- @return { hosts = list of { name, ethernet, version, port, mac, tags, address, prefix, gateway,
-- gateway_mac = of the configuration or nil }, interfaces = by name, ends = of flows by name,
-- devices = the first interface of each, by name }
function M.read(config, port_named, found)
   local state = { hosts = {}, interfaces = {}, ends = {}, taken = {}, count = 0, devices = {} }
   for i, device in ipairs(config.devices) do
      local path = read.item_path("devices", i, device)
      local broken = found:has(path)
      local first
      for k, ethernet in ipairs(not broken and device.ethernets or {}) do
         found:give_way()
         local one = add_interface(state, ethernet, read.item_path(path .. ".ethernets", k, ethernet),
            port_named, found)
         first = first or one
      end
      if first then
         state.devices[device.name], state.ends[device.name] = first, { interface = first }
      end
   end
   return state
end

-- A list that may be null, in a configuration as it came.
local function list_of(value)
   return type(value) == "table" and value or {}
end

--- Names of all that a device consists of, and their paths, one after the other.
function M.each_name(device, path, visit)
   visit(device, path)
   for i, ethernet in ipairs(list_of(device.ethernets)) do
      local of_ethernet = read.item_path(path .. ".ethernets", i, ethernet)
      visit(ethernet, of_ethernet)
      for _, key in ipairs { "vlans", "ipv4_addresses", "ipv6_addresses" } do
         for k, one in ipairs(list_of(ethernet[key])) do
            visit(one, read.item_path(of_ethernet .. "." .. key, k, one))
         end
      end
   end
end

local function ends_named(names, devices, path, found)
   for i, name in ipairs(names) do
      if devices.devices[name] then
         found:warn(("%s[%d]"):format(path, i - 1), 'is a device; its first Ethernet, "%s", is used',
            devices.ends[name].interface.name)
      end
   end
   return found:named(names, path, function(name)
      return devices.ends[name], "is no Ethernet, IPv4 or IPv6 interface of a device"
   end)
end

-- Sender and receiver; nil after a fault.
local function pairs_of(o, tx, rx, path, found)
   local list = {}
   if o.mode == "one_to_one" then
      if #tx ~= #rx then
         return found:fault(path, "one_to_one needs as many rx_names as tx_names: %d and %d", #tx, #rx)
      end
      for i = 1, #tx do
         list[i] = { tx = tx[i], rx = rx[i] }
      end
      return list
   end
   if #tx * #rx > MAX_PAIRS then
      return found:fault(path, "%.0f pairs; at most %d", #tx * #rx, MAX_PAIRS)
   end
   for _, from in ipairs(tx) do
      for _, to in ipairs(rx) do
         list[#list + 1] = { tx = from, rx = to }
      end
   end
   return list
end

--- The ends of a flow between devices.
-- @param o        FlowRouter that was read
-- @param devices  of read()
-- @return { tx = port, rx = list of ports, pairs = list of { tx =, rx = } }; nil after a fault
function M.ends(o, devices, path, found)
   local before = #found.errors
   local tx = ends_named(o.tx_names, devices, path .. ".tx_names", found)
   local rx = ends_named(o.rx_names, devices, path .. ".rx_names", found)
   for key, list in pairs { tx_names = tx, rx_names = rx } do
      if not list[1] and #o[key] == 0 then
         found:fault(path .. "." .. key, "is empty")
      end
   end
   local list = #found.errors == before and pairs_of(o, tx, rx, path, found)
   if not list then
      return nil
   end
   local port, ports, seen = tx[1].interface.port, {}, {}
   for i, one in ipairs(tx) do
      if one.interface.port ~= port then
         found:fault(("%s.tx_names[%d]"):format(path, i - 1),
            'is behind port "%s", others behind "%s"; use a flow for each port', one.interface.port.name,
            port.name)
      end
   end
   for _, one in ipairs(rx) do
      if not seen[one.interface.port] then
         seen[one.interface.port], ports[#ports + 1] = true, one.interface.port
      end
   end
   return { tx = port, rx = ports, pairs = list }
end

--- The first hop of a frame: the other end itself where it is in the network of the sender, else its
-- gateway.
-- @return a MAC, or nil where it is the gateway's, and the host whose gateway has to be known, or nil
function M.next_hop(pair)
   local from, to = pair.tx.host or pair.tx.interface.hosts[1], pair.rx
   if not from then
      return to.interface.mac
   end
   for _, host in ipairs(to.host and { to.host } or to.interface.hosts) do
      if host.version == from.version and M.is_near(from, host.address) then
         return to.interface.mac, M.has_gateway(from) and from or nil
      end
   end
   return nil, from
end

--- Has a host a gateway, whose MAC is asked for?
function M.has_gateway(host)
   return not address.bytes(host.gateway):find "^%z+$"
end

--- Is an address in the network of a host?
function M.is_near(host, text)
   return address.same_network(host.address, text, host.prefix)
end

return M
