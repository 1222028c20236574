-- SPDX-License-Identifier: BSD-3-Clause

--- The figure of each test, the key it has in result.json with its unit, and how a person reads it.
local format = require "framegauge.report.format"
local iperf = require "framegauge.method.l4.iperf"
local units = require "framegauge.units"

local M = {}

local KEYS = {
   TCP_STREAM = "goodput_bps", TCP_SENDFILE = "goodput_bps", TCP_MAERTS = "goodput_bps",
   UDP_STREAM = "received_bps",
   TCP_RR = "transactions_per_s", UDP_RR = "transactions_per_s", TCP_CRR = "transactions_per_s",
   TCP_CC = "connections_per_s", HTTP = "transactions_per_s",
}

--- Key of the figure of a test.
function M.key(test)
   return KEYS[test]
end

local function per_second(value, result)
   return result.measured_s > 0 and value / result.measured_s or 0
end

--- The figure of one run.
-- @param client, server  results of the applications (framegauge.l4.app); the server's is nil where it is
-- not ours
function M.of(test, client, server)
   if client.iperf then
      return iperf.figure(client)
   elseif (test == "TCP_STREAM" or test == "TCP_SENDFILE") and not server then
      return per_second(client.measured.octets_out * 8, client) -- what was acknowledged
   elseif test == "TCP_STREAM" or test == "TCP_SENDFILE" then
      return per_second(server.measured.octets_in * 8, server)
   elseif test == "TCP_MAERTS" then
      return per_second(client.measured.octets_in * 8, client)
   elseif test == "UDP_STREAM" then
      return per_second(server.measured.datagram_octets_in * 8, server)
   end
   return per_second(client.measured.transactions, client)
end

--- "941.5 Mbit/s", "29,150 transactions/s"
function M.text(test, value)
   local key = KEYS[test]
   return key:match "_bps$" and units.format_bits(value)
      or format.count(math.floor(value + 0.5)) .. " " .. key:match "^%a+" .. "/s"
end

return M
