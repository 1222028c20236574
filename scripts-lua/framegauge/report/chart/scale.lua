-- SPDX-License-Identifier: BSD-3-Clause

--- Axes: from values to places, and which values to write beside them.
--
-- A scale is a function value -> 0..1 with the list of its ticks, { value, text }.
local format = require "framegauge.text.format"
local mixes = require "framegauge.core.mixes"
local tables = require "framegauge.core.tables"

local M = {}

local STEPS = { 1, 2, 5, 10 }
local PREFIXES = { { 1e12, " T" }, { 1e9, " G" }, { 1e6, " M" }, { 1e3, " k" }, { 1, "" } }

--- A tick's number, short: "1.5 M", "200 k", "0.25".
function M.short(value)
   for _, prefix in ipairs(PREFIXES) do
      if math.abs(value) >= prefix[1] then
         return ("%.4g%s"):format(value / prefix[1], prefix[2])
      end
   end
   return ("%.3g"):format(value)
end

local function step_for(span, count)
   local raw = span / count
   local base = 10 ^ math.floor(math.log10(raw))
   for _, step in ipairs(STEPS) do
      if base * step >= raw * 0.999 then
         return base * step
      end
   end
end

local function scale(place, from, to, ticks)
   return setmetatable({ from = from, to = to, ticks = ticks }, {
      __call = function(_, value)
         return place(value)
      end,
   })
end

--- From 0 upwards, to the next round number beyond max.
-- @param max    the largest value
-- @param write  value -> text (default: M.short)
-- @param exact  end at max itself
function M.linear(max, write, exact)
   max = max > 0 and max or 1
   local step = step_for(max, 5)
   local top = exact and max or math.ceil(max / step - 1e-9) * step
   local ticks = {}
   for i = 0, math.floor(top / step + 1e-9) do
      ticks[#ticks + 1] = { i * step, (write or M.short)(i * step) }
   end
   return scale(function(value) return value / top end, 0, top, ticks)
end

--- From the round number below min to the one above max: for values that would lie close together otherwise.
function M.between(min, max, write)
   local step = step_for(max > min and max - min or max, 5)
   local from, to = math.floor(min / step + 1e-9) * step, math.ceil(max / step - 1e-9) * step
   to = to > from and to or from + step
   local ticks = {}
   for i = 0, math.floor((to - from) / step + 0.5) do
      ticks[#ticks + 1] = { from + i * step, (write or M.short)(from + i * step) }
   end
   return scale(function(value) return (value - from) / (to - from) end, from, to, ticks)
end

local function log_place(from, to)
   return function(value)
      return math.log(math.max(value, from) / from) / math.log(to / from)
   end
end

--- Logarithmic, from the round number below min to the one above max.
function M.log(min, max, write)
   local steps = max / min > 1e3 and { 1 } or { 1, 2, 5 }
   local below, ticks = nil, {}
   for decade = math.floor(math.log10(min)) - 1, math.ceil(math.log10(max)) + 1 do
      for _, step in ipairs(steps) do
         local value = step * 10 ^ decade
         local tick = { value, (write or M.short)(value) }
         if value <= min then
            below = tick
         elseif #ticks == 0 or ticks[#ticks][1] < max then
            ticks[#ticks + 1] = tick
         end
      end
   end
   table.insert(ticks, 1, below)
   local from, to = below[1], ticks[#ticks][1]
   return scale(log_place(from, to), from, to, ticks)
end

local TIME_STEPS = {
   1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600,
   24 * 3600,
}

--- Seconds from 0 to the last, with ticks at times that people count in: "5:00", "1:00:00".
function M.time(last)
   local step, ticks = TIME_STEPS[#TIME_STEPS], {}
   for i = #TIME_STEPS, 1, -1 do
      step = last / TIME_STEPS[i] <= 6 and TIME_STEPS[i] or step
   end
   for seconds = 0, last, step do
      ticks[#ticks + 1] = { seconds, format.clock(seconds) }
   end
   return scale(function(value) return value / last end, 0, last, ticks)
end

--- Time from a moment on, with some room before it.
-- @param max    the latest
-- @param write  value -> text
function M.since(max, write)
   local after = M.linear(max, write)
   local before = -0.12 * after.to
   return scale(function(value)
      return (value - before) / (after.to - before)
   end, before, after.to, after.ticks)
end

--- Names one below the other; the first at the top.
function M.names(list)
   local ticks = tables.map(list, function(name, i) return { i, name } end)
   return scale(function(place) return 1 - (place - 0.5) / #list end, #list + 0.5, 0.5, ticks)
end

--- The scale that shows values between min and max better: logarithmic where small values would be too low to
-- see.
function M.fitting(min, max, write)
   if min > 0 and max / min > 40 then
      return M.log(min, max, write)
   end
   return M.linear(max, write)
end

--- Logarithmic over values that are ticks themselves, such as frame sizes, with some room at both ends. A mix
-- of sizes stands at its mean.
-- @param values  list, ascending
-- @param apart   least distance of two written ticks, as a share of the axis
function M.points(values, apart)
   local first, last = mixes.mean(values[1]), mixes.mean(values[#values])
   local margin = first == last and 2 or (last / first) ^ 0.04
   local place = log_place(first / margin, last * margin)
   local ticks, free = {}, -1
   for _, value in ipairs(values) do
      local at = place(mixes.mean(value))
      if at >= free then
         ticks[#ticks + 1] = { value, tostring(value) }
         free = at + apart
      end
   end
   return scale(function(value) return place(mixes.mean(value)) end, first, last, ticks)
end

--- Values at even distances, whatever lies between them, such as 0, 0.1 and 5 %.
-- @param values  list, ascending
function M.even(values)
   local at, ticks = {}, {}
   for i, value in ipairs(values) do
      at[value], ticks[i] = (i - 0.5) / #values, { value, ("%.3g"):format(value) }
   end
   return scale(function(value) return at[value] end, values[1], values[#values], ticks)
end

return M
