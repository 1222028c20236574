-- SPDX-License-Identifier: BSD-3-Clause

--- MLRsearch (RFC 9971): any number of goals in one search.
--
-- A goal says how much loss makes a trial bad, for how long a load must be tried, and which share of that
-- time may be bad; so transient loss does not hide what a device can do, and NDR and PDR come out of the same
-- trials. mlr/classification.lua: what trials say about a load, and loads about the answer; mlr/ledger.lua:
-- what was tried; mlr/targets.lua: short trials before long ones; mlr/controller.lua: which load next;
-- mlr/presets.lua: goals by name.
local classification = require "framegauge.search.mlr.classification"
local controller = require "framegauge.search.mlr.controller"
local outcome = require "framegauge.search.outcome"
local tables = require "framegauge.core.tables"
local targets = require "framegauge.search.mlr.targets"

local M = {}

M.DEFAULT_PRECEDING = 2

-- What the parameters of the other searches mean as a goal.
local function only_goal(goal)
   return {
      final_trial = goal.final_trial,
      initial_trial = goal.search_trial,
      duration_sum = goal.final_trial,
      loss_ratio = goal.tolerance or 0,
      exceed_ratio = 0,
      width = goal.relative and goal.resolution or goal.resolution / goal.max,
   }
end

-- Indices of the goals, the strictest first.
local function by_strictness(goals)
   local order = {}
   for i = 1, #goals do
      order[i] = i
   end
   table.sort(order, function(i, j)
      local a, b = goals[i], goals[j]
      if a.loss_ratio ~= b.loss_ratio then
         return a.loss_ratio < b.loss_ratio
      elseif a.exceed_ratio ~= b.exceed_ratio then
         return a.exceed_ratio < b.exceed_ratio
      end
      return i < j
   end)
   return order
end

-- The last trial at a load that was full-length and passed, or did not pass.
local function witness(trials, target, passed)
   local found
   for _, trial in ipairs(trials) do
      local pass = outcome.of(trial.record, target.loss_ratio) == "pass"
      if pass == passed and (not passed or trial.ns >= target.trial_ns) then
         found = trial.record
      end
   end
   return found
end

local function bad_witness(trials, target, cause)
   for _, trial in ipairs(trials) do
      if outcome.of(trial.record, target.loss_ratio) == cause then
         return trial.record
      end
   end
   return witness(trials, target, false)
end

local function result_of(state, goal, chain)
   local target = chain[#chain]
   local lower, upper = classification.bounds(state.ledger, target)
   local at_lower, at_upper = state.ledger:at(lower), state.ledger:at(upper)
   local settled = state:is_settled(target, lower, upper)
   local cause = upper and state:cause(upper, target)
   return {
      name = goal.name,
      load = lower,
      conditional = lower and classification.conditional_throughput(at_lower, lower, target),
      upper = upper,
      regular = classification.are_regular(lower, upper, goal.width),
      lower_trial = lower and witness(at_lower, target, true),
      upper_trial = upper and bad_witness(at_upper, target, cause),
      limited_by = not settled and state.stopped or cause or "maximum",
      trials = state.trials,
   }
end

local function check(goal, goals)
   assert(goal.min >= 0 and goal.min <= goal.max and goal.max > 0,
      "a search needs 0 <= min <= max and max > 0")
   assert(#goals > 0, "a search needs a goal")
   for _, one in ipairs(goals) do
      assert(one.width > 0 and one.width < 1, "a goal needs a width between 0 and 1")
      assert(one.loss_ratio >= 0 and one.loss_ratio < 1, "a loss ratio is at least 0 and below 1")
      assert(one.exceed_ratio >= 0 and one.exceed_ratio < 1, "an exceed ratio is at least 0 and below 1")
      assert(one.final_trial > 0 and (one.initial_trial or one.final_trial) <= one.final_trial,
         "a goal's first trials are no longer than its final ones")
   end
end

--- Search; see framegauge.search for the goal and the result.
-- @param goal.goals       list of { name =, final_trial =, duration_sum =, loss_ratio =, exceed_ratio =,
--                         width = (share of the upper bound), initial_trial = (default: final_trial) };
--                         without it one goal is made of tolerance, resolution and the two lengths of trials
-- @param goal.preceding   targets that come before each goal (default 2)
-- @param goal.learned     a load that the device is known to carry, and hardly more (default: unknown)
-- @param goal.time_limit  seconds of sending after which no trial begins (default: none)
-- @return the result of the first goal, with `goals`: the results of all, in the order they were given, each
-- with `name`, `conditional` (throughput) and `regular` besides
function M.run(goal)
   local goals = goal.goals or { only_goal(goal) }
   check(goal, goals)
   local chains, chain_of = {}, {}
   for rank, i in ipairs(by_strictness(goals)) do
      chains[rank] = targets.of(goals[i], goal.preceding or M.DEFAULT_PRECEDING)
      chain_of[i] = chains[rank]
   end
   local state = controller.run(goal, chains)
   local results = tables.map(goals, function(one, i) return result_of(state, one, chain_of[i]) end)
   local result = { goals = results }
   for key, value in pairs(results[1]) do
      result[key] = value
   end
   return result
end

return M
