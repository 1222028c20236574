-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of ITU-T Y.1564, service activation, in the notation of plan/rows.lua.
local phases = require "framegauge.plan.phase_rows"

local function acceptance(help, reverse)
   local function row(key, kind, default, max, text)
      return {
         key = key, type = kind, max = max, help = text, default = not reverse and default or nil,
         default_help = reverse and "as the other way" or nil,
      }
   end
   return {
      key = "acceptance", type = "group", optional = reverse, help = help,
      fields = {
         row("flr", "ratio", "200ppm", "99%", "frame loss ratio"),
         row("ftd", "time", "26ms", "1h", "frame transfer delay, the statistic of ftd_statistic"),
         row("fdv", "time", "11ms", "1h", "frame delay variation, the statistic of fdv_statistic"),
         row("avail", "ratio", "99.9%", "100%", "availability, of the performance test"),
      },
   }
end

-- What may differ from one way to the other.
local one_way = {
   { key = "cir", type = "bits", max = "800Gbps", required = true,
     help = "committed information rate, in the unit of rate_unit; 0: all of it is excess traffic" },
   { key = "cbs", type = "size", min = "64", max = "1GiB",
      default_help = "none, which only a CIR of 0 can have",
     help = "committed burst size; at least the largest frame" },
   { key = "eir", type = "bits", default = "0bps", max = "800Gbps", help = "excess information rate" },
   { key = "ebs", type = "size", default = "0", max = "1GiB",
     help = "excess burst size; at least the largest frame where there is an excess rate" },
}

