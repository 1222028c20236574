-- SPDX-License-Identifier: BSD-3-Clause

--- A chart as inline SVG: axes, grid and the drawing in between.
--
-- Colours are classes of the page's style sheet, so that one drawing serves light, dark and paper. Series
-- differ in the shape of their marks and the dashes of their lines as well as in colour. Coordinates are in
-- pixels of the drawing, which the page scales.
local h = require "framegauge.text.xml"
local tables = require "framegauge.core.tables"

local Plot = {}
Plot.__index = Plot

local WIDTH, HEIGHT = 760, 340
local LEFT, RIGHT, TOP, BOTTOM = 78, 28, 14, 52
local MARK = 4
local LEGEND_LINE, LETTER = 20, 6.5 -- height of a line; about the width of a character

local SHAPES = { "circle", "square", "diamond", "triangle" }

--- Start a chart.
-- @param o.title, o.description  for those who cannot see it
-- @param o.id                    of the SVG's parts, unique in the page
-- @param o.x, o.y                { scale = framegauge.report.chart.scale, label = with the unit }
-- @param o.width, o.height       pixels of the drawing (default 760 by 340)
-- @param o.left                  pixels for the texts beside the y axis
function Plot.new(o)
   return setmetatable({
      o = o, width = o.width or WIDTH, height = o.height or HEIGHT, left = o.left or LEFT,
      content = {}, entries = {},
   }, Plot)
end

local function px(value)
   return (("%.1f"):format(value):gsub("%.0$", ""))
end

function Plot:at(x, y)
   local width, height = self.width - self.left - RIGHT, self.height - TOP - BOTTOM
   return self.left + width * self.o.x.scale(x), TOP + height * (1 - self.o.y.scale(y))
end

