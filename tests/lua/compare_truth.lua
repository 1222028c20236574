-- SPDX-License-Identifier: BSD-3-Clause

--- Synthetic runs before and after a known step, with known noise, and how well the step is found.
--
--    build/app/framegauge script tests/lua/compare_truth.lua
--
-- writes docs/explanation/several-runs.md to stdout.
local compare = require "framegauge.report.compare"
local change = require "framegauge.report.change"
local history_truth = require "history_truth"
local significance = require "framegauge.trial.significance"

local M = {}

M.COMPARISONS = 200
local FIGURES = 20

-- Kinds of noise, all with a standard deviation of 1.
M.NOISES = {
   normal = history_truth.NOISES.normal, uniform = history_truth.NOISES.uniform,
   outliers = history_truth.NOISES.outliers,
   skewed = function(random) return -math.log(random()) - 1 end,
   ["two values"] = function(random) return random() < 0.5 and -1 or 1 end,
}

-- Runs of one side: each figure around 1000, the first one moved by a step.
local function runs(count, step, noise, random)
   local list = {}
   for i = 1, count do
      local rows = {}
      for size = 1, FIGURES do
         local value = 1000 - (size == 1 and step or 0) + noise(random)
         rows[size] = { frame_size = 63 + size, direction = "both", throughput_fps = value,
            validity = "valid",
            uncertainty = { throughput_fps = { low = value - 1e-6, high = value + 1e-6 } } }
      end
      list[i] = { plan = { test = "rfc2544" }, results = { throughput = rows } }
   end
   return list
end

--- Compare runs before a step with runs after it.
-- @param count  runs on each side
-- @param step   of one figure of 20, in standard deviations, for the worse
-- @param noise  name of one
-- @return how many comparisons found the step, and how many found anything else
function M.measure(count, step, noise)
   local random, found, alarms = history_truth.uniform(7919 * count + step), 0, 0
   for _ = 1, M.COMPARISONS do
      local before = runs(count, 0, M.NOISES[noise], random)
      local lines = compare.of(before, runs(count, step, M.NOISES[noise], random)).tables[1].lines
      local others = 0
      for i, line in ipairs(lines) do
         local is_step = i == 1 and step > 0 and line.mark == compare.WORSE
         found = found + (is_step and 1 or 0)
         others = others + (not is_step and line.mark ~= compare.SAME and 1 or 0)
      end
      alarms = alarms + (others > 0 and 1 or 0)
   end
   return found, alarms
end

local STEPS = { 0, 3, 6, 10, 20 }

local TEXT = [[
# Several runs against several

`framegauge compare --before A1 A2 A3 --after B1 B2 B3`, or of two folders that hold several runs each,
knows what one run against one cannot: how far a figure varies from run to run. Of each figure the medians
of both sides are compared. A change counts where both are true:

- The medians are further apart than the [uncertainties](uncertainty.md) on the sides that face each other,
  or than the resolution of the figure where these are not known: the most of all runs. What is the same in
  each run (a search that ends on its grid, a clock) does not show in their spread.
- The spread does not explain it: Welch's test (B. L. Welch, *The generalization of "Student's" problem
  when several different population variances are involved*, Biometrika 34, 1947, pages 28 to 35), which
  needs no equal variances. A comparison has many figures, and one of 20 would be a false alarm at 5 %%. So
  the chances are adjusted by Holm (S. Holm, *A simple sequentially rejective multiple test procedure*,
  Scandinavian Journal of Statistics 6, 1979, pages 65 to 70): %g %% is the chance that any figure is a
  false alarm. Rows of a run depend on each other; Holm needs no independence.

Runs in which the row is not valid do not count; fewer than %d others on a side, and the figure is not
judged. The test of Mann and Whitney would need no normal noise, but its least chance with three runs on
each side is 10 %%, and among 20 figures it finds nothing with fewer than six runs on each side. Where no
run varies at all, as on the virtual wire, any change above the resolution counts. So a figure that jumps
between two values, further apart than its resolution, needs five runs on each side: of three, all are
often alike by chance.

A verdict is worse where it was good in all runs before and is in none after; where it is good in some, it
has changed, and the numbers are shown.

## What it finds

%d comparisons for each line, with %d figures each; one has a step for the worse. *Outliers*: one
value in 50 has four times the deviation. *Skewed*: exponential. *Two values*: each as likely; equal ones
have no spread. Resolution is nil here: the figures show the test alone. *False alarms* are comparisons in
which any figure but that one is called better or worse. Written by `tests/lua/compare_truth.lua`; a test
makes some lines again.

| noise | runs on each side | false alarms without a step | steps found: 3 s | 6 s | 10 s | 20 s |
|---|--:|--:|--:|--:|--:|--:|
]]

local ORDER = { "normal", "uniform", "outliers", "skewed", "two values" }

--- A line of the table.
function M.line(noise, count)
   local parts = { noise, tostring(count) }
   for i, step in ipairs(STEPS) do
      local found, alarms = M.measure(count, step, noise)
      parts[#parts + 1] = ("%.1f %%"):format((i == 1 and alarms or found) / M.COMPARISONS * 100)
   end
   return "| " .. table.concat(parts, " | ") .. " |\n"
end

--- The text of the page.
function M.page()
   local out = { TEXT:format(change.LEVEL * 100, significance.LEAST, M.COMPARISONS, FIGURES) }
   for _, noise in ipairs(ORDER) do
      for _, count in ipairs { 3, 5, 10 } do
         out[#out + 1] = M.line(noise, count)
      end
   end
   return table.concat(out)
end

if arg and arg[0] and arg[0]:find "compare_truth%.lua$" then
   io.write(M.page())
end

return M
