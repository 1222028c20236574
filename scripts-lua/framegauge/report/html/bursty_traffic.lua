-- SPDX-License-Identifier: BSD-3-Clause

--- Bursty traffic: the shortest intervals of bursts without loss, and the load they come to.
local Plot = require "framegauge.report.chart.plot"
local h = require "framegauge.report.html.element"
local scale = require "framegauge.report.chart.scale"
local tables = require "framegauge.report.html.tables"
local words = require "framegauge.report.html.words"

local M = { name = "bursty_traffic", title = "Bursty traffic", reference = "RFC 2544, section 21" }

local count, field, microseconds = words.count, words.field, words.microseconds

-- "16 frames every 17.78 us" says it in one cell.
local function interval(row)
   local form = "%s every %s µs"
   return row.interval_ns and form:format(count(row.burst_frames), microseconds(row.interval_ns))
      or count(row.burst_frames) .. ": no pass"
end

--- What of it belongs into the summary: the shortest bursts.
M.summary = { { "Bursts", "frames", interval } }

local COLUMNS = {
   { "Frame", "bytes", field "frame_size" },
   { "Direction", "", field("direction", words.direction), left = true },
   { "Burst", "frames", field("burst_frames", count) },
   { "Interval", "frame times", field("interval_frames", count) },
   { "Interval", "µs", function(row)
      return row.interval_ns and microseconds(row.interval_ns) or "no pass"
   end },
   { "Pause", "µs", field("gap_ns", microseconds) },
   { "Mean load", "frames/s", field("mean_load_fps", count) },
   { "Mean load", "% of line", field("mean_load_percent", words.share) },
   { "Lost at", "frame times", field("failed_interval_frames", count) },
   { "Trials", "", field("trials", count) },
   { "Verdict", "", field("verdict", words.verdict), left = true },
}

local SERIES = 8

local function points(rows)
   local list, title = {}, "%d bytes, bursts of %s frames: %.2f %% of the line"
   for _, row in ipairs(words.by_size(rows)) do
      local load = row.mean_load_percent
      list[#list + 1] = load and {
         row.frame_size, load, title:format(row.frame_size, count(row.burst_frames), load),
      }
   end
   return list
end

local function chart(group, number)
   local plot = Plot.new {
      id = "bursty" .. number, title = "Mean load of the closest bursts without loss", height = 300,
      description = "Share of the line that bursts come to at their shortest interval without loss, against "
         .. "frame size, one line for each burst length. The table below has the figures.",
      x = { scale = scale.points(words.sizes(group.rows), 0.045), label = "frame size, bytes (with FCS)" },
      y = {
         scale = scale.linear(100, function(value) return ("%g"):format(value) end),
         label = "mean load, % of the line",
      },
   }
   for i, bursts in ipairs(words.grouped(group.rows, "burst_frames")) do
      plot:series {
         points = points(bursts.rows), class = "s" .. (i - 1) % SERIES + 1, shape = i,
         name = ("bursts of %s frames"):format(count(bursts.name)),
      }
   end
   return plot:figure(("Mean load of bursts at their shortest interval without loss, %s. A length that is "
      .. "missing was lost at any interval."):format(words.direction(group.name)))
end

--- The figure to remember: of the longest bursts of the smallest frames.
function M.headline(rows)
   local row = words.largest(words.grouped(words.by_size(rows), "frame_size")[1].rows, "burst_frames")
   return { {
      ("Bursts of %s at %d bytes"):format(count(row.burst_frames), row.frame_size),
      row.interval_ns and microseconds(row.interval_ns) or "none", row.interval_ns and "µs" or "",
      row.interval_ns
         and ("shortest interval without loss, %.2f %% of the line"):format(row.mean_load_percent)
         or "no interval passes without loss",
   } }
end

--- The section.
function M.body(rows)
   local out = {}
   for i, group in ipairs(words.grouped(rows, "direction")) do
      out[i] = chart(group, i)
   end
   return {
      h.p {
         "Bursts at the minimum gap, and the shortest interval from one to the next at which the device lost "
            .. "no frame. A burst has no pass when the device lost frames even of bursts ",
         ("%g s"):format(rows[1].limit_s), " apart: it is longer than what the device can hold.",
      },
      out, tables.build { caption = "Bursts by frame size and length", columns = COLUMNS, rows = rows },
      words.reasons(rows),
   }
end

return M
