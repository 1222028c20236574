-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of a plan, one row each: their values, defaults and meaning.
--
-- Everything else about a key follows from its row: reading, checking, `framegauge help plan` and
-- docs/reference/plan.md. Rules between keys are in plan/rules.lua.
local keys = require "framegauge.plan.keys"
local captures = require "framegauge.plan.captures"
local hooks = require "framegauge.plan.hooks"
local firewall = require "framegauge.plan.firewall"
local lab = require "framegauge.plan.lab"
local nat = require "framegauge.plan.nat"
local paths = require "framegauge.plan.paths"
local profiles = require "framegauge.plan.profiles"
local registry = require "framegauge.plan.registry"
local streams = require "framegauge.plan.streams"
local switch = require "framegauge.plan.switch"
local tables = require "framegauge.core.tables"
local ways = require "framegauge.plan.ways"

local port = keys.group(nil, nil, {
   { "device", "device", "what to send and receive through", required = true },
   { "ipv4", "ipv4_prefix", "the tester's own address on this port, with the prefix length of its network",
     default_help = "198.18.1.2/24 for the first input, 198.19.1.2/24 for the first output, 198.18.2.2/24 for the next input, and so on; none with ipv6" },
   { "gateway", "ipv4", "the router to which the port sends, in the network of ipv4; its MAC address is resolved by ARP. A port without a gateway is bridged: its frames go straight to the other port",
     default_help = "none: frames go straight to the port they are for" },
   { "ipv6", "ipv6_prefix", "as ipv4; the test runs over IPv6 when no port has an IPv4 address",
     default_help = "none" },
   { "gateway6", "ipv6", "as gateway, in the network of ipv6; resolved by neighbour discovery",
     default_help = "none" },
   { "gateway_mac", "mac", "MAC address of the gateway, which is then not resolved: for a gateway that answers no ARP, such as a reflector that only swaps addresses",
     default_help = "asked" },
   { "mac", "mac", "the MAC address to send from", default_help = "the device's own" },
   { "vlan", "integer", "VLAN of the frames sent here; the tag is part of their size",
     min = "1", max = "4094", default_help = "none: frames go untagged" },
   { "line_rate", "bits", "for a device that does not report the rate of its line",
     min = "1Mbps", max = "800Gbps", default_help = "what the link says" },
   { "queues", "integer", "queues of the device to send to and to receive from, each with CPUs of its own: of PCI, memif and vdev devices; see docs/explanation/performance.md",
     min = "1", max = "16", default_help = "1" },
   { "rx_stamps", { "software", "card" }, "what stamps arrivals: software, which looks at the queue again and again, or the card, of PCI devices whose driver offers that",
     default_help = "software" },
})

-- What the reference device does to frames of one direction.
local one_way = keys.named {
   { "capacity", "frame_rate", "frames it can forward",
     min = "1fps", default_help = "no limit but the line" },
   { "bandwidth", "bits", "bits of frames with FCS it can forward",
     min = "1kbps", default_help = "no limit but the line" },
   { "buffer", "buffer", "what may wait inside, in frames or bytes; more is lost",
     default = "512", min = "1" },
   { "latency", "time", "time that every frame spends in it, without waiting", default = "20us", max = "10s" },
   { "latency_per_byte", "time", "further time for each byte of the frame", default = "0s", max = "1ms" },
   { "switching", { "store-and-forward", "cut-through" }, "whether it begins to send when it has the whole frame or its header",
     default = "store-and-forward" },
   paths.rows,
   { "recovery", "time", "for this time after an overload it loses every second frame; 0: none",
     default = "0s", max = "1h" },
   profiles.row,
}

local reference_device = keys.group("reference_device", "the device between wire0 and wire1, another one like it between wire2 and wire3, and so on: what it can do, each way", {
   { "time", { "free", "real" }, "free: as fast as the processor goes, and the same result every time; real: in step with the clock",
     default = "free" },
   { "rate", "bits", "rate of the lines on both sides", default = "1Gbps", min = "1Mbps", max = "800Gbps" },
   one_way,
   { "seed", "integer", "of its random numbers, which differ from trial to trial as its number does",
     default = "1", min = "0", max = "4294967295" },
   { "max_frame", "size", "bytes with FCS of the longest frame it forwards; longer ones are lost, as are runts and those with a wrong FCS",
     min = "64", max = "16128", default_help = "any" },
   { "reflect", "boolean", "a loopback: every frame goes back to the port it came from, with its source and destination swapped (MAC, IP, ports)",
     default = "false" },
   switch.mac_table("as a learning bridge (IEEE 802.1D): frames for an address that it has heard on the side they come from are not forwarded; the table outlives trials", true),
   firewall.row, nat.row,
   keys.group("reverse", "differences for frames from wire1 to wire0, from wire3 to wire2, and so on", ways.inherited(one_way), { optional = true }),
})

