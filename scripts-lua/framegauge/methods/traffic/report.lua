-- SPDX-License-Identifier: BSD-3-Clause

--- The test traffic: what was sent and lost, how long it took, in which order it came.
local csv = require "framegauge.text.csv"
local format = require "framegauge.text.format"
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local notes = require "framegauge.report.notes"
local over_time = require "framegauge.report.chart.over_time"
local result_rows = require "framegauge.methods.traffic.result"
local show = require "framegauge.text.show"
local tables = require "framegauge.report.html.tables"

local M = {}

M.NAME = "Traffic"

local MAX_LINES, MAX_ROWS = 100, 1000 -- on a terminal, on the page

local function rows_of(result)
   return result.results.traffic or {}
end

function M.test_names(result)
   return format.plural(#result.plan.streams, "stream")
end

--- Errors on purpose have a file of their own.
function M.files(result)
   local errors = result_rows.errors(result.results)
   return errors[1] and { { "errors.csv", csv.rows(result_rows.ERRORS, errors) } } or {}
end

local function measured(row, key)
   return row.measured and row.measured[key] or 0
end

-- Streams whose frames did not all arrive where and as they should.
local function amiss(rows)
   local list = {}
   for _, row in ipairs(rows) do
      local misdirected = next(row.measured and row.measured.misdirected or {}) ~= nil
      list[#list + 1] = (row.lost > 0 or row.altered or measured(row, "corrupted") > 0 or misdirected)
         and row or nil
   end
   return list
end

local function first(list, most)
   return { unpack(list, 1, math.min(#list, most)) }
end

--- Tables of the terminal, not too long.
function M.terminal(result)
   local list = {}
   local function add(title, record, name, rows)
      rows = first(rows, MAX_LINES)
      list[#list + 1] = rows[1] and { title = title, columns = show.columns(record, name, rows),
         rows = rows } or nil
   end
   add("Streams", result_rows.STREAM, "terminal", rows_of(result))
   add("Lost or not as sent", result_rows.STREAM, "amiss", amiss(rows_of(result)))
   add("Errors on purpose", result_rows.ERRORS, "errors", result_rows.errors(result.results))
   return list
end

-- Many seconds of loss may leave the availability at 100 %: it takes ten of them in a row.
local function availability_note(result, row, add)
   local trial = result.trials[row.trial or 0]
   for _, d in ipairs(trial and trial.directions or {}) do
      local a = d.direction == row.stream and d.availability
      if a and a.severely_errored_s > 0 then
         add(("%s: %s with more than half of the frames lost, %d s of unavailability: that begins with ten such seconds in a row (ITU-T Y.1563)."):format(row.stream,
            format.plural(a.severely_errored_s, "second"), a.unavailable_s))
      end
   end
end

-- What the tester's memory of late frames and of delays left out.
local function bounds_note(row, add)
   if row.reordering_extent_unknown_frames then
      add(("%s: reordering extent of at least %s: of %s it is not known."):format(row.stream,
         format.count(row.reordering_extent_max_frames),
         format.plural(row.reordering_extent_unknown_frames, "late frame")))
   end
   if row.own_queue_max_ns then
      add(("%s: frames waited up to %s in the tester's own port while it sent others; %s."):format(row.stream,
         format.nanoseconds(row.own_queue_max_ns), row.latency and row.latency.source ~= "wire"
            and "the error bound of the delays contains this" or "the delays do not contain this"))
   end
   local unknown = measured(row, "ipdv_unknown")
   if unknown > 0 then
      add(("%s: IPDV without %s with one delay no longer known: its extremes may lie further from zero."):format(row.stream, format.plural(unknown, "pair")))
   end
end

function M.notes(result, add)
   local rows = rows_of(result)
   if #rows > MAX_LINES then
      add(("The first %d of %s; traffic.csv has them all."):format(MAX_LINES, format.plural(#rows, "stream")))
   end
   for _, row in ipairs(rows) do
      if row.latency then
         add(notes.latency(row.latency))
         add(notes.calibration(result.calibration))
         break
      end
   end
   if result_rows.errors(result.results)[1] then
      add "Errors on purpose are not the device's: they are no part of what is lost, reordered or received."
   end
   for i = 1, math.min(#rows, MAX_LINES) do
      availability_note(result, rows[i], add)
      bounds_note(rows[i], add)
   end
end

local DEFINITIONS = {
   { "PDV", "delay less the minimum delay of the stream (RFC 5481)." },
   { "IPDV", "difference of the delays of two frames sent one after the other (RFC 3393)." },
   { "Jitter", "RFC 3550's running estimate, in the order of arrival." },
   { "Reordered", "frames that came after one with a greater number (RFC 4737); extent: by how many." },
   { "Changed", "frames whose content was not what was sent, although they could be recognised." },
   { "Outage", "the longest time between two arrivals, less the mean time between departures; where frames were lost there, also that before the first arrival or after the last, which is no gap." },
   { "Unknown", "the tester's memory did not reach back to all late frames or pairs: the true maximum may be greater, and the true minimum of the IPDV less." },
}

local function table_of(caption, record, name, rows)
   return {
      tables.of { record, name, first(rows, MAX_ROWS), caption = caption },
      #rows > MAX_ROWS and h.p { ("The first %s of %s; traffic.csv has them all."):format(format.count(MAX_ROWS),
         format.plural(#rows, "stream")) },
   }
end

local function stream_table(caption, name, rows)
   return table_of(caption, result_rows.STREAM, name, rows)
end

function M.summary(result)
   return stream_table("The streams", "summary", rows_of(result))
end

local TERMS = { "received, layer 2", "loss", "delay", "PDV, 99.9 %" }

-- The charts of those streams that were kept over time.
local function charts(result, rows)
   local out = {}
   for i, row in ipairs(rows) do
      local trial = result.trials[row.trial or 0]
      out[#out + 1] = over_time.of {
         id = tostring(i), name = ("%s, %s"):format(row.stream, formatters.direction(row.direction)),
         terms = TERMS,
         lines = { { series = trial and trial.directions[i].series } },
      }
   end
   return #out > 0 and {
      h.p {
         "By the time at which a frame was sent. Shaded: the range from the minimum to the maximum delay, and of the other figures where a point stands for several intervals. ",
         #out < #rows and ("The first %d of %s."):format(#out, format.plural(#rows, "stream")) or nil,
      },
      out,
   }
end

function M.sections(result)
   local rows, list, timed = rows_of(result), {}, {}
   if #rows == 0 then
      return list
   end
   list[1] = { "Loss", "RFC 5560", stream_table("Frames sent, received, lost", "loss", rows) }
   local errors = result_rows.errors(result.results)
   list[2] = errors[1] and { "Errors on purpose", nil, {
      table_of("Frames that were sent wrong, and what became of them", result_rows.ERRORS, "errors", errors),
      h.p { "They are no part of what is lost, reordered or received, and are not counted against the device. Of numbers left out (skip) nothing can arrive." },
   } } or nil
   for _, row in ipairs(rows) do
      timed[#timed + 1] = row.latency and row or nil
   end
   list[#list + 1] = timed[1] and { "Latency", nil, {
      stream_table("One-way delay of every frame", "latency", timed), h.p { notes.latency(timed[1].latency) },
   } } or nil
   if rows[1].measured then
      list[#list + 1] = { "Order and content", "RFC 4737", stream_table("Frames out of order or changed",
         "order", rows) }
      list[#list + 1] = { "Variation of delay", "RFC 3393, RFC 5481, RFC 3550",
         { stream_table("How much the delay varied", "variation", timed), tables.definitions(DEFINITIONS) } }
   end
   local drawn = charts(result, rows)
   list[#list + 1] = drawn and { "Over time", nil, drawn } or nil
   return list
end

function M.tiles(result)
   local sum = { tx = 0, lost = 0, mbps = 0 }
   for _, row in ipairs(rows_of(result)) do
      sum.tx, sum.lost = sum.tx + row.tx, sum.lost + row.lost
      sum.mbps = sum.mbps + row.offered_l1_mbps
   end
   return {
      { "Frames sent", format.count(sum.tx), "" },
      { "Lost", format.count(sum.lost), "frames",
         sum.tx > 0 and ("%.4g %% of the frames sent"):format(sum.lost / sum.tx * 100) or nil, row = result },
      { "Offered load, all ports", show.KINDS.mbps[1](sum.mbps), "Mbit/s at layer 1" },
   }
end

return M
