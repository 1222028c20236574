-- SPDX-License-Identifier: BSD-3-Clause

--- Tunnels of the reference switch in a plan: its keys, and what must hold between them.
local keys = require "framegauge.plan.keys"
local ports = require "framegauge.plan.ports"
local tables = require "framegauge.core.tables"
local tunnel = require "framegauge.traffic.tunnel"

local M = {}

local FORMATS = tables.joined({ "none" }, tunnel.FORMATS)
local PATH = "reference_switch.tunnels"

M.row = keys.group("tunnels", "a tunnel from each port to its gateway, which is the switch: packets to multicast groups are encapsulated and decapsulated, reports of groups are not", {
   { "ingress", FORMATS, "what it decapsulates: IP in IP (RFC 2003, RFC 2473), GRE (RFC 2784), GRE with a key (RFC 2890)",
     default = "none" },
   { "egress", FORMATS, "how it encapsulates what leaves", default = "none" },
   { "key", "integer", "of gre-key", default = "0", min = "0", max = "4294967295" },
}, { optional = true })

local function every_port_has_an_end(values, found)
   local s = values.reference_switch
   for _, port in ipairs(s and s.tunnels and values.ports or {}) do
      local six = not port.ipv4 and port.ipv6
      if not port[six and "gateway6" or "gateway"] then
         found:add(ports.path(port, six and "gateway6" or "gateway"), "missing: its tunnel ends there",
            "an address of the reference switch")
      elseif port.vlan then
         found:add(ports.path(port, "vlan"), "tunnels of the reference switch have no tags", "no vlan")
      end
   end
end

local function goes_with_simple_queues(values, found)
   local s = values.reference_switch
   if s and s.tunnels and (s.queues == "input" or s.uplink) then
      found:add(PATH, "with queues behind each ingress, or an uplink", "one of them")
   end
end

M.rules = { every_port_has_an_end, goes_with_simple_queues }

return M
