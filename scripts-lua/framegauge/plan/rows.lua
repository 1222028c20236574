-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of a plan, one row each: what they take, what they are when left out, what they mean.
--
-- Everything else about a key follows from its row: reading, checking, `framegauge help plan` and
-- docs/reference/plan.md. What concerns several keys at once is in plan/rules.lua.
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
local ways = require "framegauge.plan.ways"

local port = {
   type = "group",
   fields = {
      { key = "device", type = "device", required = true,
        help = "what to send and receive through" },
      { key = "ipv4", type = "ipv4_prefix",
        default_help = "198.18.1.2/24 for the first input, 198.19.1.2/24 for the first output, 198.18.2.2/24 for the next input, and so on; none with ipv6",
        help = "the tester's own address on this port, with the prefix length of its network" },
      { key = "gateway", type = "ipv4", default_help = "none: frames go straight to the port they are for",
        help = "the router to send through, in the network of ipv4; its MAC address is asked by ARP. A port without one, next to another with, is bridged: its frames go straight to the other port" },
      { key = "ipv6", type = "ipv6_prefix", default_help = "none",
        help = "as ipv4; the test runs over IPv6 when no port has an IPv4 address" },
      { key = "gateway6", type = "ipv6", default_help = "none",
        help = "as gateway, in the network of ipv6; asked by neighbour discovery" },
      { key = "gateway_mac", type = "mac", default_help = "asked",
        help = "MAC address of the gateway, which is then not asked: for one that answers no ARP, such as a reflector that only swaps addresses" },
      { key = "mac", type = "mac", default_help = "the device's own",
        help = "the MAC address to send from" },
      { key = "vlan", type = "integer", min = "1", max = "4094", default_help = "none: frames go untagged",
        help = "VLAN of the frames sent here; the tag is part of their size" },
      { key = "line_rate", type = "bits", min = "1Mbps", max = "800Gbps", default_help = "what the link says",
        help = "for a device that does not report the rate of its line" },
      { key = "queues", type = "integer", min = "1", max = "16", default_help = "1",
        help = "queues of the device to send to and to receive from, each with CPUs of its own: of PCI, memif and vdev devices; see docs/explanation/performance.md" },
      { key = "rx_stamps", type = "enum", values = { "software", "card" }, default_help = "software",
        help = "what stamps arrivals: software, which looks at the queue again and again, or the card, of PCI devices whose driver offers that" },
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
   profiles.row,
}
for i, field in ipairs(paths.rows) do
   table.insert(one_way, 6 + i, field)
end

local reference_device = {
   key = "reference_device", type = "group",
   help = "the device between wire0 and wire1, another one like it between wire2 and wire3, and so on: what it can do, each way",
   fields = {
      { key = "time", type = "enum", values = { "free", "real" }, default = "free",
        help = "free: as fast as the processor goes, and the same result every time; real: in step with the clock" },
      { key = "rate", type = "bits", default = "1Gbps", min = "1Mbps", max = "800Gbps",
        help = "rate of the lines on both sides" },
      { key = "seed", type = "integer", default = "1", min = "0", max = "4294967295",
        help = "of its random numbers, which differ from trial to trial as its number does" },
      { key = "max_frame", type = "size", min = "64", max = "16128", default_help = "any",
        help = "bytes with FCS of the longest frame it forwards; longer ones are lost, as are runts and those with a wrong FCS" },
      { key = "reflect", type = "boolean", default = "false",
        help = "a loopback: every frame goes back to the port it came from, with its source and destination swapped (MAC, IP, ports)" },
   },
}
for i, field in ipairs(one_way) do
   table.insert(reference_device.fields, 2 + i, field) -- before the seed
end
table.insert(reference_device.fields, switch.mac_table("as a learning bridge (IEEE 802.1D): frames for an address that it has heard on the side they come from are not forwarded; the table outlives trials"))
table.insert(reference_device.fields, firewall.row)
table.insert(reference_device.fields, nat.row)
table.insert(reference_device.fields, {
   key = "reverse", type = "group", optional = true, fields = ways.inherited(one_way),
   help = "what it does otherwise to frames from wire1 to wire0, from wire3 to wire2, and so on",
})

local host = {
   key = "host", type = "group",
   help = "what is taken from the machine; seldom needed",
   fields = {
      { key = "huge_pages", type = "enum", values = { "auto", "never", "require" }, default = "auto",
        help = "auto takes them where there are any and does without where not, or does what FRAMEGAUGE_HUGE_PAGES in the environment says" },
      { key = "memory", type = "size", min = "64MiB", max = "1024GiB",
        default_help = "chosen from what is there",
        help = "memory for frames" },
      { key = "lcores", type = "list", of = { type = "integer", min = "0", max = "1023" }, unique = true,
        least = 2, most = 128, default_help = "all that the process may use",
        help = "CPUs: the first for control, the others for packets" },
      { key = "realtime", type = "boolean", default = "false",
        help = "true gives packet lcores real-time priority: other threads get their CPUs only for what the kernel keeps for them, as a rule 50 ms of a second; isolated CPUs are better still" },
      { key = "max_lag", type = "time", default = "1ms", min = "1us", max = "1s",
        help = "how late a frame may be and still be sent; later ones are dropped and counted. Bursts, and what a policer is to pass, have bounds of their own, which are never above this one" },
      { key = "eal", type = "list", of = { type = "string" }, default = {}, default_help = "none",
        does = "gives DPDK the arguments",
        help = "further arguments for DPDK's EAL" },
   },
}

local clock = {
   key = "clock", type = "group",
   help = "where one-way delays between testers take their common time; 'framegauge doctor --clock' shows what a machine has",
   fields = {
      { key = "source", type = "enum", values = { "auto", "phc", "chrony", "kernel", "control" },
        default = "auto",
        help = "phc: a PTP hardware clock with ptp4l; chrony: CLOCK_REALTIME with chronyd's bound; kernel: with the kernel's bound (adjtimex); auto: the first of these that is synchronised; control: the control connection, which is too rough for delays" },
      { key = "asymmetry", type = "time", max = "1s", default_help = "the mean path delay",
        help = "phc: half the difference between the delays of the two directions of the PTP path, at most" },
      { key = "device", type = "string", longest = 95, match = "^/dev/",
        expected = "a path such as /dev/ptp0",
        default_help = "the only one", help = "phc: the PTP hardware clock that ptp4l steers" },
   },
}

local fleet = {
   key = "fleet", type = "group",
   help = "the agents whose ports the plan uses as agent:NAME/PORT",
   fields = {
      { key = "bus", type = "string", longest = 107, default_help = "none",
        help = "where framegauge-bridge listens on this machine: the way to agents that are not in fleet.agents" },
      { key = "agents", type = "map", name = "name", optional = false,
        names = { longest = 31, match = "^%w[%w_-]*$", expected = "letters, digits, '_' and '-'" },
        expected = "agents by name, such as rack1: 127.0.0.1:5564",
        help = "where each agent listens: a loopback address and port (from another machine through ssh -L), or the path of a socket",
        of = { type = "group", short = "address", fields = {
           { key = "address", type = "string", longest = 107, required = true, help = "where it listens" },
           { key = "site", type = "string", longest = 64, default_help = "none",
             help = "a name that agents behind one uplink share, for fleet mesh" },
        } } },
      { key = "wait", type = "time", default = "0", max = "24h",
        help = "how long to wait for ports that others use" },
      { key = "ttl", type = "time", default = "30s", min = "2s", max = "24h",
        help = "for how long a lease outlives a controller that is gone" },
   },
}

local dut = {
   key = "dut", type = "group", optional = true,
   help = "the device under test, for the report",
   fields = {
      { key = "name", type = "string", longest = 200, default_help = "none", help = "a description" },
      { key = "firmware", type = "string", longest = 200, default_help = "none", help = "what runs on it" },
      { key = "serial", type = "string", longest = 200, default_help = "none", help = "its serial number" },
      { key = "filters", type = "string", default_help = "none",
        help = "the filters configured on it, as its command lines (RFC 2544, 11.4)" },
      { key = "notes", type = "string", default_help = "none", help = "how it was configured, and the like" },
   },
}

local names, was, services = {}, {}, {} -- what `test:` may say, and what it was called in earlier versions
for i, method in ipairs(registry.ALL) do
   names[i], was[method.row.was or ""] = method.name, method.name
   services[#services + 1] = method.service and method.name or nil
end

local plan = {
   type = "group",
   one_way = one_way, -- the rows that reference_device and its reverse share
   fields = {
      { key = "name", type = "string", longest = 64, match = "^%w[%w ._-]*$",
        default_help = "the file's name",
        expected = "letters, digits, spaces, '.', '_' and '-'", help = "title of the report" },
      { key = "description", type = "string", default_help = "none", help = "a few words for the report" },
      { key = "test", type = "enum", required = true,
        values = names, was = was,
        help = ("the method to run; %s and %s are services with commands of their own"):format(
           table.concat(services, ", ", 1, #services - 1), services[#services]) },
      { key = "isolated_network", type = "boolean", default = "false",
        help = "true says that no port reaches a network in use; without it nothing is sent on physical and kernel ports (RFC 6815)" },
      dut,
      lab.row,
      { key = "ports", type = "map", of = port, name = "name", least = 1, most = 64, required = true,
        names = { longest = 31, match = "^%w[%w_-]*$", expected = "letters, digits, '_' and '-'" },
        expected = "two ports by name, such as east: {device: wire0}",
        help = "the tester's ports, by names of your choice: two, or another even number; a reflector and a loopback may have one" },
      reference_device,
      switch.row,
      { key = "calibration", type = "string", does = "reads the file",
        default_help = "the one that calibrate made on this machine with these ports",
        help = "file of a calibration, as calibrate --out wrote it" },
      host,
      clock,
      fleet,
      { key = "criteria", type = "list", unique = true, most = 256, default = {}, default_help = "none",
        of = { type = "string", longest = 256 },
        expected = "criteria such as [throughput>=95%@512, latency_max<=50us]",
        help = "what the device must reach, as with --expect: FIGURE>=VALUE or FIGURE<=VALUE, and behind an @ the test, frame size, direction, stream or service it is about. Exit status 1 where the device fell short, 3 where that is not decided" },
      captures.row,
      hooks.row,
      streams.row,
   },
}
for _, method in ipairs(registry.ALL) do
   table.insert(plan.fields, method.row)
end

return plan
