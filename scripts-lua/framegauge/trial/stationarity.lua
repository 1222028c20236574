-- SPDX-License-Identifier: BSD-3-Clause

--- Whether repetitions of a measurement are repetitions of one thing: a trend in their order, two modes, and
-- values that lie apart.
--
-- Differences within the resolution have no meaning: each function takes the least difference that counts.
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"

local M = {}

-- Fewer values can be neither called a trend nor lie apart from others; fewer cannot have two modes.
local FEW, FEW_FOR_MODES = 5, 8

-- Values that make a mode, and their share: the tails of one mode are thin.
local OF_A_MODE, SHARE_OF_A_MODE = 3, 0.1

-- Chances below which a trend, and a gap, count as significant.
local TREND, GAP = 0.05, 0.01

-- Beyond this many deviations, estimated by the median of distances from the median, a value lies apart
-- (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993).
local APART, MEDIAN_TO_DEVIATION = 3.5, 1.4826

--- Are these enough to tell a trend?
function M.is_enough(list)
   return #list >= FEW
end

local function sorted(list)
   local copy = { unpack(list) }
   table.sort(copy)
   return copy
end

-- Pairs in ascending order less those in descending order.
local function kendall(list, open)
   local sum = 0
   for i = 1, #list do
      for j = i + 1, #list do
         local change = list[j] - list[i]
         if math.abs(change) > open then
            sum = sum + (change > 0 and 1 or -1)
         end
      end
   end
   return sum
end

-- Chance that a random order of n values has this excess of ascending over descending pairs, or more.
local function chance_of(sum, n)
   local counts = { [0] = 1 } -- permutations by descending pairs
   local most = 0
   for k = 2, n do
      local next_counts = {}
      for pairs_now = 0, most + k - 1 do
         local total = 0
         for taken = math.max(0, pairs_now - most), math.min(k - 1, pairs_now) do
            total = total + counts[pairs_now - taken]
         end
         next_counts[pairs_now] = total / k -- shares of all permutations
      end
      counts, most = next_counts, most + k - 1
   end
   local chance = 0
   for descending = 0, (most - sum) / 2 do
      chance = chance + counts[descending]
   end
   return chance
end

--- Do values rise or fall in their order? The test of Mann (Econometrica 13, 1945) and Kendall, two-sided at
-- 5 %, with the exact distribution; ties count for neither side, which makes it slower to tell.
-- @param open  how far apart two values are that may be the same
-- @return "rising", "falling" or nil
-- @usage stationarity.trend({ 1, 2, 3, 4, 5 }, 0) --> rising
function M.trend(list, open)
   local sum = kendall(list, open)
   if not M.is_enough(list) or 2 * chance_of(math.abs(sum), #list) > TREND then
      return nil
   end
   return sum > 0 and "rising" or "falling"
end

-- Chance that the widest of the spaces between n values, with the least and the greatest given and
-- the others fall evenly between them, is more than a share of their range (Fisher, Proceedings of the Royal
-- Society A 125, 1929; Whitworth).
local function chance_of_gap(share, n)
   local chance, choose, spaces = 0, 1, n - 1
   for j = 1, spaces do
      if j * share >= 1 then
         break
      end
      choose = choose * (spaces - j + 1) / j
      chance = chance + (j % 2 == 1 and 1 or -1) * choose * (1 - j * share) ^ (n - 2)
   end
   return chance
end

--- Do values fall into two modes? The widest space between neighbours, with a tenth of the values and three
-- at least on each side, is too wide for one mode, at 1 %.
-- @return two lists of values, the lower one first; nil: there is one mode, or there are fewer than 8 values
function M.modes(list, open)
   local values, widest, at = sorted(list), 0, nil
   local least = math.max(OF_A_MODE, math.ceil(SHARE_OF_A_MODE * #values))
   for i = least, #values - least do
      if values[i + 1] - values[i] > widest then
         widest, at = values[i + 1] - values[i], i
      end
   end
   local range = #values > 0 and values[#values] - values[1] or 0
   if #values < FEW_FOR_MODES or widest <= open or chance_of_gap(widest / range, #values) > GAP then
      return nil
   end
   return { unpack(values, 1, at) }, { unpack(values, at + 1) }
end

--- Which values lie apart from the others: list of their places.
function M.outliers(list, open)
   if not M.is_enough(list) then
      return {}
   end
   local middle = stats.median(list)
   local distances = tables.map(list, function(value) return math.abs(value - middle) end)
   local limit = math.max(open, APART * MEDIAN_TO_DEVIATION * stats.median(distances))
   return tables.map(distances, function(distance, i) return distance > limit * (1 + 1e-9) and i or nil end)
end

return M
