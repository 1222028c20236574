-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of a plan, one row each: what they take, what they are when left out, what they mean.
--
-- Everything else about a key follows from its row: reading, checking, `framegauge help plan` and
-- docs/plan.md. What concerns several keys at once is in plan/rules.lua.
local captures = require "framegauge.plan.capture_rows"
local far = require "framegauge.plan.far_rows"
local iperf = require "framegauge.plan.iperf_rows"
local l4 = require "framegauge.plan.l4_rows"
local path = require "framegauge.plan.path_rows"
local phases = require "framegauge.plan.phase_rows"
local profiles = require "framegauge.plan.profile_rows"
local relay_rows = require "framegauge.plan.relay_rows"
local replay = require "framegauge.plan.replay_rows"
local rfc6349 = require "framegauge.plan.rfc6349_rows"
local streams = require "framegauge.plan.stream_rows"
local traffic = require "framegauge.plan.traffic_rows"
local y1564 = require "framegauge.plan.y1564_rows"

local port = {
   type = "group",
   fields = {
      { key = "device", type = "device", required = true,
        help = "what to send and receive through" },
      { key = "ipv4", type = "ipv4_prefix",
        default_help = "198.18.1.2/24 for the first input, 198.19.1.2/24 for the first output, 198.18.2.2/24 "
           .. "for the next input, and so on; none beside ipv6",
        help = "the tester's own address on this port, with the prefix length of its network" },
      { key = "gateway", type = "ipv4", default_help = "none: frames go straight to the port they are for",
        help = "the router to send through, in the network of ipv4; its MAC address is asked by ARP. A port "
           .. "without one, beside another with, is bridged: its frames go straight to the other port" },
      { key = "ipv6", type = "ipv6_prefix", default_help = "none",
        help = "as ipv4; the test runs over IPv6 when no port has an IPv4 address" },
      { key = "gateway6", type = "ipv6", default_help = "none",
        help = "as gateway, in the network of ipv6; asked by neighbour discovery" },
      { key = "gateway_mac", type = "mac", default_help = "asked",
        help = "MAC address of the gateway, which is then not asked: for one that answers no ARP, such as a "
           .. "reflector that only swaps addresses" },
      { key = "mac", type = "mac", default_help = "the device's own",
        help = "the MAC address to send from" },
      { key = "vlan", type = "integer", min = "1", max = "4094", default_help = "none: frames go untagged",
        help = "VLAN of the frames sent here; the tag is part of their size" },
      { key = "line_rate", type = "bits", min = "1Mbps", max = "800Gbps", default_help = "what the link says",
        help = "for a device that does not tell the rate of its line" },
      { key = "queues", type = "integer", min = "1", max = "16", default_help = "1",
        help = "queues of the device to send to and to receive from, each with CPUs of its own: of PCI, "
           .. "memif and vdev devices; see docs/performance.md" },
      { key = "rx_stamps", type = "enum", values = { "software", "card" }, default_help = "software",
        help = "who tells when a frame arrived: software, which looks at the queue again and again, or the "
           .. "card, of PCI devices whose driver offers that" },
   },
}

-- What the reference device does to frames of one direction.
local one_way = {
   { key = "capacity", type = "frame_rate", min = "1fps", default_help = "no limit but the line",
     help = "frames it can forward" },
   { key = "bandwidth", type = "bits", min = "1kbps", default_help = "no limit but the line",
     help = "bits of frames with FCS it can forward" },
   { key = "buffer", type = "buffer", default = "512", min = "1",
     help = "what may wait inside, in frames or bytes; more is lost" },
   { key = "latency", type = "time", default = "20us", max = "10s",
     help = "time every frame spends in it besides waiting" },
   { key = "latency_per_byte", type = "time", default = "0s", max = "1ms",
     help = "further time for each byte of the frame" },
   { key = "switching", type = "enum", values = { "store-and-forward", "cut-through" },
     default = "store-and-forward",
     help = "whether it begins to send when it has the whole frame or its header" },
   { key = "recovery", type = "time", default = "0s", max = "1h",
     help = "after an overload it loses every second frame for so long; 0: none" },
   profiles,
}
for i, field in ipairs(path) do
   table.insert(one_way, 6 + i, field)
end

