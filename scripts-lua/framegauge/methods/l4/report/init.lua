-- SPDX-License-Identifier: BSD-3-Clause

--- TCP and UDP tests: a row for each, charts of their campaign, and forms that other programs read.
local charts = require "framegauge.methods.l4.report.charts"
local evidence = require "framegauge.methods.l4.report.evidence"
local exports = require "framegauge.methods.l4.report.exports"
local format = require "framegauge.text.format"
local formatters = require "framegauge.report.html.formatters"
local notes = require "framegauge.report.notes"
local result_rows = require "framegauge.methods.l4.result"
local tables = require "framegauge.report.html.tables"
local tables_of = require "framegauge.core.tables"

local M = {}

M.NAME = "TCP and UDP tests"
M.evidence = evidence.body
M.trial_columns = evidence.COLUMNS

local name = result_rows.name
local MAX_DATAGRAMS = 10 -- rows whose losses have a sentence

local function rows_of(result)
   return result.results.l4 or {}
end

function M.files(result)
   return #rows_of(result) > 0 and exports.iperf3(result) or {}
end

-- "its next load up, 20,280, fell short: ..."
local function limit_note(row)
   return row.fell_short and row.upper_load and ("%s: a load of %s fell short: %s."):format(name(row),
      format.count(row.upper_load),
      table.concat(row.fell_short, "; "))
end

-- "4 SYNs came to a peer that ..."
local function known_ports_note(row)
   return (row.known_ports or 0) > 0 and ("%s: %s came to a peer that still had a connection of the same ports. It was reset, and the SYN sent again."):format(name(row),
      format.plural(row.known_ports, "SYN"))
end

-- "Spread per flow: 33.1 % to west, ..."
local function balance_note(row)
   local shares = {}
   for i, path in ipairs(row.paths or {}) do
      shares[i] = ("%.2f %% to %s (%s)"):format(100 * path.share, path.port, format.plural(path.flows,
         "flow"))
   end
   return row.spreading and ("Spread: %s. Of %d flows %d were seen on more than one path: %s. Out of order within a flow: %s."):format(row.spreading, row.flows, row.flows_split, table.concat(shares, ", "),
      format.plural(row.reordered, "datagram"))
end

-- "service demand 1.520 us of the client's processor and 1.310 us of the server's per transaction"
local function demand_note(row)
   local o = row.service_demand
   return o and ("%s: service demand %s us of the client's processor%s per %s, in polls that had something to do."):format(
      name(row), format.decimal(o.client_us, 3),
      o.server_us and (" and %s us of the server's"):format(format.decimal(o.server_us, 3)) or "", o.per)
end

-- "of 40,704 datagrams 814 lost, 5,699 duplicate, 3,256 out of order"
local function datagrams_note(row)
   local parts = notes.disorder_of(row.duplicates or 0, row.reordered or 0)
   if (row.lost or 0) > 0 then
      table.insert(parts, 1, format.count(row.lost) .. " lost")
   end
   return parts[1] and row.datagrams and not row.spreading and ("%s: of %s %s."):format(name(row),
      format.plural(row.datagrams, row.test == "PING" and "request" or "datagram"), table.concat(parts, ", "))
end

local function has_bits(row)
   local _, key = result_rows.figure(row)
   return key and key:find "_bps$"
end

function M.notes(result, add)
   local rows = rows_of(result)
   if tables_of.any(rows, has_bits) then
      add "Bits are of payload."
   end
   if tables_of.any(rows, result_rows.most) then
      add "Possible: the limit of the line. Where each transaction waits for the one before it, the limit of the round trip: connections / (round trips of a transaction × the shortest measured round trip + pauses of the client)."
   end
   local noted = 0
   for _, row in ipairs(rows) do
      local note = datagrams_note(row)
      noted = noted + (note and 1 or 0)
      add(note and noted <= MAX_DATAGRAMS and note or nil)
      add(limit_note(row) or nil)
      add(balance_note(row) or nil)
      add(demand_note(row) or nil)
      add(known_ports_note(row) or nil)
   end
   add(noted > MAX_DATAGRAMS and ("The same in %d more rows."):format(noted - MAX_DATAGRAMS) or nil)
end

function M.test_names(result)
   return table.concat(result.plan.l4.tests, ", ")
end

local MAX_TILES = 12

-- The best row of each test.
function M.tiles(result)
   local list = {}
   for i, group in ipairs(formatters.grouped(rows_of(result), "test")) do
      local best = formatters.largest(group.rows, result_rows.figure)
      local most, by = result_rows.most(best)
      local page = best.page and best.page.load
      local figure, unit = result_rows.in_words(best, (result_rows.figure(best))):match "^(%S+) ?(.*)$"
      list[i] = i <= MAX_TILES and {
         name(best), figure, unit, most and ("of %s by the %s"):format(result_rows.plain(best, most), by)
            or page and "median load " .. format.nanoseconds(page.p50_ns) or nil, row = best,
      } or nil
   end
   return list
end

function M.sections(result)
   local list = charts.sections(result)
   list[#list + 1] = charts.over_time(result)
   list[#list + 1] = {
      "Details", "netperf's tests by name",
      tables.of { result_rows.ROW, "details", rows_of(result), caption = "Times and failures",
         below = tables.reasons,
         class = "compact" },
   }
   return list
end

return M
