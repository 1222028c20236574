-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544 in a plan: its keys, and what it needs of the tester; what must hold between the keys is in
-- rules.lua. In the notation of plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local shared = require "framegauge.plan.shared_rows"
local mixes = require "framegauge.core.mixes"
local presets = require "framegauge.search.mlr.presets"
local tables = require "framegauge.core.tables"

-- What is left out comes from the preset of that name (framegauge.search.mlr.presets).
local goal_row = keys.group(nil, "one goal of the search. Keys that are left out have the values of the preset with this name, or else of rfc2544", {
   { "name", "string", "`rfc2544`: no loss in one trial; `tst009`: no loss in one of two; `ndr`: no loss, `pdr`: at most 0.5% loss, in half of 21 search trials, width 0.5%; or another name",
     longest = 16, match = "^%w[%w_.-]*$", required = true, expected = "letters, digits, '_', '.' and '-'" },
   { "loss_ratio", "ratio", "a trial that loses more is bad",
     max = "99%", default_help = "loss_tolerance; ndr: 0%, pdr: 0.5%" },
   { "exceed_ratio", "ratio", "share of duration_sum that bad trials may take",
     max = "99%", default_help = "0%; tst009, ndr, pdr: 50%" },
   { "duration_sum", "time", "for how long a load must be tried in all",
     min = "1ms", max = "24h", default_help = "1 final_trial; tst009: 2; ndr, pdr: 21" },
   { "final_trial", "time", "length of the trials that decide",
     min = "1ms", max = "24h", default_help = "trial; ndr, pdr: search_trial" },
   { "initial_trial", "time", "length of the first trials, at most final_trial",
     min = "1ms", max = "24h", default_help = "search_trial" },
   { "width", "ratio", "how far the bounds may be apart, as a share of the upper one",
     min = "0.0001%", max = "50%", default_help = "resolution; ndr, pdr: 0.5%" },
}, { short = "name", expected = "the name of a goal, or its keys" })

local learned_row = keys.group(nil, "a frame size and its load", {
   { "frame_size", "frame_size", "bytes with FCS, or a mix", required = true },
   { "load", "frame_rate", "approximate capacity of the device for it", min = "0.001fps", required = true },
})

local throughput_row = keys.group("throughput", "the highest load that loses no frame (RFC 2544, 26.1)", {
   { "search", { "binary", "tst009", "mlr" }, "how the load is searched: binary search, the same with loss verification, or MLRsearch (RFC 9971); see docs/explanation/searches.md",
     default = "binary" },
   { "min", "rate", "no load below this is tried", default = "0%", max = "100%" },
   { "max", "rate", "no load above this, or above the line at a frame size, is tried",
     default = "100%", max = "100%" },
   { "initial", "rate", "the first load", max = "100%", default_help = "max" },
   { "learned", "list", "approximate capacity of the device, if known. The search starts there and makes only the deciding trials; where these contradict it, the search continues. Set by run --learned",
     of = learned_row, least = 1, default_help = "nothing" },
   { "resolution", "load_step", "the search ends when it knows the load this well",
     default = "0.1%", min = "0.0001%", max = "50%" },
   shared.trial("60s", "length of the trials that decide; RFC 2544 asks for at least 60s", "24h"),
   shared.search_trial("1s", "length of the trials on the way there, at most trial", "24h"),
   { "loss_tolerance", "ratio", "loss up to this share still passes; RFC 2544 asks for 0",
     default = "0%", max = "99%" },
   { "backoff", "load_step", "how far to go down when a load found by short trials fails the long one",
     default = "1%", min = "0.0001%", max = "50%" },
   shared.max_trials("1000", "the search gives up after this many", "100000"),
   { "loss_verify_trials", "integer", "tst009: most trials at one load, max(r); it passes when one of them does",
     default = "2", min = "1", max = "100" },
   { "loss_verify_max", "integer", "tst009: frames lost in one trial beyond which the load is not tried again, z",
     min = "0", default_help = "no limit" },
   { "goals", "list", "mlr: what to search for, all in one search: a list of names or of groups of keys",
     of = goal_row, least = 1, most = 16, default_help = "rfc2544" },
   { "preceding_targets", "integer", "mlr: rounds of shorter trials before the trials of a goal, where it has time for them",
     default = "2", min = "0", max = "10" },
   { "time_limit", "time", "mlr: the search of one frame size gives up after this time of sending",
     min = "1s", max = "240h", default_help = "none" },
})

local function rate(help)
   return { "rate", "rate", help, max = "100%", default_help = "the throughput" }
