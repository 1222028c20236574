-- SPDX-License-Identifier: BSD-3-Clause

--- Addresses as octets: what the C side wants and frames are made of.
local api = require "framegauge.api"
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

--- Octets of an address given as text; malformed text raises.
M.ipv4 = parser(C.fg_ipv4_parse, 4)
M.ipv6 = parser(C.fg_ipv6_parse, 16)
M.mac = parser(C.fg_mac_parse, 6)

--- The last eight octets as a number, most significant first; a Lua number as it is.
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

--- So many octets of a whole number, most significant first.
function M.of_number(number, size)
   local list = {}
   for i = size, 1, -1 do
      list[i], number = string.char(tonumber(number % 256)), math.floor(tonumber(number) / 256)
   end
   return table.concat(list)
end

--- Octets as hexadecimal digits, and back.
function M.hex(octets)
   return (octets:gsub(".", function(octet)
      return ("%02x"):format(octet:byte())
   end))
end

function M.unhex(text)
   return (text:gsub("%x%x", function(digits)
      return string.char(tonumber(digits, 16))
   end))
end

--- "02:00:00:00:00:01" of six octets.
function M.mac_text(octets)
   return (octets:gsub(".", function(octet)
      return (":%02x"):format(octet:byte())
   end):sub(2))
end

return M
