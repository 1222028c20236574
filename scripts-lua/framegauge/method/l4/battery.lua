-- SPDX-License-Identifier: BSD-3-Clause

--- One test of the battery: both ends of it on the bench, its figure, and what it is worth.
local app = require "framegauge.l4.app"
local format = require "framegauge.report.format"
local octets = require "framegauge.octets"
local theory = require "framegauge.l4.theory"
local trial = require "framegauge.l4.trial"
local units = require "framegauge.units"

local M = {}

local TESTER_FAULT = 3 -- severity of a counter that says the tester was short of something

-- The figure of each test, the key it has in result.json with its unit, and how a person reads it.
local FIGURES = {
   TCP_STREAM = "goodput_bps", TCP_MAERTS = "goodput_bps", UDP_STREAM = "received_bps",
   TCP_RR = "transactions_per_s", UDP_RR = "transactions_per_s", TCP_CRR = "transactions_per_s",
   TCP_CC = "connections_per_s", HTTP = "transactions_per_s",
}

--- Key of the figure of a test.
function M.figure(test)
   return FIGURES[test]
end

local function version_of(plan)
   return plan.ports[1].ipv4 and plan.ports[2].ipv4 and "ipv4" or "ipv6"
end

-- Where frames to the other port go: its gateway, or the port itself.
local function next_hop(bench, plan, version)
   return bench:gateway_mac(1, version == "ipv4" and 4 or 6) or octets.mac(bench.ports[2].mac),
      plan.ports[1][version], plan.ports[2][version]
end

local function tcp_of(tcp)
   return {
      congestion = tcp.congestion, receive_buffer = tcp.receive_buffer, send_buffer = tcp.send_buffer,
      mss = tcp.mss, initial_window = tcp.initial_window, nodelay = tcp.nodelay,
      timestamps = tcp.timestamps, sack = tcp.sack, window_scaling = tcp.window_scaling, ecn = tcp.ecn,
      delayed_ack_ms = tcp.delayed_ack * 1000, rto_min_ms = tcp.min_rto * 1000,
      time_wait_ms = tcp.time_wait * 1000,
   }
end

local function sides_of(plan, bench, test)
   local o, version = plan.l4, version_of(plan)
   local hop, ours, theirs = next_hop(bench, plan, version)
   local client = {
      test = test, address = ours, remote = theirs, next_hop = hop, port = o.port, tcp = tcp_of(o.tcp),
      connections = o.connections, request = o.request, response = o.response, datagram = o.datagram,
      datagrams_per_s = o.datagram_rate, timeout = o.timeout,
   }
   if test == "HTTP" then
      client.request, client.response = o.http.post, o.http.post > 0 and 0 or o.http.body
      client.requests, client.host = o.http.requests, version == "ipv6" and "[" .. theirs .. "]" or theirs
      client.path = ("/octets/%d"):format(o.http.body)
   end
   local server = setmetatable({ server = true, address = theirs }, { __index = client })
   local capacity = math.max(65536, 2 * o.connections)
   return {
      { port = 1, apps = { client }, capacity = capacity },
      { port = 2, apps = { server }, capacity = capacity },
   }
end

local function per_second(value, result)
   return value / result.measured_s
end

-- The figure of one run.
local function figure_of(test, client, server)
   if test == "TCP_STREAM" then
      return per_second(server.measured.octets_in * 8, server)
   elseif test == "TCP_MAERTS" then
      return per_second(client.measured.octets_in * 8, client)
   elseif test == "UDP_STREAM" then
      return per_second(server.measured.datagram_octets_in * 8, server)
   end
   return per_second(client.measured.transactions, client)
end

