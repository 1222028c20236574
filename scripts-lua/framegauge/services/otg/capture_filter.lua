-- SPDX-License-Identifier: BSD-3-Clause

--- Filters of a capture as one expression of pcap-filter(7).
--
-- The fields of a filter stand at bits of their header, headers one behind the other. A field without value
-- and mask is no condition. What a bit of a mask means is the plan's to say (otg.capture_mask): compare this
-- bit, or ignore it.
local bit = require "bit"
local tables = require "framegauge.core.tables"

local M = {}

-- Fields by name: bit in the header and width; and bytes of the header.
local HEADERS = {
   ethernet = { bytes = 14, dst = { 0, 48 }, src = { 48, 48 }, ether_type = { 96, 16 } },
   vlan = { bytes = 4, priority = { 0, 3 }, cfi = { 3, 1 }, id = { 4, 12 }, protocol = { 16, 16 } },
   ipv4 = {
      bytes = 20, version = { 0, 4 }, header_length = { 4, 4 }, priority = { 8, 8 }, total_length = { 16,
         16 },
      identification = { 32, 16 }, reserved = { 48, 1 }, dont_fragment = { 49, 1 }, more_fragments = { 50,
         1 },
      fragment_offset = { 51, 13 }, time_to_live = { 64, 8 }, protocol = { 72, 8 }, header_checksum = { 80,
         16 },
      src = { 96, 32 }, dst = { 128, 32 },
   },
   ipv6 = {
      bytes = 40, version = { 0, 4 }, traffic_class = { 4, 8 }, flow_label = { 12, 20 },
      payload_length = { 32, 16 }, next_header = { 48, 8 }, hop_limit = { 56, 8 }, src = { 64, 128 },
      dst = { 192, 128 },
   },
}

-- The low bits of hexadecimal digits, the first bit first.
local function bits_of(digits, width)
   local bits = {}
   for digit in digits:gsub("^0[xX]", ""):gmatch "%x" do
      local value = tonumber(digit, 16)
      for i = 3, 0, -1 do
         bits[#bits + 1] = bit.band(bit.rshift(value, i), 1)
      end
   end
   local out = {}
   for i = 1, width do
      out[i] = bits[#bits - width + i] or 0
   end
   return out
end

-- Comparisons byte by byte, of the bits that count.
local function comparisons(at, value, mask)
   local masks, values = {}, {}
   for i = 1, #value do
      local octet = math.floor((at + i - 1) / 8)
      local weight = 2 ^ (7 - (at + i - 1) % 8)
      masks[octet] = (masks[octet] or 0) + weight * mask[i]
      values[octet] = (values[octet] or 0) + weight * mask[i] * value[i]
   end
   local list = {}
   for octet = math.floor(at / 8), math.floor((at + #value - 1) / 8) do
      if masks[octet] > 0 then
         list[#list + 1] = ("ether[%d] & 0x%02x = 0x%02x"):format(octet, masks[octet], values[octet])
      end
   end
   return list
end

-- One field as a condition; nil for an invalid one.
local function condition(at, width, field, mode)
   local value, mask = bits_of(field.value, width), bits_of(field.mask, width)
   if not tables.contains(value, 1) and not tables.contains(mask, 1) and not field.negate then
      return nil
   end
   if mode == "ignore" or not tables.contains(mask, 1) then
      for i = 1, width do
         mask[i] = 1 - mask[i]
      end
   end
   local list = comparisons(at, value, mask)
   if not list[1] then
      return nil
   end
   return (field.negate and "not " or "") .. "(" .. table.concat(list, " and ") .. ")"
end

--- The expression of a capture's filters; nil where all frames are wanted.
-- @param mode  "compare" or "ignore": what a 1 in a mask means
function M.text(filters, path, mode, found)
   local list, at = {}, 0
   for i, filter in ipairs(filters) do
      local one = filter.choice and filter[filter.choice]
      if filter.choice == "custom" and one then
         if one.bit_length == 0 or one.bit_length > 1024 or (one.offset or 0) > 65535 * 8 then
            found:fault(("%s[%d].custom"):format(path, i - 1), "offset or bit_length is out of range")
         else
            list[#list + 1] = condition(at + (one.offset or 0), one.bit_length, one, mode)
            at = at + (one.offset or 0) + one.bit_length
         end
      elseif one then
         local header = HEADERS[filter.choice]
         for name, place in pairs(header) do
            list[#list + 1] = type(place) == "table" and one[name]
               and condition(at + place[1], place[2], one[name], mode) or nil
         end
         at = at + 8 * header.bytes
      end
   end
   table.sort(list)
   return list[1] and table.concat(list, " and ") or nil
end

return M
