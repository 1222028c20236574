-- SPDX-License-Identifier: BSD-3-Clause

--- From a stream of the plan to the template of its frames.
--
-- Addresses that the plan leaves out are the ports' addresses, as in the frames of RFC 2544: from the port
-- that sends, to the gateway where there is one and else straight to the port that receives. So are addresses
-- of inner packets. A multicast address of IP gives the MAC address that belongs to it (RFC 1112, RFC 2464),
-- and what only bridges talk about goes to theirs.
local frame = require "framegauge.traffic.frame"
local octets = require "framegauge.core.octets"
local payload = require "framegauge.traffic.payload"
local protocols = require "framegauge.core.protocols"
local tables = require "framegauge.core.tables"

local M = {}

-- What stands for MAC addresses while no port is open.
local PLACEHOLDER = { port = "02:46:67:00:00:%02x", gateway = "02:46:67:00:01:%02x" }

--- MAC addresses where no port is open: what the plan says, else 02:46:67:00:00:NN for its NN-th port and
-- 02:46:67:00:01:NN for the gateway of that.
-- @param ports  of a plan
-- @return as template() takes them
function M.placeholders(ports)
   return {
      port = function(i)
         return octets.mac(ports[i].mac or PLACEHOLDER.port:format(i))
      end,
      gateway = function(i, version)
         return ports[i]["gateway" .. version]
            and octets.mac(ports[i].gateway_mac or PLACEHOLDER.gateway:format(i)) or nil
      end,
   }
end

--- MAC addresses of an open tester.
function M.known(tester)
   return {
      port = function(i)
         return octets.mac(tester.ports[i].mac)
      end,
      gateway = function(i, version)
         return tester:gateway_mac(i, version)
      end,
   }
end

--- The ports of a stream.
-- @return their indexes; nil for one that is not there
function M.ends(ports, stream)
   local from = stream.from and tables.index_of(ports, stream.from) or (not stream.from and 1 or nil)
   if stream.to then
      return from, tables.index_of(ports, stream.to)
   end
   if not ports[1] then
      return nil
   end
   return from, from and from % #ports + 1
end

-- The stack without one: UDP over the family that both ports have.
local function plain(from, to)
   local version = from.ipv4 and to.ipv4 and 4 or 6
   return {
      { protocol = "ethernet", fields = {} }, { protocol = "ipv" .. version, fields = {} },
      { protocol = "udp", fields = {} },
   }
end

-- Options behind what they are in, as lib/frame has them, and the tag of the port where the stack has none.
local function flatten(stack, vlan)
   local list, tagged = {}, false
   for _, layer in ipairs(stack) do
      tagged = tagged or layer.protocol == "vlan" or layer.protocol == "qinq"
   end
   local function add(layer)
      list[#list + 1] = {
         layer.protocol, fields = { unpack(layer.fields) }, bytes = layer.bytes, origin = layer,
      }
      for _, option in ipairs(layer.options or {}) do
         add(option)
      end
   end
   for i, layer in ipairs(stack) do
      add(layer)
      if i == 1 and layer.protocol == "ethernet" and vlan and not tagged then
         add { protocol = "vlan", fields = { { name = "id", value = vlan } } }
      end
   end
   return list
end

-- The MAC address of a group that an IP packet is for, nil when it is for a host.
local function group_mac(version, address)
   if version == 4 and address:byte(1) >= 224 and address:byte(1) < 240 then
      return "\1\0\94" .. string.char(address:byte(2) % 128) .. address:sub(3, 4)
   elseif version == 6 and address:byte(1) == 0xff then
      return "\51\51" .. address:sub(13, 16)
   end
   return nil
end

-- What a MAC header is for, by the layers behind it.
local function destination_mac(list, i, ends, macs)
   for j = i + 1, #list do
      local protocol = protocols.by_name[list[j][1]]
      if protocol.reserved_mac ~= 0 then
         return octets.of_number(protocol.reserved_mac, 6)
      elseif protocol.network ~= 0 then
         local field = tables.find(list[j].fields, "name", "destination")
         local group = field and field.value and group_mac(protocol.network, field.value)
         return group or macs.gateway(ends.from, protocol.network) or macs.port(ends.to)
      end
   end
   return macs.port(ends.to)
