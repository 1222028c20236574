-- SPDX-License-Identifier: BSD-3-Clause

--- Frames of LLDP (IEEE 802.1AB): built from what is to be announced, and read.
--
-- An identity is { type =, text = }: its type is the standard's name of the subtype with "_" for blanks, its
-- text a MAC or an IP address, or the bytes as they are.
local octets = require "framegauge.core.octets"

local M = {}

M.ETHERTYPE = 0x88cc

local NEAREST_BRIDGE = "\1\128\194\0\0\14"
local GROUPS = { [NEAREST_BRIDGE] = true, ["\1\128\194\0\0\3"] = true, ["\1\128\194\0\0\0"] = true }
local HEADER, MAX_FRAME, MAX_TEXT, MAX_ORGANISATION = 14, 1514, 255, 507

local END, CHASSIS, PORT, TTL, PORT_TEXT, NAME, TEXT, CAPABILITIES, MANAGEMENT, ORGANISATION =
   0, 1, 2, 3, 4, 5, 6, 7, 8, 127

-- by subtype
local CHASSIS_TYPES = { "chassis_component", "interface_alias", "port_component", "mac_address",
   "network_address", "interface_name", "local" }
local PORT_TYPES = { "interface_alias", "port_component", "mac_address", "network_address", "interface_name",
   "agent_circuit_id", "local" }
-- by bit, the lowest first
local CAPABILITY_NAMES = { "other", "repeater", "mac_bridge", "wlan_access_point", "router", "telephone",
   "docsis_cable_device", "station_only", "c_vlan", "s_vlan", "two_port_mac_relay" }

local function u16(text, at)
   return text:byte(at) * 256 + text:byte(at + 1)
end

