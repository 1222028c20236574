-- SPDX-License-Identifier: BSD-3-Clause

--- Payload one way over TCP, by the names of netperf.
local theory = require "framegauge.l4.theory"

local SWEEPS = { ["mtu-sweep"] = true, ["buffer-sweep"] = true }

-- What the server has received, or where it is not ours what it has acknowledged.
local function to_server(client, server)
   if server then
      return server.measured.octets_in * 8, server
   end
   return client.measured.octets_out * 8, client
end

return {
   {
      name = "TCP_STREAM", help = "payload from client to server", figure = "goodput_bps",
      count = to_server, theory = theory.stream, receiver = 2, campaigns = SWEEPS,
      peers = { discard = true, iperf3 = true },
   },
   {
      name = "TCP_MAERTS", help = "the other way", figure = "goodput_bps",
      count = function(client) return client.measured.octets_in * 8, client end,
      theory = theory.stream, receiver = 1, campaigns = SWEEPS, peers = { iperf3 = true },
   },
   {
      name = "TCP_SENDFILE", help = "as TCP_STREAM, but the octets are a file's", figure = "goodput_bps",
      count = to_server, theory = theory.stream, receiver = 2, campaigns = SWEEPS,
      peers = { discard = true },
      fill = function(client, o) client.file = o.file end,
   },
}
