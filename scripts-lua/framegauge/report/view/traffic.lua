-- SPDX-License-Identifier: BSD-3-Clause

--- Traffic: a row for each stream of the plan.
local altered = require "framegauge.report.altered"
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

local function measured(row, key)
   return row.measured and row.measured[key] or 0
end

local function misdirected(row)
   return altered.total(row.measured and row.measured.misdirected)
end

local function outage(key, digits)
   return function(row)
      return row.lost > 0 and row.measured and row.measured[key]
         and decimal(row.measured[key] / 1e6, digits) or "-"
   end
end

-- Of streams of which not all arrived, where and as they should.
local AMISS = {
   { "", "stream", function(r) return r.stream end, left = true },
   { "altered", "frames", function(r) return count(altered.total(r.altered)) end },
   { "corrupted", "frames", function(r) return count(measured(r, "corrupted")) end },
   { "misdirected", "frames", function(r) return count(misdirected(r)) end },
   { "longest", "outage, ms", outage("longest_outage_ns", 3) },
   { "it began", "at, ms", outage("longest_outage_begin_ns", 3) },
}

local function amiss(rows)
   local list = {}
   for _, row in ipairs(rows) do
      if row.lost > 0 or row.altered or measured(row, "corrupted") + misdirected(row) > 0 then
         list[#list + 1] = row
      end
   end
   return list
end

function M.tables(result)
   local rows, errors = M.rows(result.results), fields.errors(result.results)
   local troubled = amiss(rows)
   if #rows == 0 then
      return {}
   end
   local function first(list)
      return { unpack(list, 1, math.min(#list, MOST)) }
   end
   local list = { { title = "Streams", columns = COLUMNS, rows = first(rows) } }
   list[2] = troubled[1] and { title = "Lost or not as sent", columns = AMISS, rows = first(troubled) }
   list[#list + 1] = errors[1] and { title = "Errors on purpose", columns = ERRORS, rows = first(errors) }
   return list
end

-- Many seconds of loss may leave the availability at 100 %: it takes ten of them in a row.
local function availability_note(result, row, add)
   local trial = result.trials[row.trial or 0]
   for _, d in ipairs(trial and trial.directions or {}) do
      local a = d.direction == row.stream and d.availability
      if a and a.severely_errored_s > 0 then
         add(("%s: %s with more than half of the frames lost, %d s of unavailability: that begins with ten "
            .. "such seconds in a row (ITU-T Y.1563)."):format(row.stream,
            format.plural(a.severely_errored_s, "second"), a.unavailable_s))
      end
   end
end

-- What the tester's memory of late frames and of delays left out.
local function bounds_note(row, add)
   if row.extents_unknown then
      add(("%s: reordering extent of at least %s: of %s it is not known."):format(row.stream,
         count(row.max_extent), format.plural(row.extents_unknown, "late frame")))
   end
   local unknown = measured(row, "ipdv_unknown")
   if unknown > 0 then
      add(("%s: IPDV without %s of which one delay was no longer known: its extremes may lie "
         .. "further from zero."):format(row.stream, format.plural(unknown, "pair")))
   end
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
   for i = 1, math.min(#rows, MOST) do
      availability_note(result, rows[i], add)
      bounds_note(rows[i], add)
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
