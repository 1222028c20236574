-- SPDX-License-Identifier: BSD-3-Clause

--- TCP and UDP tests: one row each.
local charts = require "framegauge.report.l4.charts"
local csv = require "framegauge.report.csv"
local evidence = require "framegauge.report.l4.evidence"
local expect = require "framegauge.expect"
local fields = require "framegauge.report.l4.fields"
local format = require "framegauge.report.format"
local iperf = require "framegauge.report.l4.iperf"
local jtl = require "framegauge.report.l4.jtl"
local series = require "framegauge.report.l4.series"
local tables = require "framegauge.report.html.tables"
local units = require "framegauge.units"
local words = require "framegauge.report.html.words"

local M = {}

M.NAME = "TCP and UDP tests"
M.STANDARD = nil -- there is none for them
M.NOT_CONFORMING = "not as usual"
M.ORDER = fields.ORDER

M.published = fields.published
M.evidence = evidence.body
M.TRIALS = evidence.COLUMNS

local UNITS = {
   goodput_bps = "payload", received_bps = "payload", transactions_per_s = "transactions/s",
   connections_per_s = "connections/s", concurrent_connections = "connections at a time",
}

-- "941.5 Mbit/s payload", "29,150 transactions/s"
local function in_words(value, key)
   if key:match "_bps$" then
      return units.format_bits(value) .. " " .. UNITS[key]
   end
   return format.count(math.floor(value + 0.5)) .. " " .. UNITS[key]
end

local function figure(row)
   return in_words(fields.figure(row))
end

local function theoretical(row)
   local _, key = fields.figure(row)
   return row.theoretical and in_words(row.theoretical, key)
end

local function percent(row)
   return row.percent and format.decimal(row.percent, 2)
end

local function microseconds(key, part)
   return function(row)
      return row[key] and format.decimal(row[key][part] / 1e3, 1)
   end
end

local function failures(row)
   local sum = 0
   for _, n in pairs(row.failures) do
      sum = sum + n
   end
   return format.count(sum)
end

local function or_dash(show)
   return function(row)
      return show(row) or "-"
   end
end

function M.rows(results)
   return results.l4 or {}
end

