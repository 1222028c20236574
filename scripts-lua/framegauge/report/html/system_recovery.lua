-- SPDX-License-Identifier: BSD-3-Clause

--- System recovery: how long the device went on losing frames after an overload.
local h = require "framegauge.report.html.element"
local tables = require "framegauge.report.html.tables"
local timeline = require "framegauge.report.html.timeline"
local words = require "framegauge.report.html.words"

local M = { name = "system_recovery", title = "System recovery", reference = "RFC 2544, section 26.5" }

local count, field, milliseconds = words.count, words.field, words.milliseconds

--- What of it belongs into the summary.
M.summary = { { "Recovery", "ms", field("recovery_ns", milliseconds) } }

local COLUMNS = {
   { "Frame", "bytes", field "frame_size" },
   { "Direction", "", field("direction", words.direction), left = true },
   { "Throughput", "frames/s", field("throughput_fps", count) },
   { "Overload", "frames/s", field("overload_fps", count) },
   { "then", "frames/s", field("relief_fps", count) },
   { "Recovery", "mean, ms", field("recovery_ns", milliseconds) },
   { "Least", "ms", field("recovery_ns_min", milliseconds) },
   { "Most", "ms", field("recovery_ns_max", milliseconds) },
   { "Resolution", "", field("resolution_ns", words.nanoseconds) },
   { "Trials", "", field("trials", count) },
   { "Lost", "frames", field("lost", count) },
   { "Verdict", "", field("verdict", words.verdict), left = true },
}

--- The figure to remember: the longest.
function M.headline(rows)
   local row = words.largest(rows, "recovery_ns")
   return row and { {
      "Recovery after overload", milliseconds(row.recovery_ns), "ms", "longest: " .. words.subject(row),
   } } or {}
end

--- The section.
function M.body(rows)
   local first = rows[1]
   local text = "After %g s at 110 %% of the throughput, or at what the line carries if that is less, the "
      .. "load was halved from one frame to the next. Recovery is the time from then (A) to when the last "
      .. "lost frame was due (B)."
   return {
      h.p { text:format(first.overload_s) },
      timeline.chart {
         rows = rows, key = "recovery_ns", id = "recovery", title = "Recovery after overload",
         description = "For each frame size a bar from the moment the load was halved to the last lost "
            .. "frame. The table below has the figures.",
         label = "time since the load was halved", before = "overload", after = "half the load (A)",
         caption = "From the end of the overload (A) to the last lost frame (B, the end of the bar).",
      },
      tables.build { caption = "Recovery by frame size", columns = COLUMNS, rows = rows },
      words.reasons(rows),
   }
end

return M
