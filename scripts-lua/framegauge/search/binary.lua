-- SPDX-License-Identifier: BSD-3-Clause

--- Binary search for the highest load a device carries.
--
-- Short trials halve the interval between a load that passed and a load that failed until it is as narrow as
-- the resolution. Then the lower end must pass a trial of the final length; if it does not, it becomes the
-- upper end and the lower one steps back. The answer is a load with a passing full-length trial, at most one
-- resolution below a load that failed.
--
-- Three things go beyond the textbook, and none changes the trials of a device that behaves:
--
--  * A device with a deep buffer passes short trials above its capacity. Once a full-length trial has
--    contradicted a short one, all later trials are full-length, and each step back is twice the one before
--    until one passes.
--  * A search that ends on a load which the *tester* could not carry takes a second look at it, once: on a
--    busy machine the first look may have met a stolen moment, and the device deserves better than that.
--  * The maximum counts as the upper end only if it was tried: a search that starts lower climbs up to it.
local outcome = require "framegauge.search.outcome"

local M = {}

-- Rounding must not cost a trial: hi - (hi - resolution) is seldom exactly the resolution.
local SLACK = 1 + 1e-9

local function narrow(goal, lo, hi)
   local width = goal.relative and (hi - lo) / hi or hi - lo
   return width <= goal.resolution * SLACK
end

local function step_back(state)
   local goal = state.goal
   local first = goal.backoff or (goal.relative and state.lo * goal.resolution or goal.resolution)
   return first * 2 ^ state.contradictions
end

-- The failed loads, lowest last: a second look that passes takes the last one away again.
local function lowest_failure(state)
   return state.failures[#state.failures]
end

local function upper_end(state)
   local failure = lowest_failure(state)
   return failure and failure.load or state.goal.max
end

--- The next load to look at, or nil when only the confirmation of `lo` is left.
local function next_load(state)
   local goal, lo, failure = state.goal, state.lo, lowest_failure(state)
   if state.trials == 0 then
      return goal.initial or goal.max
   elseif lo >= goal.max or (state.contradictions > 0 and not state.passed and lo > 0) then
      return nil
   end
   local hi = upper_end(state)
   if not narrow(goal, lo, hi) then
      return (lo + hi) / 2
   elseif not failure then
      return hi
   elseif failure.outcome == "tester" and not state.looked_twice[hi] then
      state.looked_twice[hi] = true
      return hi
   end
   return nil
end

local function try(state, load, seconds, phase)
   local record = state.goal.trial(load, seconds, phase)
   state.trials = state.trials + 1
   return outcome.of(record, state.goal.tolerance), record
end

--- One look at a load: it becomes the lower or the upper end.
local function look(state, load)
   local result, record = try(state, load, state.seconds, "search")
   local failure = lowest_failure(state)
   if failure and failure.load == load then
      table.remove(state.failures)
   end
   if result == "pass" then
      state.lo = load
      state.passed = state.seconds >= state.goal.final_trial and record or nil
   else
      table.insert(state.failures, { load = load, outcome = result, record = record })
   end
end

--- The full-length trial of the lower end. A failure opens the interval below it again.
-- @return false when there is nothing below
local function confirm(state)
   local goal, lo = state.goal, state.lo
   local result, record = try(state, lo, goal.final_trial, "confirm")
   if result == "pass" then
      state.passed = record
      return true
   end
   table.insert(state.failures, { load = lo, outcome = result, record = record })
   if lo <= goal.min then
      return false
   end
   state.lo = math.max(goal.min, lo - step_back(state))
   state.seconds = goal.final_trial
   state.contradictions = state.contradictions + 1
   return true
end

local function answer(state, limited_by)
   local failure = lowest_failure(state)
   return {
      load = state.passed and state.lo or nil,
      lower_trial = state.passed,
      upper = failure and failure.load or nil,
      upper_trial = failure and failure.record or nil,
      trials = state.trials,
      limited_by = limited_by or (failure and failure.outcome) or "maximum",
   }
end

local function check(goal)
   assert(goal.min >= 0 and goal.min <= goal.max and goal.max > 0,
      "a search needs 0 <= min <= max and max > 0")
   assert(goal.resolution > 0, "a search needs a resolution above 0")
   assert(not goal.relative or goal.min > 0, "a relative resolution needs a minimum above 0")
end

--- Search; see framegauge.search for the goal and the result.
-- @param goal.backoff     frames per second of the first step back (default: one resolution)
-- @param goal.max_trials  give up after so many (default: never)
function M.run(goal)
   check(goal)
   local state = {
      goal = goal,
      lo = goal.min, -- untested until it passes
      passed = nil, -- the full-length trial that `lo` passed
      failures = {},
      looked_twice = {},
      seconds = goal.search_trial,
      contradictions = 0,
      trials = 0,
   }
   while true do
      local load = next_load(state)
      if not load and (state.passed or state.lo <= 0) then
         return answer(state)
      elseif goal.max_trials and state.trials >= goal.max_trials then
         return answer(state, "max_trials")
      elseif load then
         look(state, load)
      elseif not confirm(state) then
         return answer(state)
      end
   end
end

--- Trials of an undisturbed search that does not pass at its maximum.
function M.expect(goal)
   local span = goal.relative and 1 or goal.max - goal.min
   local search = 1 + math.max(0, math.ceil(math.log(span / goal.resolution) / math.log(2)))
   if goal.search_trial >= goal.final_trial then
      return { search = 0, final = search }
   end
   return { search = search, final = 1 }
end

return M