function M.csv(result, moment)
   local rows, list = M.rows(result.results), {}
   if #rows > 0 then
      list = iperf.files(result)
      list[#list + 1] = { "l4.csv", csv.text(fields.CSV, rows) }
      list[#list + 1] = { "l4.jtl", jtl.text(result.trials, moment.started) }
   end
   return list
end

-- "TCP_STREAM, IPv4, MTU 1500"
local function name(row)
   return row.case and row.test .. ", " .. row.case or row.test
end

local COLUMNS = {
   { "", "test", name, left = true },
   { "", "measured", figure },
   { "", "theoretical", or_dash(theoretical) },
   { "", "%", or_dash(percent) },
   { "mean", "us", or_dash(microseconds("transaction", "mean_ns")) },
   { "p99", "us", or_dash(microseconds("transaction", "p99_ns")) },
   { "sent", "again", function(row) return format.count(row.retransmitted_segments) end },
   { "", "failures", failures },
   { "", "verdict", function(row) return row.verdict end, left = true, verdict = true },
}

function M.tables(result)
   return { { title = "TCP and UDP, client to server", columns = COLUMNS, rows = M.rows(result.results) } }
end

-- "its next load up, 20,280, fell short: ..."
local function limit_note(row, add)
   if row.fell_short then
      add(("%s: a load of %s fell short: %s."):format(name(row), format.count(row.upper_load),
         table.concat(row.fell_short, "; ")))
   end
end

-- "Spread per flow: 33.1 % to west, ..."
local function balance_note(row, add)
   if row.spreading then
      local shares = {}
      for i, path in ipairs(row.paths) do
         shares[i] = ("%.2f %% to %s (%s)"):format(100 * path.share, path.port, format.plural(path.flows,
            "flow"))
      end
      add(("Spread: %s. Of %d flows %d were seen on more than one path: %s. Out of order within a flow: "
         .. "%s."):format(
         row.spreading, row.flows, row.flows_split, table.concat(shares, ", "),
         format.plural(row.reordered, "datagram")))
   end
end

-- "service demand 1.520 us of the client's processor and 1.310 us of the server's per transaction"
local function demand_note(row, add)
   local o = row.service_demand
   if o then
      add(("%s: service demand %s us of the client's processor%s per %s, in polls that had something to "
         .. "do."):format(name(row), format.decimal(o.client_us, 3),
         o.server_us and (" and %s us of the server's"):format(format.decimal(o.server_us, 3)) or "", o.per))
   end
end

function M.notes(result, add)
   add("Octets of payload; theoretical is what the line allows at most, with one transaction after the other "
      .. "on each connection limited by the round trip, too.")
   for _, row in ipairs(M.rows(result.results)) do
      limit_note(row, add)
      balance_note(row, add)
      demand_note(row, add)
      for _, reason in ipairs(row.reasons) do
         add(("%s: %s: %s."):format(name(row), row.verdict, reason))
      end
   end
end

function M.suites(result)
   local cases = {}
   for i, row in ipairs(M.rows(result.results)) do
      local why, short = table.concat(row.reasons, "; "), expect.short_of(result, row)
      cases[i] = short and { failure = "the device fell short of " .. short, type = "expectation" } or {
         error = row.verdict ~= "valid" and row.verdict .. ": " .. why or nil,
         type = row.verdict ~= "valid" and row.verdict or nil,
      }
      cases[i].name, cases[i].seconds = name(row), row.parameters.duration_s * #row.trials
   end
   return { { name = "l4", cases = cases } }
end

function M.test_names(result)
   return table.concat(result.plan.l4.tests, ", ")
end

local MOST_TILES = 8

-- The best of each test.
local function best(rows)
   local list, index = {}, {}
   for _, row in ipairs(rows) do
      local at = index[row.test]
      if not at then
         list[#list + 1], index[row.test] = row, #list + 1
      elseif (fields.figure(row)) > (fields.figure(list[at])) then
         list[at] = row
      end
   end
   return list
end

function M.tiles(result)
   local list = {}
   for i, row in ipairs(best(M.rows(result.results))) do
      local of = theoretical(row) and "of " .. theoretical(row)
      list[i] = i <= MOST_TILES and { name(row), figure(row), "", of } or nil
   end
   return list
end

-- "± 0.12 Mbit/s": half of the interval that has the mean with 95 % confidence
local function confidence(row)
   local _, key = fields.figure(row)
   return row.confidence and "± " .. in_words(row.confidence, key):match "^(%S+ %S+)"
end

local function legacy(row)
   return row.theoretical_legacy and in_words(row.theoretical_legacy, "goodput_bps")
end

local HTML = {
   { "Test", "", name, left = true },
   { "Direction", "", function(row) return words.direction(row.direction) end, left = true },
   { "Measured", "", figure },
   { "95 %", "confidence", confidence, optional = true },
   { "Theoretical", "", theoretical },
   { "Legacy formula", "", legacy, optional = true },
   { "Share", "%", percent },
   { "Verdict", "", function(row) return words.verdict(row.verdict) end, left = true },
}

function M.summary(result)
   return tables.build { caption = "The tests", columns = HTML, rows = M.rows(result.results) }
end

local DETAILS = {
   { "Test", "", name, left = true },
   { "Set-up mean", "us", microseconds("setup", "mean_ns"), optional = true },
   { "Transaction min", "us", microseconds("transaction", "min_ns"), optional = true },
   { "mean", "us", microseconds("transaction", "mean_ns"), optional = true },
   { "p99", "us", microseconds("transaction", "p99_ns"), optional = true },
   { "max", "us", microseconds("transaction", "max_ns"), optional = true },
   { "Sent again", "segments", function(row) return format.count(row.retransmitted_segments) end },
   { "Time-outs", "", function(row) return format.count(row.timeouts) end },
   { "Failures", "", failures },
   { "Datagrams lost", "", function(row) return row.lost and format.count(row.lost) end, optional = true },
   { "Wrong", "octets", function(row) return format.count(row.wrong_octets) end },
}

local function reasons(row)
   return #row.reasons > 0 and table.concat(row.reasons, "; ") or nil
end

function M.sections(result)
   local list = charts.sections(result)
   list[#list + 1] = series.section(result)
   list[#list + 1] = {
      "Details", "netperf's tests by name",
      tables.build { caption = "Times and failures", columns = DETAILS, rows = M.rows(result.results),
         below = reasons, class = "compact" },
   }
   return list
end

return M