local function reversed()
   local fields = {}
   for i, row in ipairs(one_way) do
      fields[i] = {
         key = row.key, type = row.type, min = row.min, max = row.max, help = row.help,
         default_help = "as the other way",
      }
   end
   fields[#fields + 1] = acceptance("what this way must reach", true)
   return fields
end

local service = {
   type = "group",
   fields = {
      { key = "from", type = "string", default_help = "the first port", help = "port that it starts from" },
      { key = "to", type = "string", default_help = "the second port", help = "port that it goes to" },
      { key = "directions", type = "enum", values = { "both", "forward", "backward" }, default = "both",
        help = "which ways to test; each is tested and judged by itself" },
      { key = "vlan", type = "integer", min = "1", max = "4094", default_help = "that of the port, or none",
        help = "VLAN of its frames; the tag is part of their size" },
      { key = "outer_vlan", type = "integer", min = "1", max = "4094", default_help = "none",
        help = "service VLAN (802.1ad) around that VLAN" },
      { key = "pcp", type = "integer", min = "0", max = "7", default = "0",
        help = "priority in the outermost tag" },
      { key = "dscp", type = "integer", min = "0", max = "63", default = "0",
        help = "DSCP of its IP header" },
      { key = "source", type = "ip", default_help = "that of the port", help = "IP address it comes from" },
      { key = "destination", type = "ip", default_help = "that of the other port",
        help = "IP address it goes to; the other way these two change places" },
      { key = "source_port", type = "integer", min = "1", max = "65535", default = "49184",
        help = "UDP port it comes from" },
      { key = "destination_port", type = "integer", min = "1", max = "65535", default = "7",
        help = "UDP port it goes to" },
      { key = "frame_size", type = "size", min = "64", max = "16128", default = "512",
        help = "octets from the destination address to the FCS" },
      { key = "emix", type = "string", longest = 64, match = "^[a-j]+$", default_help = "none",
        expected = "letters a to j, such as abceg",
        help = "frames of several sizes in turn, in place of frame_size: a letter for each (RFC 6985): a 64, "
           .. "b 128, c 256, d 512, e 1024, f 1280, g 1518, h 2112, i 9000, j 16000; bits are evenly "
              .. "spaced" },
      { key = "colour", type = "enum", values = { "blind", "aware" }, default = "blind",
        help = "whether the network is to heed the colours of its frames" },
      { key = "marking", type = "enum", values = { "none", "dscp", "pcp", "dei" }, default = "none",
        help = "how a frame says that it is yellow" },
      { key = "yellow", type = "integer", min = "0", max = "63", default_help = "none; with dei 1",
        help = "DSCP or PCP of its yellow frames; green ones have dscp or pcp" },
      { key = "preserve", type = "list", unique = true, default = {}, default_help = "none",
        of = { type = "enum", values = { "pcp", "dei", "dscp" } },
        help = "what of its marks must arrive as it was sent; what does not is counted in any case" },
      { key = "coupling", type = "boolean", default = "false",
        help = "the coupling flag of its profile: CIR that is not used becomes excess. The size of the "
           .. "excess bucket is inferred by it" },
      one_way[1], one_way[2], one_way[3], one_way[4],
      acceptance "what it must reach (service acceptance criteria)",
      { key = "reverse", type = "group", optional = true, fields = reversed(),
        help = "what is otherwise the other way" },
   },
}

local configuration = {
   key = "configuration", type = "group",
   help = "the service configuration test: every service by itself, the others silent, one way after the "
      .. "other",
   fields = {
      { key = "tests", type = "list", unique = true, least = 1,
        default = { "step-load", "eir", "policing", "cbs", "ebs" },
        of = { type = "enum", values = { "cir", "step-load", "eir", "policing", "cbs", "ebs" } },
        help = "which of its tests to make. cir: A.1; step-load: A.2, which ends with A.1; eir: B, "
           .. "policing: C, "
           .. "cbs: D, ebs: E, each in the form for the service's colour. eir and ebs need an excess rate; "
           .. "cbs one that is 0, since else what exceeds the committed burst passes as excess" },
      { key = "steps", type = "list", of = { type = "ratio", min = "1%", max = "100%" }, unique = true,
        least = 1, default = { "25%", "50%", "75%", "100%" },
        help = "loads of step-load, shares of CIR, upwards; the last is 100%" },
      { key = "trial", type = "time", default = "30s", min = "100ms", max = "24h",
        help = "length of a step" },
      { key = "stop_at_failure", type = "boolean", default = "false",
        help = "whether a service that fails a step is spared the rest" },
      { key = "margin_mode", type = "enum", values = { "buckets", "percent" }, default = "buckets",
        help = "what may pass beyond CIR + EIR in policing: what the buckets held at the start, 8 (CBS + "
           .. "EBS) / "
           .. "trial (M); or a share" },
      { key = "margin", type = "ratio", default = "1%", max = "50%", help = "that share" },
      { key = "burst_cycles", type = "integer", default = "10", min = "1", max = "10000",
        help = "bursts of each burst test" },
      { key = "over_burst", type = "boolean", default = "true",
        help = "whether to send twice the burst as well, which must not pass, and infer the bucket's size" },
   },
}

local performance = {
   key = "performance", type = "group",
   help = "the service performance test: all services at once, both ways, at CIR",
   fields = {
      { key = "duration", type = "time", default = "15min", min = "1s", max = "168h",
        help = "how long; usual are 15min, 120min and 24h" },
      { key = "outage", type = "time", default = "0s", max = "24h",
        help = "how long the reference device is out of order meanwhile; 0: not at all" },
      { key = "outage_at", type = "time", default = "60s", max = "168h", help = "when, from the start" },
   },
}

return {
   key = "y1564", type = "group",
   help = "service activation by ITU-T Y.1564; see docs/y1564.md",
   fields = {
      { key = "tests", type = "list", unique = true, least = 1, default = { "configuration", "performance" },
        of = { type = "enum", values = { "configuration", "performance" } },
        help = "which of its two tests" },
      { key = "operator", type = "string", longest = 200, default_help = "none",
        help = "who tests, for the report" },
      { key = "topology", type = "enum", values = { "two-ports", "loopback", "two-testers" },
        default = "two-ports",
        help = "two-ports: each way by itself, one-way delays; loopback: a port receives what it sends, from "
           .. "'framegauge reflect' at the far end: all figures are of the way there and back; two-testers: "
           .. "each way by itself, between a port here and one of 'framegauge far' elsewhere" },
      { key = "delays", type = "boolean", default = "true",
        help = "two-testers: whether delays are measured, for which both clocks must agree; without them "
           .. "rate, loss and availability remain" },
      { key = "clock_error", type = "ratio", default = "10%", min = "0.01%", max = "100%",
        help = "two-testers: how far the two clocks may be apart, as a share of the least acceptance.ftd" },
      { key = "rate_unit", type = "enum", values = { "ir", "ulr" }, default = "ir",
        help = "what cir and eir count: ir, bits of frames with FCS; ulr, those of the line, with "
           .. "preamble and gap" },
      { key = "ftd_statistic", type = "enum", values = { "mean", "max" }, default = "mean",
        help = "which delay is held against acceptance.ftd" },
      { key = "fdv_statistic", type = "enum", values = { "p999", "range" }, default = "p999",
        help = "which variation is held against acceptance.fdv: the 99.9th percentile less the minimum, "
           .. "or the maximum less the minimum" },
      configuration, performance,
      phases.learning_wait "2s", phases.drain "3s", phases.settle "1s", phases.retries,
      { key = "services", type = "map", of = service, name = "name", least = 1, most = 64,
        names = { longest = 31, match = "^%w[%w_-]*$", expected = "letters, digits, '_' and '-'" },
        expected = "services by name, such as voice: {cir: 2Mbps, cbs: 16KiB}",
        help = "the services, by names of your choice" },
   },
}
