-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold of a server of iperf3.
local M = {}

local IPV6_MIN_MTU = 1280

local function one_port_and_its_mtu(values, found)
   local port = values.ports[1]
   if #values.ports > 1 then
      found:add("ports", ("%d ports"):format(#values.ports), "one port; another server is another process")
   elseif port and port.ipv6 and values.iperf3.mtu < IPV6_MIN_MTU then
      found:add("iperf3.mtu", ("%d is less than every IPv6 link carries"):format(values.iperf3.mtu),
         "at least " .. IPV6_MIN_MTU)
   end
end

M.rules = { one_port_and_its_mtu }

return M
