-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 3918 in a plan: its keys, what must hold between them, and what it needs of the tester. In the
-- notation of plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local ethernet = require "framegauge.core.ethernet"
local formats = require "framegauge.methods.rfc3918.plan.formats"
local groups = require "framegauge.traffic.groups"
local shared = require "framegauge.plan.shared_rows"
local shared_rules = require "framegauge.plan.shared_rules"
local tables = require "framegauge.core.tables"
local tunnel = require "framegauge.traffic.tunnel"

local TESTS = { "mixed_class", "group_matrix", "aggregated", "encapsulation", "decapsulation",
   "re_encapsulation", "latency", "join_delay", "leave_delay", "group_capacity", "burdened_latency",
   "burdened_join_delay" }
local BURDENED = { "burdened_latency", "burdened_join_delay" }

local membership = keys.group("membership", "of join_delay, leave_delay and burdened_join_delay", {
   { "methods", "list", "of join_delay. new: the first receiver joins a group that the device does not know (method A); known: the first receiver has joined before, the others are measured (method B)",
     unique = true, least = 1, default = { "new", "known" },
     of = { type = "enum", values = { "new", "known" } } },
   { "load", "ratio", "frames of the group, a share of the throughput that aggregated found, or else of the line: a delay is known to the time between two of them",
     default = "50%", min = "0.001%", max = "100%" },
   { "max_resolution", "time", "a load at which frames are further apart is not measured",
     default = "100us", min = "1ns", max = "1s" },
   { "stagger", "time", "from the report of one port to the next port's", default = "10ms", max = "1s" },
   { "observe_join", "time", "how long frames may take to come after the last report",
     default = "1s", min = "1ms", max = "10min" },
   { "observe_leave", "time", "how long frames may continue after the last leave; for a device that sends a query first, three times the time that this takes",
     default = "6s", min = "1ms", max = "10min" },
   shared.repetitions("20", "trials, each with one report of each port", "1000"),
})

local tunnels = keys.group("tunnel", "of encapsulation, decapsulation and re_encapsulation: tunnels that are set up on the device, one to each port, between the port and its gateway", {
   { "ingress", tunnel.FORMATS, "of decapsulation and re_encapsulation: in what the source sends, IP in IP (RFC 2003, RFC 2473), GRE (RFC 2784) or GRE with a key (RFC 2890); to its gateway",
     default = "gre" },
   { "egress", tunnel.FORMATS, "of encapsulation and re_encapsulation: in what receivers are to get the frames",
     default = "gre" },
   { "key", "integer", "of an ingress by gre-key", default = "0", min = "0", max = "4294967295" },
   { "mtu", "integer", "bytes of the longest IP packet on the lines: what a tunnel makes longer is not measured",
     default = "1500", min = "68", max = "16110" },
   { "joins", { "reports", "device" }, "reports: receivers join by reports outside the tunnels; device: it forwards the groups to the receivers as it is set up, and nobody joins",
     default = "reports" },
})

