-- SPDX-License-Identifier: BSD-3-Clause

--- Figures of a sample, a list of numbers that is not empty.
local M = {}

function M.mean(list)
   local sum = 0
   for _, value in ipairs(list) do
      sum = sum + value
   end
   return sum / #list
end

function M.min(list)
   local least = list[1]
   for _, value in ipairs(list) do
      least = math.min(least, value)
   end
   return least
end

function M.max(list)
   local most = list[1]
   for _, value in ipairs(list) do
      most = math.max(most, value)
   end
   return most
end

--- Standard deviation of what the list is a sample of (N - 1 in the denominator); 0 for a single value.
function M.stddev(list)
   if #list == 1 then
      return 0
   end
   local mean, sum = M.mean(list), 0
   for _, value in ipairs(list) do
      sum = sum + (value - mean) ^ 2
   end
   return math.sqrt(sum / (#list - 1))
end

local function sorted(list)
   local copy = {}
   for i, value in ipairs(list) do
      copy[i] = value
   end
   table.sort(copy)
   return copy
end

--- Smallest value that at least the share p of the list does not exceed (RFC 2330, 11.3).
-- @param p  above 0, at most 1
function M.percentile(list, p)
   return sorted(list)[math.max(1, math.ceil(p * #list - 1e-9))]
end

--- Mean of the central two when their number is even (RFC 2330, 11.3).
function M.median(list)
   local values = sorted(list)
   local half = math.floor(#values / 2)
   return #values % 2 == 1 and values[half + 1] or (values[half] + values[half + 1]) / 2
end

return M
