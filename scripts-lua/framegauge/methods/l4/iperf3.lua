-- SPDX-License-Identifier: BSD-3-Clause

--- Tests with a host that runs `iperf3 -s`: our client's parameters, and the figures from the counts of both
-- sides.
local json = require "framegauge.text.json"
local reports = require "framegauge.traffic.l4.iperf3_reports"
local tables = require "framegauge.core.tables"
local words = require "framegauge.tester.iperf3.output"

local M = {}

local COOKIE = 36 -- bytes
local WRITE = 131072 -- iperf3's own default
local SHORTFALL = 0.01 -- of the datagrams that were to be sent

--- Seconds in addition to the test's, for the messages of both sides before it.
M.SETUP = 1

--- Turn a client of the L4 engine into an iperf3 client.
-- @param client  as framegauge.traffic.l4.app takes it
-- @param o       settings of the test
function M.fill(client, test, o)
   local udp = test == "UDP_STREAM"
   client.test = "IPERF"
   client.host = ("framegauge%026d"):format(o.seed):sub(1, COOKIE)
   client.params = json.encode {
      tcp = not udp or nil, udp = udp or nil, omit = o.omit, time = o.duration - o.omit, num = 0,
      blockcount = 0, parallel = o.connections, len = udp and o.datagram or o.message or WRITE,
      bandwidth = udp and o.datagram_rate and o.datagram_rate / o.connections * o.datagram * 8 or nil,
      reverse = (test == "TCP_MAERTS" or o.peer.direction == "reverse") or nil,
      bidirectional = o.peer.direction == "both" or nil, udp_counters_64bit = udp and 1 or nil,
      MSS = not udp and o.tcp.mss or nil, pacing_timer = 1000, client_version = "3.12",
   }
end

local function of_kind(client, kind)
   return tables.map(client.iperf, function(r) return r.kind == kind and r or nil end)
end

-- The counts of sender and receiver for all streams of one direction; nil without such streams.
local function direction(client, reverse)
   local test, senders, receivers = of_kind(client, "test")[1], {}, {}
   for _, r in ipairs(test and of_kind(client, "result") or {}) do
      if r.sent == (test.reverse == reverse) then
         table.insert(senders, r.sent and r.ours or r.theirs)
         table.insert(receivers, r.sent and r.theirs or r.ours)
      end
   end
   if senders[1] then
      return reports.sum(senders), reports.sum(receivers)
   end
end

local function rate(count)
   return count.to > count.from and count.octets * 8 / (count.to - count.from) or 0
end

--- Payload received, bits per second, in the direction of the test, or in the other one.
-- @return a number; nil where nothing was sent in the other direction
function M.figure(client, other)
   local _, receiver = direction(client, other == true)
   return receiver and rate(receiver) or not other and 0 or nil
end

--- Datagrams lost, by the receiver's counts, and datagrams sent; nil: nobody has reported them.
function M.losses(client)
   local sender, receiver = direction(client, false)
   if not sender then
      return nil
   end
   -- a host sends until it learns that the test is over: its last datagrams are not lost
   local ours = of_kind(client, "result")[1].sent
   return receiver.lost + (ours and math.max(0, sender.datagrams - receiver.datagrams) or 0), sender.datagrams
end

--- Other figures of datagrams, for the row of a test.
function M.udp(row, client)
   local sender, receiver = direction(client, false)
   if sender then
      row.sent_bps = rate(sender)
      row.reordered, row.jitter_ns = receiver.out_of_order, receiver.jitter_ms * 1e6
   end
end

--- A sentence where the tester could not send at the wanted rate; nil: it could.
-- @param wanted  datagrams a second; nil: as many as possible
function M.too_slow(wanted, client)
   local sender = direction(client, false)
   local ours = of_kind(client, "result")[1]
   if not wanted or not sender or not ours.sent or sender.to <= sender.from then
      return nil
   end
   local sent = sender.datagrams / (sender.to - sender.from)
   return sent < wanted * (1 - SHORTFALL)
      and ("client: %.0f datagrams a second were sent instead of %.0f"):format(sent, wanted) or nil
end

--- Why there is no result, a sentence; nil: there is a result.
function M.failure(client)
   local test, last = of_kind(client, "test")[1], of_kind(client, "end")[1]
   if not last or not test and last.ending == "gone" then
      return "iperf3: no server has answered"
   end
   return last.ending ~= "done" and "iperf3: " .. words.ending_of_client(last) or nil
end

return M