local row = keys.group("rfc3918", "benchmarking of IP multicast by RFC 3918: from one port of the plan to others that join groups", {
   { "tests", "list", "which of its tests to run. mixed_class: throughput of alternating multicast and unicast frames (4.1); group_matrix: forwarding rate at rising numbers of groups (4.2); aggregated: throughput to all receivers (4.3); encapsulation, decapsulation, re_encapsulation: the same into tunnels, out of one, and from one into others (4.4); latency: at each receiver, and from the earliest to the latest (5.1, 5.2); join_delay, leave_delay (6.1, 6.2); group_capacity: how many groups are forwarded to members only (7.1); burdened_latency, burdened_join_delay: latency and join delay without further load and with unicast of other ports (8.1, 8.2)",
     unique = true, least = 1, default = { "aggregated" }, of = { type = "enum", values = TESTS } },
   { "version", { "igmpv2", "igmpv3", "mldv1", "mldv2" }, "how receivers join and leave",
     default_help = "igmpv2, over IPv6 mldv1" },
   { "source", "string", "port that sends", default_help = "the first port without another role" },
   { "receivers", "list", "ports that join groups",
     unique = true, of = { type = "string" }, default_help = "all ports but source, monitor and burden" },
   { "monitor", "string", "port that joins no group: frames of registered groups that arrive there were flooded. Without this port a device that floods unregistered groups seems to have room for any number of groups",
     default_help = "none" },
   { "burden", "list", "of burdened_latency and burdened_join_delay: ports that send unicast to each other, each to all others in turn",
     unique = true, least = 2, of = { type = "string" }, default_help = "none" },
   { "burden_load", "ratio", "what each of them sends: a share of the line",
     default = "50%", min = "0.001%", max = "100%" },
   { "first_group", "ip", "the first group; the others follow it, one by one",
     default_help = "239.1.1.1, over IPv6 ff1e::1:1" },
   { "groups", "integer", "how many, unless the test sets it", default = "10", min = "1", max = "16384" },
   shared.frame_sizes(),
   { "trial", "time", "how long the load of a trial that decides lasts; RFC 3918 recommends 30s at least",
     default = "30s", min = "1ms", max = "300s" },
   shared.search_trial("1s", "length of the trials on the way to the throughput, at most trial", "300s"),
   { "max", "ratio", "the highest load of the source, as a share of the slowest line",
     default = "100%", min = "0.1%", max = "100%" },
   { "resolution", "ratio", "the search for a throughput ends when it knows the load this well; a share of the line",
     default = "0.1%", min = "0.0001%", max = "50%" },
   shared.max_trials("1000", "a search gives up after this many", "100000"),
   { "unicast_share", "ratio", "of mixed_class: the part of the frames that are unicast, to the receivers in turn",
     default = "50%", min = "1%", max = "99%" },
   { "matrix_first", "integer", "of group_matrix: groups of the first trial",
     default = "10", min = "1", max = "16384" },
   { "matrix_step", "integer", "of group_matrix: groups that the next one has more",
     default = "10", min = "1", max = "16384" },
   { "matrix_max", "integer", "of group_matrix: most groups",
     min = "1", max = "16384", default_help = "what group_capacity found before, else 100" },
   { "matrix_load", "ratio", "of group_matrix: the load, a share of the line",
     default = "100%", min = "0.01%", max = "100%" },
   { "capacity_max", "integer", "of group_capacity: most groups that are tried",
     default = "4096", min = "2", max = "16384" },
   { "capacity_search", { "binary", "step" }, "of group_capacity: how it is found. binary: an interval is halved, to the group; step: groups are added until a trial fails, as the RFC has it",
     default = "binary" },
   { "capacity_step", "integer", "of capacity_search: step: groups that the next trial has more",
     default = "100", min = "1", max = "16384" },
   { "capacity_load", "ratio", "of group_capacity: the load, a share of the line",
     default = "10%", min = "0.001%", max = "100%" },
   { "capacity_rounds", "integer", "of group_capacity: frames to each group",
     default = "3", min = "1", max = "100" },
   { "latency_load", "ratio", "of latency and burdened_latency: the load, a share of the throughput that aggregated found, or else of the line",
     default = "100%", min = "0.1%", max = "100%" },
   { "latency_trial", "time", "length of the trials of both: the frame with the delay that counts is sent in the middle",
     default = "120s", min = "1ms", max = "1h" },
   { "latency_definition", { "lifo", "fifo" }, "of all latencies. lifo: from the last bit in to the first bit out (RFC 1242, store and forward); fifo: from first bit to first bit (RFC 1242, bit forwarding: devices that cut through)",
     default_help = "by the device's kind: fifo for all rows of a run where copies of one frame size leave before the frame is in, as of a device that cuts through; else lifo" },
   { "latency_repetitions", "integer", "of both: trials", default = "20", min = "1", max = "1000" },
   membership, tunnels,
   { "report_rate", "frame_rate", "reports and leaves of all ports together: a device reads only a limited number",
     default = "100fps", min = "1fps" },
   { "reports", "integer", "how often each is sent, because nobody answers them; a delay is measured with one",
     default = "2", min = "1", max = "10" },
   { "join_wait", "time", "from the last report to the frames that verify the groups",
     default = "1s", max = "10min" },
   { "forget", "time", "from the last leave to the end of the trial", default = "3s", max = "10min" },
   { "probe_rate", "frame_rate", "frames that verify, before and after the ports have joined, a second; fewer where the device loses some of them",
     default = "1000fps", min = "1fps" },
   shared.learning_wait "2s", shared.drain "2s", shared.settle "5s", shared.retries,
})

