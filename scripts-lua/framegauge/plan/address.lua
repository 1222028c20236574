-- SPDX-License-Identifier: BSD-3-Clause

--- IP and MAC addresses: which text is one, and which network an address is in.
--
-- Inside, an address is its bytes as a string: comparing and masking are then the same for both families.
local api = require "framegauge.core.api"
local bit = require "bit"
local ffi = require "ffi"

local M = {}

local buffer = ffi.new("uint8_t[16]")

--- The bytes of an address.
-- @param family  4 or 6; by default what the text looks like
-- @return a string of 4 or 16 bytes, or nil if the text is no address of the family
function M.bytes(text, family)
   local six = family == 6 or (not family and text:find(":", 1, true) ~= nil)
   if (six and api.C.fg_ipv6_parse or api.C.fg_ipv4_parse)(text, buffer, nil) ~= 0 then
      return nil
   end
   return ffi.string(buffer, six and 16 or 4)
end

--- The text, if it is an address of the family, else nil.
function M.parse(text, family)
   return M.bytes(text, family) and text
end

--- Read "198.18.1.2/24".
-- @return { address =, prefix = }, or nil if the text is not an address of the family
function M.parse_prefix(text, family)
   local address, prefix = text:match("^([^/]+)/(%d%d?%d?)$")
   prefix = tonumber(prefix)
   if not address or not M.bytes(address, family) or prefix < 1 or prefix > (family == 4 and 32 or 128) then
      return nil
   end
   return { address = address, prefix = prefix }
end

--- Read the MAC address of a station: no group, not all zeros.
-- @return lower case with colons, or nil
function M.parse_mac(text)
   local first = text:match("^(%x%x):%x%x:%x%x:%x%x:%x%x:%x%x$")
   if not first or tonumber(first, 16) % 2 == 1 or text == "00:00:00:00:00:00" then
      return nil
   end
   return text:lower()
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

--- Whether two texts are the same address.
function M.equal(a, b)
   return M.bytes(a) == M.bytes(b)
end

--- Whether two addresses of one family lie in the same network of a prefix length.
function M.same_network(a, b, prefix)
   return with_host_bits(M.bytes(a), prefix) == with_host_bits(M.bytes(b), prefix)
end

--- The same host in another network.
-- @param bytes   of an address
-- @param n       networks of the prefix length further
-- @return the bytes of the address; nil where there are no such networks any more
-- @usage address.after("\198\19\255\1", 2, 24) --> \198\20\1\1
function M.after(bytes, n, prefix)
   local list, at = { bytes:byte(1, -1) }, math.ceil(prefix / 8)
   local carry = n * 2 ^ (8 * at - prefix)
   while carry > 0 and at > 0 do
      carry = carry + list[at]
      list[at], carry, at = carry % 256, math.floor(carry / 256), at - 1
   end
   return carry == 0 and string.char(unpack(list)) or nil
end

--- Why an address cannot belong to a host, nil if it can.
-- @param address  text, or bytes
-- @param prefix   of the network it is in: an IPv4 network's first and last address are no host's
function M.unusable(address, prefix)
   local bytes = M.bytes(address) or address
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

--- Read the address of a service: "127.0.0.1:5564", "[::1]:5564" or the path of a socket.
-- @return { path = } or { host =, port = }, or nil
function M.of_service(text)
   if text:sub(1, 1) == "/" then
      return { path = text }
   end
   local host, port = text:match "^%[(.+)%]:(%d+)$"
   if not host then
      host, port = text:match "^([%d.]+):(%d+)$"
   end
   port = tonumber(port)
   return port and port >= 1 and port <= 65535 and { host = host, port = port } or nil
end

--- Whether only this machine can connect to an address.
function M.is_local(address)
   return address.path ~= nil or address.host == "::1" or address.host:match "^127%.%d+%.%d+%.%d+$" ~= nil
end

return M
