-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889 in a plan: its keys, what must hold between them, and what it needs of the tester. In the
-- notation of plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local patterns = require "framegauge.traffic.patterns"
local shared = require "framegauge.plan.shared_rows"
local shared_rules = require "framegauge.plan.shared_rules"
local tables = require "framegauge.core.tables"

local TESTS = tables.joined(patterns.NAMES, {
   "congestion_control", "forward_pressure", "address_caching", "learning_rate", "errored_frames",
   "broadcast",
})

local address_table = keys.group("address_table", "of address_caching and learning_rate: the first port sends to addresses behind the second, the third sees what is flooded", {
   { "max", "integer", "most addresses that are tried", default = "65536", min = "2", max = "1000000" },
   { "initial", "integer", "addresses of the first trial",
     min = "1", max = "1000000", default_help = "half of max" },
   { "order", "list", "sequential: from 02:00:00:10:00:00 on; random: 02 and 40 random bits. Their difference shows how the table hashes",
     unique = true, least = 1, of = { type = "enum", values = { "sequential", "random" } },
     default = { "sequential", "random" } },
   shared.seed("1", "of the random addresses"),
   { "learning_rate", "frame_rate", "at which address_caching sends the frames to learn from",
     default = "1000fps", min = "1fps" },
   { "test_rate", "frame_rate", "at which frames are sent to the addresses",
     default = "1000fps", min = "1fps" },
   { "ageing", "time", "the switch's: before each trial nothing is sent for this time and a tenth more, so that it forgets",
     default = "300s", min = "10ms", max = "1h" },
   { "addresses", "integer", "of learning_rate: how many are to be learned",
     min = "1", max = "1000000", default_help = "what address_caching found" },
   { "resolution", "ratio", "learning_rate ends when it knows the rate this well",
     default = "1%", min = "0.01%", max = "50%" },
})

local function sizes(key, least, most, default, help, default_help)
   return { key, "list", help,
      of = { type = "size", min = least, max = most }, unique = true, least = 1, default = default,
      default_help = default_help }
end

local errored_frames = keys.group("errored_frames", "of the test errored_frames: from the first port to the second, wrong frames among good ones", {
   { "kinds", "list", "too long, too short, with a wrong FCS, with further bits behind the FCS, and the same with a wrong FCS; the last two take a PHY of the tester's own, and are reported as not tested",
     unique = true, least = 1,
     of = { type = "enum", values = { "oversize", "undersize", "crc", "dribble", "alignment" } },
     default = { "oversize", "undersize", "crc", "dribble", "alignment" } },
   { "iloads", "list", "loads of the line",
     of = { type = "ratio", min = "0.1%", max = "100%" }, unique = true, least = 1,
     default = { "10%", "50%", "100%" } },
   { "every", "integer", "one frame in this number is wrong; all others have to arrive",
     default = "10", min = "2", max = "1000000" },
   { "max_frame", "size", "bytes of the longest frame that the switch is to forward",
     default = "1518", min = "64", max = "16000" },
   sizes("oversize", "65", "16128", nil, "bytes of frames that are too long", "max_frame + 1, max_frame + 4, and 2000 where that is longer"),
   sizes("undersize", "36", "63", { "40", "60", "63" }, "bytes of frames that are too short"),
   sizes("crc", "64", "16128", { "64", "512", "1518" }, "bytes of frames with a wrong FCS"),
})

local multiple_devices = keys.group("multiple_devices", "of the test multiple_devices: several switches that are connected, seen as two", {
   { "local", "boolean", "whether a port sends to ports of its own device, too", default = "true" },
   { "second", "list", "names of the ports of the second device",
     of = { type = "string" }, unique = true, least = 1, default_help = "the second half" },
})

local congestion_control = keys.group("congestion_control", "of the test congestion_control, in blocks of four ports: the first sends to the third and the fourth in turn, the second to the fourth", {
   { "longest", "time", "while a buffer takes everything that is too much, the trial is repeated four times as long, up to this",
     default = "300s", min = "1ms", max = "300s" },
   { "uneven", "boolean", "a further trial, not in the RFC: the first port sends twice as many frames to the fourth port as to the third. It shows head of line blocking that fair arbitration hides",
     default = "false" },
})

