-- SPDX-License-Identifier: BSD-3-Clause

--- The traffic test on the page: what was sent and lost, how long it took, in which order it came.
local h = require "framegauge.report.html.element"
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
   { "Twice", "frames", field("duplicates", count) },
   { "Reordered", "frames", field("reordered", count) },
   { "by up to", "frames", field("max_extent", count) },
   { "Longest gap", "µs", field("longest_gap_ns", microseconds) },
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

--- List of { title, reference, body }.
function M.sections(result)
   local rows, list = result.results.traffic or {}, {}
   if #rows == 0 then
      return list
   end
   list[1] = { "Loss and order", "RFC 4737, RFC 5560", table_of("What became of the frames", LOSS, rows) }
   local timed = measured(rows)
   if #timed > 0 then
      list[2] = { "Latency", nil, {
         table_of("One-way delay of every frame", LATENCY, timed),
         h.p { timed[1].latency.definition, ", stamped by ", timed[1].latency.source, ", error at most ",
            words.nanoseconds(timed[1].latency.error_bound_ns), "." },
      } }
   end
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