local reference_device = {
   key = "reference_device", type = "group",
   help = "the device between wire0 and wire1, another one like it between wire2 and wire3, and so on: what "
      .. "it can do, each way",
   fields = {
      { key = "time", type = "enum", values = { "free", "real" }, default = "free",
        help = "free: as fast as the processor goes, and the same result every time; real: in step with the "
           .. "clock" },
      { key = "rate", type = "bits", default = "1Gbps", min = "1Mbps", max = "800Gbps",
        help = "rate of the lines on both sides" },
      { key = "seed", type = "integer", default = "1", min = "0", max = "4294967295",
        help = "of its random numbers, which differ from trial to trial as its number does" },
      { key = "max_frame", type = "size", min = "64", max = "16128", default_help = "any",
        help = "octets with FCS of the longest frame it forwards; longer ones are lost, as are runts and "
           .. "those with a wrong FCS" },
      { key = "reflect", type = "boolean", default = "false",
        help = "a loopback: every frame goes back to the port it came from, with its source and destination "
           .. "swapped (MAC, IP, ports)" },
   },
}
for i, field in ipairs(one_way) do
   table.insert(reference_device.fields, 2 + i, field) -- before the seed
end
table.insert(reference_device.fields, {
   key = "mac_table", type = "group", optional = true,
   help = "as a learning bridge (IEEE 802.1D): frames for an address that it has heard on the side they come "
      .. "from are not forwarded; the table outlives trials",
   fields = {
      { key = "size", type = "integer", default = "8192", min = "1", max = "1000000",
        help = "addresses it holds" },
      { key = "ageing", type = "time", default = "300s", max = "1h",
        help = "an address is forgotten that was not heard for so long; 0: never" },
      { key = "learning_rate", type = "frame_rate", min = "1fps", default_help = "all that come",
        help = "new addresses that it can learn a second, written as a rate of frames; others are missed" },
      { key = "skip_every", type = "integer", default = "0", min = "0", max = "4294967295",
        help = "a fault: it does not learn every n-th new address; 0: none" },
   },
})
table.insert(reference_device.fields, {
   key = "reverse", type = "group", optional = true, fields = relay_rows.inherited(one_way),
   help = "what it does otherwise to frames from wire1 to wire0, from wire3 to wire2, and so on",
})

local host = {
   key = "host", type = "group",
   help = "what is taken from the machine; seldom needed",
   fields = {
      { key = "huge_pages", type = "enum", values = { "auto", "never", "require" }, default = "auto",
        help = "auto takes them where there are any and does without where not" },
      { key = "memory", type = "size", min = "64MiB", max = "1024GiB",
        default_help = "chosen from what is there",
        help = "memory for frames" },
      { key = "lcores", type = "list", of = { type = "integer", min = "0", max = "1023" }, unique = true,
        least = 2, most = 128, default_help = "all that the process may use",
        help = "CPUs: the first for control, the others for packets" },
      { key = "realtime", type = "boolean", default = "false",
        help = "true gives packet lcores real-time priority: other threads get their CPUs only for what the "
           .. "kernel keeps for them, as a rule 50 ms of a second; isolated CPUs are better still" },
      { key = "max_lag", type = "time", default = "1ms", min = "1us", max = "1s",
        help = "how late a frame may be and still be sent; later ones are dropped and counted. Bursts, and "
           .. "what a policer is to pass, have bounds of their own, which are never above this one" },
      { key = "eal", type = "list", of = { type = "string" }, default = {}, default_help = "none",
        help = "further arguments for DPDK's EAL" },
   },
}

-- What is left out comes from the preset of that name (framegauge.search.mlr.presets).
local goal = {
   type = "group", short = "name", expected = "the name of a goal, or its keys",
   help = "one thing to search for; what is left out is as the preset of its name has it, or else as rfc2544",
   fields = {
      { key = "name", type = "string", longest = 16, match = "^%w[%w_.-]*$", required = true,
        expected = "letters, digits, '_', '.' and '-'",
        help = "`rfc2544`: no loss in one trial; `tst009`: no loss in one of two; `ndr`: no loss, `pdr`: at "
           .. "most 0.5% loss, in half of 21 search trials, width 0.5%; or another name" },
      { key = "loss_ratio", type = "ratio", max = "99%", default_help = "loss_tolerance; ndr: 0%, pdr: 0.5%",
        help = "a trial that loses more is bad" },
      { key = "exceed_ratio", type = "ratio", max = "99%", default_help = "0%; tst009, ndr, pdr: 50%",
        help = "share of duration_sum that bad trials may take" },
      { key = "duration_sum", type = "time", min = "1ms", max = "24h",
        default_help = "1 final_trial; tst009: 2; ndr, pdr: 21",
        help = "for how long a load must be tried in all" },
      { key = "final_trial", type = "time", min = "1ms", max = "24h",
        default_help = "trial; ndr, pdr: search_trial",
        help = "length of the trials that decide" },
      { key = "initial_trial", type = "time", min = "1ms", max = "24h", default_help = "search_trial",
        help = "length of the first trials, at most final_trial" },
      { key = "width", type = "ratio", min = "0.0001%", max = "50%",
        default_help = "resolution; ndr, pdr: 0.5%",
        help = "how far the bounds may be apart, as a share of the upper one" },
   },
}