local row = keys.group("rfc2889", "benchmarking of LAN switches by RFC 2889, between all ports of the plan", {
   { "tests", "list", "which of its tests to run. fully_meshed: every port to all others (5.1); one_to_many, many_to_one, one_many_both: the first port to all others, they to it, and both at once (5.2); multiple_devices: as fully_meshed, through devices that are connected, or from one to the other only (5.3); unidirectional: from the first half of the ports to the second (5.4); congestion_control: what it does when an egress is overloaded, with four ports or a multiple (5.5); forward_pressure: whether it sends with too small a gap when it is offered too much (5.6); address_caching: how many addresses the switch remembers (5.7); learning_rate: how fast it learns them (5.8); errored_frames: whether it forwards them (5.9); broadcast: from the first port, copied to all others (5.10)",
     unique = true, least = 1, default = { "fully_meshed" }, of = { type = "enum", values = TESTS } },
   shared.frame_sizes(),
   { "trial", "time", "length of the trials that decide, and of those for the forwarding rate; RFC 2889 recommends 30s",
     default = "30s", min = "1ms", max = "300s" },
   { "search_trial", "time", "length of the trials on the way to the throughput, at most the length of trial",
     default = "1s", min = "1ms", max = "300s" },
   { "max", "ratio", "the highest load of a port, as a share of the slowest line: the maximum offered load",
     default = "100%", min = "0.1%", max = "100%" },
   { "resolution", "ratio", "the search for the throughput ends when it knows the load this well; a share of the line",
     default = "0.1%", min = "0.0001%", max = "50%" },
   { "step", "ratio", "from one load to the next on the way from the throughput to the maximum offered load; the maximum forwarding rate is sought among them. A share of the line",
     default = "1%", min = "0.01%", max = "100%" },
   { "addresses", "integer", "stations behind each port, between which frames of the patterns go, by a draw that is the same in each trial. Each port announces its own before a trial",
     default = "1", min = "1", max = "65536" },
   { "announcement_rate", "frame_rate", "of addresses: broadcasts of a port, from one station after the other",
     default = "1000fps", min = "1fps" },
   { "stagger", "integer", "seed of the random delay with which each port begins, in frames, below the number of other ports; 0: all ports begin at one instant and send in step, so that in a full mesh no two frames meet",
     default = "0", min = "0", max = "4294967295" },
   { "latency_frames", "integer", "single broadcasts, 100 ms apart, whose latency is measured at each port",
     default = "20", min = "1", max = "10000" },
   shared.max_trials("1000", "a search gives up after this many", "100000"),
   shared.learning_wait "2s", shared.drain "2s", shared.settle "5s", shared.retries, address_table,
   congestion_control, errored_frames, multiple_devices,
})

local function there_are_ports_enough(values, found)
   local half = tables.contains(values.rfc2889.tests, "unidirectional")
   if half and #values.ports % 2 == 1 then
      found:add("rfc2889.tests", ("unidirectional with %d ports: one is left over"):format(#values.ports),
         "an even number of ports")
   end
end

-- All of a trial has to happen before the first address is forgotten.
local function nothing_ages_meanwhile(values, found)
   local t, tests = values.rfc2889.address_table, values.rfc2889.tests
   local caching = tables.contains(tests, "address_caching")
   if not caching and not tables.contains(tests, "learning_rate") then
      return
   elseif #values.ports < 3 and not found:has_below "ports" then
      found:add("rfc2889.tests", ("addresses with %d ports: nobody sees what is flooded"):format(
         #values.ports), "at least 3 ports")
   elseif not caching and not t.addresses then
      found:add("rfc2889.address_table.addresses", "missing: no test before learning_rate finds how many",
         "a number, or address_caching among the tests")
   end
   local n = caching and t.max or t.addresses or 0
   local seconds = n / t.test_rate + (caching and n / t.learning_rate or 0) + 0.3
   if seconds >= t.ageing then
      found:add("rfc2889.address_table." .. (caching and "max" or "addresses"),
         ("%d addresses take %.1f s to learn and to test, and are forgotten after %.1f s"):format(n, seconds,
            t.ageing), "fewer, higher rates, or a longer ageing of the switch")
   elseif t.initial and t.initial >= t.max then
      found:add("rfc2889.address_table.initial", "not below max", "at most " .. t.max - 1)
   elseif t.addresses and caching then
      found:add("rfc2889.address_table.addresses", "address_caching finds how many", "one of them")
   end
end

local function ports_are_in_fours(values, found)
   if tables.contains(values.rfc2889.tests, "congestion_control") and #values.ports % 4 > 0 then
      found:add("rfc2889.tests", ("congestion_control with %d ports"):format(#values.ports),
         "blocks of exactly four ports")
   end
end

local function too_long_frames_are(values, found)
   local o = values.rfc2889.errored_frames
   for i, size in ipairs(o.oversize or {}) do
      if size <= o.max_frame then
         found:add(found:item("rfc2889.errored_frames.oversize", i),
            ("%d bytes, and the switch is to forward up to %d"):format(size, o.max_frame), "more than that")
      end
   end
end

local function devices_have_ports(values, found)
   shared_rules.are_some_ports(values, found, "rfc2889.multiple_devices.second",
      values.rfc2889.multiple_devices.second)
end

return {
   name = "rfc2889", row = row, remembers = true,
   fleet = shared_rules.not_of_agents("rfc2889", {
      errored_frames = "they are not told to send errors on purpose",
   }),
   rules = {
      there_are_ports_enough, nothing_ages_meanwhile, shared_rules.frames_have_room("rfc2889", "frame_sizes"),
      too_long_frames_are, ports_are_in_fours, devices_have_ports,
      shared_rules.no_gateways "a switch is no router",
   },
   topology = "full-mesh",
   frame_sizes = function(plan)
      local o, list = plan.rfc2889, { 64 }
      if tables.contains(o.tests, "errored_frames") then
         list = tables.joined(list, { o.errored_frames.max_frame }, o.errored_frames.crc,
            o.errored_frames.oversize)
      end
      return tables.joined(o.frame_sizes, list)
   end,
   shape = function(group)
      group.search_trial = math.min(group.search_trial, group.trial)
      local o = group.errored_frames
      o.oversize = o.oversize or { o.max_frame + 1, o.max_frame + 4, o.max_frame < 1996 and 2000 or nil }
      group.address_table.initial = group.address_table.initial or math.floor(group.address_table.max / 2)
   end,
   quick = {
      "rfc2889.trial=1s", "rfc2889.search_trial=100ms", "rfc2889.step=10%", "rfc2889.learning_wait=10ms",
      "rfc2889.drain=50ms", "rfc2889.settle=0s",
   },
}
