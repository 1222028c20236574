-- SPDX-License-Identifier: BSD-3-Clause

--- A server of iperf3 in a plan: its keys and what must hold between them, in the notation of plan/keys.lua
-- and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local shared = require "framegauge.plan.shared_rows"

local row = keys.group("iperf3", "a server for ordinary hosts that run `iperf3 -c` (framegauge iperf3), on the one port of the plan", {
   { "port", "integer", "where it listens, TCP and UDP", default = "5201", min = "1", max = "65535" },
   { "mtu", "integer", "bytes of the largest IP packet", default = "1500", min = "256", max = "9216" },
   shared.tcp,
})

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

local rules = { one_port_and_its_mtu }

return {
   name = "iperf3", row = row, rules = rules, service = true, alone = true, one_queue = true,
   one_lcore_a_port = true, tcp = true,
}