end

local latency = keys.group("latency", "how long frames take at the throughput (RFC 2544, 26.2)", {
   rate "the load",
   { "definition", { "lifo", "fifo" }, "lifo: from the last bit in to the first bit out (RFC 1242, store and forward); fifo: from first bit to first bit",
     default_help = "by the device's kind: fifo for all frame sizes of a run where frames of one of them leave before they are in, as of a device that cuts through; fifo of a mix, and where no card or virtual wire tells the rate of the line; else lifo" },
   shared.trial("120s", "length of each stream", "24h"),
   { "tag_after", "time", "when the tagged frame is sent; RFC 2544 asks for 60s",
     default = "60s", max = "24h" },
   { "tags", "integer", "tagged frames of each stream, spread over the rest of it; RFC 8219 asks for 500",
     default = "1", min = "1", max = "10000" },
   shared.repetitions("20", "streams; RFC 2544 asks for 20", "1000"),
})

local frame_loss = keys.group("frame_loss", "how many frames are lost at each load (RFC 2544, 26.3)", {
   { "max", "rate", "the first load, at most the line at each frame size, and what the steps are parts of",
     default = "100%", max = "100%" },
   { "step", "ratio", "how much less the next load is; two loads in a row without loss end the test",
     default = "10%", min = "0.1%", max = "10%" },
   shared.trial("60s", "length of the trials", "24h"),
})

local back_to_back = keys.group("back_to_back", "the longest burst at the rate of the line that loses no frame (RFC 2544, 26.4; RFC 9004)", {
   rate "the throughput, by which the buffer time is corrected",
   { "search", { "binary", "tst009" }, "how the length is sought; tst009 as it is set for the throughput",
     default = "binary" },
   { "limit", "time", "the longest burst that is tried", default = "2s", min = "1ms", max = "30s" },
   { "step", "integer", "the search ends when it knows the length this well, in frames",
     default = "1", min = "1", max = "1000000" },
   shared.repetitions("50", "searches, each by itself; RFC 2544 asks for 50", "1000"),
})

local system_recovery = keys.group("system_recovery", "how long the device takes to recover from an overload (RFC 2544, 26.5)", {
   rate "the throughput; the overload is 110% of it, or what the line carries",
   { "overload", "time", "how long the overload lasts", default = "60s", min = "1ms", max = "24h" },
   { "watch", "time", "how long the device is watched after that, at half the load",
     default = "60s", min = "1ms", max = "24h" },
   shared.repetitions("3", "trials; the mean is taken", "1000"),
})

local reset = keys.group("reset", "how long the device is out of service after a reset (RFC 2544, 26.6; RFC 6201); not with a mix of sizes", {
   rate "the load",
   shared.command("command", "resets the device: a program and its arguments", "none: the person at the terminal is asked; the reference device does it by itself"),
   { "after", "time", "when, from the start of the load", default = "15s", min = "0s", max = "1h" },
   { "watch", "time", "how long the device is watched after that; it must be back by then",
     default = "60s", min = "1ms", max = "24h" },
   { "outage", "time", "how long the reference device stays out of service",
     default = "1s", min = "1us", max = "1h" },
   shared.repetitions("1", "resets; the mean is taken", "100"),
})

local bursty_traffic = keys.group("bursty_traffic", "how near bursts at the rate of the line may follow each other without loss (RFC 2544, 21)", {
   { "burst_frames", "list", "frames of a burst; each length is a search of its own",
     of = { type = "integer", min = "1", max = "1000000" }, unique = true, least = 1,
     default = { "16", "64", "256", "1024" } },
   { "search", { "binary", "tst009" }, "how the interval is sought; tst009 as it is set for the throughput",
     default = "binary" },
   { "limit", "time", "the longest pause between two bursts that is tried",
     default = "1s", min = "1us", max = "1min" },
   { "resolution", "ratio", "the search ends when it knows the interval this well, or to the time of one frame",
     default = "0.1%", min = "0.0001%", max = "50%" },
   { "trial", "time", "length of the trials that decide; RFC 2544 asks for at least 60s. No trial has less than two bursts",
     default = "60s", min = "1ms", max = "24h" },
   shared.search_trial("1s", "length of the trials on the way there, at most trial", "24h"),
})

local management = keys.group("management", "what the modifier management-frames asks for (RFC 2544, 11.2), by SNMP version 1 at the gateways", {
   { "community", "string", "of the device's agent", longest = 32, default = "public" },
   { "interface", "integer", "ifIndex of the queried interface",
     min = "1", max = "2147483647", default = "1" },
})

