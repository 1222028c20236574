-- SPDX-License-Identifier: BSD-3-Clause

--- The figures of one plan over its runs: their levels, where these change, and whether the newest is worse.
--
-- Only figures that are the device's are points. Levels differ where framegauge.history.changes finds a
-- change and their means are further apart than the uncertainties of both, as `framegauge compare` has it.
local changes = require "framegauge.history.changes"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"

local M = {}

M.BETTER, M.WORSE, M.CHANGED = "better", "worse", "changed"

--- A regression is new for this many runs from where the worse level begins.
M.NEW = 5

local function key_of(point)
   return table.concat({ point.title, point.name, point.figure }, "\n")
end

-- Series in the order in which they first occur.
local function series_of(points)
   local list, by_key = {}, {}
   for _, point in ipairs(points) do
      local key = key_of(point)
      local one = by_key[key]
      if not one then
         one = {
            title = point.title, name = point.name, figure = point.figure, heading = point.heading,
            unit = point.unit, side = point.side, points = {}, left_out = 0,
         }
         by_key[key], list[#list + 1] = one, one
      end
      local counts = point.valid == "yes"
      one.points[#one.points + 1] = counts and point or nil
      one.left_out = one.left_out + (counts and 0 or 1)
   end
   return list
end

-- The greatest distance of the true value above and below figures; unknown ones are left to the noise.
local function widest(points, from, to)
   local above, below = 0, 0
   for i = from, to do
      local point = points[i]
      above = math.max(above, (point.high or point.value) - point.value)
      below = math.max(below, point.value - (point.low or point.value))
   end
   return above, below
end

local function level(series, from, to)
   local values = {}
   for i = from, to do
      values[#values + 1] = series.points[i].value
   end
   local above, below = widest(series.points, from, to)
   return { from = from, to = to, mean = stats.mean(values), above = above, below = below }
end

-- Whether two levels are further apart than the uncertainties of both, on the sides that face each other.
local function are_apart(old, new)
   local change = new.mean - old.mean
   local open = change > 0 and old.above + new.below or old.below + new.above
   return math.abs(change) > open
end

local function mark(side, change)
   if not side then
      return M.CHANGED
   end
   return (change > 0) == (side == ">=") and M.BETTER or M.WORSE
end

-- What is different in the device between the last run before a change and the first one after it.
local function device_changes(before, after)
   local list = {}
   for _, key in ipairs { "device", "firmware", "configuration" } do
      local old, new = before.run[key], after.run[key]
      if old ~= new then
         list[#list + 1] = ("%s %s, before %s"):format(key, new or "none", old or "none")
      end
   end
   return table.concat(list, "; ")
end

-- Levels that cannot be told apart are one.
local function levels_of(series, starts)
   local list = { level(series, 1, (starts[1] or #series.points + 1) - 1) }
   for i, start in ipairs(starts) do
      local last = list[#list]
      local new = level(series, start, (starts[i + 1] or #series.points + 1) - 1)
      if are_apart(last, new) then
         list[#list + 1] = new
      else
         list[#list] = level(series, last.from, new.to)
      end
   end
   return list
end

local function judge(series)
   local values = tables.map(series.points, function(point) return point.value end)
   local above, below = widest(series.points, 1, #values)
   series.noise = changes.noise(values, (above + below) / 2)
   series.levels = #values > 0 and levels_of(series, changes.find(values, series.noise)) or {}
   series.changes = {}
   for i = 2, #series.levels do
      local before, after = series.levels[i - 1], series.levels[i]
      local change = after.mean - before.mean
      local first = series.points[after.from]
      series.changes[i - 1] = {
         at = after.from, started = first.run.started, folder = first.folder, firmware = first.run.firmware,
         before = before.mean, after = after.mean, change = change,
         change_percent = before.mean ~= 0 and change / math.abs(before.mean) * 100 or nil,
         mark = mark(series.side, change), device = device_changes(series.points[after.from - 1], first),
         runs = #values - after.from + 1,
      }
   end
   return series
end

--- The series of a plan.
-- @param points  of framegauge.history.index
-- @return list of series: title, name, figure, heading, unit, side, points; left_out = how many figures are
-- not the device's; noise; levels = list of { from, to, mean, above, below }; changes = list of { at = index
-- of the point, started, folder, firmware, before, after, change, change_percent, mark, device = what is
-- different in it, runs = how many there are since }
function M.of(points)
   return tables.map(series_of(points), judge)
end

--- Series as a program gets them, from `framegauge history --json` and from the page. What a run is stands in
-- it once, not with each of its figures: a thousand runs of seven figures are a third as long then.
-- @param plan  its name
-- @param list  of M.of
-- @param runs  of framegauge.history.index
-- @return a table for JSON
function M.data(plan, list, runs)
   local copies = tables.map(list, function(series)
      local out = tables.copy(series)
      out.points = tables.map(series.points, function(point)
         return { run = point.run.number, value = point.value, low = point.low, high = point.high }
      end)
      return out
   end)
   return { plan = plan, method = "PELT", runs = runs, series = copies }
end

--- The regressions among series: the last change of each that is for the worse and new.
-- @return list of { series =, change = }
function M.regressions(list)
   local found = {}
   for _, series in ipairs(list) do
      local last = series.changes[#series.changes]
      if last and last.mark == M.WORSE and last.runs <= M.NEW then
         found[#found + 1] = { series = series, change = last }
      end
   end
   return found
end

return M
