-- SPDX-License-Identifier: BSD-3-Clause

--- The performance test over time: rate, loss, delay and its variation of each service, a line for each way.
--
-- A trial has up to 900 points; a drawing takes fewer and shows of those it puts together the least and the
-- greatest as a band. What was lost is never averaged away: a point's loss is the greatest of those it stands
-- for.
local Plot = require "framegauge.report.chart.plot"
local h = require "framegauge.report.html.element"
local scale = require "framegauge.report.chart.scale"
local words = require "framegauge.report.html.words"

local M = {}

local WIDTH, HEIGHT, POINTS = 470, 230, 225

-- The series of a row: that of its stream in its trial.
local function series_of(result, service, row)
   local trial = result.trials[row.trial or 0]
   for _, direction in ipairs(trial and trial.directions or {}) do
      if direction.direction == ("%s %s green"):format(service.name, row.direction) then
         return direction.series
      end
   end
   return nil
end

local function share_lost(tx, rx)
   return tx > 0 and (tx - rx) / tx * 100 or 0
end

-- What is drawn: the value of a point, and for a band its least and greatest; in the chart's unit.
local CHARTS = {
   {
      name = "IR", band = true,
      of = function(s, i) return s.ir_mean_bps[i], s.ir_min_bps[i], s.ir_max_bps[i] end,
      unit = function() return 1e6, "received IR, Mbit/s" end,
   },
   {
      name = "FLR",
      of = function(s, i) return share_lost(s.tx[i], s.rx[i]) end,
      unit = function() return 1, "FLR, %" end, worst = true,
   },
   {
      name = "FTD", band = true,
      of = function(s, i) return s.ftd_mean_ns[i], s.ftd_min_ns[i], s.ftd_max_ns[i] end,
      unit = function(most) return most < 1e6 and 1e3 or 1e6, most < 1e6 and "delay, µs" or "delay, ms" end,
   },
   {
      name = "FDV",
      of = function(s, i) return s.fdv_max_ns[i] end,
      unit = function(most) return most < 1e6 and 1e3 or 1e6, most < 1e6 and "FDV, µs" or "FDV, ms" end,
      worst = true,
   },
}

-- Points to draw: list of { seconds, value, least, greatest }.
local function points_of(chart, series)
   local list, n = {}, #series.tx
   local each = math.ceil(n / POINTS)
   for first = 1, n, each do
      local sum, least, most, count = 0, math.huge, -math.huge, 0
      for i = first, math.min(first + each - 1, n) do
         local value, low, high = chart.of(series, i)
         sum, count = sum + value, count + 1
         least, most = math.min(least, low or value), math.max(most, high or value)
      end
      list[#list + 1] = {
         (first - 1 + count / 2) * series.interval_s, chart.worst and most or sum / count, least, most,
      }
   end
   return list
end

local function greatest(lines)
   local most = 0
   for _, line in ipairs(lines) do
      for _, point in ipairs(line.points) do
         most = math.max(most, point[4])
      end
   end
   return most
end

local function scaled(points, column, by)
   local list = {}
   for i, point in ipairs(points) do
      list[i] = { point[1], point[column] / by }
   end
   return list
end

local function draw(chart, service, lines, seconds)
   local by, label = chart.unit(greatest(lines))
   local plot = Plot.new {
      id = ("over-time-%s-%s"):format(service.name, chart.name), width = WIDTH, height = HEIGHT,
      title = ("%s of %s over time"):format(chart.name, service.name),
      description = ("%s second by second, for each way"):format(label),
      x = { scale = scale.time(seconds), label = "time" },
      y = { scale = scale.linear(greatest(lines) / by), label = label },
   }
   for i, line in ipairs(lines) do
      if chart.band then
         plot:band(scaled(line.points, 3, by), scaled(line.points, 4, by), "s" .. i)
      end
      plot:series { points = scaled(line.points, 2, by), class = "s" .. i, name = line.name }
   end
   return plot:figure ""
end

local function of_service(result, service)
   local out, seconds = {}, 0
   for i, chart in ipairs(CHARTS) do
      local lines = {}
      for _, row in ipairs(service.performance) do
         local series = series_of(result, service, row)
         if series and #series.tx > 1 then
            lines[#lines + 1] = { name = words.direction(row.direction), points = points_of(chart, series) }
            seconds = math.max(seconds, #series.tx * series.interval_s)
         end
      end
      out[i] = #lines > 0 and draw(chart, service, lines, seconds) or nil
   end
   return #out > 0 and { h.h3 { service.name }, h.div { class = "four", out } } or nil
end

--- The charts of all services.
function M.of(result)
   local out = {}
   for _, service in ipairs(result.results.y1564.services) do
      out[#out + 1] = of_service(result, service)
   end
   return #out > 0 and {
      h.p {
         "Second by second, by the time at which a frame was sent; shaded from the least to the greatest "
            .. "where "
            .. "a point stands for several seconds, and of the delay in any case. Delays are those from "
               .. "first "
            .. "bit to first bit, without the frame's own time.",
      },
      out,
   }
end

return M
