-- SPDX-License-Identifier: BSD-3-Clause

--- Back-to-back frames: the longest bursts without loss, with their spread, and the buffer they speak of.
local Plot = require "framegauge.report.chart.plot"
local format = require "framegauge.report.format"
local h = require "framegauge.report.html.element"
local scale = require "framegauge.report.chart.scale"
local tables = require "framegauge.report.html.tables"
local words = require "framegauge.report.html.words"

local M = {
   name = "back_to_back", title = "Back-to-back frames", reference = "RFC 2544, section 26.4; RFC 9004",
}

local count, field, microseconds = words.count, words.field, words.microseconds

-- What a tester-limited row has at least.
local function at_least(key, show)
   return function(row)
      return row[key] and format.at_least(row, show(row[key])) or field(key, show)(row)
   end
end

--- What of it belongs into the summary.
M.summary = {
   { "Burst", "frames", at_least("burst_frames_mean", count) },
   { "Buffer", "corrected, µs", at_least("corrected_buffer_time_ns", microseconds) },
}

local COLUMNS = {
   { "Frame", "bytes", field "frame_size" },
   { "Direction", "", field("direction", words.direction), left = true },
   { "Mean", "frames", at_least("burst_frames_mean", words.fixed(1)) },
   { "Least", "frames", field("burst_frames_min", count) },
   { "Most", "frames", field("burst_frames_max", count) },
   { "Deviation", "frames", field("burst_frames_stddev", words.fixed(2)) },
   { "Searches", "", field("repetitions", count) },
   { "Step", "frames", field("step_frames", count) },
   { "Limit", "frames", field("limit_frames", count) },
   { "Buffer time", "implied, µs", at_least("buffer_time_ns", microseconds) },
   { "Buffer time", "corrected, µs", at_least("corrected_buffer_time_ns", microseconds) },
   { "Verdict", "", field("verdict", words.verdict), left = true },
}

local function with_bursts(rows)
   local list = {}
   for _, row in ipairs(words.by_size(rows)) do
      list[#list + 1] = row.burst_frames_mean and row or nil
   end
   return list
end

local function chart(rows)
   local most = words.largest(rows, "burst_frames_max").burst_frames_max
   local least = most
   for _, row in ipairs(rows) do
      least = math.min(least, row.burst_frames_min)
   end
   local plot = Plot.new {
      id = "bursts", title = "Longest burst without loss against frame size", height = 300,
      description = "Mean of the searches, with a bar from the shortest to the longest burst found. The "
         .. "table below has the figures.",
      x = { scale = scale.points(words.sizes(rows), 0.045), label = "frame size, bytes (with FCS)" },
      y = { scale = scale.fitting(least, most), label = "burst, frames" },
   }
   for i, group in ipairs(words.grouped(rows, "direction")) do
      local points, class = {}, "s" .. i
      for j, row in ipairs(group.rows) do
         plot:whisker(row.frame_size, row.burst_frames_min, row.burst_frames_max, class)
         points[j] = {
            row.frame_size, row.burst_frames_mean,
            ("%s: %s frames"):format(words.subject(row), words.decimal(row.burst_frames_mean, 1)),
         }
      end
      plot:series {
         points = points, class = class, shape = i, name = words.direction(group.name) .. ", mean",
      }
   end
   return plot:figure "Longest burst without loss: mean, least and most of all searches."
end

--- The figure to remember.
function M.headline(rows)
   local row = with_bursts(rows)[1]
   return row and { {
      ("Burst at %d bytes"):format(row.frame_size), format.at_least(row, count(row.burst_frames_mean)),
      "frames",
      "buffer time, corrected: " .. words.nanoseconds(row.corrected_buffer_time_ns),
   } } or {}
end

--- The section.
function M.body(rows)
   local measured = with_bursts(rows)
   return {
      h.p {
         "The longest burst at the rate of the line, from rest, of which the device lost no frame. While a "
            .. "burst comes in frames leave the device too: the corrected buffer time takes these off (RFC "
            .. "9004). Frame sizes of which the device carries the whole line cannot fill a buffer and have "
            .. "no result.",
      },
      #measured > 0 and chart(measured),
      tables.build { caption = "Bursts by frame size", columns = COLUMNS, rows = rows }, words.reasons(rows),
   }
end

return M
