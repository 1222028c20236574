-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 9411: the figures of each test at the top, then each with its KPI over the sustain phase.
local l4 = require "framegauge.methods.l4.report.evidence"
local lines = require "framegauge.report.chart.lines"
local phases = require "framegauge.methods.rfc9411.phases"
local result_rows = require "framegauge.methods.rfc9411.result"
local tiles = require "framegauge.report.html.tiles"
local units = require "framegauge.text.units"

local M = {}

M.NAME = "RFC 9411 security device benchmark"
M.trial_columns = l4.COLUMNS

function M.notes(result, add)
   local o = result.plan.rfc9411
   add(("Phases: ramp up %s, sustain %s, ramp down %s; figures are of the sustain phase."):format(
      units.format_time(o.ramp_up), units.format_time(o.sustain), units.format_time(o.ramp_down)))
   add(("Addresses: %d of clients, %d of servers. Throughput counts frames with FCS that left the device, both ways."):format(o.clients, o.servers))
   add((phases.secured(result.plan) and "HTTP over TLS (RFC 9411, 7.6 to 7.9). A connection counts with its handshake." or "HTTP without TLS.")
      .. " Latency is from the SYN to the first and the last byte of the first response.")
   for _, text in ipairs(o.features) do
      add("Device: " .. text)
   end
end

-- Of each test: the KPI that is drawn over the sustain phase.
local KPI = {
   connections = { "connections_per_s", "connections a second" },
   http_throughput = { "throughput_bps", "bit/s" },
   latency = { "transactions_per_s", "transactions a second" },
   concurrent = { "concurrent", "open connections" },
}

local function label(row)
   return phases.size(row.object) .. (row.half_of and ", half of " .. row.half_of:gsub("_", " ") or "")
end

function M.chart(one, rows)
   local kpi, points, title = KPI[one.name], {}, one.title
   for _, row in ipairs(rows) do
      for _, sample in ipairs(row.samples or {}) do
         points[#points + 1] = { at = sample.from_s, value = sample[kpi[1]], label = label(row) }
      end
   end
   return points[2] and lines.draw {
      id = "time-" .. one.name, title = title .. ", sustain phase", rows = points,
      group = function(point) return point.label end,
      description = title .. " over the sustain phase.", caption = title .. " over the sustain phase.",
      x = { of = function(point) return point.at end, label = "seconds of the sustain phase" },
      y = { label = kpi[2] },
      lines = { { y = "value", name = tostring } },
      say = function(point, y) return ("%.4g s: %.6g"):format(point.at, y) end,
   } or nil
end

-- Figures to remember.
local TILES = {
   connections = { "connections_per_s", ">=", "connections/s" },
   http_throughput = { "throughput_bps", ">=", "" },
   latency = { "ttfb.mean_ns", "<=", "to the first byte" },
   concurrent = { "concurrent_mean", ">=", "connections" },
}

--- Figures to remember: the worst row of each test.
function M.tiles(result)
   return tiles.of(result_rows.TABLES, result.results, TILES)
end

return M
