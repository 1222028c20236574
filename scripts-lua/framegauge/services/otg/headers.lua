-- SPDX-License-Identifier: BSD-3-Clause

--- Headers of the API as layers of our frames (framegauge.traffic.frame).
--
-- Where names and widths agree, a row says which field becomes which. Fields that share a byte with others
-- are
-- composed of their bits. Headers that lib/frame does not have, or not with these bits, become raw bytes with
-- programs. Whatever the API calls auto, and good checksums, are left to lib/frame.
local bits = require "framegauge.services.otg.bits"
local octets = require "framegauge.core.octets"
local pattern = require "framegauge.services.otg.pattern"
local protocols = require "framegauge.core.protocols"
local read = require "framegauge.services.otg.read"
local schema = require "framegauge.services.otg.schema"
local tables = require "framegauge.core.tables"

local M = {}

-- A pattern of a header with its message; one that is not there has its defaults.
local function pattern_of(message, values, key)
   local name = schema.message(message).by_name[key].type
   return values[key] or read.common_default(name), schema.message(name)
end

-- Put a field into a layer unless it is computed.
local function put(layer, target, p, def, c, key)
   if p.choice == "auto" then
      return
   end
   local field = pattern.field(p, def, { found = c.found, path = c.path .. "." .. key })
   if field then
      layer.fields[#layer.fields + 1] = { name = target, value = field.value, program = field.program }
   end
end

local function set(layer, target, value)
   layer.fields[#layer.fields + 1] = { name = target, value = value }
end

local function checksum(layer, target, given)
   if given and given.choice == "custom" then
      set(layer, target, given.custom)
   elseif given and given.generated == "bad" then
      layer.fields[#layer.fields + 1] = { name = target, bad = true }
   end
end

local function new_layer(name)
   return { name, fields = {}, bytes = {} }
end

-- Put all fields of a row: { key of the API = field of the layer }, in the order of the message.
local function put_all(layer, message, values, names, c)
   for _, field in ipairs(schema.message(message)) do
      local target = names[field.name]
      if target then
         local p, def = pattern_of(message, values, field.name)
         put(layer, target, p, def, c, field.name)
      end
   end
   return layer
end

-- Whether lib/frame knows what number stands in a layer for the header that follows.
local function knows(outer, inner)
   local space = protocols.by_name[outer].space
   local one = inner and protocols.by_name[inner]
   return tables.any(one and one.places or {}, function(place) return place.space == space end)
end

-- What says which header follows: as given, computed, or a value for nothing that is known.
local function put_next(layer, target, message, values, key, unknown, c)
   local p, def = pattern_of(message, values, key)
   if p.choice ~= "auto" then
      put(layer, target, p, def, c, key)
   elseif not knows(layer[1], c.inner) then
      set(layer, target, unknown)
   end
end

-- Each header: function(values, c) -> layers. c = { found =, path =, inner = our name of the next layer }
local make = {}

function make.ethernet(v, c)
   local layer = put_all(new_layer "ethernet", "FlowEthernet", v, { dst = "destination", src = "source" }, c)
   if pattern_of("FlowEthernet", v, "dst").choice == "auto" then
      set(layer, "destination", ("\0"):rep(6))
   end
   put_next(layer, "type", "FlowEthernet", v, "ether_type", 0xffff, c)
   return { layer }
end

function make.vlan(v, c)
   local layer = put_all(new_layer "vlan", "FlowVlan", v, { priority = "priority", cfi = "drop_eligible",
      id = "id" },
      c)
   local p, def = pattern_of("FlowVlan", v, "tpid")
   if p.choice ~= "value" or p.value ~= 65535 then
      put(layer, "type", p, def, c, "tpid")
   elseif not knows("vlan", c.inner) then
      set(layer, "type", 0xffff)
   end
   return { layer }
end

function make.mpls(v, c)
   return { put_all(new_layer "mpls", "FlowMpls", v, {
      label = "label", traffic_class = "traffic_class", bottom_of_stack = "bottom", time_to_live = "ttl",
   }, c) }
end

-- The byte of differentiated services, or what stood there before.
local function priority(layer, v, c)
   local given = v.priority or read.common_default "FlowIpv4Priority"
   local parts, path = {}, c.path .. ".priority." .. given.choice
   local function part(message, values, key, width)
      local p, def = pattern_of(message, values, key)
      parts[#parts + 1] = { width = width, p = p, def = def, path = path .. "." .. key }
   end
   if given.choice == "raw" then
      part("FlowIpv4Priority", given, "raw", 8)
   elseif given.choice == "dscp" then
      part("FlowIpv4Dscp", given.dscp, "phb", 6)
      part("FlowIpv4Dscp", given.dscp, "ecn", 2)
   else
      part("FlowIpv4Tos", given.tos, "precedence", 3)
      for _, key in ipairs { "delay", "throughput", "reliability", "monetary", "unused" } do
         part("FlowIpv4Tos", given.tos, key, 1)
      end
   end
   local octet = bits.compose(layer.bytes, 8, parts, c.found):byte()
   set(layer, "dscp", math.floor(octet / 4))
   set(layer, "ecn", octet % 4)
end

local function one_bits(message, v, keys, c)
   return tables.map(keys, function(key)
      local p, def = pattern_of(message, v, key)
      return { width = 1, p = p, def = def, path = c.path .. "." .. key }
   end)
end

local function ipv4_option(option, c)
   if option.choice == "router_alert" then
      return new_layer "ipv4_router_alert"
   elseif option.choice == "custom" then
      local o, layer = option.custom, new_layer "ipv4_option"
      local kind = o.type or read.default "FlowIpv4OptionsCustomType"
      local parts = {}
      for key, width in pairs { copied_flag = 1, option_class = 2, option_number = 5 } do
         local p, def = pattern_of("FlowIpv4OptionsCustomType", kind, key)
         local list = pattern.numbers(p, def, { found = c.found, path = c.path .. "." .. key }) or { 0 }
         parts[key] = list[1] % 2 ^ width
      end
      set(layer, "kind", parts.copied_flag * 128 + parts.option_class * 32 + parts.option_number)
      if o.length and o.length.choice == "value" then
         set(layer, "length", o.length.value)
      end
      set(layer, "data", read.bytes(o.value))
      return layer
   end
   return nil -- the end of options is what lib/frame fills up with
end

local function refuse_dhcp(v, keys, c)
   for _, key in ipairs(keys) do
      if v[key] and v[key].choice == "auto" then
         c.found:fault(c.path .. "." .. key, "auto is an address by DHCP, which is not supported")
         v[key] = nil
      end
   end
end

function make.ipv4(v, c)
   local layer = new_layer "ipv4"
   refuse_dhcp(v, { "src", "dst" }, c)
   priority(layer, v, c)
   put_all(layer, "FlowIpv4", v, {
      version = "version", header_length = "header_length", total_length = "length", identification = "id",
      fragment_offset = "fragment_offset", time_to_live = "ttl", src = "source", dst = "destination",
   }, c)
   local flags = bits.compose(layer.bytes, 8 * 6,
      one_bits("FlowIpv4", v, { "reserved", "dont_fragment", "more_fragments" }, c), c.found)
   set(layer, "flags", math.floor(flags:byte() / 32))
   put_next(layer, "protocol", "FlowIpv4", v, "protocol", 61, c)
   checksum(layer, "checksum", v.header_checksum)
   local list = { layer }
   for _, option in ipairs(v.options or {}) do
      list[#list + 1] = ipv4_option(option, c)
   end
   return list
end

function make.ipv6(v, c)
   local layer = new_layer "ipv6"
   refuse_dhcp(v, { "src", "dst" }, c)
   local p, def = pattern_of("FlowIpv6", v, "traffic_class")
   local class = bits.compose(layer.bytes, 4, { { width = 8, p = p, def = def, path = c.path
      .. ".traffic_class" } },
      c.found)
   local octet = class:byte(1) % 16 * 16 + math.floor((class:byte(2) or 0) / 16)
   set(layer, "dscp", math.floor(octet / 4))
   set(layer, "ecn", octet % 4)
   put_all(layer, "FlowIpv6", v, {
      version = "version", flow_label = "flow_label", payload_length = "length", hop_limit = "hop_limit",
      src = "source", dst = "destination",
   }, c)
   put_next(layer, "next_header", "FlowIpv6", v, "next_header", 59, c)
   return { layer }
end

function make.ipv6_extension_header(v, c)
   local routing = (v.routing or read.default "FlowIpv6Routing").segment_routing
      or read.default "FlowIpv6SegmentRouting"
   local layer, segments = new_layer "routing", {}
   for i, one in ipairs(routing.segment_list or {}) do
      local p, def = pattern_of("FlowIpv6SegmentRoutingSegment", one, "segment")
      if p.choice ~= "value" then
         c.found:fault(("%s.routing.segment_routing.segment_list[%d]"):format(c.path, i - 1),
            "a segment that varies is not supported")
      else
         segments[#segments + 1] = pattern.field(p, def, c).value
      end
   end
   put_next(layer, "next_header", "FlowIpv6ExtHeader", v, "next_header", 59, c)
   local left = pattern_of("FlowIpv6SegmentRouting", routing, "segments_left")
   if left.choice == "auto" then
      set(layer, "segments_left", math.max(0, #segments - 1))
   end
   put_all(layer, "FlowIpv6ExtHeader", v, { hdr_ext_len = "length" }, c)
   put_all(layer, "FlowIpv6SegmentRouting", routing, {
      segments_left = "segments_left", last_entry = "last_entry", tag = "tag",
   }, c)
   local flags = routing.flags and bits.compose(layer.bytes, 8 * 5 + 1,
      one_bits("FlowIpv6SegmentRoutingFlags", routing.flags, { "protected", "oam", "alert" }, c), c.found)
   set(layer, "flags", flags and flags:byte() or 0)
   if segments[1] then
      set(layer, "segments", table.concat(segments))
   end
   return { layer }
end

function make.tcp(v, c)
   local layer = put_all(new_layer "tcp", "FlowTcp", v, {
      src_port = "source", dst_port = "destination", seq_num = "sequence", ack_num = "acknowledgment",
      window = "window", data_offset = v.data_offset and "header_length" or nil,
   }, c)
   set(layer, "reserved", bits.compose(layer.bytes, 8 * 12 + 7, one_bits("FlowTcp", v, { "ecn_ns" }, c),
      c.found):byte() % 16)
   set(layer, "flags", bits.compose(layer.bytes, 8 * 13, one_bits("FlowTcp", v, {
      "ecn_cwr", "ecn_echo", "ctl_urg", "ctl_ack", "ctl_psh", "ctl_rst", "ctl_syn", "ctl_fin",
   }, c), c.found):byte())
   checksum(layer, "checksum", v.checksum)
   return { layer }
end

function make.udp(v, c)
   local layer = put_all(new_layer "udp", "FlowUdp", v, {
      src_port = "source", dst_port = "destination", length = v.length and "length" or nil,
   }, c)
   checksum(layer, "checksum", v.checksum)
   return { layer }
end

local function echo(name, message)
   return function(v, c)
      local one, below = v.echo, { found = c.found, path = c.path .. ".echo" }
      local layer = put_all(new_layer(name), message, one, {
         type = "type", code = "code", identifier = "id", sequence_number = "sequence",
      }, below)
      checksum(layer, "checksum", one.checksum)
      return { layer }
   end
end

make.icmp, make.icmpv6 = echo("icmp", "FlowIcmpEcho"), echo("icmpv6", "FlowIcmpv6Echo")

function make.arp(v, c)
   return { put_all(new_layer "arp", "FlowArp", v, {
      hardware_type = "hardware", protocol_type = "protocol", hardware_length = "hardware_length",
      protocol_length = "protocol_length", operation = "operation", sender_hardware_addr = "sender_mac",
      sender_protocol_addr = "sender_ip", target_hardware_addr = "target_mac",
         target_protocol_addr = "target_ip",
   }, c) }
end

function make.gre(v, c)
   local layer = put_all(new_layer "gre", "FlowGre", v, { checksum_present = "checksum_present",
      version = "version" },
      c)
   local p, def = pattern_of("FlowGre", v, "reserved0")
   local reserved = bits.compose(layer.bytes, 1, { { width = 12, p = p, def = def, path = c.path
      .. ".reserved0" } },
      c.found)
   if reserved ~= "\0\0" then
      c.found:fault(c.path .. ".reserved0", "a constant other than 0 is not supported")
   end
   put_next(layer, "type", "FlowGre", v, "protocol", 0x0800, c)
   local present = pattern_of("FlowGre", v, "checksum_present")
   if present.choice == "value" and present.value == 1 then
      checksum(layer, "checksum", v.checksum)
      put_all(layer, "FlowGre", v, { reserved1 = "offset" }, c)
   end
   return { layer }
end

function make.vxlan(v, c)
   local layer = put_all(new_layer "vxlan", "FlowVxlan", v, {
      flags = "flags", reserved0 = "reserved", vni = "vni", reserved1 = "reserved2",
   }, c)
   if pattern_of("FlowVxlan", v, "vni").choice == "auto" then
      set(layer, "vni", 0)
   end
   return { layer }
end

-- A header of raw bits: all fields of its message, one after the other.
local function raw(message, v, c, auto)
   local layer, parts = new_layer "raw", {}
   for _, field in ipairs(schema.message(message)) do
      local def = schema.message(field.type)
      if def and def.bits then
         local p = pattern_of(message, v, field.name)
         if p.choice == "auto" then
            p = { choice = "value", value = auto }
         end
         parts[#parts + 1] = { width = def.bits, p = p, def = def, path = c.path .. "." .. field.name }
      end
   end
   set(layer, "octets", bits.compose(layer.bytes, 0, parts, c.found))
   return { layer }
end

local GTP_OPTIONAL = 4 -- bytes, there if one of three flags is set

function make.gtpv1(v, c)
   local layers = raw("FlowGtpv1", v, c)
   for _, key in ipairs { "e_flag", "s_flag", "pn_flag" } do
      local p = pattern_of("FlowGtpv1", v, key)
      if p.choice ~= "value" or p.value ~= 0 then
         return layers
      end
   end
   local field = layers[1].fields[1]
   field.value = field.value:sub(1, -1 - GTP_OPTIONAL)
   return layers
end

function make.gtpv2(v, c)
   return raw("FlowGtpv2", v, c)
end

function make.ppp(v, c)
   return raw("FlowPpp", v, c, ({ ipv4 = 0x21, ipv6 = 0x57 })[c.inner] or 0x21)
end

function make.igmpv1(v, c)
   local layer = put_all(new_layer "igmp", "FlowIgmpv1", v, { unused = "max_response",
      group_address = "group" }, c)
   local parts = {}
   for _, key in ipairs { "version", "type" } do
      local p, def = pattern_of("FlowIgmpv1", v, key)
      parts[#parts + 1] = { width = 4, p = p, def = def, path = c.path .. "." .. key }
   end
   set(layer, "type", bits.compose(layer.bytes, 0, parts, c.found):byte())
   checksum(layer, "checksum", v.checksum)
   return { layer }
end

local function pause_frame(message, name, names)
   return function(v, c)
      local ethernet = put_all(new_layer "ethernet", message, v, {
         dst = "destination", src = "source", ether_type = "type",
      }, c)
      return { ethernet, put_all(new_layer(name), message, v, names, c) }
   end
end

local PFC = { control_op_code = "opcode", class_enable_vector = "priorities" }
for i = 0, 7 do
   PFC["pause_class_" .. i] = "quanta" .. i
end
make.pfcpause = pause_frame("FlowPfcPause", "pfc", PFC)
make.ethernetpause = pause_frame("FlowEthernetPause", "pause", { control_op_code = "opcode",
   time = "quanta" })

function make.custom(v, c)
   local digits = v.bytes:gsub("^0[xX]", ""):gsub("[ :]", "")
   local layer = new_layer "raw"
   if digits:find "%X" or #digits % 2 == 1 or digits == "" then
      c.found:fault(c.path .. ".bytes", "is not bytes in hexadecimal digits")
   else
      set(layer, "octets", octets.unhex(digits))
   end
   return { layer }
end

--- The field of frames that go to one MAC after the other.
function M.destination(macs, c)
   local def = schema.message(schema.message("FlowEthernet").by_name.dst.type)
   local field = pattern.field({ choice = "values", values = macs }, def, c)
   return { name = "destination", value = field.value, program = field.program }
end

-- Our name of the first layer that a header becomes.
local FIRST = {
   igmpv1 = "igmp", ipv6_extension_header = "routing", pfcpause = "ethernet", ethernetpause = "ethernet",
   gtpv1 = "raw", gtpv2 = "raw", ppp = "raw", custom = "raw",
}

--- The layers of a flow's headers.
-- @param packet  list of FlowHeader that were read
-- @param path    of the list
-- @return as framegauge.traffic.frame takes them; of use only if nothing was found
function M.layers(packet, path, found)
   local list = {}
   for i, header in ipairs(packet) do
      local next_one = packet[i + 1]
      local name = header.choice
      local c = { found = found, path = ("%s[%d].%s"):format(path, i - 1, tostring(name)) }
      c.inner = next_one and (FIRST[next_one.choice] or next_one.choice)
      if (name == "pfcpause" or name == "ethernetpause") and #packet > 1 then
         found:fault(c.path, "must be the only header")
      end
      tables.append(list, name and header[name] and make[name] and make[name](header[name], c) or {})
   end
   return list
end

return M
