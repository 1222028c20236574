-- SPDX-License-Identifier: BSD-3-Clause

--- Traffic: a row for each stream of the plan.
local calibration = require "framegauge.report.calibration"
local csv = require "framegauge.report.csv"
local fields = require "framegauge.report.traffic.fields"
local format = require "framegauge.report.format"
local html = require "framegauge.report.traffic.html"
local outcome = require "framegauge.report.outcome"

local M = {}

M.NAME = "Traffic"
M.STANDARD = nil -- there is none for it
M.ORDER = fields.ORDER

M.published = fields.published
M.summary = html.summary
M.sections = html.sections
M.tiles = html.tiles

local MOST = 100 -- rows on a terminal

local count, decimal = format.count, format.decimal

function M.rows(results)
   return results.traffic or {}
end

function M.test_names(result)
   return format.plural(#result.plan.streams, "stream")
end

function M.csv(result)
   local errors = fields.errors(result.results)
   return {
      { "traffic.csv", csv.text(fields.COLUMNS, M.rows(result.results)) },
      errors[1] and { "errors.csv", csv.text(fields.ERRORS, errors) } or nil,
   }
end

local function latency(key)
   return function(row)
      return row.latency and decimal(row.latency[key] / 1e3, 2) or "-"
   end
end

local COLUMNS = {
   { "", "stream", function(r) return r.stream end, left = true },
   { "", "direction", function(r) return r.from .. "->" .. r.to end, left = true },
   { "frame", "size", function(r) return count(r.frame_size) end },
   { "load", "fps", function(r) return count(r.offered_fps) end },
   { "L1", "Mbit/s", function(r) return decimal(r.offered_mbps_l1, 2) end },
   { "sent", "frames", function(r) return count(r.tx) end },
   { "lost", "frames", function(r) return count(r.lost) end },
   { "", "%", function(r) return decimal(r.loss_percent, 4) end },
   { "latency", "min, us", latency "min_ns" },
   { "mean", "us", latency "mean_ns" },
   { "max", "us", latency "max_ns" },
   { "", "verdict", function(r) return r.verdict end, left = true, verdict = true },
}

local ERRORS = {
   { "", "stream", function(r) return r.stream end, left = true },
   { "", "error", function(r) return r.kind end, left = true },
   { "sent", "frames", function(r) return count(r.sent) end },
   { "arrived", "frames", function(r) return r.received and count(r.received) or "-" end },
}

function M.tables(result)
   local rows, errors = M.rows(result.results), fields.errors(result.results)
   if #rows == 0 then
      return {}
   end
   local function first(list)
      return { unpack(list, 1, math.min(#list, MOST)) }
   end
   return {
      { title = "Streams", columns = COLUMNS, rows = first(rows) },
      errors[1] and { title = "Errors on purpose", columns = ERRORS, rows = first(errors) } or nil,
   }
end

--- What one must know to believe the table.
function M.notes(result, add)
   local rows = M.rows(result.results)
   if #rows > MOST then
      add(("The first %d of %s; traffic.csv has them all."):format(MOST, format.plural(#rows, "stream")))
   end
   for _, row in ipairs(rows) do
      if row.latency then
         add(("Latency: %s, stamped by %s, error at most %s."):format(row.latency.definition,
            row.latency.source, format.nanoseconds(row.latency.error_bound_ns)))
         add(calibration.in_words(result.calibration))
         break
      end
   end
   add(calibration.beyond_in_words(result.calibration))
   if fields.errors(result.results)[1] then
      add "Errors on purpose are not the device's: they are no part of what is lost, reordered or received."
   end
   for _, reason in ipairs(rows[1] and rows[1].reasons or {}) do
      add(("The trial is %s: %s."):format(rows[1].verdict:gsub("%-a", " a"), reason))
   end
end

--- One suite, a case for each stream.
function M.suites(result)
   local cases = {}
   for i, row in ipairs(M.rows(result.results)) do
      cases[i] = outcome(row)
      cases[i].name = ("%s, %s->%s"):format(row.stream, row.from, row.to)
      cases[i].seconds = row.duration_s / #result.results.traffic
   end
   return { { name = "streams", cases = cases } }
end

return M