local throughput = {
   key = "throughput", type = "group",
   help = "the highest load that loses no frame (RFC 2544, 26.1)",
   fields = {
      { key = "search", type = "enum", values = { "binary", "tst009", "mlr" }, default = "binary",
        help = "how the load is sought: binary search, the same with loss verification, or MLRsearch (RFC "
           .. "9971); see docs/searches.md" },
      { key = "min", type = "rate", default = "0%", max = "100%",
        help = "no load below this is tried" },
      { key = "max", type = "rate", default = "100%", max = "100%",
        help = "no load above this, or above the line at a frame size, is tried" },
      { key = "initial", type = "rate", max = "100%", default_help = "max",
        help = "the first load" },
      { key = "resolution", type = "load_step", default = "0.1%", min = "0.0001%", max = "50%",
        help = "the search ends when it knows the load this well" },
      { key = "trial", type = "time", default = "60s", min = "1ms", max = "24h",
        help = "length of the trials that decide; RFC 2544 wants at least 60s" },
      { key = "search_trial", type = "time", default = "1s", min = "1ms", max = "24h",
        help = "length of the trials on the way there, at most that of trial" },
      { key = "loss_tolerance", type = "ratio", default = "0%", max = "99%",
        help = "loss up to this share still passes; RFC 2544 wants 0" },
      { key = "backoff", type = "load_step", default = "1%", min = "0.0001%", max = "50%",
        help = "how far to go down when a load found by short trials fails the long one" },
      { key = "max_trials", type = "integer", default = "1000", min = "2", max = "100000",
        help = "the search gives up after so many" },
      { key = "loss_verify_trials", type = "integer", default = "2", min = "1", max = "100",
        help = "tst009: most trials at one load, max(r); it passes when one of them does" },
      { key = "loss_verify_max", type = "integer", min = "0", default_help = "no limit",
        help = "tst009: frames lost in one trial beyond which the load is not tried again, z" },
      { key = "goals", type = "list", of = goal, least = 1, most = 16, default_help = "rfc2544",
        help = "mlr: what to search for, all in one search: a list of names or of groups of keys" },
      { key = "preceding_targets", type = "integer", default = "2", min = "0", max = "10",
        help = "mlr: rounds of shorter trials before those of a goal, where it has time for them" },
      { key = "time_limit", type = "time", min = "1s", max = "240h", default_help = "none",
        help = "mlr: the search of one frame size gives up after so much sending" },
   },
}

local function rate(help)
   return { key = "rate", type = "rate", max = "100%", default_help = "the throughput", help = help }
end

local latency = {
   key = "latency", type = "group",
   help = "how long frames take at the throughput (RFC 2544, 26.2)",
   fields = {
      rate "the load",
      { key = "definition", type = "enum", values = { "lifo", "fifo" },
        default_help = "lifo where the rate of the line is known, else fifo",
        help = "lifo: from the last bit in to the first bit out (RFC 1242, store and forward); fifo: from "
           .. "first bit to first bit" },
      { key = "trial", type = "time", default = "120s", min = "1ms", max = "24h",
        help = "length of each stream" },
      { key = "tag_after", type = "time", default = "60s", max = "24h",
        help = "when the tagged frame is sent; RFC 2544 wants 60s" },
      { key = "tags", type = "integer", default = "1", min = "1", max = "10000",
        help = "tagged frames of each stream, spread over the rest of it; RFC 8219 wants 500" },
      { key = "repetitions", type = "integer", default = "20", min = "1", max = "1000",
        help = "streams; RFC 2544 wants 20" },
   },
}

