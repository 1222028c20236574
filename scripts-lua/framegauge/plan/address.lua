-- SPDX-License-Identifier: BSD-3-Clause

--- IP and MAC addresses as text: reading, the one canonical form, and which network they are in.
--
-- Inside, an address is its bytes as a string: comparing and masking are then the same for both families.
local bit = require "bit"

local M = {}

-- An IPv4 address as 4 bytes, nil if the text is none. "010" is refused: some read it as 8.
local function ipv4_bytes(text)
   local bytes = {}
   for part in (text .. "."):gmatch("([^.]*)%.") do
      local number = part:match("^%d%d?%d?$") and tonumber(part)
      if not number or number > 255 or (#part > 1 and part:sub(1, 1) == "0") then
         return nil
      end
      bytes[#bytes + 1] = string.char(number)
   end
   return #bytes == 4 and table.concat(bytes) or nil
end

-- Colon-separated groups as bytes; the last may be an IPv4 address. "" gives "".
local function ipv6_groups(text, last)
   local bytes = {}
   for group, next_at in (text == "" and "" or text .. ":"):gmatch("([^:]*):()") do
      local number = group:match("^%x%x?%x?%x?$") and tonumber(group, 16)
      if number then
         bytes[#bytes + 1] = string.char(bit.rshift(number, 8), bit.band(number, 255))
      else
         local dotted = last and next_at > #text + 1 and ipv4_bytes(group)
         if not dotted then
            return nil
         end
         bytes[#bytes + 1] = dotted
      end
   end
   return table.concat(bytes)
end

local function ipv6_bytes(text)
   local head, tail = text:match("^(.-)::(.*)$")
   if not head then
      local bytes = ipv6_groups(text, true)
      return bytes and #bytes == 16 and bytes or nil
   end
   head, tail = ipv6_groups(head, false), ipv6_groups(tail, true)
   if not head or not tail or #head + #tail > 14 then
      return nil
   end
   return head .. ("\0"):rep(16 - #head - #tail) .. tail
end

-- RFC 5952: lower case, no leading zeros, the longest run of at least two zero groups as "::".
local function ipv6_text(bytes)
   local groups, best, best_length = {}, nil, 1
   for i = 1, 8 do
      groups[i] = bytes:byte(2 * i - 1) * 256 + bytes:byte(2 * i)
   end
   local i = 1
   while i <= 8 do
      local length = 0
      while groups[i + length] == 0 do
         length = length + 1
      end
      if length > best_length then
         best, best_length = i, length
      end
      i = i + math.max(length, 1)
   end
   local function join(from, to)
      local texts = {}
      for g = from, to do
         texts[#texts + 1] = ("%x"):format(groups[g])
      end
      return table.concat(texts, ":")
   end
   if not best then
      return join(1, 8)
   end
   return join(1, best - 1) .. "::" .. join(best + best_length, 8)
end

--- The bytes of an address in either family.
-- @return a string of 4 or 16 bytes, or nil if the text is no address
function M.bytes(text)
   if text:find(":", 1, true) then
      return ipv6_bytes(text)
   end
   return ipv4_bytes(text)
end

--- The canonical text of an address, nil if the text is none of the family.
-- @param family  4 or 6
function M.parse(text, family)
   local bytes = (family == 4 and ipv4_bytes or ipv6_bytes)(text)
   if not bytes then
      return nil
   end
   return family == 4 and ("%d.%d.%d.%d"):format(bytes:byte(1, 4)) or ipv6_text(bytes)
end

--- Read "198.18.1.2/24".
-- @return { address =, prefix = }, or nil if the text is none of the family
function M.parse_prefix(text, family)
   local address, prefix = text:match("^([^/]+)/(%d%d?%d?)$")
   address = address and M.parse(address, family)
   prefix = tonumber(prefix)
   if not address or prefix < 1 or prefix > (family == 4 and 32 or 128) then
      return nil
   end
   return { address = address, prefix = prefix }
end

--- Read a MAC address with colons or hyphens.
-- @return lower case with colons, or nil
function M.parse_mac(text)
   local bytes = {}
   local separator = text:match("^%x%x([:-])")
   for byte in (text .. (separator or ":")):gmatch("([^:-]*)[:-]") do
      bytes[#bytes + 1] = byte:match("^%x%x$") and byte:lower()
   end
   if not separator or #bytes ~= 6 or text:upper() ~= table.concat(bytes, separator):upper() then
      return nil
   end
   return table.concat(bytes, ":")
end

-- The bytes with every bit after the prefix cleared or set.
local function with_host_bits(bytes, prefix, set)
   local out = {}
   for i = 1, #bytes do
      local keep = math.max(0, math.min(8, prefix - 8 * (i - 1)))
      local host = bit.rshift(0xff, keep)
      out[i] = string.char(set and bit.bor(bytes:byte(i), host) or bit.band(bytes:byte(i), 0xff - host))
   end
   return table.concat(out)
end

--- Whether two addresses of one family lie in the same network of a prefix length.
function M.same_network(a, b, prefix)
   return with_host_bits(M.bytes(a), prefix) == with_host_bits(M.bytes(b), prefix)
end

--- Why an address cannot be a host's, nil if it can.
-- @param prefix  of the network it is in: an IPv4 network's first and last address are no host's
function M.unusable(address, prefix)
   local bytes = M.bytes(address)
   local first = bytes:byte(1)
   if bytes == ("\0"):rep(#bytes) then
      return "stands for no address"
   elseif #bytes == 16 then
      return first == 0xff and "is a multicast address" or nil
   elseif first == 127 then
      return "is a loopback address"
   elseif first >= 224 then
      return "is a multicast or reserved address"
   elseif prefix < 31 and bytes == with_host_bits(bytes, prefix) then
      return ("is the address of the /%d network itself"):format(prefix)
   elseif prefix < 31 and bytes == with_host_bits(bytes, prefix, true) then
      return ("is the broadcast address of its /%d network"):format(prefix)
   end
   return nil
end

return M
