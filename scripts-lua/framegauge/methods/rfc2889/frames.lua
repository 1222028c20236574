-- SPDX-License-Identifier: BSD-3-Clause

--- The frames that tests of RFC 2889 make themselves: from one port of the plan to another.
local frame = require "framegauge.traffic.frame"
local octets = require "framegauge.core.octets"

local M = {}

local BROADCAST = "\255\255\255\255\255\255"

-- IPv4 where both ports have it.
local function version_of(source, target)
   return source.ipv4 and target.ipv4 and 4 or 6
end

--- Bytes with FCS of the smallest frame from one port to another, at least `size`.
function M.size(plan, from, to, size)
   local ports = plan.ports
   return math.max(size, frame.SMALLEST[version_of(ports[from], ports[to])])
end

--- A template. One of its MAC addresses may be another one in each frame.
-- @param from, to  numbers of ports
-- @param size      bytes with FCS; at least as many as M.size gives
-- @param macs      sources or destinations = list of six bytes each, or broadcast = true; or nil
function M.template(tester, from, to, size, macs)
   local source, target = tester.plan.ports[from], tester.plan.ports[to]
   local version = version_of(source, target)
   macs = macs or {}
   return frame.rfc2544(size, {
      version = version, vlan = source.vlan,
      src = octets["ipv" .. version](source["ipv" .. version]),
      dst = octets["ipv" .. version](target["ipv" .. version]),
      src_mac = macs.sources and macs.sources[1] or octets.mac(tester.ports[from].mac),
      dst_mac = macs.broadcast and BROADCAST or macs.destinations and macs.destinations[1]
         or octets.mac(tester.ports[to].mac),
      vary = {
         src_mac = macs.sources and { list = macs.sources, count = #macs.sources },
         dst_mac = macs.destinations and { list = macs.destinations, count = #macs.destinations },
      },
   })
end

return M
