-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 6349: what the path is, and a row for each window and direction.
local csv = require "framegauge.report.csv"
local evidence = require "framegauge.report.l4.evidence"
local expect = require "framegauge.expect"
local fields = require "framegauge.report.rfc6349.fields"
local format = require "framegauge.report.format"
local html = require "framegauge.report.rfc6349.html"
local outcome = require "framegauge.report.outcome"
local units = require "framegauge.units"

local M = {}

M.NAME = "RFC 6349 TCP throughput"
M.STANDARD = "RFC 6349"
M.NOT_CONFORMING = "not all of RFC 6349"
M.ORDER = fields.ORDER

M.rows = fields.rows
M.published = fields.published
M.evidence = evidence.body
M.TRIALS = evidence.COLUMNS
M.summary = html.summary
M.sections = html.sections
M.tiles = html.tiles

local function transfers(result)
   return result.results.rfc6349 and result.results.rfc6349.transfers or {}
end

function M.test_names()
   return "TCP throughput"
end

function M.csv(result)
   local rows = transfers(result)
   return #rows > 0 and { { "rfc6349.csv", csv.text(fields.CSV, rows) } } or {}
end

local function or_dash(key, write)
   return function(row)
      return row[key] and write(row[key]) or "-"
   end
end

local function fixed(decimals)
   return function(value)
      return format.decimal(value, decimals)
   end
end

local function share(row)
   return ("%.4g"):format(row.window_share * 100)
end

local COLUMNS = {
   { "", "direction", function(row) return row.direction .. (row.both_directions and ", both" or "") end,
      left = true },
   { "windows", "% of BDP", share },
   { "", "achieved", or_dash("achieved_bps", units.format_bits) },
   { "", "achievable", or_dash("achievable_bps", units.format_bits) },
   { "time", "ratio", or_dash("transfer_time_ratio", fixed(3)) },
   { "efficiency", "%", or_dash("efficiency_percent", fixed(2)) },
   { "buffer", "delay, %", or_dash("buffer_delay_percent", fixed(1)) },
   { "", "verdict", function(row) return row.verdict end, left = true, verdict = true },
}

function M.tables(result)
   return { { title = "TCP throughput", columns = COLUMNS, rows = transfers(result) } }
end

local function path_notes(found, add)
   local mtu, rtt = found.path_mtu, found.baseline
   add(mtu.mtu and ("Path MTU: %d octets%s."):format(mtu.mtu, mtu.given and ", given" or "")
      or "Path MTU: no probe came back.")
   add(rtt and rtt.rtt_ns and ("Baseline round trip: %s, the shortest of %s."):format(
      format.nanoseconds(rtt.rtt_ns), format.plural(rtt.samples, "sample")))
   for _, row in ipairs(found.bandwidth or {}) do
      add(row.l1_bps and ("Bottleneck bandwidth, %s: %s, of which TCP can have %s."):format(row.direction,
         units.format_bits(row.l1_bps, 1), units.format_bits(row.achievable_bps)))
   end
end

--- What one must know to believe the table.
function M.notes(result, add)
   local found = result.results.rfc6349
   if not found or not found.path_mtu then
      return
   end
   path_notes(found, add)
   for _, row in ipairs(transfers(result)) do
      for _, warning in ipairs(row.warnings) do
         add(("%s, %s %% of the BDP: %s."):format(row.direction, share(row), warning))
      end
   end
   for _, row in ipairs(M.rows(result.results)) do
      for _, reason in ipairs(row.reasons) do
         add(("%s: %s."):format(row.verdict, reason))
      end
   end
end

--- A case for each transfer.
function M.suites(result)
   local cases = {}
   for i, row in ipairs(transfers(result)) do
      local short = expect.short_of(result, row)
      cases[i] = short and { failure = "the path fell short of " .. short, type = "expectation" }
         or outcome(row)
      cases[i].name = ("%s, windows of %s %% of the BDP%s"):format(row.direction, share(row),
         row.both_directions and ", both ways at once" or "")
      cases[i].seconds = row.actual_s or 0
   end
   return { { name = "rfc6349", cases = cases } }
end

return M
