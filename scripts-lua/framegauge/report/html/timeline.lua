-- SPDX-License-Identifier: BSD-3-Clause

--- Times that run from one moment on, one bar for each row: recovery after an overload, outage after a reset.
local Plot = require "framegauge.report.chart.plot"
local scale = require "framegauge.report.chart.scale"
local words = require "framegauge.report.html.words"

local M = {}

local ROW, AROUND = 26, 14 + 52 + 24 -- pixels

--- Draw them.
-- @param o.rows    list of rows
-- @param o.key     the time in each, nanoseconds
-- @param o.id, o.title, o.description, o.label, o.caption
-- @param o.before, o.after  words for both sides of the moment
-- @return the figure; false when no row has a time
function M.chart(o)
   local rows, names = { false }, { "" } -- room for the words at the top
   for _, row in ipairs(o.rows) do
      if row[o.key] then
         rows[#rows + 1], names[#names + 1] = row, words.subject(row)
      end
   end
   local longest = words.largest(o.rows, o.key)
   if not longest then
      return false
   end
   local plot = Plot.new {
      id = o.id, title = o.title, description = o.description, left = 190,
      height = AROUND + ROW * #rows,
      x = { scale = scale.since(longest[o.key], words.nanoseconds), label = o.label },
      y = { scale = scale.names(names) },
   }
   plot:moment(o.before, o.after)
   for i = 2, #rows do
      local time = rows[i][o.key]
      plot:bar(0, time, i, "s1", ("%s: %s"):format(names[i], words.nanoseconds(time)))
   end
   return plot:figure(o.caption)
end

return M
