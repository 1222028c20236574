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

--- "02:00:00:00:00:01" of six octets.
function M.mac_text(octets)
   return (octets:gsub(".", function(octet)
      return (":%02x"):format(octet:byte())
   end):sub(2))
end

return M
