-- SPDX-License-Identifier: BSD-3-Clause

--- What loads on the way to a goal must meet: a chain of targets; the last is the goal.
--
-- Preceding targets have shorter trials and a smaller duration sum, and all but the last of them larger
-- widths. They bring the search to a pair of loads as far apart as the goal wants; only for these does the
-- goal itself pay in full, and the trials that the targets before made there count. Durations grow from one
-- target to the next by a constant factor, widths halve: with two preceding targets a goal of 21 s in trials
-- of 1 s is approached through 1 s and 4.58 s, at twice its width and at its width.
local Ledger = require "framegauge.search.mlr.ledger"

local M = {}

-- A target wider than this would jump, not search.
local WIDEST = 0.5

local function target(goal, trial, sum, width, phase)
   return {
      trial = trial, -- seconds
      trial_ns = Ledger.ns(trial),
      sum_ns = Ledger.ns(sum),
      loss_ratio = goal.loss_ratio,
      exceed_ratio = goal.exceed_ratio,
      width = width,
      unit = goal.width, -- steps are counted in these
      phase = phase,
      stride = 1, -- units to go beyond a lonely bound; the controller doubles it
   }
end

-- Milliseconds will do.
local function between(first, last, share)
   return math.max(first, math.floor(first * (last / first) ^ share * 1000 + 0.5) / 1000)
end

--- The chain of one goal.
-- @param goal       see framegauge.search.mlr
-- @param preceding  how many targets come before the goal; none where they could not be shorter than it
function M.of(goal, preceding)
   local first = goal.initial_trial or goal.final_trial
   local n = goal.duration_sum > first and preceding or 0
   local chain = {}
   for i = 0, n - 1 do
      chain[i + 1] = target(goal, between(first, goal.final_trial, i / n),
         between(first, goal.duration_sum, i / n), math.min(WIDEST, goal.width * 2 ^ (n - 1 - i)), "search")
   end
   chain[n + 1] = target(goal, goal.final_trial, goal.duration_sum, goal.width,
      n > 0 and "confirm" or "search")
   return chain
end

return M
