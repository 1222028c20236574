-- SPDX-License-Identifier: BSD-3-Clause

--- The latency test: the tagged frames RFC 2544 asks for, and beside them the spread of every frame.
local calibration = require "framegauge.report.calibration"
local h = require "framegauge.report.html.element"
local latency = require "framegauge.report.html.latency"
local tables = require "framegauge.report.html.tables"
local words = require "framegauge.report.html.words"

local M = { name = "latency", title = "Latency", reference = "RFC 2544, section 26.2" }

local count, field, microseconds = words.count, words.field, words.microseconds

--- What of it belongs into the summary.
M.summary = { { "Latency", "mean, µs", field("latency_ns_mean", microseconds) } }

local DEFINITIONS = {
   lifo = "from the last bit in to the first bit out, as RFC 1242 has it for devices that store and forward",
   fifo = "from the first bit in to the first bit out",
}

local COLUMNS = {
   { "Frame", "bytes", field "frame_size" },
   { "Direction", "", field("direction", words.direction), left = true },
   { "Load", "frames/s", field("rate_fps", count) },
   { "of line", "%", field("rate_percent", words.fixed(2)) },
   { "Tagged", "frames", field("tagged_frames", count) },
   { "Mean", "µs", field("latency_ns_mean", microseconds) },
   { "Corrected", "mean, µs", field("latency_ns_mean_corrected", microseconds), optional = true },
   { "Least", "µs", field("latency_ns_min", microseconds) },
   { "Greatest", "µs", field("latency_ns_max", microseconds) },
   { "Typical", "µs", field("typical_latency_ns", microseconds), optional = true },
   { "Worst case", "µs", field("worst_case_latency_ns", microseconds), optional = true },
   { "Definition", "", field("definition", string.upper), left = true },
   { "Lost", "frames", field("lost", count) },
   { "Verdict", "", field("verdict", words.verdict), left = true },
}

--- The figure to remember.
function M.headline(rows)
   local row = words.by_size(rows)[1]
   return row.latency_ns_mean and { {
      ("Latency at %d bytes"):format(row.frame_size), microseconds(row.latency_ns_mean), "µs",
      ("mean of %s, %s"):format(words.plural(row.tagged_frames, "tagged frame"), row.definition:upper()),
   } } or {}
end

local function definitions(rows)
   local out, seen = {}, {}
   for _, row in ipairs(rows) do
      if row.definition and not seen[row.definition] then
         seen[row.definition] = true
         out[#out + 1] = h.p {
            ("%s: the time %s, stamped by %s; a stamp is off by at most %s."):format(row.definition:upper(),
               DEFINITIONS[row.definition] or "", latency.source(row.source),
               words.nanoseconds(row.error_bound_ns or 0)),
         }
      end
   end
   return out
end

local function every_frame(rows)
   local list = {}
   for _, row in ipairs(rows) do
      list[#list + 1] = row.every_frame and {
         frame_size = row.frame_size, direction = row.direction, load_fps = row.rate_fps,
         latency = row.every_frame,
      }
   end
   return #list > 0 and latency.spread(list, "of every frame") or false
end

--- The section.
function M.body(rows, result)
   local first = rows[1]
   return {
      h.p {
         ("Tagged frames in streams of %g s, from %g s on, %s for each frame size."):format(first.trial_s,
            first.tag_after_s, words.plural(first.repetitions, "stream")),
      },
      definitions(rows), h.p { calibration.in_words(result.calibration) },
      tables.build { caption = "Latency of the tagged frames", columns = COLUMNS, rows = rows },
      words.reasons(rows), every_frame(rows),
   }
end

return M
