-- SPDX-License-Identifier: BSD-3-Clause

--- Ranges that a true value is known to lie in: { min =, max = }. A side without a bound is infinite. Nothing
-- here assumes a distribution: a value outside of a range contradicts a count.
local M = {}

--- An exact value with an error. @param error  default 0
-- @usage ranges.around(5, 1).max --> 6
function M.around(value, error)
   return { min = value - (error or 0), max = value + (error or 0) }
end

--- The intersection of several ranges; nil: empty.
-- @usage ranges.common { { min = 1, max = 4 }, { min = 3, max = 9 } }.min --> 3
-- @usage ranges.common { { min = 1, max = 2 }, { min = 3, max = 9 } } --> nil
function M.common(list)
   local out = { min = -math.huge, max = math.huge }
   for _, one in ipairs(list) do
      out.min, out.max = math.max(out.min, one.min), math.min(out.max, one.max)
   end
   return out.min <= out.max and out or nil
end

--- The smallest range that holds several ranges.
-- @usage ranges.hull({ { min = 1, max = 2 }, { min = 5, max = 6 } }).max --> 6
function M.hull(list)
   local out = { min = math.huge, max = -math.huge }
   for _, one in ipairs(list) do
      out.min, out.max = math.min(out.min, one.min), math.max(out.max, one.max)
   end
   return out
end

--- A range times a positive number.
-- @usage ranges.times({ min = 1, max = 2 }, 8).max --> 16
function M.times(range, by)
   return { min = range.min * by, max = range.max * by }
end

--- The middle of a range.
-- @usage ranges.middle { min = 1, max = 4 } --> 2.5
function M.middle(range)
   return (range.min + range.max) / 2
end

--- A straight line through ranges: which slopes and intercepts meet all of them. Elimination of one unknown
-- from each pair of inequalities (Fourier and Motzkin) leaves exactly the range of the other.
-- @param points  list of { x = (not negative, two different ones at least), min =, max = } of y
-- @return range of the slope, range of the intercept; nil where no line meets all
-- @usage local slope, at0 = ranges.line { { x = 0, min = 1, max = 1 }, { x = 2, min = 5, max = 7 } }
-- return slope.min, slope.max, at0.max --> 2 3 1
function M.line(points)
   local slope = { min = -math.huge, max = math.huge }
   local intercept = { min = -math.huge, max = math.huge }
   for _, p in ipairs(points) do
      for _, q in ipairs(points) do
         if q.x > p.x then
            local dx = q.x - p.x
            slope.min = math.max(slope.min, (q.min - p.max) / dx)
            slope.max = math.min(slope.max, (q.max - p.min) / dx)
            intercept.min = math.max(intercept.min, (p.min * q.x - q.max * p.x) / dx)
            intercept.max = math.min(intercept.max, (p.max * q.x - q.min * p.x) / dx)
         end
      end
      if p.x == 0 then
         intercept.min, intercept.max = math.max(intercept.min, p.min), math.min(intercept.max, p.max)
      end
   end
   if slope.min > slope.max or intercept.min > intercept.max then
      return nil
   end
   return slope, intercept
end

return M
