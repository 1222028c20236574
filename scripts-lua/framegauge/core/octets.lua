-- SPDX-License-Identifier: BSD-3-Clause

--- Addresses as octets: what the C side wants and frames are made of.
local api = require "framegauge.core.api"
local ffi = require "ffi"

local C = api.C
local M = {}

local function parser(parse, size)
   return function(text)
      local out, err = ffi.new("uint8_t[?]", size), api.error()
      api.check(parse(text, out, err), err)
      return ffi.string(out, size)
   end
end

--- Bytes of an address given as text; malformed text raises.
M.ipv4 = parser(C.fg_ipv4_parse, 4)
M.ipv6 = parser(C.fg_ipv6_parse, 16)
M.mac = parser(C.fg_mac_parse, 6)

--- The last eight bytes as a number, most significant first; a Lua number as it is.
-- @return a uint64_t
function M.number(value)
   if type(value) == "number" then
      return value + 0ULL
   end
   local number = 0ULL
   for i = math.max(1, #value - 7), #value do
      number = number * 256 + value:byte(i)
   end
   return number
end

--- The bytes of a whole number, most significant first.
function M.of_number(number, size)
   local list = {}
   for i = size, 1, -1 do
      list[i], number = string.char(tonumber(number % 256)), math.floor(tonumber(number) / 256)
   end
   return table.concat(list)
end

local DIGITS, OCTETS = {}, {} -- of each byte, and back: descriptions of streams have many
for value = 0, 255 do
   local octet, digits = string.char(value), ("%02x"):format(value)
   DIGITS[octet] = digits
   for _, first in ipairs { digits:sub(1, 1), digits:sub(1, 1):upper() } do
      OCTETS[first .. digits:sub(2)], OCTETS[first .. digits:sub(2):upper()] = octet, octet
   end
end

--- Bytes as hexadecimal digits, and back.
function M.hex(octets)
   return (octets:gsub(".", DIGITS))
end

function M.unhex(text)
   return (text:gsub("%x%x", OCTETS))
end

--- "02:00:00:00:00:01" of six bytes.
function M.mac_text(octets)
   return (octets:gsub(".", function(octet)
      return (":%02x"):format(octet:byte())
   end):sub(2))
end

--- "2001:2::1" of sixteen bytes.
function M.ipv6_text(value)
   local words = {}
   for i = 1, 16, 2 do
      words[#words + 1] = ("%x"):format(value:byte(i) * 256 + value:byte(i + 1))
   end
   local text = table.concat(words, ":")
   -- the longest run of zeros, of two or more, becomes "::" (RFC 5952)
   for run = 8, 2, -1 do
      local zeros = ("0:"):rep(run - 1) .. "0"
      local at = (":" .. text .. ":"):find(":" .. zeros .. ":", 1, true)
      if at then
         return text:sub(1, math.max(0, at - 2)) .. "::" .. text:sub(at + #zeros + 1)
      end
   end
   return text
end

--- Text of an address of sixteen bytes, in which IPv4 is mapped: "198.18.0.1" of ::ffff:198.18.0.1.
function M.address_text(value)
   if value:sub(1, 12) == ("\0"):rep(10) .. "\255\255" then
      return ("%d.%d.%d.%d"):format(value:byte(13, 16))
   end
   return M.ipv6_text(value)
end

return M