local row = keys.group("rfc2544", "benchmarking by RFC 2544", {
   { "tests", "list", "which of its tests to run",
     unique = true, least = 1, default = { "throughput" },
     of = { type = "enum",
        values = { "throughput", "latency", "frame_loss", "back_to_back", "system_recovery", "reset",
           "bursty_traffic" } } },
   { "frame_sizes", "list", "bytes from the destination address to the FCS, or mixes of sizes by name (RFC 6985): imix, imix_576 and imix_594 are 7:4:1 of 64, of 570, 576 or 594, and of 1518 bytes; emix is one each of 64, 128, 256, 1024 and 1518",
     of = { type = "frame_size" }, unique = true, least = 1,
     default = { "64", "128", "256", "512", "1024", "1280", "1518" } },
   { "bidirectional", "boolean", "both ways at once, each at the same load; false: from inputs to outputs, the first port to the second",
     default = "true" },
   { "topology", { "pairs", "partial-mesh", "loopback" }, "pairs: the first port and the second, the third and the fourth, and so on; partial-mesh: the first half of the ports are inputs, and each sends to all others, the outputs, in turn (RFC 2544, 16); loopback: a reflector returns the frames of each port (docs/how-to/emulate-a-path.md): all figures are of the round trip",
     default = "pairs" },
   { "modifiers", "list", "each test is repeated with each of these, see docs/reference/results.md (RFC 2544, 11 and 12; RFC 4814). broadcast: every hundredth frame is a broadcast; management-frames: an SNMP query each second; routing-updates: a RIP update every 30 seconds; random-networks: to many networks behind the router; random-ports: any UDP ports; random-macs: 256 stations on each port of a bridge",
     unique = true, default = {}, default_help = "none",
     of = { type = "enum",
        values = { "broadcast", "management-frames", "routing-updates", "random-networks", "random-ports",
           "random-macs" } } },
   management, shared.marks,
   { "budget", "time", "how long all tests may take. The throughput is then searched by mlr. Trials, waits and repetitions that the plan does not set become shorter, the deciding trials of the throughput last; see docs/explanation/searches.md",
     min = "1s", max = "1000h", default_help = "none" },
   shared.learning_wait "2s", shared.drain "2s", shared.settle "5s", shared.retries, throughput_row, latency,
   frame_loss, back_to_back, system_recovery, reset, bursty_traffic,
})

-- Goals complete, and one where MLRsearch was given none; other searches have no goals.
local function shape_goals(throughput)
   if throughput.search ~= "mlr" then
      return nil
   end
   return tables.map(throughput.goals or { presets.DEFAULT }, function(goal)
      return presets.complete(goal, throughput)
   end)
end

return {
   name = "rfc2544", fleet = true, row = row, rules = require "framegauge.methods.rfc2544.plan.rules",
   topology_key = "rfc2544.topology",
   topology = function(values)
      return values.rfc2544.topology
   end,
   one_way = function(plan)
      return not plan.rfc2544.bidirectional
   end,
   frame_sizes = function(plan)
      return mixes.all(plan.rfc2544.frame_sizes)
   end,
   marks = function(plan)
      local o = plan.rfc2544
      return { outer_vlan = o.outer_vlan, pcp = o.pcp, dei = o.dei and 1 or 0, dscp = o.dscp }
   end,
   shape = function(group)
      local throughput = group.throughput
      throughput.search_trial = math.min(throughput.search_trial, throughput.trial)
      throughput.goals = shape_goals(throughput)
   end,
   quick = {
      "rfc2544.learning_wait=100ms", "rfc2544.drain=200ms", "rfc2544.settle=0s",
      "rfc2544.throughput.trial=1s", "rfc2544.throughput.search_trial=200ms",
      "rfc2544.latency.trial=400ms", "rfc2544.latency.tag_after=200ms", "rfc2544.latency.repetitions=2",
      "rfc2544.frame_loss.trial=200ms",
      "rfc2544.back_to_back.limit=100ms", "rfc2544.back_to_back.repetitions=2",
      "rfc2544.system_recovery.overload=500ms", "rfc2544.system_recovery.watch=500ms",
      "rfc2544.system_recovery.repetitions=1",
      "rfc2544.reset.after=500ms", "rfc2544.reset.watch=2s", "rfc2544.reset.outage=500ms",
      "rfc2544.bursty_traffic.trial=1s", "rfc2544.bursty_traffic.search_trial=100ms",
      "rfc2544.bursty_traffic.limit=100ms",
   },
}