-- Why the tester itself may be what limited, and why the figure may be none.
local function judge(row, sides, engine)
   for i, side in ipairs(sides) do
      local name = i == 1 and "client" or "server"
      for counter, severity in pairs(side.severities) do
         if severity == TESTER_FAULT and side.counters[counter] > 0 then
            row.reasons[#row.reasons + 1] = ("%s: %s %d"):format(name, counter, side.counters[counter])
         end
      end
      if side.station.no_mbuf > 0 then
         row.reasons[#row.reasons + 1] = ("%s: out of buffers %d times"):format(name, side.station.no_mbuf)
      end
   end
   for _, port in ipairs(engine.ports) do
      local drops = port.rx_missed + port.rx_no_mbuf + port.tx_errors
      if drops > 0 then
         row.reasons[#row.reasons + 1] = ("port %s: the tester dropped %d frames"):format(port.name, drops)
      end
   end
   row.verdict = #row.reasons > 0 and "tester-limited" or "valid"
   table.sort(row.reasons)
   if row.wrong_octets > 0 then
      table.insert(row.reasons, 1, ("%d octets arrived other than they were sent"):format(row.wrong_octets))
      row.verdict = "invalid"
   elseif row[FIGURES[row.test]] == 0 then
      table.insert(row.reasons, 1, "nothing came through")
      row.verdict = "invalid"
   end
end

local function add_failures(row, sides)
   local client = sides[1].apps[1]
   for _, why in ipairs(app.ENDS) do
      row.failures[why] = row.failures[why] + client.total.ended[why]
   end
   row.failures.expired = row.failures.expired + client.total.expired
   row.failures.bad_response = row.failures.bad_response + client.total.refused
   for _, side in ipairs(sides) do
      row.retransmitted_segments = row.retransmitted_segments + side.counters.segments_retransmitted
      row.wrong_octets = row.wrong_octets + side.counters.wrong_octets
      for _, cause in ipairs { "fast_retransmits", "timeouts", "syn_retransmits" } do
         row[cause] = row[cause] + side.counters[cause]
      end
   end
end

local function parameters_of(plan, test)
   local o = plan.l4
   local p = { connections = o.connections, duration_s = o.duration, omit_s = o.omit, mtu = o.mtu,
      ip = version_of(plan) }
   if test == "HTTP" then
      p.http = o.http
   elseif test:match "RR$" then
      p.request, p.response = o.request, o.response
   end
   if test == "UDP_STREAM" then
      p.datagram, p.datagrams_per_s = o.datagram, o.datagram_rate
   elseif test == "UDP_RR" then
      p.timeout_s = o.timeout
   else
      p.tcp = o.tcp
   end
   return p
end

local function theoretical(plan, bench, test)
   local rate = math.min(bench.ports[1].line_rate or math.huge, bench.ports[2].line_rate or math.huge)
   if rate == math.huge or not theory[test] then
      return nil
   end
   local o = plan.l4
   return theory[test](rate, version_of(plan), {
      mtu = o.mtu, timestamps = o.tcp.timestamps, request = o.request, response = o.response,
      datagram = o.datagram, tags = plan.ports[1].vlan and 1 or 0,
   })
end

local function udp_figures(row, client, server)
   row.sent_bps = per_second(client.measured.datagrams_out * row.parameters.datagram * 8, client)
   row.lost = client.total.datagrams_out - server.total.datagrams_in
   row.loss_ratio = client.total.datagrams_out > 0 and row.lost / client.total.datagrams_out or 0
   row.reordered, row.duplicates, row.jitter_ns = server.reordered, server.duplicates, server.jitter_ns
end

--- Make one test of a plan.
-- @return its row of results.l4 (docs/results.md)
function M.run(plan, bench, test)
   local o, sum, key = plan.l4, 0, FIGURES[test]
   local row = {
      test = test, direction = plan.ports[1].name .. "->" .. plan.ports[2].name,
      parameters = parameters_of(plan, test), figures = {}, theoretical = theoretical(plan, bench, test),
      failures = { refused = 0, no_answer = 0, reset = 0, lost = 0, aborted = 0, expired = 0,
         bad_response = 0 },
      retransmitted_segments = 0, fast_retransmits = 0, timeouts = 0, syn_retransmits = 0, wrong_octets = 0,
      reasons = {},
   }
   local sides, engine
   for i = 1, o.repetitions do
      sides, engine = trial.run(bench, {
         sides = sides_of(plan, bench, test), seconds = o.duration, omit = o.omit, drain = o.drain,
         learning_wait = o.learning_wait, settle = o.settle, mtu = o.mtu, seed = o.seed + 2 * i,
      })
      row.figures[i] = figure_of(test, sides[1].apps[1], sides[2].apps[1])
      sum = sum + row.figures[i]
      add_failures(row, sides)
   end
   local client, server = sides[1].apps[1], sides[2].apps[1]
   row[key] = sum / o.repetitions
   row.percent = row.theoretical and 100 * row[key] / row.theoretical or nil
   row.setup, row.transaction = client.setup, client.transaction
   if test == "UDP_STREAM" then
      udp_figures(row, client, server)
   end
   judge(row, sides, engine)
   return row
end

--- A row in a sentence, for a person who is waiting.
function M.sentence(row)
   local key = FIGURES[row.test]
   local value = row[key]
   local text = key:match "_bps$" and units.format_bits(value) or format.count(math.floor(value + 0.5))
      .. (key == "connections_per_s" and " connections/s" or " transactions/s")
   return ("%s: %s%s\n"):format(row.test, text, row.verdict == "valid" and "" or ", " .. row.verdict)
end

return M
