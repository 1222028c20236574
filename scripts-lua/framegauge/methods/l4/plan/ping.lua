-- SPDX-License-Identifier: BSD-3-Clause

--- The test PING: echo requests of ICMP and ICMPv6 and their replies, of the group `l4.ping` of a plan. Its C
-- side is lib/apps/ping.c.
local keys = require "framegauge.plan.keys"
local ethernet = require "framegauge.core.ethernet"
local tables = require "framegauge.core.tables"
local theory = require "framegauge.traffic.l4.theory"
local versions = require "framegauge.methods.l4.plan.versions"

local M = {}

M.GROUP = keys.group("ping", "of PING: echo requests (RFC 792, RFC 4443) and their replies", {
   { "size", "size", "bytes of data behind the header of ICMP, which has 8; of mtu-sweep what fits into the MTU",
     default = "56", max = "9188" },
   { "interval", "time", "from one request to the next, with or without a reply; round trips count from the time at which a request was due, and l4.connections is the maximum of unanswered requests. Without it each request follows the reply to the one before, l4.connections at a time",
     min = "1ns", max = "1h", default_help = "a flood" },
})

--- The intended requests a second; nil: each waits for a reply.
function M.rate(o)
   return o.ping.interval and 1 / o.ping.interval
end

--- Arguments of the client.
function M.fill(client, o)
   client.request, client.requests_per_s = o.ping.size, M.rate(o)
end

--- The maximum of requests a second by the line or the interval: an echo's header is as long as UDP's.
function M.theory(rate, ip, o, client)
   local its = client()
   o.request, o.response = its.request, its.request
   return math.min(theory.udp_rr(rate, ip, o), its.requests_per_s or math.huge)
end

--- The rule of the group: requests fit into the MTU.
function M.check(values, found)
   local o = values.l4
   local room = o.mtu - ethernet.header_octets(versions(values)[1] or "ipv4", "udp")
   if o.campaign ~= "mtu-sweep" and tables.contains(o.tests, "PING") and o.ping.size > room then
      found:add("l4.ping.size", ("echo requests with %d bytes do not fit into an MTU of %d"):format(
         o.ping.size, o.mtu), "at most " .. room)
   end
end

--- Its own figures for a row, from the records of its trials: requests sent, those without a reply in time or
-- reported as undeliverable, and those still waiting within their time at the end of the drain.
function M.figures(row, list)
   local counts, sent, came, lost = row.ping_replies or {}, 0, 0, 0
   for _, record in ipairs(list) do
      local total = record.sides[1].apps[1].total
      sent, came = sent + total.datagrams_out, came + total.transactions
      lost = lost + total.expired + total.ended.refused
   end
   row.datagrams, row.lost, row.loss_ratio = sent, lost, sent > 0 and lost / sent or 0
   row.outstanding = sent - came - lost
   row.duplicates, row.reordered = counts.duplicates or 0, counts.reordered or 0
end

return M
