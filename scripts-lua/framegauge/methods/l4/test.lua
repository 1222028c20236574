-- SPDX-License-Identifier: BSD-3-Clause

--- One case of a campaign: a test with its settings, repeated as the plan says, and its row.
local app = require "framegauge.traffic.l4.app"
local datagrams = require "framegauge.methods.l4.datagrams"
local format = require "framegauge.text.format"
local iperf = require "framegauge.methods.l4.iperf3"
local kinds = require "framegauge.methods.l4.plan.kinds"
local pages = require "framegauge.methods.l4.plan.page"
local quic = require "framegauge.methods.l4.plan.quic"
local records = require "framegauge.tester.l4.record"
local settings = require "framegauge.methods.l4.settings"
local stats = require "framegauge.trial.stats"
local theory = require "framegauge.traffic.l4.theory"
local tls = require "framegauge.methods.l4.plan.tls"
local transport_figures = require "framegauge.methods.l4.transport_figures"
local transports = require "framegauge.methods.l4.plan.transports"
local trial = require "framegauge.tester.l4.trial"
local uncertainty = require "framegauge.trial.uncertainty"
local units = require "framegauge.text.units"
local verdict = require "framegauge.text.verdict"

local M = {}

-- The figure of one run, and the results of the client and of our server; nil for a server that is not ours.
local function figure(test, client, server)
   if client.iperf then
      return iperf.figure(client)
   end
   local value, result = client.measured.transactions, client
   if kinds.of(test).count then
      value, result = kinds.of(test).count(client, server)
   end
   return result.measured_s > 0 and value / result.measured_s or 0
end

-- "941.5 Mbit/s", "29,150 transactions/s"
local function in_words(test, value)
   local key = kinds.of(test).figure
   return key:match "_bps$" and units.format_bits(value)
      or format.rate(value) .. " " .. key:match "^%a+" .. "/s"
end

-- Service demand: processor time for a unit of work, as in netperf: a transaction or 1024 bytes of payload.
-- netperf computes it from the load of the whole machine. Our lcores poll and are never idle, so here it is
-- the time of the polls that found work (method "P"). On the virtual wire, where nothing may depend on the
-- machine, it is not computed.
local KIB = 1024

-- Units that a side has processed during the whole trial.
local function work(row, record, side)
   local t, kind = side.apps[1].total, kinds.of(row.test)
   if not kind.receiver then
      return record.sides[1].apps[1].total.transactions
   elseif kind.udp then
      return (t.datagrams_out * row.parameters.datagram + t.datagram_octets_in) / KIB
   end
   return (t.octets_out + t.octets_in) / KIB
end

--- The demand of a row and the records of its trials.
-- @return { per = "transaction" or "KiB", method = "P", client_us =, server_us = }, without a server that is
-- not ours; nil on the virtual wire, and without any work
function M.demand(row, list)
   local demand = { per = kinds.of(row.test).receiver and "KiB" or "transaction", method = "P" }
   for i, role in ipairs { "client", "server" } do
      local seconds, done = 0, 0
      for _, record in ipairs(list) do
         local side = record.sides[i]
         seconds = seconds + (side and side.station.busy_s or 0)
         done = done + (side and work(row, record, side) or 0)
      end
      demand[role .. "_us"] = seconds > 0 and done > 0 and seconds * 1e6 / done or nil
   end
   return demand.client_us and demand
end

local MANY = 10000 -- connections: with this many the memory is reported

local count = records.count

local function sides_of(plan, tester, test, o)
   local client, server = settings.apps(plan, tester, test, o, 1)
   local rate = settings.line_rate(tester)
   local capacity = settings.capacity(test, o, rate and theory.cc(rate, o.ip, theory.of(o)))
   return {
      { port = 1, apps = { client }, capacity = capacity },
      not o.peer and { port = 2, apps = { server }, capacity = capacity } or nil,
   }
end

-- Connections by how they ended, other than closed. Those that were given up are counted by the awaited
-- event.
local ENDS = { "refused", "no_answer", "reset", "lost", "aborted" }

-- Failures of a client by kind, and their sum.
local function failures_of(client)
   local total = client.total
   local of, sum = { expired = total.expired, bad_response = total.refused }, total.expired + total.refused
   for _, why in ipairs(ENDS) do
      of[why], sum = total.ended[why], sum + total.ended[why]
   end
   return of, sum
end

