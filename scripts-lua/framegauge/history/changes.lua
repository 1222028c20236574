-- SPDX-License-Identifier: BSD-3-Clause

--- Where the level of a series changes: PELT (Killick, Fearnhead and Eckley, "Optimal detection of
-- changepoints with a linear computational cost", Journal of the American Statistical Association 107, 2012).
--
-- A segmentation costs, for each of its segments, the squares of the distances from its mean in units of the
-- noise, and a penalty for each change. PELT finds the cheapest one exactly; starts that can no longer be
-- part of it are left out of the search. The noise is estimated by the median of the differences between
-- neighbours, which a few steps do not move, and is at least what the figures leave open. The penalty is that
-- of Schwarz's criterion, PENALTY log n: docs/explanation/change-points.md has its errors.
local stats = require "framegauge.trial.stats"

local M = {}

--- Penalty of a change: this times the logarithm of the number of points.
M.PENALTY = 4

-- The median of |difference| of two independent normal values is this many standard deviations.
local MEDIAN_OF_DIFFERENCES = 0.6745 * math.sqrt(2)

-- A figure that is known to +- w may be anywhere there: the deviation of a uniform distribution.
local UNIFORM = 1 / math.sqrt(3)

--- The standard deviation of the noise of a series.
-- @param values  list of numbers
-- @param within  how far from each the truth may be to either side, or nil
function M.noise(values, within)
   local differences = {}
   for i = 2, #values do
      differences[i - 1] = math.abs(values[i] - values[i - 1])
   end
   local noise = #differences > 0 and stats.median(differences) / MEDIAN_OF_DIFFERENCES or 0
   return math.max(noise, (within or 0) * UNIFORM)
end

-- Running sums of the values and of their squares, both of the difference to the first value, so that figures
-- far from 0 lose no digits.
local function running_sums(values, noise)
   local sum, squares = { [0] = 0 }, { [0] = 0 }
   for i, value in ipairs(values) do
      local x = (value - values[1]) / noise
      sum[i], squares[i] = sum[i - 1] + x, squares[i - 1] + x * x
   end
   return sum, squares
end

--- Find the changes.
-- @param values   list of numbers in the order of time
-- @param noise    standard deviation of one of them; 0: every difference is a change
-- @return list of the indices at which a new level begins
function M.find(values, noise)
   local n = #values
   if n < 2 then
      return {}
   end
   noise = noise > 0 and noise or math.max(math.abs(values[1]), 1) * 1e-12
   local sum, squares = running_sums(values, noise)
   local penalty = M.PENALTY * math.log(n)
   local best, previous, candidates, count = { [0] = -penalty }, {}, { 0 }, 1
   local totals = {} -- of the candidates: what it costs to come here by a segment from there
   for at = 1, n do
      local least, which = math.huge, 0
      for i = 1, count do
         local from = candidates[i]
         local difference = sum[at] - sum[from]
         local total = best[from] + (squares[at] - squares[from] - difference * difference / (at - from))
         totals[i] = total
         if total <= least then
            least, which = total, from
         end
      end
      best[at], previous[at] = least + penalty, which
      local kept = 0
      for i = 1, count do
         if totals[i] <= best[at] then
            kept = kept + 1
            candidates[kept] = candidates[i]
         end
      end
      count = kept + 1
      candidates[count] = at
   end
   local changes, at = {}, previous[n]
   while at > 0 do
      table.insert(changes, 1, at + 1)
      at = previous[at]
   end
   return changes
end

return M