local frame_loss = {
   key = "frame_loss", type = "group",
   help = "how many frames are lost at each load (RFC 2544, 26.3)",
   fields = {
      { key = "max", type = "rate", default = "100%", max = "100%",
        help = "the first load, at most the line at each frame size, and what the steps are parts of" },
      { key = "step", type = "ratio", default = "10%", min = "0.1%", max = "10%",
        help = "how much less the next load is; two loads in a row without loss end the test" },
      { key = "trial", type = "time", default = "60s", min = "1ms", max = "24h",
        help = "length of the trials" },
   },
}

local back_to_back = {
   key = "back_to_back", type = "group",
   help = "the longest burst at the rate of the line that loses no frame (RFC 2544, 26.4; RFC 9004)",
   fields = {
      rate "the throughput, by which the buffer time is corrected",
      { key = "search", type = "enum", values = { "binary", "tst009" }, default = "binary",
        help = "how the length is sought; tst009 as it is set for the throughput" },
      { key = "limit", type = "time", default = "2s", min = "1ms", max = "30s",
        help = "the longest burst that is tried" },
      { key = "step", type = "integer", default = "1", min = "1", max = "1000000",
        help = "the search ends when it knows the length this well, in frames" },
      { key = "repetitions", type = "integer", default = "50", min = "1", max = "1000",
        help = "searches, each by itself; RFC 2544 wants 50" },
   },
}

local system_recovery = {
   key = "system_recovery", type = "group",
   help = "how long the device takes to recover from an overload (RFC 2544, 26.5)",
   fields = {
      rate "the throughput; the overload is 110% of it, or what the line carries",
      { key = "overload", type = "time", default = "60s", min = "1ms", max = "24h",
        help = "how long the overload lasts" },
      { key = "watch", type = "time", default = "60s", min = "1ms", max = "24h",
        help = "how long the device is watched after that, at half the load" },
      { key = "repetitions", type = "integer", default = "3", min = "1", max = "1000",
        help = "trials, of which the mean is taken" },
   },
}

local reset = {
   key = "reset", type = "group",
   help = "how long the device is out of order after a reset (RFC 2544, 26.6; RFC 6201)",
   fields = {
      rate "the load",
      { key = "command", type = "list", of = { type = "string", longest = 10000 }, least = 1,
        default_help = "none: the person at the terminal is asked; the reference device does it by itself",
        help = "resets the device: a program and its arguments" },
      { key = "after", type = "time", default = "15s", min = "0s", max = "1h",
        help = "when, from the start of the load" },
      { key = "watch", type = "time", default = "60s", min = "1ms", max = "24h",
        help = "how long the device is watched after that; it must be back by then" },
      { key = "outage", type = "time", default = "1s", min = "1us", max = "1h",
        help = "how long the reference device stays out of order" },
      { key = "repetitions", type = "integer", default = "1", min = "1", max = "100",
        help = "resets, of which the mean is taken" },
   },
}

local bursty_traffic = {
   key = "bursty_traffic", type = "group",
   help = "how near bursts at the rate of the line may follow each other without loss (RFC 2544, 21)",
   fields = {
      { key = "burst_frames", type = "list", of = { type = "integer", min = "1", max = "1000000" },
        unique = true, least = 1, default = { "16", "64", "256", "1024" },
        help = "frames of a burst; each length is a search of its own" },
      { key = "search", type = "enum", values = { "binary", "tst009" }, default = "binary",
        help = "how the interval is sought; tst009 as it is set for the throughput" },
      { key = "limit", type = "time", default = "1s", min = "1us", max = "1min",
        help = "the longest pause between two bursts that is tried" },
      { key = "resolution", type = "ratio", default = "0.1%", min = "0.0001%", max = "50%",
        help = "the search ends when it knows the interval this well, or to the time of one frame" },
      { key = "trial", type = "time", default = "60s", min = "1ms", max = "24h",
        help = "length of the trials that decide; RFC 2544 wants at least 60s. No trial has less than two "
           .. "bursts" },
      { key = "search_trial", type = "time", default = "1s", min = "1ms", max = "24h",
        help = "length of the trials on the way there, at most that of trial" },
   },
}

local management = {
   key = "management", type = "group",
   help = "what the modifier management-frames asks for (RFC 2544, 11.2), by SNMP version 1 at the gateways",
   fields = {
      { key = "community", type = "string", longest = 32, default = "public",
        help = "of the device's agent" },
      { key = "interface", type = "integer", min = "1", max = "2147483647", default = "1",
        help = "ifIndex of the interface it is asked about" },
   },
}

