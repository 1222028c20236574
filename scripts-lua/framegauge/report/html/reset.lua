-- SPDX-License-Identifier: BSD-3-Clause

--- Reset: how long the device was out of order after it was reset.
local h = require "framegauge.report.html.element"
local tables = require "framegauge.report.html.tables"
local timeline = require "framegauge.report.html.timeline"
local words = require "framegauge.report.html.words"

local M = { name = "reset", title = "Reset", reference = "RFC 2544, section 26.6; RFC 6201" }

local count, field, milliseconds = words.count, words.field, words.milliseconds

--- What of it belongs into the summary.
M.summary = { { "Reset", "ms", field("reset_ns", milliseconds) } }

local COLUMNS = {
   { "Frame", "bytes", field "frame_size" },
   { "Direction", "", field("direction", words.direction), left = true },
   { "Load", "frames/s", field("rate_fps", count) },
   { "Outcome", "", field "outcome", left = true },
   { "Lost", "frames", field("lost", count) },
   { "Reset", "ms", field("reset_ns", milliseconds) },
   { "by loss", "ms", field("reset_ns_by_loss", milliseconds) },
   { "by time stamps", "ms", field("reset_ns_by_timestamps", milliseconds) },
   { "Resolution", "", field("resolution_ns", words.nanoseconds) },
   { "Resets", "", field("repetitions", count) },
   { "Verdict", "", field("verdict", words.verdict), left = true },
}

local function seconds(ns)
   return words.decimal(ns / 1e9, 3)
end

--- The figure to remember: the longest.
function M.headline(rows)
   local row = words.largest(rows, "reset_ns")
   return row and { {
      "Out of order after reset", seconds(row.reset_ns), "s", "longest: " .. words.subject(row),
   } } or {}
end

--- The section.
function M.body(rows)
   local text = "At the load below the device was reset after %g s (by: %s). By loss: frames lost, divided "
      .. "by the load, which RFC 6201 prefers; by time stamps: from the last frame before the gap to the "
      .. "first after it."
   return {
      h.p { text:format(rows[1].after_s, tostring(rows[1].by)) },
      timeline.chart {
         rows = rows, key = "reset_ns", id = "reset", title = "Outage after the reset",
         description = "A bar from the reset to when the device forwarded again. The table below has the "
            .. "figures.",
         label = "time out of order", before = "load", after = "out of order",
         caption = "How long the device forwarded nothing.",
      },
      tables.build { caption = "Resets", columns = COLUMNS, rows = rows }, words.reasons(rows),
   }
end

return M