-- Make one trial. @return its record
local function measure(plan, tester, test, o, ask)
   if o.path then
      tester.wires:change(transports.device(plan, o.path))
   end
   local sides, engine = trial.run(tester, {
      sides = sides_of(plan, tester, test, o),
      seconds = o.duration + (settings.is_iperf(o) and iperf.SETUP or 0), omit = o.omit, drain = o.drain,
      learning_wait = o.learning_wait, settle = o.settle, mtu = o.mtu, seed = ask.seed,
      interval = o.interval, draw = ask.draw,
   })
   for i, side in ipairs(sides) do
      side.role = i == 1 and "client" or "server"
   end
   tls.keep_keys(o, sides)
   local client, server = M.ends { sides = sides }
   local rate, _, failed = kinds.of(test).rate, failures_of(client)
   local nothing = client.iperf and iperf.failure(client) or figure(test, client, server) == 0 and failed == 0
      and (not kinds.of(test).pages or ("no page was loaded in full within %s (l4.duration)"):format(
         units.format_time(o.duration)))
   return quic.take_logs(records.of(ask, tester, sides, engine, nothing,
      rate and datagrams.limits(test, rate(o), client, server) or nil))
end

--- The results of the client and of the server in a record; nil for a server that is not ours.
function M.ends(record)
   local server = record.sides[2]
   return record.sides[1].apps[1], server and server.apps[1]
end

local ends = M.ends

local function figure_of(test, record)
   return figure(test, ends(record))
end

-- Keys of a row by the counters that are summed up in them.
local CAUSES = {
   retransmitted_segments = "segments_retransmitted", fast_retransmits = "fast_retransmits",
   timeouts = "timeouts",
   syn_retransmits = "syn_retransmits", known_ports = "known_ports", wrong_bytes = "wrong_octets",
}

-- A client's own counters of responses, without those at 0.
local function own_counts(test, list)
   local causes
   for _, why in ipairs(app.own_sums(kinds.kind(test))) do
      local n = 0
      for _, record in ipairs(list) do
         n = n + record.sides[1].apps[1].total[why]
      end
      if n > 0 then
         causes = causes or {}
         causes[why] = n
      end
   end
   return causes
end

-- How long windows kept data back, at the end that sends the bodies; nil: never.
local function flow_blocked(record)
   local client, server = ends(record)
   return server and server.flow_blocked or client.flow_blocked
end

-- How long streams waited for others, at both ends; nil: the test's connections have no streams, or QUIC has
-- them, where no stream waits for another.
local function hol(test, record)
   local client, server = ends(record)
   return kinds.kind(test) == "HTTP2" and client.hol_ns + (server and server.hol_ns or 0) or nil
end

-- Frames of a flood, of all trials; nil: no flood.
local function flooded(list)
   local sum
   for _, record in ipairs(list) do
      local n = ends(record).flooded
      sum = n and (sum or 0) + n or sum
   end
   return sum
end

local function add_failures(row, record)
   local client = ends(record)
   for why, n in pairs(failures_of(client)) do
      row.failures[why] = row.failures[why] + n
   end
   if kinds.of(row.test).gives_up then
      row.outstanding = (row.outstanding or 0) + client.outstanding
   end
   for _, side in ipairs(record.sides) do
      for key, counter in pairs(CAUSES) do
         row[key] = row[key] + count(side, counter)
      end
   end
end

-- The total number of the client's connections, so that each can be accounted for.
local function add_connections(row, list)
   row.opened, row.closed, row.open, row.concurrent_max = 0, 0, 0, 0
   for _, record in ipairs(list) do
      local client = ends(record)
      local t = client.total
      row.opened, row.closed = row.opened + t.opened, row.closed + t.ended.closed
      row.open = row.open + client.open
      row.concurrent_max = math.max(row.concurrent_max, client.concurrent_max)
   end
end

