-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 3918 in a plan: its keys, what must hold between them, and what it needs of the tester. In the
-- notation of plan/rows.lua and plan/registry.lua.
local groups = require "framegauge.traffic.groups"
local shared = require "framegauge.plan.shared_rows"
local tables = require "framegauge.core.tables"

local TESTS = { "mixed_class", "group_matrix", "aggregated", "latency", "join_delay", "leave_delay",
   "group_capacity" }

local membership = {
   key = "membership", type = "group", help = "of join_delay and leave_delay",
   fields = {
      { key = "methods", type = "list", unique = true, least = 1, default = { "new", "known" },
        of = { type = "enum", values = { "new", "known" } },
        help = "of join_delay. new: the first receiver joins a group that the device does not know "
           .. "(method A); "
           .. "known: the first receiver has joined before, the others are measured (method B)" },
      { key = "load", type = "ratio", default = "50%", min = "0.001%", max = "100%",
        help = "frames of the group, a share of the throughput that aggregated found, or else of the "
           .. "line: a delay "
           .. "is known to the time between two of them" },
      { key = "max_resolution", type = "time", default = "100us", min = "1ns", max = "1s",
        help = "a load at which frames are further apart is not measured" },
      { key = "stagger", type = "time", default = "10ms", max = "1s",
        help = "from the report of one port to that of the next" },
      { key = "observe_join", type = "time", default = "1s", min = "1ms", max = "10min",
        help = "how long frames may take to come after the last report" },
      { key = "observe_leave", type = "time", default = "6s", min = "1ms", max = "10min",
        help = "how long frames may go on after the last leave; of a device that asks first, three times "
           .. "what "
           .. "that takes" },
      { key = "repetitions", type = "integer", default = "20", min = "1", max = "1000",
        help = "trials, each with one report of each port" },
   },
}

local row = {
   key = "rfc3918", type = "group",
   help = "benchmarking of IP multicast by RFC 3918: from one port of the plan to others that join groups",
   fields = {
      { key = "tests", type = "list", unique = true, least = 1, default = { "aggregated" },
        of = { type = "enum", values = TESTS },
        help = "which of its tests to run. mixed_class: throughput of multicast and unicast frames in turn "
           .. "(4.1); group_matrix: what is forwarded of more and more groups (4.2); aggregated: "
              .. "throughput to "
           .. "all receivers (4.3); latency: at each receiver, and from the earliest to the latest (5.1, "
              .. "5.2); "
           .. "join_delay, leave_delay (6.1, 6.2); group_capacity: how many groups are forwarded to members "
           .. "only (7.1)" },
      { key = "version", type = "enum", values = { "igmpv2", "igmpv3", "mldv1", "mldv2" },
        default_help = "igmpv2, over IPv6 mldv1", help = "how receivers join and leave" },
      { key = "source", type = "string", default_help = "the first port", help = "port that sends" },
      { key = "receivers", type = "list", unique = true, of = { type = "string" },
        default_help = "all ports but source and monitor", help = "ports that join groups" },
      { key = "monitor", type = "string", default_help = "none",
        help = "port that joins none: frames of registered groups there were flooded. Without one a "
           .. "device that "
           .. "floods what it cannot register seems to have room for any number of groups" },
      { key = "first_group", type = "ip", default_help = "239.1.1.1, over IPv6 ff1e::1:1",
        help = "the first group; the others follow it, one by one" },
      { key = "groups", type = "integer", default = "10", min = "1", max = "16384",
        help = "how many, where the test does not say" },
      { key = "frame_sizes", type = "list", of = { type = "size", min = "64", max = "16128" }, unique = true,
        least = 1, default = { "64", "128", "256", "512", "1024", "1280", "1518" },
        help = "bytes from the destination address to the FCS" },
      { key = "trial", type = "time", default = "30s", min = "1ms", max = "300s",
        help = "how long the load of a trial that decides lasts; RFC 3918 recommends 30s at least" },
      { key = "search_trial", type = "time", default = "1s", min = "1ms", max = "300s",
        help = "the same on the way to the throughput, at most that of trial" },
      { key = "max", type = "ratio", default = "100%", min = "0.1%", max = "100%",
        help = "the highest load of the source, as a share of the slowest line" },
      { key = "resolution", type = "ratio", default = "0.1%", min = "0.0001%", max = "50%",
        help = "the search for a throughput ends when it knows the load this well; a share of the line" },
      { key = "max_trials", type = "integer", default = "1000", min = "2", max = "100000",
        help = "a search gives up after so many" },
      { key = "unicast_share", type = "ratio", default = "50%", min = "1%", max = "99%",
        help = "of mixed_class: the part of the frames that are unicast, to the receivers in turn" },
      { key = "matrix_first", type = "integer", default = "10", min = "1", max = "16384",
        help = "of group_matrix: groups of the first trial" },
      { key = "matrix_step", type = "integer", default = "10", min = "1", max = "16384",
        help = "of group_matrix: groups that the next one has more" },
      { key = "matrix_max", type = "integer", min = "1", max = "16384",
        default_help = "what group_capacity found before, else 100",
        help = "of group_matrix: most groups" },
      { key = "matrix_load", type = "ratio", default = "100%", min = "0.01%", max = "100%",
        help = "of group_matrix: the load, a share of the line" },
      { key = "capacity_max", type = "integer", default = "4096", min = "2", max = "16384",
        help = "of group_capacity: most groups that are tried" },
      { key = "capacity_load", type = "ratio", default = "10%", min = "0.001%", max = "100%",
        help = "of group_capacity: the load, a share of the line" },
      { key = "capacity_rounds", type = "integer", default = "3", min = "1", max = "100",
        help = "of group_capacity: frames to each group" },
      { key = "latency_load", type = "ratio", default = "100%", min = "0.1%", max = "100%",
        help = "of latency: the load, a share of the throughput that aggregated found, or else of the line" },
      { key = "latency_trial", type = "time", default = "120s", min = "1ms", max = "1h",
        help = "of latency: the frame whose delay counts leaves in the middle of it" },
      { key = "latency_repetitions", type = "integer", default = "20", min = "1", max = "1000",
        help = "of latency: trials" },
      membership,
      { key = "report_rate", type = "frame_rate", default = "100fps", min = "1fps",
        help = "reports and leaves of all ports together: a device reads only so many" },
      { key = "reports", type = "integer", default = "2", min = "1", max = "10",
        help = "how often each is sent, because nobody answers them; a delay is measured with one" },
      { key = "join_wait", type = "time", default = "1s", max = "10min",
        help = "from the last report to the frames that verify the groups" },
      { key = "forget", type = "time", default = "3s", max = "10min",
        help = "from the last leave to the end of the trial" },
      { key = "probe_rate", type = "frame_rate", default = "1000fps", min = "1fps",
        help = "frames that verify, before and after the ports have joined, a second" },
      shared.learning_wait "2s", shared.drain "2s", shared.settle "5s", shared.retries,
   },
}

