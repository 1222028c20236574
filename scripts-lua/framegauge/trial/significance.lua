-- SPDX-License-Identifier: BSD-3-Clause

--- Whether two samples have different means, beyond what their spread explains.
--
-- Two samples of unlike variance: B. L. Welch, "The generalization of 'Student's' problem when several
-- different population variances are involved", Biometrika 34, 1947, pages 28 to 35. Several questions at
-- once: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
-- Statistics 6, 1979, pages 65 to 70, which needs no independence.
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local uncertainty = require "framegauge.trial.uncertainty"

local M = {}

--- Minimum size of each sample. The spread of two values has one degree of freedom: with 20 questions at 5 %
-- a change would have to be 250 times its standard error.
M.LEAST = 3

--- Chance of a difference at least as large between samples of one mean, on either side. Samples without any
-- spread differ for certain, or not at all.
-- @param one, other  lists of numbers
-- @usage ("%.4f"):format(significance.welch({ 1, 2, 3 }, { 4, 5, 6 })) --> 0.0213
-- @usage significance.welch({ 1, 1, 1 }, { 2, 2, 2 }) --> 0
function M.welch(one, other)
   local change = math.abs(stats.mean(one) - stats.mean(other))
   local a, b = stats.stddev(one) ^ 2 / #one, stats.stddev(other) ^ 2 / #other
   if a + b == 0 or change == 0 then
      return change == 0 and 1 or 0
   end
   local degrees = (a + b) ^ 2 / (a ^ 2 / (#one - 1) + b ^ 2 / (#other - 1))
   return uncertainty.beyond(change / math.sqrt(a + b), degrees)
end

--- Chances of several questions, adjusted for their number: a threshold then bounds the chance that any of
-- those below it is a false alarm.
-- @param list  chances, each from 0 to 1
-- @return list of them, adjusted, in the same order
-- @usage local adjusted = significance.holm { 0.01, 0.5, 0.02 }
-- return adjusted[1], adjusted[2], adjusted[3] --> 0.03 0.5 0.04
function M.holm(list)
   local order, adjusted, most = tables.map(list, function(_, i) return i end), {}, 0
   table.sort(order, function(i, j) return list[i] < list[j] or list[i] == list[j] and i < j end)
   for rank, i in ipairs(order) do
      most = math.max(most, math.min(1, (#list - rank + 1) * list[i]))
      adjusted[i] = most
   end
   return adjusted
end

return M