function Plot:add(element)
   self.content[#self.content + 1] = element
end

local function path_of(plot, points)
   local parts = {}
   for i, point in ipairs(points) do
      local x, y = plot:at(point[1], point[2])
      parts[i] = (i == 1 and "M" or "L") .. px(x) .. " " .. px(y)
   end
   return table.concat(parts)
end

local function mark(shape, x, y, class)
   local r = MARK
   if shape == "circle" then
      return h.circle { cx = px(x), cy = px(y), r = r, class = class }
   elseif shape == "square" then
      return h.rect { x = px(x - r), y = px(y - r), width = 2 * r, height = 2 * r, class = class }
   end
   local form = shape == "diamond" and "M%s %sl5 5l-5 5l-5 -5z" or "M%s %sl5 9h-10z"
   return h.path { d = form:format(px(x), px(y - 5)), class = class }
end

--- A line through points, marked where they were measured.
-- @param o.points  list of { x, y, text of the point }
-- @param o.class   its colour: s1 to s8, theory
-- @param o.shape   number of the mark's shape; nil: none
-- @param o.name    in the legend; nil: not there
function Plot:series(o)
   if #o.points > 1 then
      self:add(h.path { d = path_of(self, o.points), class = "line " .. o.class })
   end
   local shape = o.shape and SHAPES[(o.shape - 1) % #SHAPES + 1]
   for _, point in ipairs(shape and o.points or {}) do
      local x, y = self:at(point[1], point[2])
      self:add(h.g { h.title { point[3] }, mark(shape, x, y, "mark " .. o.class) })
   end
   if o.name then
      self.entries[#self.entries + 1] = { class = o.class, shape = shape, name = o.name }
   end
end

--- A line of the legend alone: what a colour means.
function Plot:key(class, name)
   self.entries[#self.entries + 1] = { class = class, name = name, solid = true }
end

--- The area between two lines.
-- @param low, high  lists of { x, y }
function Plot:band(low, high, class)
   local points = tables.map(low, function(point) return point end)
   for i = #high, 1, -1 do
      points[#points + 1] = high[i]
   end
   self:add(h.path { d = path_of(self, points) .. "Z", class = "band " .. class })
end

--- From the least to the greatest, with a bar at both ends.
function Plot:whisker(x, low, high, class)
   local at, bottom = self:at(x, low)
   local _, top = self:at(x, high)
   local form = "M%s %sh12m-6 0V%sm-6 0h12"
   self:add(h.path { d = form:format(px(at - 6), px(bottom), px(top)), class = "whisker " .. class })
end

--- A horizontal bar between two values, at half the height of a row.
function Plot:bar(from, to, y, class, title)
   local left, middle = self:at(from, y)
   local right = self:at(to, y)
   self:add(h.g {
      h.title { title },
      h.rect {
         x = px(left), y = px(middle - 7), width = px(math.max(right - left, 1)), height = 14,
         class = "bar " .. class,
      },
   })
end

--- An upright line at x = 0, shaded before, with a word on either side at its top.
function Plot:moment(before, after)
   local at = self:at(0, self.o.y.scale.from)
   local floor = self.height - BOTTOM
   self:add(h.rect {
      x = self.left, y = TOP, width = px(at - self.left), height = floor - TOP, class = "before",
   })
   self:add(h.line { x1 = px(at), x2 = px(at), y1 = TOP, y2 = floor, class = "moment" })
   self:add(h.text { x = px((self.left + at) / 2), y = TOP + 14, class = "tick middle", before })
   self:add(h.text { x = px(at + 8), y = TOP + 14, class = "tick", after })
end

function Plot:grid()
   local out, floor, right = {}, self.height - BOTTOM, self.width - RIGHT
   for _, tick in ipairs(self.o.y.scale.ticks) do
      local _, y = self:at(self.o.x.scale.from, tick[1])
      out[#out + 1] = h.line { x1 = self.left, x2 = right, y1 = px(y), y2 = px(y), class = "grid" }
      out[#out + 1] = h.text { x = self.left - 8, y = px(y + 4), class = "tick end", tick[2] }
   end
   local ticks, free = self.o.x.scale.ticks, math.huge
   for i = #ticks, 1, -1 do -- from the right: of two overlapping texts the last one stays
      local x, half = self:at(ticks[i][1], self.o.y.scale.from), LETTER * #ticks[i][2] / 2
      out[#out + 1] = h.line { x1 = px(x), x2 = px(x), y1 = floor, y2 = floor + 5, class = "axis" }
      if x + half < free then
         out[#out + 1] = h.text { x = px(x), y = floor + 19, class = "tick middle", ticks[i][2] }
         free = x - half - 2 * LETTER
      end
   end
   out[#out + 1] = h.line { x1 = self.left, x2 = right, y1 = floor, y2 = floor, class = "axis" }
   local middle = (TOP + floor) / 2
   out[#out + 1] = h.text {
      x = px((self.left + right) / 2), y = floor + 41, class = "label middle", self.o.x.label,
   }
   out[#out + 1] = self.o.y.label and h.text {
      x = 15, y = px(middle), class = "label middle", transform = ("rotate(-90 15 %s)"):format(px(middle)),
      self.o.y.label,
   }
   return out
end

-- Below the axes, from left to right, in as many lines as it takes.
function Plot:legend()
   local out, start = {}, 20
   local x, y = start, self.height + 4
   for _, entry in ipairs(self.entries) do
      local length = 32 + LETTER * #entry.name + 10
      if x + length > self.width and x > start then
         x, y = start, y + LEGEND_LINE
      end
      out[#out + 1] = entry.solid
         and h.rect { x = px(x), y = px(y - 6), width = 26, height = 12, class = "bar " .. entry.class }
         or h.path { d = ("M%s %sh26"):format(px(x), px(y)), class = "line " .. entry.class }
      out[#out + 1] = entry.shape and mark(entry.shape, x + 13, y, "mark " .. entry.class)
      out[#out + 1] = h.text { x = px(x + 32), y = px(y + 4), class = "tick", entry.name }
      x = x + length
   end
   return out, #self.entries > 0 and y + 14 or self.height
end

--- The finished drawing with its caption.
function Plot:figure(caption)
   local legend, height = self:legend()
   local id = self.o.id
   return h.figure {
      tabindex = 0, -- a phone scrolls it, and so do keys
      h.svg {
         viewBox = ("0 0 %d %d"):format(self.width, height), role = "img",
         ["aria-labelledby"] = id .. "-title " .. id .. "-desc",
         h.title { id = id .. "-title", self.o.title }, h.desc { id = id .. "-desc", self.o.description },
         self:grid(), self.content, legend,
      },
      h.figcaption { caption },
   }
end

return Plot
