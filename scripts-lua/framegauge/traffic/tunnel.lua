-- SPDX-License-Identifier: BSD-3-Clause

--- Tunnels of IP packets in IP packets of the same version: IP in IP (RFC 2003, RFC 2473), GRE (RFC 2784),
-- and GRE with a key (RFC 2890).
local frame = require "framegauge.traffic.frame"

local M = {}

--- The formats, as plans name them.
M.FORMATS = { "ipip", "gre", "gre-key" }

local IP = { [4] = 20, [6] = 40 }
local GRE = { ipip = 0, gre = 4, ["gre-key"] = 8 }
local HOPS = 64

--- Bytes by which a tunnel makes a frame longer. @param format  nil: there is no tunnel
-- @usage tunnel.overhead("gre-key", 4) --> 28
function M.overhead(format, version)
   return format and IP[version] + GRE[format] or 0
end

--- The layers in front of the IP header of a packet (framegauge.traffic.frame).
-- @param o  { version =, src = and dst = octets, key = of gre-key }
function M.layers(format, o)
   local list = { {
      "ipv" .. o.version, source = o.src, destination = o.dst,
      flags = o.version == 4 and frame.DONT_FRAGMENT or nil,
      [o.version == 4 and "ttl" or "hop_limit"] = HOPS,
   } }
   if format ~= "ipip" then
      list[2] = { "gre", key = format == "gre-key" and o.key or nil }
   end
   return list
end

return M
