-- SPDX-License-Identifier: BSD-3-Clause

--- What came of a trial of TCP or UDP over time, where l4.interval asked for it: the figure, how many
-- connections were open, and the windows of the sender.
local Plot = require "framegauge.report.chart.plot"
local format = require "framegauge.report.format"
local h = require "framegauge.report.html.element"
local scale = require "framegauge.report.chart.scale"
local units = require "framegauge.units"

local M = {}

local MOST = 12 -- trials that have charts
local HEIGHT, WIDTH = 230, 620

-- Which side's series has the figure, and under which key: 1 the client, 2 the server.
local WHERE = {
   TCP_STREAM = { 2, "octets_in" }, TCP_SENDFILE = { 2, "octets_in" }, TCP_MAERTS = { 1, "octets_in" },
   UDP_STREAM = { 2, "octets_in" },
}
local TRANSACTIONS = { 1, "transactions" }

local function series_of(trial, side)
   return trial.sides[side] and trial.sides[side].apps[1].series or {}
end

-- Seconds of an interval.
local function step_of(trial, series)
   return (trial.setting.duration_s - (trial.setting.omit_s or 0)) / #series
end

local function points(series, step, read, write)
   local list = {}
   for i, interval in ipairs(series) do
      local value = read(interval)
      list[i] = { i * step, value, ("%.4g s: %s"):format(i * step, write(value)) }
   end
   return list
end

-- A small chart of several lines over time.
-- @param lines  list of { name, points }
local function chart(o, lines)
   local most, last = 0, 0
   for _, line in ipairs(lines) do
      for _, point in ipairs(line[2]) do
         most, last = math.max(most, point[2]), math.max(last, point[1])
      end
   end
   local plot = Plot.new {
      id = o.id, title = o.title, description = o.title .. ", by interval.", height = HEIGHT, width = WIDTH,
      x = { scale = scale.linear(last, nil, true), label = "seconds" },
      y = { scale = scale.linear(most), label = o.label },
   }
   for i, line in ipairs(lines) do
      plot:series { points = line[2], class = "s" .. i, name = #lines > 1 and line[1] or nil }
   end
   return plot:figure(o.title)
end

local function figure_chart(test, trial, name, id)
   local where = WHERE[test] or TRANSACTIONS
   local series, octets = series_of(trial, where[1]), where[2] == "octets_in"
   if #series < 2 then
      return false
   end
   local step = step_of(trial, series)
   local what = octets and "payload, bit/s" or "transactions a second"
   return chart({ id = id .. "-figure", title = name .. ": " .. what, label = what }, {
      { name, points(series, step, function(one)
         return one[where[2]] * (octets and 8 or 1) / step
      end, octets and units.format_bits or format.count) },
   })
end

local function open_chart(trial, name, id)
   local series, most = series_of(trial, 1), 0
   for _, interval in ipairs(series) do
      most = math.max(most, interval.open)
   end
   return #series > 1 and most > 1 and chart({
      id = id .. "-open", title = name .. ": connections open", label = "connections",
   }, { { "open", points(series, step_of(trial, series), function(one) return one.open end, format.count) } })
end

local WINDOWS = { { "congestion window", "cwnd" }, { "peer's window", "window" }, { "in flight", "flight" } }

local function window_chart(test, trial, name, id)
   local series, lines = series_of(trial, test == "TCP_MAERTS" and 2 or 1), {}
   for i, one in ipairs(WINDOWS) do
      lines[i] = { one[1], points(series, #series > 0 and step_of(trial, series) or 1, function(interval)
         return interval[one[2]]
      end, units.format_size) }
   end
   return #series > 1 and WHERE[test] and test ~= "UDP_STREAM" and chart({
      id = id .. "-windows", title = name .. ": windows of the sender, mean of the "
         .. "connections", label = "octets",
   }, lines)
end

--- The section of the page, or nil when no trial has a series.
function M.section(result)
   local charts = {}
   for i, row in ipairs(result.results.l4 or {}) do
      local trial = result.trials[row.trials[#row.trials]]
      if i <= MOST and trial and trial.sides and not trial.sides[1].flows then
         local name, id = row.case and row.test .. ", " .. row.case or row.test, "series-" .. i
         charts[#charts + 1] = figure_chart(row.test, trial, name, id) or nil
         charts[#charts + 1] = open_chart(trial, name, id) or nil
         charts[#charts + 1] = window_chart(row.test, trial, name, id) or nil
      end
   end
   return #charts > 0 and { "Over time", nil, h.div { class = "four", charts } } or nil
end

return M
