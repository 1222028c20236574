-- SPDX-License-Identifier: BSD-3-Clause

--- One trial of RFC 9411 (section 4.3.4): the load grows, stays for the sustain phase, which has
-- samples, and goes.
local criteria = require "framegauge.methods.rfc9411.criteria"
local records = require "framegauge.tester.l4.record"
local settings = require "framegauge.methods.l4.settings"
local theory = require "framegauge.traffic.l4.theory"
local tls = require "framegauge.methods.l4.plan.tls"
local trial = require "framegauge.tester.l4.trial"
local app = require "framegauge.traffic.l4.app"

local M = {}

local GETS = 10 -- of a connection, but for the test of connections (RFC 9411, 7.3 to 7.5)
local AT_A_TIME = 262144 -- connections that may wait for a slow device
local NO_MAC = ("\0"):rep(6)
local MAX_CAPACITY = 4194304
local PORTS = { http = 80, https = 443 }

--- "16 KiB"
-- @usage require("framegauge.methods.rfc9411.phases").size(16384) --> 16 KiB
function M.size(bytes)
   return bytes % 1024 == 0 and ("%d KiB"):format(bytes / 1024) or ("%d bytes"):format(bytes)
end

local function version_of(plan)
   return plan.ports[1].ipv4 and plan.ports[2].ipv4 and "ipv4" or "ipv6"
end

M.version = version_of

-- What the clients do, as framegauge.traffic.l4.app takes it.
local function client_of(plan, ask)
   local o, ip = plan.rfc9411, version_of(plan)
   local remote = plan.ports[2][ip]
   local client = {
      test = "HTTP", address = plan.ports[1][ip], addresses = o.clients, remote = remote, remotes = o.servers,
      port = o.port or PORTS[o.over], next_hop = ask.next_hop, tcp = settings.tcp(o.tcp), request = 0,
      response = ask.object, requests = ask.gets, path = ("/octets/%d"):format(ask.object),
      host = ip == "ipv6" and "[" .. remote .. "]" or remote, ramp_down = o.ramp_down,
   }
   if ask.concurrent then
      client.connections, client.connections_per_s, client.hold = ask.concurrent, ask.ramp_rate, true
      client.think = (ask.ramp_up + ask.sustain) / GETS
   else
      client.connections, client.opens_per_s = AT_A_TIME, ask.transactions_per_s / ask.gets
      client.ramp_up = ask.ramp_up
   end
   return client
end

local function server_of(plan, client, secured)
   return setmetatable({ server = true, address = plan.ports[2][version_of(plan)],
      addresses = plan.rfc9411.servers, tls = secured }, { __index = client })
end

--- Is it HTTP over TLS?
function M.secured(plan)
   return plan.rfc9411.over == "https"
end

--- Transactions a second that a line allows; nil where its rate is not known, and over TLS.
function M.most(plan, tester, object, gets)
   local rate = settings.line_rate(tester)
   if not rate or M.secured(plan) then
      return nil
   end
   local o, ip = plan.rfc9411, version_of(plan)
   local request, response = app.http_octets(client_of(plan, { object = object, gets = gets,
      transactions_per_s = 1, next_hop = NO_MAC }))
   return theory.http(rate, ip, { mtu = o.mtu, timestamps = o.tcp.timestamps, requests = gets,
      tags = plan.ports[1].vlan and 1 or 0, handshake_ack_alone = o.tcp.handshake_ack_alone }, request,
      response)
end

-- The samples of the sustain phase: rates of each, with what both ends received. A connection is one that
-- both ends have: a SYN that the device lost has reached no server.
local function samples_of(sides, sample)
   local client, server, list = sides[1].apps[1], sides[2].apps[1], {}
   for i, one in ipairs(client.series) do
      local back = server.series[i] or { line_octets = 0, open = 0 }
      list[i] = {
         from_s = (i - 1) * sample, connections_per_s = one.established / sample,
         transactions_per_s = one.transactions / sample, concurrent = math.min(one.open, back.open),
         throughput_bps = (one.line_octets + back.line_octets) * 8 / sample,
      }
   end
   return list
end

-- What became of the clients' connections and transactions, from the start to the end of all.
local function seen_of(client)
   local t, ended = client.total, client.total.ended
   local failed = ended.refused + ended.reset + ended.no_answer + ended.lost + t.refused
      + (client.tls and client.tls.failed or 0)
   return {
      attempted = t.transactions + failed, failed = failed, opened = t.opened,
      resets = ended.refused + ended.reset, transactions = client.measured.transactions,
      measured_s = client.measured_s,
   }
end

local function not_met(list)
   local out = {}
   for _, one in ipairs(list) do
      if not one.met then
         out[#out + 1] = ("%s: %.6g, limit %.6g"):format((one.name:gsub("_", " ")), one.value, one.limit)
      end
   end
   return out[1] and out or nil
end

local function make(plan, tester, want, ask)
   local o = plan.rfc9411
   local client = client_of(plan, want)
   client.next_hop = settings.next_hop(tester, 1, version_of(plan))
   local secured, on_wire = M.secured(plan), tester.wires ~= nil
   client.tls = secured and tls.of(o, false, on_wire) or nil
   local server = server_of(plan, client, secured and tls.of(o, true, on_wire) or nil)
   local rate = want.concurrent and want.ramp_rate or want.transactions_per_s / want.gets
   local capacity = math.min(MAX_CAPACITY, 65536 + 2 * (want.concurrent or 0)
      + math.ceil(rate * (o.tcp.time_wait + o.ramp_down)))
   local sides, engine = trial.run(tester, {
      sides = { { port = 1, apps = { client }, capacity = capacity },
         { port = 2, apps = { server }, capacity = capacity } },
      seconds = want.ramp_up + want.sustain, omit = want.ramp_up, drain = o.ramp_down + o.drain,
      learning_wait = o.learning_wait, settle = o.settle, mtu = o.mtu, seed = ask.seed, interval = o.sample,
   })
   sides[1].role, sides[2].role = "client", "server"
   tls.keep_keys(o, sides)
   local record = records.of(ask, tester, sides, engine, false)
   record.samples = samples_of(sides, o.sample)
   record.criteria = criteria.judge(o, record.samples, seen_of(sides[1].apps[1]), want)
   record.fell_short = not_met(record.criteria)
   for _, side in ipairs(record.sides) do
      side.apps[1].series = nil
   end
   return record
end

--- Make a trial.
-- @param want  test, object, gets (of a connection), transactions_per_s or concurrent with ramp_rate,
--              ramp_up, sustain, phase
-- @return its record, with samples, criteria and, if one is not met, fell_short
function M.trial(plan, tester, session, want)
   local what = want.concurrent and ("%d connections at a time"):format(want.concurrent)
      or ("%.6g transactions a second"):format(want.transactions_per_s)
   return session:trial {
      test = "rfc9411." .. want.test, phase = want.phase, seconds = want.ramp_up + want.sustain,
      direction = plan.ports[1].name .. "->" .. plan.ports[2].name, seed = plan.rfc9411.seed,
      title = ("%s, %s, %s"):format(want.test:gsub("_", " "), M.size(want.object), what),
      setting = { object = want.object, gets = want.gets, transactions_per_s = want.transactions_per_s,
         concurrent = want.concurrent, ramp_rate = want.ramp_rate },
      make = function(ask) return make(plan, tester, want, ask) end,
      outcome = function(record)
         return record.fell_short and table.concat(record.fell_short, "; ") or "all criteria met"
      end,
   }
end

M.GETS = GETS

return M
