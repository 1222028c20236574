-- SPDX-License-Identifier: BSD-3-Clause

--- The traffic test on the page: what was sent and lost, how long it took, in which order it came.
local altered = require "framegauge.report.altered"
local fields = require "framegauge.report.traffic.fields"
local h = require "framegauge.report.html.element"
local over_time = require "framegauge.report.chart.over_time"
local tables = require "framegauge.report.html.tables"
local words = require "framegauge.report.html.words"

local M = {}

local MOST = 1000 -- rows; traffic.csv has them all

local count, field, microseconds = words.count, words.field, words.microseconds

local function direction(row)
   return words.direction(row.from .. "->" .. row.to)
end

local STREAM = {
   { "Stream", "", field "stream", left = true },
   { "Direction", "", direction, left = true },
}

local function altered_frames(row)
   return count(altered.total(row.altered))
end

local function misdirected(row)
   return count(altered.total(row.measured and row.measured.misdirected))
end

local function with_stream(columns)
   local list = { unpack(STREAM) }
   for _, column in ipairs(columns) do
      list[#list + 1] = column
   end
   return list
end

local VERDICT = { "Verdict", "", field("verdict", words.verdict), left = true }

local SUMMARY = with_stream {
   { "Frame", "bytes", field "frame_size" },
   { "Load", "frames/s", field("offered_fps", count) },
   { "L1", "Mbit/s", field("offered_mbps_l1", words.mbps) },
   { "Lost", "frames", field("lost", count) },
   { "", "%", field("loss_percent", words.fixed(4)) },
   { "Latency", "mean, µs", field("latency.mean_ns", microseconds) },
   VERDICT,
}

local LOSS = with_stream {
   { "Sent", "frames", field("tx", count) },
   { "Received", "frames", field("rx", count) },
   { "Lost", "frames", field("lost", count) },
   { "", "%", field("loss_percent", words.fixed(4)) },
   { "Bursts", "of loss", field("loss_bursts", count) },
   { "Longest", "frames", field("max_loss_burst", count) },
   { "Longest gap", "µs", field("longest_gap_ns", microseconds) },
   { "Too late", "frames", field("expired", count) },
   { "Altered", "frames", altered_frames },
   { "Misdirected", "frames", misdirected },
}

local LATENCY = with_stream {
   { "Frames", "measured", field("latency.count", count) },
   { "Min", "µs", field("latency.min_ns", microseconds) },
   { "Mean", "µs", field("latency.mean_ns", microseconds) },
   { "Median", "µs", field("latency.p50_ns", microseconds) },
   { "p99", "µs", field("latency.p99_ns", microseconds) },
   { "p99.9", "µs", field("latency.p999_ns", microseconds) },
   { "Max", "µs", field("latency.max_ns", microseconds) },
}

local function received(row)
   return row.received and count(row.received) or "–"
end

local ERRORS = with_stream {
   { "Error", "", field "kind", left = true },
   { "Sent", "frames", field("sent", count) },
   { "Arrived", "frames", received },
}

-- Beyond the memory of the tracker an extent is only known to be no smaller.
local function extent(row)
   local most = row.measured and row.measured.reordering_extent_max
   return most and ((row.extents_unknown and "≥ " or "") .. count(most)) or nil
end

local function unknown_pairs(row)
   local unknown = row.measured and row.measured.ipdv_unknown or 0
   return unknown > 0 and count(unknown) or nil
end

local function percent(ratio)
   return words.decimal(ratio * 100, 4)
end

local ORDER = with_stream {
   { "Reordered", "frames", field("reordered", count) },
   { "", "%", field("measured.reordered_ratio", percent) },
   { "Extent", "at most", extent, optional = true },
   { "Late by", "µs, at most", field("measured.reordering_late_ns_max", microseconds), optional = true },
   { "Twice", "frames", field("duplicates", count) },
   { "Changed", "frames", field("measured.corrupted", count) },
   { "", "octets", field("measured.octet_errors", count) },
   { "", "bits", field("measured.bit_errors", count) },
   { "Outage", "µs, longest", field("measured.longest_outage_ns", microseconds) },
}

local VARIATION = with_stream {
   { "PDV p99.9", "µs", field("measured.pdv_ns_p999", microseconds) },
   { "PDV max", "µs", field("measured.pdv_ns_max", microseconds) },
   { "IPDV p0.1", "µs", field("measured.ipdv_ns_p001", microseconds) },
   { "p99.9", "µs", field("measured.ipdv_ns_p999", microseconds) },
   { "mean", "µs, magnitude", field("measured.ipdv_ns_mean_magnitude", microseconds) },
   { "unknown", "pairs", unknown_pairs, optional = true },
   { "Jitter", "µs, at the end", field("measured.jitter_ns", microseconds) },
   { "at most", "µs", field("measured.jitter_ns_max", microseconds) },
}

local DEFINITIONS = {
   { "PDV", "delay less the least delay of the stream (RFC 5481)." },
   { "IPDV", "difference of the delays of two frames sent one after the other (RFC 3393)." },
   { "Jitter", "RFC 3550's running estimate, in the order of arrival." },
   { "Reordered", "frames that came after one with a greater number (RFC 4737); extent: by how many." },
   { "Changed", "frames whose content was not what was sent, although they could be recognised." },
   { "Outage", "the longest time between two arrivals, less the mean time between departures; where frames "
      .. "were lost there, also that before the first arrival or after the last, which is no gap." },
   { "≥, unknown", "the tester's memory did not reach back to all late frames or pairs: the true maximum may "
      .. "be greater, and the true minimum of the IPDV less." },
}

local function first(rows)
   return { unpack(rows, 1, math.min(#rows, MOST)) }
end

local function table_of(caption, columns, rows)
   return {
      tables.build { caption = caption, columns = columns, rows = first(rows) },
      #rows > MOST and h.p { ("The first %s of %s; traffic.csv has them all."):format(count(MOST),
         words.plural(#rows, "stream")) },
   }
end

--- The table at the top.
function M.summary(result)
   return table_of("The streams", SUMMARY, result.results.traffic or {})
end

local function measured(rows)
   local list = {}
   for _, row in ipairs(rows) do
      list[#list + 1] = row.latency and row or nil
   end
   return list
end

local TERMS = { "received, layer 2", "loss", "delay", "PDV, 99.9 %" }

-- The charts of those streams that were kept over time.
local function charts(result, rows)
   local out = {}
   for i, row in ipairs(rows) do
      local trial = result.trials[row.trial or 0]
      out[#out + 1] = over_time.of {
         id = tostring(i), name = ("%s, %s"):format(row.stream, direction(row)), terms = TERMS,
         lines = { { series = trial and trial.directions[i].series } },
      }
   end
   return #out > 0 and {
      h.p {
         "By the time at which a frame was sent. Shaded: from the least to the greatest, of the delay and "
            .. "where a point stands for several intervals. ",
         #out < #rows and ("The first %d of %s."):format(#out, words.plural(#rows, "stream")) or nil,
      },
      out,
   }
end

--- List of { title, reference, body }.
function M.sections(result)
   local rows, list = result.results.traffic or {}, {}
   if #rows == 0 then
      return list
   end
   list[1] = { "Loss", "RFC 5560", table_of("What became of the frames", LOSS, rows) }
   local errors = fields.errors(result.results)
   if errors[1] then
      list[#list + 1] = { "Errors on purpose", nil, {
         table_of("Frames that were sent wrong, and what became of them", ERRORS, errors),
         h.p { "They are no part of what is lost, reordered or received: the device is not blamed for them. "
            .. "Of numbers left out (skip) nothing can arrive." },
      } }
   end
   local timed = measured(rows)
   if #timed > 0 then
      list[#list + 1] = { "Latency", nil, {
         table_of("One-way delay of every frame", LATENCY, timed),
         h.p { timed[1].latency.definition, ", stamped by ", timed[1].latency.source, ", error at most ",
            words.nanoseconds(timed[1].latency.error_bound_ns), "." },
      } }
   end
   if rows[1].measured then
      list[#list + 1] = { "Order and content", "RFC 4737",
         table_of("Frames out of order or changed", ORDER, rows) }
      list[#list + 1] = { "Variation of delay", "RFC 3393, RFC 5481, RFC 3550",
         { table_of("How much the delay varied", VARIATION, timed), tables.definitions(DEFINITIONS) } }
   end
   local drawn = charts(result, rows)
   list[#list + 1] = drawn and { "Over time", nil, drawn } or nil
   return list
end

--- Figures to remember.
function M.tiles(result)
   local sum = { tx = 0, lost = 0, mbps = 0 }
   for _, row in ipairs(result.results.traffic or {}) do
      sum.tx, sum.lost = sum.tx + row.tx, sum.lost + row.lost
      sum.mbps = sum.mbps + row.offered_mbps_l1
   end
   return {
      { "Frames sent", count(sum.tx), "" },
      { "Lost", count(sum.lost), sum.tx > 0 and ("= %.4g %%"):format(sum.lost / sum.tx * 100) or "" },
      { "Offered load, all ports", words.mbps(sum.mbps), "Mbit/s at layer 1" },
   }
end

return M
