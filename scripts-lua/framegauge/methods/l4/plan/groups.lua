-- SPDX-License-Identifier: BSD-3-Clause

--- Groups of keys of the group `l4` of a plan that no single test owns: campaigns, the peer, and the load.
local M = {}

local function powers_of_two(from, to)
   local list, value = {}, from
   while value <= to do
      list[#list + 1], value = tostring(value), value * 2
   end
   return list
end

M.sweep = {
   key = "sweep", type = "group",
   help = "what the cases of a campaign differ in",
   fields = {
      { key = "mtu", type = "list", unique = true, least = 1,
        of = { type = "integer", min = "256", max = "9216" },
        default = { "256", "300", "350", "500", "700", "850", "1000", "1250", "1280", "1500", "2000", "3000",
           "4000", "5000", "6000", "7000", "8000", "9000" },
        help = "of mtu-sweep; over IPv6 those from 1280 on" },
      { key = "clients", type = "list", unique = true, least = 1,
        of = { type = "integer", min = "1", max = "1000000" }, default = powers_of_two(1, 2048),
        help = "of clients: how many connections at a time" },
      { key = "buffer", type = "list", unique = true, least = 1,
        of = { type = "size", min = "1KiB", max = "1GiB" },
        default = { "16KiB", "20KiB", "24KiB", "28KiB", "32KiB", "36KiB", "40KiB", "44KiB", "48KiB", "52KiB",
           "56KiB", "60KiB", "64KiB" },
        help = "of buffer-sweep, TCP: send and receive buffer" },
      { key = "message", type = "list", unique = true, least = 1,
        of = { type = "size", min = "16", max = "1GiB" }, default = { "64", "576", "1500", "65536" },
        help = "of buffer-sweep: bytes of each write; of UDP those that fit into a datagram" },
      { key = "rate", type = "list", unique = true, least = 1, of = { type = "bits", min = "1kbps" },
        default = { "10Mbps", "50Mbps", "90Mbps", "100Mbps", "110Mbps", "150Mbps", "200Mbps" },
        help = "of policer: bits of frames with FCS offered each second" },
      { key = "limit", type = "bits", min = "1kbps", default_help = "not known",
        help = "of policer: what is expected to pass, bits of frames with FCS each second" },
   },
}

M.search = {
   key = "search", type = "group",
   help = "of the campaigns connection-rate, transaction-rate and concurrency: the highest load that passes by the rules of RFC 9411; duration is the length of the trials that decide",
   fields = {
      { key = "max", type = "number", min = "1", max = "1000000000",
        default_help = "what the line allows; of concurrency l4.connections",
        help = "the highest load that is tried: connections or transactions a second, or connections" },
      { key = "resolution", type = "ratio", default = "1%", min = "0.01%", max = "50%",
        help = "the search ends when it knows the load this well" },
      { key = "search_trial", type = "time", default = "1s", min = "10ms", max = "24h",
        help = "length of the trials on the way there" },
      { key = "max_trials", type = "integer", default = "100", min = "2", max = "1000",
        help = "begin no further trial after this many" },
      { key = "failures", type = "ratio", default = "0.001%", max = "10%",
        help = "share of transactions that may fail, and of connections that may be reset" },
      { key = "deviation", type = "ratio", default = "5%", max = "100%",
        help = "how far the rate may deviate from its mean, in any tenth of a trial" },
      { key = "shortfall", type = "ratio", default = "1%", max = "50%",
        help = "by how much the load may be missed" },
      { key = "ramp", type = "number", default = "1000", min = "1", max = "10000000",
        help = "of concurrency: connections opened a second; RFC 9411 allows at most half of the most" },
   },
}

M.balance = {
   key = "balance", type = "group",
   help = "of the campaign balance: every port but the first is the end of a path of the device's",
   fields = {
      { key = "address", type = "string", longest = 64, default_help = "the second port's",
        help = "where all flows go: an address that the device has routes to by way of every such port" },
      { key = "flows", type = "integer", default = "64", min = "2", max = "200",
        help = "of datagrams, which differ in their ports; together they send datagram_rate (default: 10kfps)" },
   },
}

M.peer = {
   key = "peer", type = "group", optional = true,
   help = "an ordinary host that plays the server in place of the second port: it takes all that it is sent to l4.port and says nothing, as the service discard does. The figure is what it has acknowledged",
   fields = {
      { key = "kind", type = "enum", values = { "discard", "iperf3", "web", "dns", "ftp" },
        default = "discard",
        help = "iperf3: it runs `iperf3 -s`, usually at port 5201. The tests are TCP_STREAM, TCP_MAERTS and UDP_STREAM then, and what it has counted is in the result. web: any web server; the tests are HTTP, HTTP2, the same over TLS and HTTP3 then. dns: any server of DNS, usually at port 53, over TLS at port 853; the tests are DNS, DNS_TCP, DNS_TLS and DNS_HTTPS then. ftp: any server of FTP, usually at port 21; the test is FTP then" },
      { key = "direction", type = "enum", values = { "forward", "reverse", "both" }, default = "forward",
        help = "of iperf3, TCP_STREAM and UDP_STREAM: who sends, we, the host (its -R) or both at once (its --bidir)" },
      { key = "ipv4", type = "ipv4", default_help = "none", help = "its address" },
      { key = "ipv6", type = "ipv6", default_help = "none", help = "its address" },
   },
}

M.load = {
   key = "load", type = "group",
   help = "how the connections of TCP come and go: as in curl-loader and RFC 9411",
   fields = {
      { key = "start", type = "integer", default = "0", min = "0", max = "1000000",
        help = "clients at the start; only with per_second" },
      { key = "per_second", type = "number", min = "0.001", max = "10000000",
        default_help = "all connections at once",
        help = "further clients each second, up to l4.connections" },
      { key = "rate", type = "number", min = "0.001", max = "10000000", default_help = "a closed loop",
        help = "open loop: connections opened each second, at times that do not depend on how the device does; what is measured counts from these times. l4.connections is then the most at a time" },
      { key = "cycles", type = "integer", default = "0", min = "0", max = "1000000",
        help = "connections that each client opens one after the other; 0: until the end" },
      { key = "requests", type = "integer", default = "0", min = "0", max = "1000000",
        help = "of TCP_RR: transactions on a connection, then it is closed; 0: until the end. For HTTP see http.requests" },
      { key = "hold", type = "boolean", default = "false",
        help = "a connection with all its requests answered stays open until the end" },
      { key = "think", type = "time", default = "0s", max = "1h",
        help = "of TCP_RR and HTTP: pause between a response and the next request; of HTTP2 and HTTP3 between all responses of a connection and its next requests" },
      { key = "think_max", type = "time", default = "0s", max = "1h",
        help = "longer than think: each pause is drawn evenly between the two" },
      { key = "addresses", type = "integer", default = "1", min = "1", max = "65536",
        help = "addresses of clients, from the first port's on; they are taken in turn" },
   },
}

return M
