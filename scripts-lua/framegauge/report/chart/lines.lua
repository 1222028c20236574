-- SPDX-License-Identifier: BSD-3-Clause

--- Charts of rows: one figure against another with a line for each group of them, or a bar for each row.
local Plot = require "framegauge.report.chart.plot"
local formatters = require "framegauge.report.html.formatters"
local mixes = require "framegauge.core.mixes"
local rows = require "framegauge.text.rows"
local scale = require "framegauge.report.chart.scale"
local tables = require "framegauge.core.tables"

local M = {}

local SERIES = 8 -- colours

-- @param what  path of a figure, or function of the row
local function read(row, what)
   if type(what) == "function" then
      return what(row)
   end
   return rows.value(row, what)
end

local function percent(value)
   return ("%g"):format(value)
end

-- Axes by name: function(least, most, all values ascending).
local SCALES = {
   linear = function(_, most) return scale.linear(most) end,
   exact = function(_, most) return scale.linear(most, nil, true) end,
   percent = function() return scale.linear(100, percent) end,
   between = function(least, most) return scale.between(least, most) end,
   fitting = function(least, most) return scale.fitting(least, most) end,
   values = function(_, _, values) return scale.points(values, 0.045) end,
   even = function(_, _, values) return scale.even(values) end,
}

local function axis(o, values)
   table.sort(values, function(a, b) return mixes.mean(a) < mixes.mean(b) end)
   local each = {}
   for _, value in ipairs(values) do
      each[#each + 1] = value ~= each[#each] and value or nil
   end
   return { label = o.label, scale = SCALES[o.scale or "linear"](values[1] or 0, values[#values] or 0, each) }
end

-- A chart of times has microseconds, as tables have.
local function in_microseconds(o)
   local name = o.y.label:match "^(.*), ns$"
   local function scaled(what)
      return what and function(row)
         local value = read(row, what)
         return value and value / 1e3
      end
   end
   return not name and o or setmetatable({
      y = setmetatable({ label = name .. ", µs" }, { __index = o.y }),
      say = function(row, y, line) return o.say(row, y * 1e3, line) end,
      lines = tables.map(o.lines, function(line)
         return setmetatable({
            y = scaled(line.y), whisker = line.whisker and tables.map(line.whisker, scaled),
         }, { __index = line })
      end),
   }, { __index = o })
end

-- The drawn lines: list of { line, group, number of the group, points = list of { x, y, title, row = } }.
local function drawn(o)
   local list, xs, ys = {}, {}, {}
   for i, group in ipairs(o.group and formatters.grouped(o.rows, o.group) or { { rows = o.rows } }) do
      for k, line in ipairs(o.lines) do
         local one = { line = line, group = group, number = #o.lines > 1 and not o.group and k or i,
            points = {} }
         for _, row in ipairs(not (line.once and i > 1) and group.rows or {}) do
            local x, y = read(row, line.x or o.x.of), read(row, line.y)
            if x and y then
               one.points[#one.points + 1] = { x, y, o.say(row, y, line), row = row }
               xs[#xs + 1], ys[#ys + 1] = x, y
               for _, key in ipairs(line.whisker or {}) do
                  ys[#ys + 1] = read(row, key)
               end
            end
         end
         table.sort(one.points, function(a, b) return mixes.mean(a[1]) < mixes.mean(b[1]) end)
         list[#list + 1] = #one.points > 0 and one or nil
      end
   end
   return list, xs, ys
end

--- Draw lines.
-- @param o.id, o.title, o.description, o.caption, o.width, o.height  as framegauge.report.chart.plot has them
-- @param o.rows, o.group  the rows, and what tells the groups apart (nil: all are one)
-- @param o.x, o.y         { label =, scale = one of SCALES, of = the figure on the x axis }
-- @param o.lines          list of { y = figure, x = another one than the axis has, name = in the legend (nil:
--                         not there): text or function(name of the group), class = colour (default: by
--                         group), plain = without marks, once = of the first group only,
--                         whisker = { least, greatest } }
-- @param o.band           { least, greatest }: figures between which the chart is shaded
-- @param o.say            function(row, y, line): the text of a point
-- @return the figure; false when there is nothing to draw
function M.draw(o)
   o = in_microseconds(o)
   local list, xs, ys = drawn(o)
   if #list == 0 then
      return false
   end
   local plot = Plot.new {
      id = o.id, title = o.title, description = o.description .. " The table has the figures.",
      width = o.width,
      height = o.height, x = axis(o.x, xs), y = axis(o.y, ys),
   }
   if o.band then
      local low, high = {}, {}
      for i, point in ipairs(list[1].points) do
         low[i], high[i] = { point[1], read(point.row, o.band[1]) }, { point[1], read(point.row, o.band[2]) }
      end
      plot:band(low, high, "s1")
   end
   for _, one in ipairs(list) do
      local line, class = one.line, "s" .. (one.number - 1) % SERIES + 1
      for _, point in ipairs(line.whisker and one.points or {}) do
         plot:whisker(point[1], read(point.row, line.whisker[1]), read(point.row, line.whisker[2]), class)
      end
      local name = type(line.name) == "function" and line.name(one.group.name) or line.name
      plot:series {
         points = one.points, class = line.class or class, shape = not line.plain and one.number or nil,
         name = name and formatters.words(name),
      }
   end
   return plot:figure(o.caption)
end

local ROW, AROUND = 28, 14 + 52 + 24 -- pixels

--- Draw a bar for each row that has the figure.
-- @param o.id, o.title, o.description, o.caption, o.left, o.label  as above
-- @param o.rows, o.value  the rows, and the figure: path or function
-- @param o.name, o.say    functions of a row: its name, its text
-- @param o.since          { before, after }: the bars run from one moment on, with words for both of its
-- sides; nil:
--                         they are shares of 100 %
-- @return the figure; false when no row has one
function M.bars(o)
   local shown, names, most = {}, {}, 0
   if o.since then
      shown[1], names[1] = false, "" -- room for the words at the top
   end
   for _, row in ipairs(o.rows) do
      local value = read(row, o.value)
      if value then
         shown[#shown + 1], names[#names + 1], most = row, o.name(row), math.max(most, value)
      end
   end
   if not shown[#shown] then
      return false
   end
   local plot = Plot.new {
      id = o.id, title = o.title, description = o.description .. " The table has the figures.", left = o.left
         or 190,
      height = AROUND + ROW * #shown, y = { scale = scale.names(names) },
      x = { scale = o.since and scale.since(most, formatters.nanoseconds) or scale.linear(100, nil, true),
         label = o.label },
   }
   if o.since then
      plot:moment(o.since[1], o.since[2])
   end
   for i, row in ipairs(shown) do
      if row then
         plot:bar(0, o.since and read(row, o.value) or math.min(read(row, o.value), 100), i, "s1", o.say(row))
      end
   end
   return plot:figure(o.caption)
end

return M