local PATH = "rfc3918."

local function ports_have_roles(values, found)
   local o, names, taken = values.rfc3918, {}, {}
   for _, port in ipairs(values.ports) do
      names[port.name] = true
   end
   local function take(path, name)
      if name and not names[name] then
         found:add(path, ("there is no port '%s'"):format(name), "the name of a port")
      elseif name and taken[name] then
         found:add(path, ("%s has another role"):format(name), "each port once")
      end
      taken[name or ""] = true
   end
   take(PATH .. "source", o.source)
   take(PATH .. "monitor", o.monitor)
   for i, name in ipairs(o.receivers or {}) do
      take(found:item(PATH .. "receivers", i), name)
   end
   local receivers = o.receivers and #o.receivers or #values.ports - 1 - (o.monitor and 1 or 0)
   if receivers < 1 and not found:has_below "ports" then
      found:add(PATH .. "receivers", "no port is left to receive", "ports that join groups")
   end
   if receivers == 1 and found:given(PATH .. "membership.methods")
      and tables.contains(o.membership.methods, "known") then
      found:add(PATH .. "membership.methods", "known with one receiver: it has joined before, and none is "
         .. "measured", "more receivers")
   end
end

local function groups_can_be_told_apart(values, found)
   local o, six = values.rfc3918, values.ports[1] and not values.ports[1].ipv4
   local version = o.version or (six and "mldv1" or "igmpv2")
   if (version:find "^mld" ~= nil) ~= (six or false) then
      found:add(PATH .. "version", ("%s over IPv%d"):format(version, six and 6 or 4),
         six and "mldv1 or mldv2" or "igmpv2 or igmpv3")
      return
   end
   local most = o.groups
   if tables.contains(o.tests, "group_capacity") then
      most = math.max(most, o.capacity_max)
   end
   if tables.contains(o.tests, "group_matrix") then
      most = math.max(most, o.matrix_first, o.matrix_max or 0)
   end
   if o.first_group and (o.first_group:find(":", 1, true) ~= nil) ~= (six or false) then
      found:add(PATH .. "first_group", "of another version of IP than the ports",
         ("an IPv%d group"):format(six and 6 or 4))
      return
   end
   local wrong, expected = groups.problem(groups.first(o.first_group, six and 6 or 4), most, six and 6 or 4)
   if wrong then
      found:add(PATH .. "first_group", wrong, expected)
   end
end

local function frames_have_room(values, found)
   local six = values.ports[1] and not values.ports[1].ipv4
   for i, size in ipairs(values.rfc3918.frame_sizes) do
      if six and size < 84 then
         found:add(found:item(PATH .. "frame_sizes", i), ("%d bytes do not hold a test frame over "
            .. "IPv6"):format(size), "at least 84")
      end
   end
end

local function no_gateways(values, found)
   for _, port in ipairs(values.ports) do
      if port.gateway or port.gateway6 then
         found:add(("ports.%s.%s"):format(port.name, port.gateway and "gateway" or "gateway6"),
            "the source and the receivers are in one network", "ports without gateways")
         return
      end
   end
end

return {
   name = "rfc3918", row = row, remembers = true,
   rules = { ports_have_roles, groups_can_be_told_apart, frames_have_room, no_gateways },
   topology = function()
      return "full-mesh"
   end,
   one_queue = true,
   frame_sizes = function(plan)
      return tables.joined(plan.rfc3918.frame_sizes, { 64 })
   end,
   shape = function(group)
      group.search_trial = math.min(group.search_trial, group.trial)
   end,
   quick = {
      "rfc3918.trial=500ms", "rfc3918.search_trial=50ms", "rfc3918.report_rate=10kfps",
      "rfc3918.join_wait=20ms", "rfc3918.forget=10ms", "rfc3918.latency_trial=200ms",
      "rfc3918.latency_repetitions=2", "rfc3918.membership.repetitions=2",
      "rfc3918.membership.observe_join=20ms", "rfc3918.membership.observe_leave=20ms",
      "rfc3918.learning_wait=10ms", "rfc3918.drain=50ms", "rfc3918.settle=0s",
   },
}
