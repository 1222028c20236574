-- SPDX-License-Identifier: BSD-3-Clause

--- UDP, by the names of netperf.
local theory = require "framegauge.l4.theory"

return {
   {
      name = "UDP_STREAM", help = "as TCP_STREAM, in datagrams", figure = "received_bps",
      count = function(_, server) return server.measured.datagram_octets_in * 8, server end,
      theory = theory.udp_stream, receiver = 2, udp = true, datagrams = { "datagram" },
      campaigns = { ["mtu-sweep"] = true, ["buffer-sweep"] = true, policer = true, balance = true },
      peers = { iperf3 = true },
      parameters = { { "datagram", "datagram" }, { "datagrams_per_s", "datagram_rate" } },
   },
   {
      name = "UDP_RR", help = "as TCP_RR, in datagrams", figure = "transactions_per_s",
      theory = theory.udp_rr, udp = true, datagrams = { "request", "response" },
      parameters = { { "request", "request" }, { "response", "response" }, { "timeout_s", "timeout" } },
   },
}