local PATH = "rfc3918."
local FCS = 4

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
   for i, name in ipairs(o.burden or {}) do
      take(found:item(PATH .. "burden", i), name)
   end
   local receivers = o.receivers and #o.receivers
      or #values.ports - 1 - (o.monitor and 1 or 0) - #(o.burden or {})
   if receivers < 1 and not found:has_below "ports" then
      found:add(PATH .. "receivers", "no port is left to receive", "ports that join groups")
   end
   if receivers == 1 and found:given(PATH .. "membership.methods")
      and tables.contains(o.membership.methods, "known") then
      found:add(PATH .. "membership.methods", "known with one receiver: it has joined before, and none is measured", "more receivers")
   end
end

local function matrix_has_trials(values, found)
   local o = values.rfc3918
   if tables.contains(o.tests, "group_matrix") and (o.matrix_max or math.huge) < o.matrix_first then
      found:add(PATH .. "matrix_max", ("fewer than the %d groups of matrix_first"):format(o.matrix_first),
         ("at least %d"):format(o.matrix_first))
   end
end

local function steps_go_with_their_search(values, found)
   if values.rfc3918.capacity_search ~= "step" and found:given(PATH .. "capacity_step") then
      found:add(PATH .. "capacity_step", "the search halves an interval", "capacity_search: step in addition")
   end
end

local function burdened_tests_have_a_burden(values, found)
   local o, burdened = values.rfc3918, false
   for _, key in ipairs(BURDENED) do
      burdened = burdened or tables.contains(o.tests, key)
   end
   if burdened and not o.burden then
      found:add(PATH .. "burden", "not given, and a test is to be burdened",
         "at least 2 ports that neither send to groups nor join them")
   end
end

local no_gateways = shared_rules.no_gateways "the source and the receivers are in one network"

-- Tunnels are between networks, the other tests in one.
local function tunnels_end_at_gateways(values, found)
   local o, through = values.rfc3918, 0
   for _, test in ipairs(formats.TESTS) do
      through = through + (tables.contains(o.tests, test) and 1 or 0)
   end
   if through == 0 then
      no_gateways(values, found)
      return
   elseif through < #o.tests then
      found:add(PATH .. "tests", "some through tunnels and others without", "a plan for each")
      return
   end
   for _, port in ipairs(values.ports) do
      local key = port.ipv4 and "gateway" or "gateway6"
      if not port[key] then
         found:add(("ports.%s.%s"):format(port.name, key), "missing: the device's end of the tunnel",
            "an address")
      end
   end
end

local function tunnels_fit_the_mtu(values, found)
   local o, version = values.rfc3918, values.ports[1] and not values.ports[1].ipv4 and 6 or 4
   for i, size in ipairs(o.frame_sizes) do
      for _, test in ipairs(o.tests) do
         local longer = math.max(formats.sizes(o, test, size, version)) - size
         local most = o.tunnel.mtu + ethernet.HEADER + FCS - longer
         if longer > 0 and size > most then
            found:add(found:item(PATH .. "frame_sizes", i), ("%d bytes, and %d of a tunnel, are longer than the MTU of %d"):format(size, longer, o.tunnel.mtu),
               "at most " .. most)
            break
         end
      end
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
   local most = formats.most_groups(o) + 1 -- one that no port joins
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

local CLOCKS = "how far copies of a frame are apart would have the error of the receivers' clocks"
local TUNNELS = "frames through tunnels have not been tried with them"

-- Why tests are not for the ports of agents.
local UNSHARED = {
   latency = CLOCKS, burdened_latency = CLOCKS, encapsulation = TUNNELS, decapsulation = TUNNELS,
   re_encapsulation = TUNNELS,
}

return {
   name = "rfc3918", row = row, remembers = true, fleet = shared_rules.not_of_agents("rfc3918", UNSHARED),
   rules = {
      ports_have_roles, burdened_tests_have_a_burden, matrix_has_trials, steps_go_with_their_search,
      groups_can_be_told_apart,
      shared_rules.frames_have_room("rfc3918", "frame_sizes"), tunnels_end_at_gateways, tunnels_fit_the_mtu,
   },
   topology = "full-mesh",
   one_queue = true,
   frame_sizes = function(plan)
      local o, version, sizes = plan.rfc3918, plan.ports[1].ipv4 and 4 or 6, { 64 }
      for _, size in ipairs(o.frame_sizes) do
         for _, test in ipairs(o.tests) do
            sizes = tables.joined(sizes, { formats.sizes(o, test, size, version) })
         end
      end
      return sizes
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