local function add_verdict(row, record)
   row.validity = verdict.worse(row.validity, record.validity)
   for _, reason in ipairs(record.reasons) do
      row.reasons[#row.reasons + 1] = reason
   end
end

-- The share of polls that found work, of the busiest worker.
local function busiest(list)
   local busy = 0
   for _, record in ipairs(list) do
      for _, side in ipairs(record.sides) do
         busy = math.max(busy, side.station.busy)
      end
   end
   return busy
end

-- Bytes of memory that a connection took at most, of both ends and all trials.
local function per_connection(list)
   local most
   for _, record in ipairs(list) do
      for _, side in ipairs(record.sides) do
         if side.memory.connections > 0 then
            most = math.max(most or 0, side.memory.octets / side.memory.connections)
         end
      end
   end
   return most
end

local function confidence(list)
   local n = #list
   return n > 1 and uncertainty.student(n - 1) * stats.stddev(list) / math.sqrt(n) or nil
end

local function blank(case, o, plan)
   return {
      test = case.test, case = case.name, direction = plan.ports[1].name .. "->" .. plan.ports[2].name,
      parameters = settings.parameters(case.test, o), figures = {}, trials = {},
      failures = { refused = 0, no_answer = 0, reset = 0, lost = 0, aborted = 0, expired = 0,
         bad_response = 0 },
      retransmitted_segments = 0, fast_retransmits = 0, timeouts = 0, syn_retransmits = 0, known_ports = 0,
      wrong_bytes = 0,
      validity = "valid", reasons = {},
   }
end

--- The theoretical maximum of a test's figure on a line.
-- @param o  settings
function M.theoretical(plan, tester, test, o, rate)
   local of, line = not (kinds.is_http(test) and o.http.any_body) and kinds.of(test).theory, theory.of(o)
   line.tls_share, line.quic_datagram = tls.share(o), o.quic.max_datagram
   return of and of(rate, o.ip, line, function()
      return (settings.apps(plan, tester, test, o, 1))
   end) or nil
end

-- Does each client make one transaction after the other, from start to end?
local function is_steady(kind, o)
   local load = o.load
   return not (kind.rate and kind.rate(o))
      and (kind.udp or not (load.rate or load.per_second or load.cycles > 0 or load.hold))
end

-- The rate at the shortest round trip seen, where each transaction waits for the one before.
local function round_trip_limit(case, o, list)
   local kind, shortest = kinds.of(case.test), math.huge
   if not kind.trips or not is_steady(kind, o) or case.path then
      return nil
   end
   for _, record in ipairs(list) do
      local client = ends(record)
      local times = client.rtt or kind.udp and client.transaction
      shortest = math.min(shortest, times and times.min_ns or math.huge)
   end
   local pause = (o.load.think + math.max(o.load.think, o.load.think_max)) / 2 -- random between the two
   local each = kind.trips(o) * shortest + (kind.pauses and kind.pauses(o) * pause * 1e9 or 0)
   return shortest > 0 and shortest < math.huge and o.connections * 1e9 / each or nil
end

-- The share of queries that were answered in time, and the number of queries.
local function answered(list)
   local sent, came = 0, 0
   for _, record in ipairs(list) do
      local total = ends(record).total
      sent, came = sent + datagrams.sent(total), came + total.transactions
   end
   return sent > 0 and came / sent or 0, sent
end

-- If every trial fails, the device has failed. Without any knowledge the row is undecided.
local function judge_failures(row)
   local words = {}
   for why, n in pairs(row.failures) do
      words[#words + 1] = n > 0 and ("%s %s"):format(format.count(n), (why:gsub("_", " "))) or nil
   end
   if row.validity == "valid" and math.max(unpack(row.figures)) == 0 and words[1] then
      table.sort(words)
      row.outcome, row.reasons = "fail", { "nothing came through: " .. table.concat(words, ", ") }
   end
end

-- The share of a limit, percent.
local function share(test, o, list, reached, most)
   local kind = kinds.of(test)
   local one_more = not kind.figure:find "_bps$" and 1 or 8 * (kind.udp and o.datagram
      or math.max(theory.mss(o.ip, theory.of(o)), kind.tls and o.tls.record or 0))
   return theory.share(reached, most, ends(list[1]).measured_s, one_more)
end

local function row_of(plan, tester, case, o, list)
   local row, rate = blank(case, o, plan), settings.line_rate(tester)
   for i, record in ipairs(list) do
      row.figures[i], row.trials[i] = figure_of(case.test, record), record.trial
      add_failures(row, record)
      add_verdict(row, record)
   end
   judge_failures(row)
   local client = ends(list[#list])
   local mean = stats.mean(row.figures)
   row[kinds.of(case.test).figure] = mean
   row.confidence = confidence(row.figures)
   row.theoretical = case.theoretical or rate and M.theoretical(plan, tester, case.test, o, rate) or nil
   row.theoretical_legacy = rate and case.legacy and theory.legacy(rate, o.ip, case.test, o.mtu) or nil
   row.round_trip_limit = round_trip_limit(case, o, list)
   local most = math.min(row.theoretical or math.huge, row.round_trip_limit or math.huge)
   row.theoretical_percent = most < math.huge and share(case.test, o, list, mean, most) or nil
   for _, times in ipairs { "setup", "transaction", "first_byte", "last_byte", "rtt" } do
      row[times] = client[times]
   end
   row.flow_blocked = flow_blocked(list[#list])
   row.hol_ns, row.flood_frames = hol(case.test, list[#list]), flooded(list)
   row.window_bps = case.window and client.rtt and case.window * 8e9 / client.rtt.min_ns or nil
   row.busy_polls, row.peer = busiest(list), client.peer
   row.reverse_bps = client.iperf and iperf.figure(client, true)
   row.connection_memory_bytes = per_connection(list)
   local counts = kinds.of(case.test).counts
   row[counts or "bad_responses"] = own_counts(case.test, list)
   if counts == "dns_answers" then
      row.answered_ratio, row.queries = answered(list)
   end
   row.service_demand = M.demand(row, list)
   row.tls = kinds.of(case.test).tls and tls.figures(list, tester.wires ~= nil) or nil
   row.page = kinds.of(case.test).pages and pages.figures(list, o) or nil
   row.quic = kinds.of(case.test).quic and quic.figures(list, tester.wires ~= nil) or nil
   if not kinds.of(case.test).udp then
      add_connections(row, list)
   end
   row.transport = case.path and transport_figures.of(plan, tester, case, row, list) or nil
   if kinds.of(case.test).figures then
      kinds.of(case.test).figures(row, list)
   end
   if case.test == "UDP_STREAM" then
      datagrams.figures(row, ends(list[#list]))
   end
   return row
end

--- Make one trial of a case.
-- @param case  { test =, name = the difference of this case in words, or nil; set = its own settings }
-- @param more  unusual values: number (1) of the repetition, phase ("measure"), finish = function(record),
--              called before the record is kept
-- @return its record
function M.trial(plan, tester, session, case, more)
   local o, test = settings.of(plan, case.set), case.test
   return session:trial {
      test = "l4." .. test, phase = more.phase or "measure", seconds = o.duration,
      direction = plan.ports[1].name .. "->" .. plan.ports[2].name,
      setting = settings.parameters(test, o), seed = o.seed + 2 * (more.number or 1),
      draw = case.path and more.number,
      title = case.name and test .. ", " .. case.name or test,
      make = function(ask)
         local record = measure(plan, tester, test, o, ask)
         if more.finish then
            more.finish(record)
         end
         return record
      end,
      outcome = function(record)
         return in_words(test, figure_of(test, record))
            .. (record.fell_short and ": " .. table.concat(record.fell_short, "; ") or "")
      end,
   }
end

--- The row of a case, made from its trials alone.
function M.row(plan, tester, case, list)
   return row_of(plan, tester, case, settings.of(plan, case.set), list)
end

--- Make a case, repeated as the plan says.
-- @return its row of results.l4 (docs/reference/results.md)
function M.run(plan, tester, session, case)
   local list = {}
   for i = 1, plan.l4.repetitions do
      list[i] = M.trial(plan, tester, session, case, { number = i })
   end
   return M.row(plan, tester, case, list)
end

-- How an expected number of connections ended: none may be missing.
local function account(row)
   local words = {
      ("%s connections opened, %s closed"):format(format.count(row.opened), format.count(row.closed)),
   }
   local function add(n, what)
      words[#words + 1] = n > 0 and ("%s %s"):format(format.count(n), what) or nil
   end
   for _, why in ipairs(ENDS) do
      add(row.failures[why], (why:gsub("_", " ")))
   end
   add(row.failures.expired, "without an answer in time")
   add(row.open, "still open when the drain was over")
   add(row.failures.bad_response, "bad response")
   words[#words + 1] = row.wrong_bytes > 0 and format.count(row.wrong_bytes) .. " wrong bytes" or nil
   return "; " .. table.concat(words, ", ") .. (#words == 1 and ", nothing failed" or "")
end

--- A row in a sentence, for the person who waits.
function M.sentence(row)
   local text = in_words(row.test, row[kinds.of(row.test).figure])
   local of = row.theoretical_percent and (" (%.1f %% of what is possible)"):format(row.theoretical_percent) or ""
   local name = row.case and row.test .. ", " .. row.case or row.test
   local load = row.parameters.load
   if (row.concurrent_max or 0) >= MANY and row.connection_memory_bytes then
      of = of .. (", %s connections of %.0f bytes of memory each"):format(
         format.count(row.concurrent_max), row.connection_memory_bytes)
   end
   of = of .. (row.opened and load and load.cycles > 0 and account(row) or "")
   return ("%s: %s%s%s"):format(name, text, of, row.validity == "valid" and "" or ", " .. row.validity)
end

return M
