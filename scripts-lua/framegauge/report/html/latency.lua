-- SPDX-License-Identifier: BSD-3-Clause

--- Latency: how it is spread, for each frame size, and between which bits it was measured.
local Plot = require "framegauge.report.chart.plot"
local calibration = require "framegauge.report.calibration"
local h = require "framegauge.report.html.element"
local scale = require "framegauge.report.chart.scale"
local tables = require "framegauge.report.html.tables"
local words = require "framegauge.report.html.words"

local M = {}

local count, field, microseconds = words.count, words.field, words.microseconds

local COLUMNS = {
   { "Frame", "bytes", field "frame_size" },
   { "Direction", "", field("direction", words.direction), left = true },
   { "Load", "frames/s", field("load_fps", count) },
   { "Measured", "frames", field("latency.count", count) },
   { "Least", "µs", field("latency.min_ns", microseconds) },
   { "Mean", "µs", field("latency.mean_ns", microseconds) },
   { "Median", "µs", field("latency.p50_ns", microseconds) },
   { "99 %", "µs", field("latency.p99_ns", microseconds) },
   { "99.9 %", "µs", field("latency.p999_ns", microseconds) },
   { "Greatest", "µs", field("latency.max_ns", microseconds) },
   { "Corrected", "mean, µs", field("latency.corrected.mean_ns", microseconds), optional = true },
}

-- From above to below, as the lines lie.
local LINES = {
   { "max_ns", "greatest" }, { "p999_ns", "99.9 %" }, { "p99_ns", "99 %" }, { "p50_ns", "median" },
   { "min_ns", "least" },
}

-- Where all frames take as long as one another to within this share, five lines would lie on one.
local SAME = 0.005

local function points(rows, key, noun)
   local list = {}
   for i, row in ipairs(rows) do
      local us = row.latency[key] / 1e3
      local title = ("%d bytes: %s µs (%s)"):format(row.frame_size, words.decimal(us, 2), noun)
      list[i] = { row.frame_size, us, title }
   end
   return list
end

local function are_same(rows)
   for _, row in ipairs(rows) do
      if row.latency.max_ns - row.latency.min_ns > SAME * row.latency.max_ns then
         return false
      end
   end
   return true
end

local function extent(rows)
   local least, most = math.huge, 0
   for _, row in ipairs(rows) do
      least, most = math.min(least, row.latency.min_ns / 1e3), math.max(most, row.latency.max_ns / 1e3)
   end
   return least, most
end

local function chart(group, number, where)
   local rows = words.by_size(group.rows)
   local plot = Plot.new {
      id = "latency" .. number, title = "Latency against frame size",
      description = "Least, median, 99th and 99.9th percentile and greatest latency for each frame size. "
         .. "The table below has the figures.",
      x = { scale = scale.points(words.sizes(rows), 0.045), label = "frame size, bytes (with FCS)" },
      y = { scale = scale.fitting(extent(rows)), label = "latency, µs" },
   }
   local caption = "Latency %s against frame size, %s: all frames lie in the shaded band."
   if are_same(rows) then
      plot:series { points = points(rows, "mean_ns", "mean"), class = "s1", shape = 1, name = "mean" }
      caption = "Latency %s against frame size, %s: no frame took more than 0.5 %% longer than another."
   else
      plot:band(points(rows, "min_ns", ""), points(rows, "max_ns", ""), "s1")
      for i, line in ipairs(LINES) do
         plot:series { points = points(rows, line[1], line[2]), class = "s" .. i, shape = i, name = line[2] }
      end
   end
   return plot:figure(caption:format(where,
      group.name == "both" and "both directions" or words.direction(group.name)))
end

--- Charts and table of rows that have latencies.
-- @param rows   { frame_size, direction, load_fps, latency }
-- @param where  "at the throughput"
function M.spread(rows, where)
   local out = {}
   for i, group in ipairs(words.grouped(rows, "direction")) do
      out[i] = chart(group, i, where)
   end
   return { out, tables.build { caption = "Latency " .. where, columns = COLUMNS, rows = rows } }
end

local SOURCES = {
   tsc = "the processor's clock (TSC) around the burst call", wire = "the virtual wire",
   card = "the processor's clock (TSC) before the burst call and the card's own at arrival",
}

--- What stamped the frames, in words.
function M.source(name)
   return SOURCES[name] or tostring(name)
end

--- Between which bits, by whose stamps, and how far they may be off.
function M.definition(latency)
   return ("Latency is the time from %s, stamped by %s; a stamp is off by at most %s."):format(
      latency.definition, M.source(latency.source), words.nanoseconds(latency.error_bound_ns))
end

--- Rows with the latency measured in the trials that passed the throughput test.
function M.of_throughput(rows)
   local list = {}
   for _, row in ipairs(rows or {}) do
      if row.latency then
         list[#list + 1] = {
            frame_size = row.frame_size, direction = row.direction, load_fps = row.throughput_fps,
            latency = row.latency,
         }
      end
   end
   return list
end

--- The section of a run without a latency test of its own.
function M.at_throughput(rows, result)
   return {
      h.p {
         "Of every frame of the trials that passed, at the throughput above. ", M.definition(rows[1].latency),
         " ", calibration.in_words(result.calibration),
         rows[1].direction == "both" and " Percentiles are the larger of both directions'." or "",
      },
      M.spread(rows, "at the throughput"),
   }
end

return M
