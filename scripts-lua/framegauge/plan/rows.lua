-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of a plan, one row each: what they take, what they are when left out, what they mean.
--
-- Everything else about a key follows from its row: reading, checking, `framegauge help plan` and
-- docs/plan.md. What concerns several keys at once is in plan/rules.lua.
local port = {
   type = "group",
   fields = {
      { key = "device", type = "device", required = true,
        help = "what to send and receive through" },
      { key = "ipv4", type = "ipv4_prefix",
        default_help = "198.18.1.2/24 for the first port, 198.19.1.2/24 for the second; none beside ipv6",
        help = "the tester's own address on this port, with the prefix length of its network" },
      { key = "gateway", type = "ipv4", default_help = "none: frames go straight to the other port",
        help = "the router to send through, in the network of ipv4; its MAC address is asked by ARP" },
      { key = "ipv6", type = "ipv6_prefix", default_help = "none",
        help = "as ipv4; the test runs over IPv6 when no port has an IPv4 address" },
      { key = "gateway6", type = "ipv6", default_help = "none",
        help = "as gateway, in the network of ipv6; asked by neighbour discovery" },
      { key = "mac", type = "mac", default_help = "the device's own",
        help = "the MAC address to send from" },
      { key = "line_rate", type = "bits", min = "1Mbps", max = "800Gbps", default_help = "what the link says",
        help = "for a device that does not tell the rate of its line" },
   },
}

local reference_device = {
   key = "reference_device", type = "group",
   help = "the device between wire0 and wire1: what it can do, each way",
   fields = {
      { key = "time", type = "enum", values = { "free", "real" }, default = "free",
        help = "free: as fast as the processor goes, and the same result every time; real: in step with the "
           .. "clock" },
      { key = "rate", type = "bits", default = "1Gbps", min = "1Mbps", max = "800Gbps",
        help = "rate of the lines on both sides" },
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
      { key = "loss_every", type = "integer", default = "0", min = "0", max = "4294967295",
        help = "loses every n-th frame; 0: none" },
      { key = "loss_random", type = "ratio", default = "0%", max = "100%",
        help = "loses this share of the frames at random" },
      { key = "seed", type = "integer", default = "1", min = "0", max = "4294967295",
        help = "of its random numbers" },
   },
}

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
      { key = "max_lag", type = "time", default = "1ms", min = "1us", max = "1s",
        help = "how late a frame may still be sent; those that are later are counted and not made up for" },
      { key = "eal", type = "list", of = { type = "string" }, default = {}, default_help = "none",
        help = "further arguments for DPDK's EAL" },
   },
}

local throughput = {
   key = "throughput", type = "group",
   help = "the highest load that loses no frame (RFC 2544, 26.1)",
   fields = {
      { key = "search", type = "enum", values = { "binary" }, default = "binary",
        help = "how the load is sought" },
      { key = "min", type = "rate", default = "0%", max = "100%",
        help = "no load below this is tried" },
      { key = "max", type = "rate", default = "100%", max = "100%",
        help = "no load above this is tried" },
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
      { key = "max_trials", type = "integer", default = "100", min = "2", max = "10000",
        help = "the search gives up after so many" },
   },
}

local rfc2544 = {
   key = "rfc2544", type = "group",
   help = "benchmarking by RFC 2544",
   fields = {
      { key = "tests", type = "list", of = { type = "enum", values = { "throughput" } }, unique = true,
        least = 1, default = { "throughput" },
        help = "which of its tests to run" },
      { key = "frame_sizes", type = "list", of = { type = "size", min = "64", max = "16128" }, unique = true,
        least = 1, default = { "64", "128", "256", "512", "1024", "1280", "1518" },
        help = "octets from the destination address to the FCS" },
      { key = "bidirectional", type = "boolean", default = "true",
        help = "both ways at once, each at the same load; false: from the first port to the second" },
      { key = "learning_wait", type = "time", default = "2s", max = "10min",
        help = "between the learning frames and the load" },
      { key = "drain", type = "time", default = "2s", max = "10min",
        help = "how long frames may still arrive after the load ends" },
      { key = "settle", type = "time", default = "5s", max = "10min",
        help = "rest for the device after a trial" },
      { key = "retries", type = "integer", default = "2", min = "0", max = "100",
        help = "how often an invalid trial is repeated" },
      throughput,
   },
}

local dut = {
   key = "dut", type = "group", optional = true,
   help = "the device under test, for the report",
   fields = {
      { key = "name", type = "string", longest = 200, default_help = "none", help = "what it is" },
      { key = "firmware", type = "string", longest = 200, default_help = "none", help = "what runs on it" },
      { key = "notes", type = "string", default_help = "none", help = "how it was configured, and the like" },
   },
}

return {
   type = "group",
   fields = {
      { key = "name", type = "string", longest = 64, match = "^%w[%w ._-]*$",
        default_help = "the file's name",
        expected = "letters, digits, spaces, '.', '_' and '-'", help = "title of the report" },
      { key = "description", type = "string", default_help = "none", help = "a few words for the report" },
      { key = "test", type = "enum", values = { "rfc2544" }, required = true, help = "the method to run" },
      { key = "isolated_network", type = "boolean", default = "false",
        help = "true says that no port reaches a network in use; without it nothing is sent on physical and "
           .. "kernel ports (RFC 6815)" },
      dut,
      { key = "ports", type = "map", of = port, name = "name", least = 2, most = 2, required = true,
        names = { longest = 31, match = "^%w[%w_-]*$", expected = "letters, digits, '_' and '-'" },
        expected = "two ports by name, such as east: {device: wire0}",
        help = "the tester's two ports, by names of your choice" },
      reference_device,
      host,
      rfc2544,
   },
}