local function tlv(kind, value)
   return octets.of_number(kind * 512 + #value, 2) .. value
end

local function identity(kind, types, id)
   local value = id.text
   if id.type == "mac_address" then
      value = octets.mac(value)
   end
   for subtype, name in ipairs(types) do
      if name == id.type then
         return tlv(kind, string.char(subtype) .. value)
      end
   end
   error(("lldp: %s is no type of an identity"):format(tostring(id.type)), 0)
end

--- A frame that announces a port.
-- @param o  { source = MAC, chassis =, port = identities, ttl = seconds (0: forget what was announced),
--           system_name = text or nil, organisations = list of { oui = 3 bytes, subtype =, octets = } or
--           nil }
-- @return its bytes without FCS; nil and why not
function M.build(o)
   for _, text in ipairs { o.chassis.text, o.port.text, o.system_name or "-" } do
      if #text == 0 or #text > MAX_TEXT then
         return nil, ("a text of %d bytes; expected 1 to %d"):format(#text, MAX_TEXT)
      end
   end
   for _, one in ipairs(o.organisations or {}) do
      if #one.octets > MAX_ORGANISATION then
         return nil, ("%d bytes of an organisation; at most %d"):format(#one.octets, MAX_ORGANISATION)
      end
   end
   local parts = {
      NEAREST_BRIDGE, octets.mac(o.source), octets.of_number(M.ETHERTYPE, 2),
      identity(CHASSIS, CHASSIS_TYPES, o.chassis), identity(PORT, PORT_TYPES, o.port),
      tlv(TTL, octets.of_number(o.ttl, 2)),
   }
   if o.ttl > 0 and o.system_name then
      parts[#parts + 1] = tlv(NAME, o.system_name)
   end
   for _, one in ipairs(o.ttl > 0 and o.organisations or {}) do
      parts[#parts + 1] = tlv(ORGANISATION, one.oui .. string.char(one.subtype) .. one.octets)
   end
   parts[#parts + 1] = tlv(END, "")
   local frame = table.concat(parts)
   if #frame > MAX_FRAME then
      return nil, ("a frame of %d bytes; at most %d"):format(#frame, MAX_FRAME)
   end
   return frame
end

-- An address behind the number of its family.
local function network_address(value)
   local family, bytes = value:byte(1), value:sub(2)
   if family == 1 and #bytes == 4 then
      return ("%d.%d.%d.%d"):format(bytes:byte(1, 4)), "ipv4"
   elseif family == 2 and #bytes == 16 then
      return octets.ipv6_text(bytes), "ipv6"
   elseif family == 6 and #bytes == 6 then
      return octets.mac_text(bytes), "mac"
   end
   return octets.hex(value), "other"
end

-- An identity; nil for an invalid one.
local function read_identity(value, types)
   local kind, text = types[value:byte(1)], value:sub(2)
   if not kind or text == "" or #text > MAX_TEXT or (kind == "mac_address" and #text ~= 6) then
      return nil
   elseif kind == "mac_address" then
      text = octets.mac_text(text)
   elseif kind == "network_address" then
      text = network_address(text)
   end
   return { type = kind, text = text }
end

-- What each type of TLV says: function(value, out), which returns false where it is malformed.
local readers = {}

local function text_reader(key)
   return function(value, out)
      out[key] = value
      return #value <= MAX_TEXT
   end
end

readers[PORT_TEXT], readers[NAME], readers[TEXT] = text_reader "port_description", text_reader "system_name",
   text_reader "system_description"

readers[CAPABILITIES] = function(value, out)
   if #value ~= 4 then
      return false
   end
   local has, enabled = u16(value, 1), u16(value, 3)
   out.capabilities = {}
   for i, name in ipairs(CAPABILITY_NAMES) do
      if math.floor(has / 2 ^ (i - 1)) % 2 == 1 then
         table.insert(out.capabilities, { name = name, enabled = math.floor(enabled / 2 ^ (i - 1)) % 2 == 1 })
      end
   end
   return true
end

readers[MANAGEMENT] = function(value, out)
   local length = value:byte(1) or 0
   if length < 2 or length > 32 or #value < length + 7 then
      return false
   elseif not out.management then -- there may be several
      local text, family = network_address(value:sub(2, length + 1))
      out.management = { type = family, text = text }
   end
   return true
end

readers[ORGANISATION] = function(value, out)
   if #value < 4 then
      return false
   end
   table.insert(out.organisations, { oui = value:sub(1, 3), subtype = value:byte(4), octets = value:sub(5) })
   return true
end

local REPEATED = { [MANAGEMENT] = true, [ORGANISATION] = true }

-- The first three, which every frame has in this order. @return false: they are not there
local function read_mandatory(list, out)
   local chassis, port, ttl = list[1], list[2], list[3]
   if not ttl or chassis.kind ~= CHASSIS or port.kind ~= PORT or ttl.kind ~= TTL or #ttl.value < 2 then
      return false
   end
   out.chassis, out.port = read_identity(chassis.value, CHASSIS_TYPES), read_identity(port.value, PORT_TYPES)
   out.ttl = u16(ttl.value, 1)
   return out.chassis ~= nil and out.port ~= nil
end

-- All TLVs up to that which ends them. @return list, and whether one reaches beyond the frame
local function split(frame)
   local list, at = {}, HEADER + 1
   while at + 1 <= #frame do
      local head = u16(frame, at)
      local kind, length = math.floor(head / 512), head % 512
      if kind == END then
         return list, false
      elseif at + 1 + length > #frame then
         return list, true
      end
      list[#list + 1] = { kind = kind, value = frame:sub(at + 2, at + 1 + length) }
      at = at + 2 + length
   end
   return list, at <= #frame
end

--- Read a frame.
-- @param frame  bytes without FCS, maybe filled up
-- @return { source =, chassis =, port = identities, ttl = seconds, port_description =, system_name =,
--         system_description =, capabilities = list of { name =, enabled = }, management = { type = ipv4,
--         ipv6, mac or other, text = }, organisations = as in build(), dropped = TLVs that are malformed,
--         unknown =
--         TLVs of reserved types }; nil: it is malformed as a whole; false: it is not LLDP
function M.read(frame)
   if #frame < HEADER or u16(frame, HEADER - 1) ~= M.ETHERTYPE or not GROUPS[frame:sub(1, 6)] then
      return false
   end
   local list, cut = split(frame)
   local out = { source = octets.mac_text(frame:sub(7, 12)), organisations = {}, dropped = cut and 1 or 0,
      unknown = 0 }
   if not read_mandatory(list, out) then
      return nil
   end
   local seen = {}
   for i = 4, #list do
      local kind = list[i].kind
      if kind <= TTL then
         return nil
      elseif not readers[kind] then
         out.unknown = out.unknown + 1
      elseif seen[kind] and not REPEATED[kind] or not readers[kind](list[i].value, out) then
         out.dropped = out.dropped + 1
      end
      seen[kind] = true
   end
   return out
end

return M
