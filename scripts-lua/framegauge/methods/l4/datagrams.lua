-- SPDX-License-Identifier: BSD-3-Clause

--- Datagrams, and queries over TCP, that leave at a rate: how many were lost, and whether the tester kept
-- the rate.
local format = require "framegauge.text.format"
local iperf = require "framegauge.methods.l4.iperf3"
local kinds = require "framegauge.methods.l4.plan.kinds"
local trial = require "framegauge.trial"

local M = {}

--- The number sent, by an application's counters. A query repeated with a cookie counts once.
function M.sent(tally)
   return (tally.queries or tally.datagrams_out) - (tally.bad_cookie or 0)
end

local SHORTFALL = 0.01 -- of the datagrams that were to be sent

-- @return datagrams lost and sent; nil where iperf3 has not reported them
local function losses(client, server)
   if client.iperf then
      return iperf.losses(client)
   end
   return client.total.datagrams_out - server.total.datagrams_in, client.total.datagrams_out
end

--- Figures for the row of a test. @param server  result of our server, nil where it is not ours
function M.figures(row, client, server)
   local lost, sent = losses(client, server)
   row.datagrams, row.lost, row.loss_ratio = sent, lost, sent and (sent > 0 and lost / sent or 0)
   if client.iperf then
      iperf.udp(row, client)
      return
   end
   row.sent_bps = client.measured.datagrams_out * row.parameters.datagram * 8 / client.measured_s
   row.reordered, row.duplicates, row.jitter_ns = server.reordered, server.duplicates, server.jitter_ns
end

local function too_slow(rate, client)
   if client.iperf then
      return iperf.too_slow(rate, client)
   end
   local sent = M.sent(client.measured) / client.measured_s
   local what = client.measured.queries and "queries" or "datagrams"
   return sent < rate * (1 - SHORTFALL)
      and ("client: %.0f %s a second were sent instead of %.0f"):format(sent, what, rate) or nil
end

-- What was lost or not answered, in words; nil: nothing.
local function missing(test, client, server)
   local n, what = client.total.expired, "request"
   if kinds.of(test).receiver then
      n, what = losses(client, server), "datagram"
   end
   return n and n > 0 and format.plural(n, what) or nil
end

-- Could the loss be due to an unintended burst of the tester? As for streams of frames (framegauge.trial).
local function off_schedule(test, client, server)
   local lost = missing(test, client, server)
   local sender = client.off_schedule > 0 and client or server or client
   local sent = { off_schedule = sender.off_schedule, tx = M.sent(sender.total) }
   if lost and not trial.is_on_schedule(sent) then
      return ("client: %s lost, but %s left up to %s ms late and close together, or not at all"):format(lost,
         format.count(sender.off_schedule), format.decimal(sender.lag_max_ns / 1e6, 1))
   end
end

--- Sentences on where the tester did not send as it should have; none: it did.
-- @param rate  datagrams a second; nil: as many as possible
function M.limits(test, rate, client, server)
   local limits = {}
   if rate then
      limits[1] = too_slow(rate, client)
      limits[#limits + 1] = off_schedule(test, client, server)
   end
   return limits
end

return M
