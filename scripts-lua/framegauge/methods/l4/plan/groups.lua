-- SPDX-License-Identifier: BSD-3-Clause

--- Groups of keys of the group `l4` of a plan that no single test owns: campaigns, the peer, and the load.
local keys = require "framegauge.plan.keys"

local M = {}

local function powers_of_two(from, to)
   local list, value = {}, from
   while value <= to do
      list[#list + 1], value = tostring(value), value * 2
   end
   return list
end

M.sweep = keys.group("sweep", "what the cases of a campaign differ in", {
   { "mtu", "list", "of mtu-sweep; over IPv6 those from 1280 on",
     unique = true, least = 1, of = { type = "integer", min = "256", max = "9216" },
     default = { "256", "300", "350", "500", "700", "850", "1000", "1250", "1280", "1500", "2000", "3000",
        "4000", "5000", "6000", "7000", "8000", "9000" } },
   { "clients", "list", "of clients: how many connections at a time",
     unique = true, least = 1, of = { type = "integer", min = "1", max = "1000000" },
     default = powers_of_two(1, 2048) },
   { "buffer", "list", "of buffer-sweep, TCP: send and receive buffer",
     unique = true, least = 1, of = { type = "size", min = "1KiB", max = "1GiB" },
     default = { "16KiB", "20KiB", "24KiB", "28KiB", "32KiB", "36KiB", "40KiB", "44KiB", "48KiB", "52KiB",
        "56KiB", "60KiB", "64KiB" } },
   { "message", "list", "of buffer-sweep: bytes of each write; of UDP those that fit into a datagram",
     unique = true, least = 1, of = { type = "size", min = "16", max = "1GiB" },
     default = { "64", "576", "1500", "65536" } },
   { "rate", "list", "of policer: bits of frames with FCS offered each second",
     unique = true, least = 1, of = { type = "bits", min = "1kbps" },
     default = { "10Mbps", "50Mbps", "90Mbps", "100Mbps", "110Mbps", "150Mbps", "200Mbps" } },
   { "limit", "bits", "of policer: the rate that is expected to pass, in bits of frames with FCS a second",
     min = "1kbps", default_help = "not known" },
})

M.search = keys.group("search", "of the campaigns connection-rate, transaction-rate and concurrency: the highest load that passes by the rules of RFC 9411; duration is the length of the trials that decide", {
   { "max", "number", "the highest load that is tried: connections or transactions a second, or connections",
     min = "1", max = "1000000000", default_help = "what the line allows; of concurrency l4.connections" },
   { "resolution", "ratio", "the search ends when it knows the load this well",
     default = "1%", min = "0.01%", max = "50%" },
   { "search_trial", "time", "length of the trials on the way there",
     default = "1s", min = "10ms", max = "24h" },
   { "max_trials", "integer", "begin no further trial after this many",
     default = "100", min = "2", max = "1000" },
   { "failures", "ratio", "share of transactions that may fail, and of connections that may be reset",
     default = "0.001%", max = "10%" },
   { "deviation", "ratio", "how far the rate may deviate from its mean, in any tenth of a trial",
     default = "5%", max = "100%" },
   { "shortfall", "ratio", "by how much the load may be missed", default = "1%", max = "50%" },
   { "ramp", "number", "of concurrency: connections opened a second; RFC 9411 allows at most half of the most",
     default = "1000", min = "1", max = "10000000" },
})

M.balance = keys.group("balance", "of the campaign balance: every port but the first is the end of a path of the device's", {
   { "address", "string", "where all flows go: an address that the device has routes to by way of every such port",
     longest = 64, default_help = "the second port's" },
   { "flows", "integer", "of datagrams, which differ in their ports; together they send datagram_rate (default: 10kfps)",
     default = "64", min = "2", max = "200" },
})

M.peer = keys.group("peer", "an ordinary host that plays the server in place of the second port: it takes all that it is sent to l4.port and says nothing, as the service discard does. The figure is what it has acknowledged", {
   { "kind", { "discard", "iperf3", "web", "dns", "ftp" }, "iperf3: it runs `iperf3 -s`, usually at port 5201. The tests are TCP_STREAM, TCP_MAERTS and UDP_STREAM then, and what it has counted is in the result. web: any web server; the tests are HTTP, HTTP2, the same over TLS and HTTP3 then. dns: any server of DNS, usually at port 53, over TLS at port 853; the tests are DNS, DNS_TCP, DNS_TLS and DNS_HTTPS then. ftp: any server of FTP, usually at port 21; the test is FTP then",
     default = "discard" },
   { "direction", { "forward", "reverse", "both" }, "of iperf3, TCP_STREAM and UDP_STREAM: who sends, we, the host (its -R) or both at once (its --bidir)",
     default = "forward" },
   { "ipv4", "ipv4", "its address", default_help = "none" },
   { "ipv6", "ipv6", "its address", default_help = "none" },
}, { optional = true })

M.load = keys.group("load", "how the connections of TCP come and go: as in curl-loader and RFC 9411", {
   { "start", "integer", "clients at the start; only with per_second",
     default = "0", min = "0", max = "1000000" },
   { "per_second", "number", "further clients each second, up to l4.connections",
     min = "0.001", max = "10000000", default_help = "all connections at once" },
   { "rate", "number", "open loop: connections opened a second, at fixed times, however fast the device answers. Times are measured from these moments. l4.connections is then the maximum at a time",
     min = "0.001", max = "10000000", default_help = "a closed loop" },
   { "cycles", "integer", "connections that each client opens one after the other; 0: until the end",
     default = "0", min = "0", max = "1000000" },
   { "requests", "integer", "of TCP_RR: transactions on a connection, then it is closed; 0: until the end. For HTTP see http.requests",
     default = "0", min = "0", max = "1000000" },
   { "hold", "boolean", "a connection with all its requests answered stays open until the end",
     default = "false" },
   { "think", "time", "of TCP_RR and HTTP: pause between a response and the next request; of HTTP2 and HTTP3 between all responses of a connection and its next requests",
     default = "0s", max = "1h" },
   { "think_max", "time", "longer than think: each pause is drawn evenly between the two",
     default = "0s", max = "1h" },
   { "addresses", "integer", "addresses of clients, from the first port's on; they are taken in turn",
     default = "1", min = "1", max = "65536" },
})

return M