local host = keys.group("host", "resources of the machine; seldom needed", {
   { "huge_pages", { "auto", "never", "require" }, "auto: used where there are any, unless FRAMEGAUGE_HUGE_PAGES in the environment sets it",
     default = "auto" },
   { "memory", "size", "memory for frames",
     min = "64MiB", max = "1024GiB", default_help = "chosen from what is there" },
   { "lcores", "list", "CPUs: the first for control, the others for packets",
     of = { type = "integer", min = "0", max = "1023" }, unique = true, least = 2, most = 128,
     default_help = "all that the process may use" },
   { "realtime", "boolean", "true: packet lcores have real-time priority. Other threads then have these CPUs only for the time that the kernel reserves, usually 50 ms a second. Isolated CPUs are better still",
     default = "false" },
   { "max_lag", "time", "how late a frame may be sent; later frames are dropped and counted. Bursts and the load of a policer have bounds of their own, which are never above this one",
     default = "1ms", min = "1us", max = "1s" },
   { "eal", "list", "further arguments for DPDK's EAL",
     of = { type = "string" }, default = {}, default_help = "none", does = "gives DPDK the arguments" },
})

local clock = keys.group("clock", "where one-way delays between testers take their common time; 'framegauge doctor --clock' shows what a machine has", {
   { "source", { "auto", "phc", "chrony", "kernel", "control" }, "phc: a PTP hardware clock with ptp4l; chrony: CLOCK_REALTIME with chronyd's bound; kernel: with the kernel's bound (adjtimex); auto: the first of these that is synchronised; control: the control connection, too inexact for delays",
     default = "auto" },
   { "asymmetry", "time", "phc: half the difference between the delays of the two directions of the PTP path, at most",
     max = "1s", default_help = "the mean path delay" },
   { "device", "string", "phc: the PTP hardware clock that ptp4l steers",
     longest = 95, match = "^/dev/", expected = "a path such as /dev/ptp0", default_help = "the only one" },
})

local fleet = keys.group("fleet", "the agents whose ports the plan uses as agent:NAME/PORT", {
   { "bus", "string", "where framegauge-bridge listens on this machine: the way to agents that are not in fleet.agents",
     longest = 107, default_help = "none" },
   { "agents", "map", "where each agent listens: a loopback address and port (from another machine through ssh -L), or the path of a socket",
     name = "name", optional = false, names = keys.NAMES,
     expected = "agents by name, such as rack1: 127.0.0.1:5564",
     of = keys.group(nil, nil, {
        { "address", "string", "where it listens", longest = 107, required = true },
        { "site", "string", "a name that agents behind one uplink share, for fleet mesh",
          longest = 64, default_help = "none" },
     }, { short = "address" }) },
   { "wait", "time", "how long to wait for ports that others use", default = "0", max = "24h" },
   { "ttl", "time", "for how long a lease outlives a controller that is gone",
     default = "30s", min = "2s", max = "24h" },
})

local dut = keys.group("dut", "the device under test, for the report", {
   { "name", "string", "a description", longest = 200, default_help = "none" },
   { "firmware", "string", "what runs on it", longest = 200, default_help = "none" },
   { "serial", "string", "its serial number", longest = 200, default_help = "none" },
   { "filters", "string", "the filters configured on it, as its command lines (RFC 2544, 11.4)",
     default_help = "none" },
   { "notes", "string", "how it was configured, and the like", default_help = "none" },
}, { optional = true })

local services = tables.map(registry.ALL, function(method) return method.service and method.name or nil end)

return keys.group(nil, nil, {
   { "name", "string", "title of the report",
     longest = 64, match = "^%w[%w ._-]*$", default_help = "the file's name",
     expected = "letters, digits, spaces, '.', '_' and '-'" },
   { "description", "string", "a few words for the report", default_help = "none" },
   { "test", tables.field(registry.ALL, "name"),
     ("the method to run; %s and %s are services with commands of their own"):format(
        table.concat(services, ", ", 1, #services - 1), services[#services]),
     required = true },
   { "isolated_network", "boolean", "true: no port reaches a network in use; without it nothing is sent on physical and kernel ports (RFC 6815)",
     default = "false" },
   dut, lab.row,
   { "ports", "map", "the tester's ports, by names of your choice: two, or another even number; a reflector and a loopback may have one",
     of = port, name = "name", least = 1, most = 64, required = true, names = keys.NAMES,
     expected = "two ports by name, such as east: {device: wire0}" },
   reference_device, switch.row,
   { "calibration", "string", "file of a calibration, as calibrate --out wrote it",
     does = "reads the file", default_help = "the one that calibrate made on this machine with these ports" },
   host, clock, fleet,
   { "criteria", "list", "what the device must reach, as with --expect: FIGURE>=VALUE or FIGURE<=VALUE, and after an @ the test, frame size, direction, stream or service. Exit status 1 where the device fell short, 3 where a criterion is not decided",
     unique = true, most = 256, default = {}, default_help = "none", of = { type = "string", longest = 256 },
     expected = "criteria such as [throughput>=95%@512, latency_max<=50us]" },
   captures.row, hooks.row, streams.row, tables.field(registry.ALL, "row"),
}, { one_way = one_way })
