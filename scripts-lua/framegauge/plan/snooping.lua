-- SPDX-License-Identifier: BSD-3-Clause

--- IGMP and MLD snooping of the reference switch: its keys, and what must hold between them.
local M = {}

M.row = {
   key = "snooping", type = "group", optional = true,
   help = "of IGMP and MLD (RFC 4541): frames of a multicast group leave from the ports that have joined it; without it they are flooded. Memberships outlive trials",
   fields = {
      { key = "groups", type = "integer", default = "1024", min = "1", max = "65536",
        help = "groups that it has room for, all VLANs together; others are not registered" },
      { key = "key", type = "enum", values = { "ip", "mac" }, default = "ip",
        help = "what an entry is of: a group, or its MAC address, which 32 groups of IPv4 share" },
      { key = "unregistered", type = "enum", values = { "flood", "drop" }, default = "flood",
        help = "frames of groups that nobody has joined: to all ports, or to router_ports only" },
      { key = "join_delay", type = "time", default = "100us", max = "1h",
        help = "from the last bit of a report to the table, of a group that has an entry" },
      { key = "new_group_delay", type = "time", default = "1ms", max = "1h",
        help = "further time for a group that has none" },
      { key = "leave_delay", type = "time", default = "100us", max = "1h",
        help = "from the last bit of a leave to the table" },
      { key = "control_rate", type = "frame_rate", min = "1fps", default_help = "all that come",
        help = "messages that it reads a second, in their order, written as a rate of frames" },
      { key = "control_queue", type = "integer", default = "64", min = "1", max = "65536",
        help = "messages that wait meanwhile; more are lost" },
      { key = "fast_leave", type = "boolean", default = "true",
        help = "a port that leaves is no member any more; else it is asked first whether it has others" },
      { key = "last_member_interval", type = "time", default = "1s", min = "1ms", max = "1h",
        help = "without fast_leave: from one query of a group to the next, and to the end" },
      { key = "last_member_count", type = "integer", default = "2", min = "1", max = "100",
        help = "without fast_leave: how many queries" },
      { key = "querier", type = "boolean", default = "false",
        help = "it asks all ports for all groups, every query_interval" },
      { key = "query_interval", type = "time", default = "125s", min = "10ms", max = "1h",
        help = "from one general query to the next" },
      { key = "membership_time", type = "time", default = "260s", max = "24h",
        help = "a port that has not reported for so long is no member any more; 0: never" },
      { key = "group_cost", type = "time", default = "0s", max = "1ms",
        help = "time of the forwarding engine that each entry costs every frame" },
      { key = "router_ports", type = "list", unique = true, of = { type = "string" }, default = {},
        help = "ports behind which there are routers: they get reports, and what nobody has joined. Ports from which queries come are added" },
   },
}

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
