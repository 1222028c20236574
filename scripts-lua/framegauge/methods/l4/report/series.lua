-- SPDX-License-Identifier: BSD-3-Clause

--- What came of a trial of TCP or UDP over time, where l4.interval asked for it: the figure, how many
-- connections were open, and the windows of the sender.
local format = require "framegauge.text.format"
local h = require "framegauge.text.xml"
local kinds = require "framegauge.methods.l4.kinds"
local lines = require "framegauge.report.chart.lines"
local result_rows = require "framegauge.methods.l4.result"
local units = require "framegauge.text.units"

local M = {}

local MAX_TRIALS = 12 -- that have charts

-- A small chart of figures of one side of a trial over time; false where there are no intervals.
-- @param side  1 the client, 2 the server
-- @param o     id, title, label, lines as framegauge.report.chart.lines has them; write = value -> text
local function chart(trial, side, o)
   local series = trial.sides[side] and trial.sides[side].apps[1].series or {}
   local step = (trial.setting.duration_s - (trial.setting.omit_s or 0)) / #series
   local points = {}
   for i, interval in ipairs(series) do
      points[i] = setmetatable({ at = i * step, step = step }, { __index = interval })
   end
   o.rows, o.x, o.y = points, { of = "at", label = "seconds", scale = "exact" }, { label = o.label }
   o.description, o.caption, o.height, o.width = o.title .. ", by interval.", o.title, 230, 620
   function o.say(point, value) return ("%.4g s: %s"):format(point.at, o.write(value)) end
   for _, line in ipairs(o.lines) do
      line.plain = true
   end
   return #series > 1 and lines.draw(o)
end

local function figure_chart(kind, trial, name, id)
   local what = kind.receiver and "payload, bit/s" or "transactions a second"
   return chart(trial, kind.receiver or 1, {
      id = id .. "-figure", title = name .. ": " .. what, label = what,
      write = kind.receiver and units.format_bits or format.count,
      lines = { { y = function(point)
         return (kind.receiver and 8 * point.octets_in or point.transactions) / point.step
      end } },
   })
end

local function open_chart(trial, name, id)
   return trial.sides[1].apps[1].concurrent_max > 1 and chart(trial, 1, {
      id = id .. "-open", title = name .. ": connections open", label = "connections", write = format.count,
      lines = { { y = "open" } },
   })
end

local function window_chart(kind, trial, name, id)
   return kind.receiver and not kind.udp and chart(trial, kind.receiver == 1 and 2 or 1, {
      id = id .. "-windows", title = name .. ": windows of the sender, mean of the connections",
      label = "bytes",
      write = units.format_size,
      lines = {
         { y = "cwnd", name = "congestion window" }, { y = "window", name = "peer's window" },
         { y = "flight", name = "in flight" },
      },
   })
end

--- The section of the page, or nil when no trial has a series.
function M.section(result)
   local charts = {}
   for i, row in ipairs(result.results.l4 or {}) do
      local trial = result.trials[row.trials[#row.trials]]
      if i <= MAX_TRIALS and trial and trial.sides and not trial.sides[1].flows then
         local kind, name, id = kinds.of(row.test), result_rows.name(row), "series-" .. i
         charts[#charts + 1] = figure_chart(kind, trial, name, id) or nil
         charts[#charts + 1] = open_chart(trial, name, id) or nil
         charts[#charts + 1] = window_chart(kind, trial, name, id) or nil
      end
   end
   return #charts > 0 and { "Over time", nil, h.div { class = "four", charts } } or nil
end

return M
