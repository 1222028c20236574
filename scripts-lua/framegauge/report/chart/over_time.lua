-- SPDX-License-Identifier: BSD-3-Clause

--- Streams over time (framegauge.tester.series): rate, loss, delay and its variation, a line for each.
--
-- A trial has up to 900 points. A drawing combines them into fewer, and shows the least and the greatest of
-- each group as a band. Losses are never averaged away: a drawn point has the greatest loss of its group.
-- Where nothing arrived there is no delay, and no line.
local h = require "framegauge.text.xml"
local Plot = require "framegauge.report.chart.plot"
local scale = require "framegauge.report.chart.scale"
local tables = require "framegauge.core.tables"

local M = {}

local WIDTH, HEIGHT, POINTS = 470, 230, 225
local SHORT = 10 -- seconds, below which an axis has parts of them

local function share_lost(tx, rx)
   return tx > 0 and (tx - rx) / tx * 100 or 0
end

local function time_unit(most)
   return most < 1e6 and 1e3 or 1e6, most < 1e6 and "µs" or "ms"
end

-- What is drawn: the value of a point, and for a band its least and greatest; in the chart's unit.
local CHARTS = {
   {
      band = true,
      of = function(s, i) return s.ir_mean_bps[i], s.ir_min_bps[i], s.ir_max_bps[i] end,
      unit = function() return 1e6, "Mbit/s" end,
   },
   {
      of = function(s, i) return share_lost(s.tx[i], s.rx[i]) end,
      unit = function() return 1, "%" end, worst = true,
   },
   {
      band = true,
      of = function(s, i) return s.ftd_mean_ns[i], s.ftd_min_ns[i], s.ftd_max_ns[i] end,
      unit = time_unit, of_arrivals = true,
   },
   {
      of = function(s, i) return s.fdv_max_ns[i] end,
      unit = time_unit, of_arrivals = true, worst = true,
   },
}

-- Points to draw: list of { seconds, value, least, greatest }; false in place of those without a value.
local function points_of(chart, series)
   local list, n = {}, #series.tx
   local each = math.ceil(n / POINTS)
   for first = 1, n, each do
      local sum, least, most, count, last = 0, math.huge, -math.huge, 0, math.min(first + each - 1, n)
      for i = first, last do
         if not chart.of_arrivals or series.rx[i] > 0 then
            local value, low, high = chart.of(series, i)
            sum, count = sum + value, count + 1
            least, most = math.min(least, low or value), math.max(most, high or value)
         end
      end
      list[#list + 1] = count > 0 and {
         (first + last - 1) / 2 * series.interval_s, chart.worst and most or sum / count, least, most,
      }
   end
   return list
end

local function greatest(lines)
   local most = 0
   for _, line in ipairs(lines) do
      for _, point in ipairs(line.points) do
         most = math.max(most, point and point[4] or 0)
      end
   end
   return most
end

-- The stretches of points without a gap.
local function stretches(points)
   local list, open = {}, nil
   for _, point in ipairs(points) do
      if point and not open then
         open = {}
         list[#list + 1] = open
      end
      open = point and open
      if open then
         open[#open + 1] = point
      end
   end
   return list
end

local function scaled(points, column, by)
   return tables.map(points, function(point) return { point[1], point[column] / by } end)
end

local function draw_line(plot, chart, line, by, class)
   for i, points in ipairs(stretches(line.points)) do
      if chart.band then
         plot:band(scaled(points, 3, by), scaled(points, 4, by), class)
      end
      plot:series { points = scaled(points, 2, by), class = class, name = i == 1 and line.name or nil }
   end
end

local function time_axis(seconds)
   if seconds < SHORT then
      return { scale = scale.linear(seconds, nil, true), label = "time, s" }
   end
   return { scale = scale.time(seconds), label = "time" }
end

local function draw(chart, o, i, lines, seconds)
   local by, unit = chart.unit(greatest(lines))
   local plot = Plot.new {
      id = ("over-time-%s-%d"):format(o.id, i), width = WIDTH, height = HEIGHT,
      title = ("%s of %s over time"):format(o.terms[i], o.name),
      description = ("%s (%s) from the start of the trial to its end"):format(o.terms[i], unit),
      x = time_axis(seconds),
      y = { scale = scale.linear(greatest(lines) / by), label = ("%s, %s"):format(o.terms[i], unit) },
   }
   for k, line in ipairs(lines) do
      draw_line(plot, chart, line, by, "s" .. k)
   end
   return plot:figure ""
end

--- The four charts of one run or service.
-- @param o.id     of the drawings, unique in the page
-- @param o.name   of the whole
-- @param o.terms  what rate, loss, delay and variation are called
-- @param o.lines  list of { name = in the legend or nil, series = or nil }
-- @return nil where no series has more than one point
function M.of(o)
   local out, seconds, drawn = {}, 0, {}
   for _, line in ipairs(o.lines) do
      if line.series and #line.series.tx > 1 then
         drawn[#drawn + 1] = line
         seconds = math.max(seconds, #line.series.tx * line.series.interval_s)
      end
   end
   for i, chart in ipairs(#drawn > 0 and CHARTS or {}) do
      local lines = tables.map(drawn, function(line)
         return { name = line.name, points = points_of(chart, line.series) }
      end)
      out[i] = draw(chart, o, i, lines, seconds)
   end
   return #out > 0 and { h.h3 { o.name }, h.div { class = "four", out } } or nil
end

return M
