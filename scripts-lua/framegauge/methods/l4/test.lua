-- SPDX-License-Identifier: BSD-3-Clause

--- One case of a campaign: a test with its settings, so often as the plan says, and the row that follows.
local app = require "framegauge.l4.app"
local format = require "framegauge.text.format"
local iperf = require "framegauge.methods.l4.iperf3"
local kinds = require "framegauge.methods.l4.kinds"
local records = require "framegauge.l4.record"
local settings = require "framegauge.methods.l4.settings"
local stats = require "framegauge.trial.stats"
local theory = require "framegauge.l4.theory"
local trial = require "framegauge.l4.trial"
local units = require "framegauge.text.units"
local verdict = require "framegauge.text.verdict"

local M = {}

-- The figure of one run, of the client and of the server, which is nil where it is not ours.
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
      or format.count(math.floor(value + 0.5)) .. " " .. key:match "^%a+" .. "/s"
end

-- Service demand: processor time for a unit of work, as netperf has it, a transaction or 1024 bytes of
-- payload. netperf takes it from the load of the whole machine; our lcores poll and are never idle, so it is
-- the time of the polls that had something to do (method "P"). On the virtual wire, where nothing may depend
-- on the machine, there is none.
local KIB = 1024

-- Units that a side has dealt with in the whole of a trial.
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
-- @return { per = "transaction" or "KiB", method = "P", client_us =, server_us = }, without the server where
-- it is not ours; nil on the virtual wire, and where nothing was done
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

local MANY = 10000 -- connections, whose memory is worth a word

local count = records.count

local function sides_of(plan, bench, test, o)
   local client, server = settings.apps(plan, bench, test, o, 1)
   local rate = settings.line_rate(bench)
   local capacity = settings.capacity(test, o, rate and theory.cc(rate, o.ip, theory.of(o)))
   return {
      { port = 1, apps = { client }, capacity = capacity },
      not o.peer and { port = 2, apps = { server }, capacity = capacity } or nil,
   }
end

local SHORTFALL = 0.01 -- of the datagrams that were to be sent

-- A sentence where the tester could not send as much as it should; nil: it did.
local function too_slow(rate, client)
   if client.iperf then
      return iperf.too_slow(rate, client)
   end
   local sent = client.measured.datagrams_out / client.measured_s
   return rate and sent < rate * (1 - SHORTFALL)
      and ("client: %.0f datagrams a second were sent instead of %.0f"):format(sent, rate) or nil
end

-- Make one trial. @return its record
local function measure(plan, bench, test, o, ask)
   local sides, engine = trial.run(bench, {
      sides = sides_of(plan, bench, test, o),
      seconds = o.duration + (settings.is_iperf(o) and iperf.SETUP or 0), omit = o.omit, drain = o.drain,
      learning_wait = o.learning_wait, settle = o.settle, mtu = o.mtu, seed = ask.seed,
      interval = o.interval,
   })
   for i, side in ipairs(sides) do
      side.role = i == 1 and "client" or "server"
   end
   local client, server = M.ends { sides = sides }
   local nothing = figure(test, client, server) == 0
   return records.of(ask, bench, sides, engine, client.iperf and iperf.failure(client) or nothing,
      test == "UDP_STREAM" and too_slow(o.datagram_rate, client) or nil)
end

--- The results of the client and of the server in a record; the server's is nil where it is not ours.
function M.ends(record)
   local server = record.sides[2]
   return record.sides[1].apps[1], server and server.apps[1]
end

local ends = M.ends

local function figure_of(test, record)
   return figure(test, ends(record))
end

-- Keys of a row by the counters they are the sums of.
local CAUSES = {
   retransmitted_segments = "segments_retransmitted", fast_retransmits = "fast_retransmits",
   timeouts = "timeouts",
   syn_retransmits = "syn_retransmits", wrong_bytes = "wrong_octets",
}

-- What was wrong with responses: only what there was.
local function bad_responses(test, list)
   local causes
   for _, why in ipairs(app.own_sums(test)) do
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

local function add_failures(row, record)
   local client = ends(record)
   for _, why in ipairs(app.ENDS) do
      row.failures[why] = row.failures[why] + client.total.ended[why]
   end
   row.failures.expired = row.failures.expired + client.total.expired
   row.failures.bad_response = row.failures.bad_response + client.total.refused
   for _, side in ipairs(record.sides) do
      for key, counter in pairs(CAUSES) do
         row[key] = row[key] + count(side, counter)
      end
   end
end

-- How many connections there were in all, of the client's: so many that each can be accounted for.
local function add_connections(row, list)
   row.opened, row.closed = 0, 0
   for _, record in ipairs(list) do
      local t = (ends(record)).total
      row.opened, row.closed = row.opened + t.opened, row.closed + t.ended.closed
   end
end

