-- SPDX-License-Identifier: BSD-3-Clause

--- Throughput: the graph RFC 2544 26.1 asks for, the figures, and what ended the search.
local Plot = require "framegauge.report.chart.plot"
local format = require "framegauge.report.format"
local h = require "framegauge.report.html.element"
local scale = require "framegauge.report.chart.scale"
local tables = require "framegauge.report.html.tables"
local words = require "framegauge.report.html.words"

local M = { name = "throughput", title = "Throughput", reference = "RFC 2544, section 26.1" }

local count, field, fixed = words.count, words.field, words.fixed

local function load(row)
   return row.throughput_fps and format.at_least(row, count(row.throughput_fps)) or "no pass"
end

--- What of it belongs into the summary.
M.summary = {
   { "Throughput", "frames/s", load },
   { "of line", "%", field("percent", words.share) },
   { "Layer 2", "Mbit/s", field("mbps_l2", words.mbps) },
}

local LIMITS = {
   maximum = "maximum", loss = "loss", tester = "tester", invalid = "invalid trials",
   max_trials = "trials", time_limit = "time",
}

local COLUMNS = {
   { "Frame", "bytes", field "frame_size" },
   { "Direction", "", field("direction", words.direction), left = true },
   { "Goal", "", field "goal", left = true, optional = true },
   { "Theoretical", "frames/s", field("theoretical_fps", count) },
   { "Throughput", "frames/s", load },
   { "of line", "%", field("percent", fixed(2)) },
   { "Layer 1", "Mbit/s", field("mbps_l1", words.mbps) },
   { "Layer 2", "Mbit/s", field("mbps_l2", words.mbps) },
   { "Fails from", "frames/s", field("upper_fps", count) },
   { "Resolution", "frames/s", field("resolution_fps", fixed(0)) },
   { "Conditional", "frames/s", field("conditional_fps", count), optional = true },
   { "Ended by", "", field("limited_by", function(word) return LIMITS[word] or word end), left = true },
   { "Trials", "", field("trials", count) },
   { "Verdict", "", field("verdict", words.verdict), left = true },
}

local function extent(rows)
   local least, most = math.huge, 0
   for _, row in ipairs(rows) do
      for _, value in pairs { row.throughput_fps, row.theoretical_fps } do
         least, most = math.min(least, value), math.max(most, value)
      end
   end
   return least, most
end

local function points(rows, key)
   local list = {}
   for _, row in ipairs(words.by_size(rows)) do
      if row[key] then
         local title = ("%d bytes: %s frames/s"):format(row.frame_size, count(row[key]))
         list[#list + 1] = { row.frame_size, row[key], title }
      end
   end
   return list
end

local function chart(rows)
   local least, most = extent(rows)
   if most == 0 then
      return false
   end
   local groups = words.grouped(rows, rows[1].goal and "goal" or "direction")
   local plot = Plot.new {
      id = "throughput", title = "Throughput against frame size",
      description = "Frames per second the device forwarded without loss, and the most the line can carry, "
         .. "for each frame size. The table below has the figures.",
      x = { scale = scale.points(words.sizes(rows), 0.045), label = "frame size, bytes (with FCS)" },
      y = { scale = scale.fitting(least, most), label = "frames per second, each direction" },
   }
   if rows[1].theoretical_fps then
      plot:series {
         points = points(groups[1].rows, "theoretical_fps"), class = "theory",
         name = "theoretical maximum of the line",
      }
   end
   for i, group in ipairs(groups) do
      local name = group.name == "both" and "measured, both directions at once" or words.direction(group.name)
      plot:series {
         points = points(group.rows, "throughput_fps"), class = "s" .. i, shape = i, name = name,
      }
   end
   return plot:figure "Throughput and the theoretical maximum of the line against frame size."
end

local function bidirectional(rows)
   return rows[1].direction == "both"
      and " Both directions were loaded alike and at once; rates are those of one direction." or ""
end

local function in_words(rows)
   local first = words.by_size(rows)[1]
   local tolerance = first.loss_tolerance > 0
      and ("lost no more than %g %% of the frames"):format(first.loss_tolerance * 100) or "lost no frame"
   local text = "The highest load of which the device %s in a trial of %g s.%s"
   return text:format(tolerance, first.trial_s, bidirectional(rows))
end

-- How many of the rows fill the line.
local function full_line(rows)
   local full, from = 0, nil
   for _, row in ipairs(words.by_size(rows)) do
      if row.percent and row.percent >= 99.95 then
         full, from = full + 1, from or row.frame_size
      end
   end
   return {
      "Line filled at", ("%d of %d"):format(full, #rows), #rows == 1 and "size" or "sizes",
      from and ("shortest: %d bytes"):format(from) or "at no frame size",
   }
end

--- The figures to remember: RFC 2544 asks for that of the shortest frame.
function M.headline(rows)
   local row = words.by_size(rows)[1]
   local shortest = {
      ("Throughput at %d bytes"):format(row.frame_size), load(row), "frames/s",
      row.percent and ("%.2f %% of the line, %s Mbit/s layer 2"):format(row.percent,
         words.mbps(row.mbps_l2)),
   }
   return rows[1].theoretical_fps and { shortest, full_line(rows) } or { shortest }
end

--- The section.
function M.body(rows)
   return {
      h.p { in_words(rows) }, chart(rows),
      tables.build { caption = "Throughput by frame size", columns = COLUMNS, rows = rows },
      words.reasons(rows),
   }
end

return M
