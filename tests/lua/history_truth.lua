-- SPDX-License-Identifier: BSD-3-Clause

--- Synthetic histories with known steps and noise, and how well their steps are found.
--
--    build/app/framegauge script tests/lua/history_truth.lua
--
-- writes docs/explanation/change-points.md to stdout.
local changes = require "framegauge.history.changes"

local M = {}

M.HISTORIES = 200
local NEAR = 2 -- runs between a step and where it is found, at most

--- A stream of uniform numbers in (0, 1) of our own (Park and Miller): the same on every machine.
function M.uniform(seed)
   local state = seed
   return function()
      state = state * 48271 % 2147483647
      return state / 2147483647
   end
end

local function normal(random)
   return math.sqrt(-2 * math.log(random())) * math.cos(2 * math.pi * random())
end

-- Kinds of noise, all with a standard deviation of 1.
M.NOISES = {
   normal = normal,
   uniform = function(random) return (random() - 0.5) * math.sqrt(12) end,
   outliers = function(random) return (random() < 0.02 and 4 or 1) * normal(random) / math.sqrt(1.3) end,
}

--- A history: between 20 and 100 runs, and up to three steps of one size, at least five runs apart.
-- @param size  of a step, in standard deviations; 0: no step
-- @return list of values, list of where a level begins
function M.history(seed, size, noise)
   local random = M.uniform(seed * 7919)
   for _ = 1, 10 do
      random()
   end
   local n, values, steps, level = 20 + math.floor(random() * 81), {}, {}, 1000
   local count = size == 0 and 0 or 1 + math.floor(random() * 3)
   local at = {}
   for i = 1, count do
      local slot = n / count
      at[math.floor((i - 1) * slot + 4 + random() * (slot - 5))] = true
   end
   for i = 1, n do
      if at[i] then
         level = level + (random() < 0.5 and -size or size)
         steps[#steps + 1] = i
      end
      values[i] = level + noise(random)
   end
   return values, steps
end

-- Steps that were found, each by a change of its own; what is left over is a false alarm.
local function match(steps, found)
   local taken, hits = {}, 0
   for _, step in ipairs(steps) do
      for i, at in ipairs(found) do
         if not taken[i] and math.abs(at - step) <= NEAR then
            taken[i], hits = true, hits + 1
            break
         end
      end
   end
   return hits, #found - hits
end

--- Look for the steps of all histories of one kind.
-- @return { steps, found, false_alarms, runs }
function M.measure(size, noise)
   local sum = { steps = 0, found = 0, false_alarms = 0, runs = 0 }
   for seed = 1, M.HISTORIES do
      local values, steps = M.history(seed, size, M.NOISES[noise])
      local hits, others = match(steps, changes.find(values, changes.noise(values)))
      sum.steps, sum.found = sum.steps + #steps, sum.found + hits
      sum.false_alarms, sum.runs = sum.false_alarms + others, sum.runs + #values
   end
   return sum
end

local SIZES = { 0, 2, 3, 4, 6, 10 }

local TEXT = [[
# Where the level of a figure changed

`framegauge history PLAN --trend` divides the runs of a plan into levels, for each figure. The method is
PELT (R. Killick, P. Fearnhead, I. A. Eckley, *Optimal detection of changepoints with a linear computational
cost*, Journal of the American Statistical Association 107, 2012, pages 1590 to 1598): of all ways to cut
the series it takes the one with the least sum of squared distances from the means of the segments, in units
of the noise, plus a penalty for each cut. The penalty is %g log *n*, twice Schwarz's criterion for
two parameters: a false alarm costs somebody a day, and a small step that is real is found a few runs later.

- **Noise** is the median of the differences between neighbours, divided by 0.954. A few steps or outliers
  do not move it. It is at least what the [uncertainty](uncertainty.md) of the figures says, because a
  search may end at the same figure each time.
- **A change counts** only if the means of both levels differ by more than the uncertainties on the sides
  that face each other, as in `framegauge compare`.
- **Left out** are figures that are tester-limited or invalid, and interrupted runs.
- **The newest run** may be a level by itself. A single outlier at the end is an alarm until the next run.
- **Latencies** of different definitions (LIFO, FIFO) are different figures: each has its own levels.
- **A regression** is the last change of a figure, if it is for the worse and at most five runs old. Later
  the level is the new normal; `--trend` still shows the change.

## What it finds

%d histories for each line: 20 to 100 runs, none or one to three steps of one size up or down. A step counts
as found by a change at most %d runs away; every other change is a false alarm. *Outliers*: one value in 50
has four times the deviation. Written by `tests/lua/history_truth.lua`; a test makes the lines again.

| noise | step, in standard deviations | runs | steps | found | | false alarms | per 1,000 runs |
|---|--:|--:|--:|--:|--:|--:|--:|
]]

--- The text of the page.
function M.page()
   local out = { TEXT:format(changes.PENALTY, M.HISTORIES, NEAR) }
   for _, noise in ipairs { "normal", "uniform", "outliers" } do
      for _, size in ipairs(SIZES) do
         local sum = M.measure(size, noise)
         out[#out + 1] = ("| %s | %s | %d | %d | %d | %s | %d | %.2f |\n"):format(noise,
            size == 0 and "no step" or tostring(size), sum.runs, sum.steps, sum.found,
            sum.steps > 0 and ("%.1f %%"):format(sum.found / sum.steps * 100) or "", sum.false_alarms,
            sum.false_alarms / sum.runs * 1000)
      end
   end
   out[#out + 1] = "\nHistories of a real lab have drift and daily rhythms, too. Those were not tried.\n"
   return table.concat(out)
end

if arg and arg[0] and arg[0]:find "history_truth%.lua$" then
   io.write(M.page())
end

return M