local function add_verdict(row, record)
   row.validity = verdict.worse(row.validity, record.validity)
   for _, reason in ipairs(record.reasons) do
      row.reasons[#row.reasons + 1] = reason
   end
end

-- How much of their polls the workers had something to do in, the busiest of all.
local function busiest(list)
   local busy = 0
   for _, record in ipairs(list) do
      for _, side in ipairs(record.sides) do
         busy = math.max(busy, side.station.busy)
      end
   end
   return busy
end

-- Octets of memory that a connection took at most, of both ends and all trials.
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

local function udp_figures(row, record)
   local client, server = ends(record)
   if client.iperf then
      iperf.udp(row, client)
      return
   end
   row.sent_bps = client.measured.datagrams_out * row.parameters.datagram * 8 / client.measured_s
   row.lost = client.total.datagrams_out - server.total.datagrams_in
   row.loss_ratio = client.total.datagrams_out > 0 and row.lost / client.total.datagrams_out or 0
   row.reordered, row.duplicates, row.jitter_ns = server.reordered, server.duplicates, server.jitter_ns
end

-- Distribution of the mean of a few figures: Student's t for 95 % between both ends, by degrees of freedom.
local T95 = {
   12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
   2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
}
local T95_MANY = 1.96

local function confidence(list)
   local n = #list
   return n > 1 and (T95[n - 1] or T95_MANY) * stats.stddev(list) / math.sqrt(n) or nil
end

local function blank(case, o, plan)
   return {
      test = case.test, case = case.name, direction = plan.ports[1].name .. "->" .. plan.ports[2].name,
      parameters = settings.parameters(case.test, o), figures = {}, trials = {},
      failures = { refused = 0, no_answer = 0, reset = 0, lost = 0, aborted = 0, expired = 0,
         bad_response = 0 },
      retransmitted_segments = 0, fast_retransmits = 0, timeouts = 0, syn_retransmits = 0, wrong_bytes = 0,
      validity = "valid", reasons = {},
   }
end

--- The most of a test's figure that a line allows.
-- @param o  settings
function M.theoretical(plan, bench, test, o, rate)
   return kinds.of(test).theory(rate, o.ip, theory.of(o), function()
      return (settings.apps(plan, bench, test, o, 1))
   end)
end

local function row_of(plan, bench, case, o, list)
   local row, rate = blank(case, o, plan), settings.line_rate(bench)
   for i, record in ipairs(list) do
      row.figures[i], row.trials[i] = figure_of(case.test, record), record.trial
      add_failures(row, record)
      add_verdict(row, record)
   end
   local client = ends(list[#list])
   local mean = stats.mean(row.figures)
   row[kinds.of(case.test).figure] = mean
   row.confidence = confidence(row.figures)
   row.theoretical = case.theoretical or rate and M.theoretical(plan, bench, case.test, o, rate) or nil
   row.theoretical_legacy = rate and case.legacy and theory.legacy(rate, o.ip, case.test, o.mtu) or nil
   row.theoretical_percent = row.theoretical and 100 * mean / row.theoretical or nil
   for _, times in ipairs { "setup", "transaction", "first_byte", "last_byte", "rtt" } do
      row[times] = client[times]
   end
   row.window_bps = case.window and client.rtt and case.window * 8e9 / client.rtt.min_ns or nil
   row.busy_polls, row.peer = busiest(list), client.peer
   row.reverse_bps = client.iperf and iperf.figure(client, true)
   row.connection_memory_bytes, row.bad_responses = per_connection(list), bad_responses(case.test, list)
   row.service_demand = M.demand(row, list)
   if not kinds.of(case.test).udp then
      add_connections(row, list)
   end
   if case.test == "UDP_STREAM" then
      udp_figures(row, list[#list])
   end
   return row
end

--- Make one trial of a case.
-- @param case  { test =, name = what is different in it, in words, or nil; set = settings of its own }
-- @param more  what is not as usual: number (1) of the repetition, phase ("measure"), finish =
-- function(record),
--              called before the record is kept
-- @return its record
function M.trial(plan, bench, session, case, more)
   local o, test = settings.of(plan, case.set), case.test
   return session:trial {
      test = "l4." .. test, phase = more.phase or "measure", seconds = o.duration,
      direction = plan.ports[1].name .. "->" .. plan.ports[2].name,
      setting = settings.parameters(test, o), seed = o.seed + 2 * (more.number or 1),
      title = case.name and test .. ", " .. case.name or test,
      make = function(ask)
         local record = measure(plan, bench, test, o, ask)
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

--- The row of a case from its trials, which is all there is of them.
function M.row(plan, bench, case, list)
   return row_of(plan, bench, case, settings.of(plan, case.set), list)
end

--- Make a case, so often as the plan says.
-- @return its row of results.l4 (docs/reference/results.md)
function M.run(plan, bench, session, case)
   local list = {}
   for i = 1, plan.l4.repetitions do
      list[i] = M.trial(plan, bench, session, case, { number = i })
   end
   return M.row(plan, bench, case, list)
end

local ENDS = { "refused", "no_answer", "reset", "lost", "aborted" } -- of a connection, other than closed

-- What became of connections of which there were to be so many: none may be missing.
local function account(row)
   local words = {
      ("%s connections opened, %s closed"):format(format.count(row.opened), format.count(row.closed)),
   }
   local function add(n, what)
      words[#words + 1] = n > 0 and ("%s %s"):format(format.count(n), what) or nil
   end
   local open = row.opened - row.closed
   for _, why in ipairs(ENDS) do
      add(row.failures[why], (why:gsub("_", " ")))
      open = open - row.failures[why]
   end
   add(open, "still open when the drain was over")
   add(row.failures.bad_response, "bad response")
   words[#words + 1] = row.wrong_bytes > 0 and format.count(row.wrong_bytes) .. " wrong bytes" or nil
   return "; " .. table.concat(words, ", ") .. (#words == 1 and ", nothing failed" or "")
end

--- A row in a sentence, for a person who is waiting.
function M.sentence(row)
   local text = in_words(row.test, row[kinds.of(row.test).figure])
   local of = row.theoretical_percent and (" (%.1f %% of the theoretical "
      .. "maximum)"):format(row.theoretical_percent) or ""
   local name = row.case and row.test .. ", " .. row.case or row.test
   local load = row.parameters.load
   if row.parameters.connections >= MANY and row.connection_memory_bytes then
      of = of .. (", %s connections of %.0f bytes of memory each"):format(
         format.count(row.parameters.connections), row.connection_memory_bytes)
   end
   of = of .. (row.opened and load and load.cycles > 0 and account(row) or "")
   return ("%s: %s%s%s"):format(name, text, of, row.validity == "valid" and "" or ", " .. row.validity)
end

return M
