-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 6349 in a plan: its keys, what must hold between them, and what it needs of the tester. In the
-- notation of plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local shared = require "framegauge.plan.shared_rows"

-- TCP as everywhere, but for the buffers, which the method sets.
local function tcp()
   local fields = {}
   for _, row in ipairs(shared.tcp.fields) do
      local own = row.key == "receive_buffer" or row.key == "send_buffer" or row.key == "mss"
      fields[#fields + 1] = not own and row or nil
   end
   return keys.group("tcp", "how both ends' TCP behaves", fields)
end

local bandwidth = keys.group("bandwidth", "how the bottleneck bandwidth is sought", {
   { "resolution", "ratio", "the search ends when it knows the bandwidth this well",
     default = "0.1%", min = "0.001%", max = "10%" },
   { "loss_tolerance", "ratio", "share of the frames that may be lost", default = "0.1%", max = "10%" },
   shared.trial("10s", "length of the trials that decide", "24h"),
   shared.search_trial("1s", "length of the trials on the way there", "24h"),
   shared.max_trials("50", "begin no further trial after this many", "1000"),
})

local probe = keys.group("probe", "of the path MTU: packets with DF set that must come back", {
   { "timeout", "time", "how long one may take", default = "1s", min = "1ms", max = "1min" },
   { "tries", "integer", "how often a size is tried that does not come back",
     default = "3", min = "1", max = "20" },
})

local row = keys.group("rfc6349", "TCP throughput testing by RFC 6349, between the first port and the second", {
   { "mtu", "integer", "of the tester's own links: the largest path MTU that is tried",
     default = "1500", min = "576", max = "9216" },
   { "path_mtu", "integer", "where it is known", min = "576", max = "9216", default_help = "measured" },
   { "baseline", "time", "how long the baseline round trip is measured, with small segments",
     default = "2s", min = "10ms", max = "1h" },
   { "bottleneck", "bits", "the bottleneck bandwidth at layer 1, where it is known",
     min = "10kbps", max = "800Gbps", default_help = "measured" },
   { "windows", "list", "of all connections together, as shares of the bandwidth-delay product; the buffers of both ends",
     unique = true, least = 1, of = { type = "ratio", min = "0.1%", max = "1000%" },
     default = { "25%", "50%", "75%", "100%", "200%" } },
   { "connections", "integer", "at a time; each moves the same payload",
     default = "4", min = "1", max = "10000" },
   { "directions", "list", "forward: from the first port to the second; both: both ways at once",
     unique = true, least = 1, of = { type = "enum", values = { "forward", "backward", "both" } },
     default = { "forward", "backward", "both" } },
   { "duration", "time", "how long a transfer takes where the path carries all that the window allows; the payload of a transfer follows from it. RFC 6349 asks for at least 30s",
     default = "35s", min = "10ms", max = "24h" },
   { "patience", "number", "a transfer may take this many times as long in truth",
     default = "3", min = "1", max = "100" },
   { "port", "integer", "where the servers listen, and the next one",
     default = "5001", min = "1", max = "65534" },
   shared.seed("1", "of sequence numbers and the like"),
   shared.learning_wait "100ms", shared.drain "2s", shared.settle "1s", shared.retries, probe, bandwidth,
   tcp(),
})

local function path_is_within_link(values, found)
   local o = values.rfc6349
   if o.path_mtu and o.path_mtu > o.mtu then
      found:add("rfc6349.path_mtu", ("%d is more than the tester's own links carry (mtu: %d)"):format(o.path_mtu,
         o.mtu), "at most " .. o.mtu)
   end
end

local function two_ports(values, found)
   if #values.ports > 2 then
      found:add("ports", "a path has two ends", "two ports")
   end
end

local rules = { path_is_within_link, two_ports }

local SMALLEST_FRAME, MAC_AND_FCS, TAG = 64, 18, 4

return {
   name = "rfc6349", row = row, rules = rules, one_lcore_a_port = true, tcp = true,
   frame_sizes = function(plan)
      return { SMALLEST_FRAME, plan.rfc6349.mtu + MAC_AND_FCS + (plan.ports[1].vlan and TAG or 0) }
   end,
   quick = {
      "rfc6349.duration=1s", "rfc6349.baseline=200ms", "rfc6349.probe.timeout=200ms", "rfc6349.probe.tries=1",
      "rfc6349.bandwidth.trial=200ms", "rfc6349.bandwidth.search_trial=50ms", "rfc6349.learning_wait=10ms",
      "rfc6349.drain=500ms", "rfc6349.settle=0s",
   },
}