end

-- Why the plan must say an address itself, as a problem of a layer.
local function missing(layer, field, port, version)
   return nil, {
      layer = layer, field = field, message = ("the port %s has no IPv%d address"):format(port.name, version),
      expected = "an address here or at the port",
   }
end

-- Fields that are left out, by protocol: what fill in for them.
local fill = {}

local function set(layer, name, value)
   if not tables.find(layer.fields, "name", name) then
      layer.fields[#layer.fields + 1] = { name = name, value = value }
   end
end

function fill.ethernet(list, i, ends, macs)
   set(list[i], "source", macs.port(ends.from))
   set(list[i], "destination", destination_mac(list, i, ends, macs))
   return true
end

local function fill_ip(version)
   return function(list, i, ends, _, ports)
      -- frames that return to its port were sent to the reflector
      local far = ends.from == ends.to and "gateway" .. version or "ipv" .. version
      local own = "ipv" .. version
      for _, one in ipairs { { "source", ports[ends.from], own }, { "destination", ports[ends.to], far } } do
         local name, port = one[1], one[2]
         local address = port[one[3]]
         if not address and not tables.find(list[i].fields, "name", name) then
            return missing(list[i], name, port, version)
         end
         set(list[i], name, address and octets["ipv" .. version](address))
      end
      return true
   end
end

fill.ipv4, fill.ipv6 = fill_ip(4), fill_ip(6)

-- A device that cannot forward a frame whole shall drop it, and not send fragments of it.
local fill_addresses = fill.ipv4
function fill.ipv4(list, i, ...)
   if not tables.find(list[i].fields, "name", "fragment_offset") then
      set(list[i], "flags", frame.DONT_FRAGMENT)
   end
   return fill_addresses(list, i, ...)
end

function fill.arp(list, i, ends, macs, ports)
   local from, to = ports[ends.from], ports[ends.to]
   local target = from.gateway4 or to.ipv4
   set(list[i], "sender_mac", macs.port(ends.from))
   if from.ipv4 then
      set(list[i], "sender_ip", octets.ipv4(from.ipv4))
   end
   if target then
      set(list[i], "target_ip", octets.ipv4(target))
   end
   return true
end

--- The layers of a stream with all addresses.
-- @param ports   of a plan
-- @param stream  of a plan: from, to, frame
-- @param macs    functions port(i) and gateway(i, version): six bytes; see placeholders() and known()
-- @return as frame.lua's build() takes them; or nil and { layer =, field =, message =, expected = }
function M.layers(ports, stream, macs)
   local from, to = M.ends(ports, stream)
   local ends = { from = from, to = to }
   local list = flatten(stream.frame or plain(ports[from], ports[to]), ports[from].vlan)
   for i = 1, #list do
      local filler = fill[list[i][1]]
      local ok, problem = true, nil
      if filler then
         ok, problem = filler(list, i, ends, macs, ports)
      end
      if not ok then
         return nil, problem
      end
   end
   return list
end

--- VLAN tags of a stream's frames.
function M.tags(ports, stream)
   local count, from = 0, M.ends(ports, stream)
   local layers = flatten(stream.frame or { { protocol = "ethernet", fields = {} } }, ports[from].vlan)
   for _, layer in ipairs(layers) do
      count = count + ((layer[1] == "vlan" or layer[1] == "qinq") and 1 or 0)
   end
   return count
end

--- The template of a stream's frames.
-- @param size  bytes with FCS
-- @return a struct fg_template, freed when nobody refers to it any more. Errors are raised.
function M.template(ports, stream, macs, size)
   local layers, problem = M.layers(ports, stream, macs)
   if not layers then
      error(("streams.%s: %s: %s"):format(stream.name, problem.field, problem.message))
   end
   return frame.build(size, layers, {
      nested = stream.vary == "nested", bytes = stream.bytes, payload = payload.octets(stream.payload),
   })
end

return M
