-- SPDX-License-Identifier: BSD-3-Clause

--- Reports of iperf3's server and client as text: a line per stream and second, and the result.
local format = require "framegauge.text.format"
local reports = require "framegauge.traffic.l4.iperf3_reports"
local units = require "framegauge.text.units"

local M = {}

local BUSY = 121

-- iperf3's numbers for what is wrong with the parameters of a test (lib/apps/iperf/iperf_priv.h).
local REFUSALS = {
   [5] = "the test is too long", [6] = "the number of streams must be 1 to 128",
   [10] = "the MSS must be 88 to 9216", [18] = "SCTP is not supported",
   [20] = "datagrams (-l) do not fit into the MTU, or have less than 16 bytes",
   [110] = "a message was not expected", [114] = "the parameters are not valid",
   [117] = "the results are not valid", [BUSY] = "the server is busy with another test",
   [134] = "congestion control must be cubic or reno",
}

local ENDINGS = {
   terminated = "the client has ended the test", gone = "the client has disconnected",
   late = "the client does not continue; aborted", nonsense = "the client violates the protocol",
   stopped = "ended by this server",
}

local function rate_of(c)
   return c.to > c.from and c.octets * 8 / (c.to - c.from) or 0
end

local function way(test)
   return test.both and "both directions" or test.reverse and "to the client" or "from the client"
end

--- The test that begins.
function M.test(t)
   local parts = { t.udp and "UDP" or "TCP", format.plural(t.parallel, "stream") .. " " .. way(t) }
   parts[#parts + 1] = t.time > 0 and units.format_time(t.time) or "until the client ends it"
   parts[#parts + 1] = t.omit > 0 and units.format_time(t.omit) .. " omitted before" or nil
   parts[#parts + 1] = t.udp and ("datagrams of %d bytes"):format(t.length) or nil
   parts[#parts + 1] = t.rate > 0 and units.format_bits(t.rate) .. " each" or nil
   return ("%s port %d: %s"):format(t.address, t.port, table.concat(parts, ", "))
end

local function udp_words(c, sent)
   if sent then
      return ("  %s datagrams"):format(format.count(c.datagrams))
   end
   local ratio = c.datagrams > 0 and c.lost / c.datagrams or 0
   return ("  jitter %.3f ms  lost %s of %s (%s)%s"):format(c.jitter_ms, format.count(c.lost),
      format.count(c.datagrams), units.format_ratio(ratio),
      c.out_of_order > 0 and ", " .. format.count(c.out_of_order) .. " out of order" or "")
end

local function line(name, udp, sent, c, more)
   return ("[%3s] %s %6.2f-%-6.2f s  %10s  %12s%s%s"):format(name, sent and "tx" or "rx", c.from, c.to,
      units.format_size(c.octets), units.format_bits(rate_of(c)), udp and udp_words(c, sent) or "", more)
end

-- Lines of the streams, and the sum of each direction that has several.
local function lines_of(list, more_of)
   local lines, of = {}, { [false] = {}, [true] = {} }
   for _, r in ipairs(list) do
      lines[#lines + 1] = line(r.stream, r.udp, r.sent, r.ours, more_of(r))
      table.insert(of[r.sent], r.ours)
   end
   for _, sent in ipairs { false, true } do
      if #of[sent] > 1 then
         lines[#lines + 1] = line("SUM", list[1].udp, sent, reports.sum(of[sent]), "")
      end
   end
   return lines
end

--- One second of all streams.
function M.interval(list)
   return lines_of(list, function(r)
      return r.omitted and "  (omitted)" or ""
   end)
end

-- Data that we were too late to send: the rate that the client gets is ours, then, and not the path's.
local function late_words(r)
   local n = r.sent and r.udp and r.ours.left_out or 0
   return n > 0 and (", tester-limited: %s too late to be sent (host.max_lag)"):format(
      format.plural(n, "datagram")) or ""
end

-- The same stream as the peer reports it: of TCP the received bytes, of UDP the losses.
local function of_peer(r)
   local verb = r.sent and "received" or "sent"
   if r.udp and r.sent then
      return ("; the client lost %s of %s, jitter %.3f ms"):format(format.count(r.theirs.lost),
         format.count(r.theirs.datagrams), r.theirs.jitter_ms)
   end
   return ("; the client %s %s"):format(verb, units.format_size(r.theirs.octets))
end

--- The result, by stream.
function M.result(list, done)
   return lines_of(list, function(r)
      local again = r.sent and not r.udp and r.ours.retransmits > 0
      return (again and ("  %s retransmitted"):format(format.plural(r.ours.retransmits, "segment")) or "")
         .. late_words(r) .. (done and of_peer(r) or "")
   end)
end

local OF_CLIENT = {
   terminated = "the server was ended", gone = "the server has closed the connection",
   late = "the server does not continue", nonsense = "the server violates the protocol",
}

--- How a test of our client ended; nil: normally.
function M.ending_of_client(r)
   if r.ending == "refused" then
      return r.refusal == BUSY and REFUSALS[BUSY]
         or ("the server rejects the test, error %d of iperf3"):format(r.refusal)
   end
   return OF_CLIENT[r.ending]
end

--- How a test ended; nil: normally.
function M.ending(r)
   if r.ending == "refused" then
      return "rejected: " .. (REFUSALS[r.refusal] or "error " .. r.refusal)
   end
   return ENDINGS[r.ending]
end

return M