local rfc2544 = {
   key = "rfc2544", type = "group",
   help = "benchmarking by RFC 2544",
   fields = {
      { key = "tests", type = "list", unique = true, least = 1, default = { "throughput" },
        of = { type = "enum", values = {
           "throughput", "latency", "frame_loss", "back_to_back", "system_recovery", "reset",
           "bursty_traffic",
        } },
        help = "which of its tests to run" },
      { key = "frame_sizes", type = "list", of = { type = "size", min = "64", max = "16128" }, unique = true,
        least = 1, default = { "64", "128", "256", "512", "1024", "1280", "1518" },
        help = "octets from the destination address to the FCS" },
      { key = "bidirectional", type = "boolean", default = "true",
        help = "both ways at once, each at the same load; false: from inputs to outputs, the first port to "
           .. "the second" },
      { key = "topology", type = "enum", values = { "pairs", "partial-mesh", "loopback" }, default = "pairs",
        help = "pairs: the first port and the second, the third and the fourth, and so on; partial-mesh: the "
           .. "first half of the ports are inputs, and each sends to all others, the outputs, in turn (RFC "
           .. "2544, 16); loopback: every port has its own frames back from a reflector (docs/relay.md), so "
           .. "that all figures are of the way there and back" },
      { key = "modifiers", type = "list", unique = true, default = {}, default_help = "none",
        of = { type = "enum", values = {
           "broadcast", "management-frames", "routing-updates", "random-networks", "random-ports",
           "random-macs",
        } },
        help = "every test is made again with each of these, see docs/results.md (RFC 2544, 11 and 12; RFC "
           .. "4814). broadcast: every hundredth frame is one; management-frames: an SNMP query each second; "
           .. "routing-updates: a RIP update every 30 seconds; random-networks: to many networks behind the "
           .. "router; random-ports: any UDP ports; random-macs: 256 stations on each port of a bridge" },
      management,
      phases.learning_wait "2s", phases.drain "2s", phases.settle "5s", phases.retries,
      throughput, latency, frame_loss, back_to_back, system_recovery, reset, bursty_traffic,
   },
}

local dut = {
   key = "dut", type = "group", optional = true,
   help = "the device under test, for the report",
   fields = {
      { key = "name", type = "string", longest = 200, default_help = "none", help = "what it is" },
      { key = "firmware", type = "string", longest = 200, default_help = "none", help = "what runs on it" },
      { key = "filters", type = "string", default_help = "none",
        help = "the filters configured on it, as its command lines (RFC 2544, 11.4)" },
      { key = "notes", type = "string", default_help = "none", help = "how it was configured, and the like" },
   },
}

return {
   type = "group",
   one_way = one_way, -- the rows that reference_device and its reverse share
   fields = {
      { key = "name", type = "string", longest = 64, match = "^%w[%w ._-]*$",
        default_help = "the file's name",
        expected = "letters, digits, spaces, '.', '_' and '-'", help = "title of the report" },
      { key = "description", type = "string", default_help = "none", help = "a few words for the report" },
      { key = "test", type = "enum", required = true,
        values = { "rfc2544", "traffic", "y1564", "l4", "rfc6349", "replay", "relay", "reflect", "far",
           "iperf3" },
        help = "the method to run; relay, reflect, far and iperf3 are no tests, but have commands of their "
           .. "own" },
      { key = "isolated_network", type = "boolean", default = "false",
        help = "true says that no port reaches a network in use; without it nothing is sent on physical and "
           .. "kernel ports (RFC 6815)" },
      dut,
      { key = "ports", type = "map", of = port, name = "name", least = 1, most = 16, required = true,
        names = { longest = 31, match = "^%w[%w_-]*$", expected = "letters, digits, '_' and '-'" },
        expected = "two ports by name, such as east: {device: wire0}",
        help = "the tester's ports, by names of your choice: two, or another even number; a reflector "
           .. "and a loopback may have one" },
      reference_device,
      { key = "calibration", type = "string",
        default_help = "the one that calibrate made on this machine with these ports",
        help = "file of a calibration, as calibrate --out wrote it" },
      host,
      captures.row,
      streams,
      traffic,
      rfc2544,
      y1564,
      l4,
      rfc6349,
      replay.row,
      relay_rows.relay,
      relay_rows.reflect,
      far,
      iperf,
   },
}
