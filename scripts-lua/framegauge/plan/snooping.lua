-- SPDX-License-Identifier: BSD-3-Clause

--- IGMP and MLD snooping of the reference switch: its keys, and what must hold between them.
local keys = require "framegauge.plan.keys"

local M = {}

M.row = keys.group("snooping", "of IGMP and MLD (RFC 4541): frames of a multicast group leave from the ports that have joined it; without it they are flooded. Memberships outlive trials", {
   { "groups", "integer", "groups that it has room for, all VLANs together; others are not registered",
     default = "1024", min = "1", max = "65536" },
   { "key", { "ip", "mac" }, "what an entry is of: a group, or its MAC address, which 32 groups of IPv4 share",
     default = "ip" },
   { "unregistered", { "flood", "drop" }, "frames of groups that nobody has joined: to all ports, or to router_ports only",
     default = "flood" },
   { "join_delay", "time", "from the last bit of a report to the table, of a group that has an entry",
     default = "100us", max = "1h" },
   { "new_group_delay", "time", "further time for a group that has none", default = "1ms", max = "1h" },
   { "leave_delay", "time", "from the last bit of a leave to the table", default = "100us", max = "1h" },
   { "control_rate", "frame_rate", "messages that it reads a second, in their order, written as a rate of frames",
     min = "1fps", default_help = "all that come" },
   { "control_queue", "integer", "messages that wait meanwhile; more are lost",
     default = "64", min = "1", max = "65536" },
   { "fast_leave", "boolean", "a port that leaves is removed at once; otherwise it is queried first whether it has others",
     default = "true" },
   { "last_member_interval", "time", "without fast_leave: from one query of a group to the next, and to the end",
     default = "1s", min = "1ms", max = "1h" },
   { "last_member_count", "integer", "without fast_leave: how many queries",
     default = "2", min = "1", max = "100" },
   { "querier", "boolean", "the switch sends a general query to all ports every query_interval", default = "false" },
   { "query_interval", "time", "from one general query to the next",
     default = "125s", min = "10ms", max = "1h" },
   { "membership_time", "time", "time after which a port that has not reported is no longer a member; 0: never",
     default = "260s", max = "24h" },
   { "group_cost", "time", "time of the forwarding engine that each entry costs every frame",
     default = "0s", max = "1ms" },
   { "router_ports", "list", "ports behind which there are routers: they get reports, and what nobody has joined. Ports from which queries come are added",
     unique = true, of = { type = "string" }, default = {} },
}, { optional = true })

local PATH = "reference_switch.snooping"

local function routers_are_behind_ports(values, found)
   local names, snooping = {}, values.reference_switch and values.reference_switch.snooping
   for _, port in ipairs(values.ports) do
      names[port.name] = true
   end
   for i, name in ipairs(snooping and snooping.router_ports or {}) do
      if not names[name] then
         found:add(found:item(PATH .. ".router_ports", i), ("there is no port '%s'"):format(name),
            "the name of a port")
      end
   end
end

local function asking_goes_with_slow_leaves(values, found)
   local snooping = values.reference_switch and values.reference_switch.snooping
   for _, key in ipairs { "last_member_interval", "last_member_count" } do
      if snooping and snooping.fast_leave and found:given(PATH .. "." .. key) then
         found:add(PATH .. "." .. key, "it does not ask who leaves", "fast_leave: false in addition")
      end
   end
end

M.rules = { routers_are_behind_ports, asking_goes_with_slow_leaves }

return M
