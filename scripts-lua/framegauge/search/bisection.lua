-- SPDX-License-Identifier: BSD-3-Clause

--- The core of the searches that halve: binary search, and TST 009's with loss verification.
--
-- Short trials halve the interval between a load that passed and a load that failed until it is as narrow as
-- the resolution. Then the lower end must pass a look of the final length; if it does not, it becomes the
-- upper end and the lower one steps back. The answer is a load that passed at full length, at most one
-- resolution below a load that failed. What a look is (one trial, or several) the search says.
--
-- Four things go beyond the textbook, and none changes the trials of a device that behaves:
--
--  * A device with a deep buffer passes short trials above its capacity. Once a full-length trial has
--    contradicted a short one, all later trials are full-length, and each step back is twice the one before
--    until one passes.
--  * A search that ends on a load which the *tester* could not carry tries it again, once: on a busy machine
--    the first trial may have met a stall.
--  * The maximum counts as the upper end only if it was tried: a search that starts lower climbs up to it.
--  * A slow device on a fast line may carry less than one resolution. While nothing has passed, a search down
--    to zero goes on below the resolution, until a load passes, or no frame at all comes back, or the trial
--    would be shorter than a frame.
--
-- Where the answer is known roughly (goal.learned), the way to it takes no trials, as if each load up to it
-- passed and each load above it failed. Then both ends of the last interval are tried as always. An end that
-- turns out otherwise gives way to the next one outside, so the intervals are the same as without the
-- knowledge, and so is the answer for a device without a deep buffer. With a deep buffer the upper end passes
-- its short trial and fails a long one, and both answers are at most a resolution apart.
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
   local load = state.lo - first * 2 ^ state.contradictions
   return math.max(goal.min, goal.step and math.floor(load / goal.step) * goal.step or load)
end

-- The failed loads, lowest last: a second look that passes takes the last one away again.
local function lowest_failure(state)
   return state.failures[#state.failures]
end

-- Whether a load below the resolution may still pass: frames came back, and half as many are at least one in
-- each direction.
local function may_lie_below(state, failure)
   if not failure or failure.assumed or state.goal.min > 0 or state.lo > 0 then
      return false
   end
   local record = failure.record
   return record.tx > record.lost and record.tx >= 2 * #(record.directions or { true })
end

-- Has nothing passed, and was the tester the reason of every failure?
local function only_the_tester(state)
   for _, one in ipairs(state.failures) do
      if one.outcome ~= "tester" then
         return false
      end
   end
   return state.lo <= state.goal.min
end

-- Between two ends that are more than a step apart a multiple of the step is strictly inside.
local function middle(goal, lo, hi)
   local load = (lo + hi) / 2
   if goal.step and not narrow(goal, lo, hi) then
      return math.ceil(load / goal.step - 0.5) * goal.step
   end
   return load
end

--- The next load to look at, or nil when only the confirmation of `lo` is left.
local function next_load(state)
   local goal, lo, failure = state.goal, state.lo, lowest_failure(state)
   if not state.begun then
      return goal.initial or goal.max
   elseif lo >= goal.max or (state.contradictions > 0 and not state.passed and lo > 0) then
      return nil
   end
   local hi = failure and failure.load or goal.max
   if #state.failures >= (goal.give_up or math.huge) and only_the_tester(state) then
      return nil
   elseif not narrow(goal, lo, hi) or may_lie_below(state, failure) then
      return middle(goal, lo, hi)
   elseif not failure then
      return hi
   elseif failure.outcome == "tester" and not state.looked_twice[hi] then
      state.looked_twice[hi] = true
      return hi
   end
   return nil
end

--- Look at a load the way the search does.
-- @return outcome and record of the trial that decided
local function try(state, load, seconds, phase)
   return state.look_at(function()
      state.trials = state.trials + 1
      local record = state.goal.trial(load, seconds, phase)
      return outcome.of(record, state.goal.tolerance), record
   end)
end

-- The predicted outcome of a load, from what is known of the device.
local function assume(state, load)
   if load <= state.learned then
      state.lo = load
      table.insert(state.lows, load)
   else
      table.insert(state.failures, { load = load, outcome = "loss", assumed = true })
   end
end

-- The end of the interval that is only assumed; nil: both were looked at.
local function unproved(state)
   local failure = lowest_failure(state)
   return not state.learned and (failure and failure.assumed and failure.load or state.lows[#state.lows])
      or nil
end

-- After a look at a load: what was assumed on this side of it no longer matters.
local function prove(state, load, passed)
   if passed then
      state.lows = {}
   elseif state.lows[#state.lows] == load then
      table.remove(state.lows)
      state.lo = state.lows[#state.lows] or state.goal.min
      state.failures = { lowest_failure(state) } -- those above are too close to each other to give up by
   end
end

-- A load that was known to fail passes a short trial: a buffer may have held the excess.
local function doubt(state, load, record)
   local goal = state.goal
   if state.seconds >= goal.final_trial then
      return "pass", record
   end
   local result, longer = try(state, load, goal.final_trial, "search")
   if result ~= "pass" then
      state.seconds, state.contradictions = goal.final_trial, state.contradictions + 1
   end
   return result, longer
end

--- One look at a load: it becomes the lower or the upper end.
local function look(state, load)
   local result, record = try(state, load, state.seconds, "search")
   local failure = lowest_failure(state)
   local doubted = result == "pass" and failure and failure.load == load and failure.assumed
   if doubted then
      result, record = doubt(state, load, record)
   end
   if failure and failure.load == load then
      table.remove(state.failures)
   end
   if result == "pass" then
      state.lo = load
      state.passed = (doubted or state.seconds >= state.goal.final_trial) and record or nil
   else
      table.insert(state.failures, { load = load, outcome = result, record = record })
   end
   prove(state, load, result == "pass")
end

--- The full-length look at the lower end. A failure opens the interval below it again.
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
   state.lo = step_back(state)
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
   assert(not goal.step or (goal.step <= goal.resolution and not goal.relative),
      "steps must not be larger than the resolution, nor that relative")
end

--- Search; see framegauge.search for the goal and the result.
-- @param look_at          function(once) -> outcome, record: looks at a load by calling once() as often as it
--                         wants; each call makes a trial and returns its outcome and record
-- @param goal.step        loads between the ends are rounded to multiples of it (default: not rounded)
-- @param goal.backoff     frames per second of the first step back (default: one resolution)
-- @param goal.give_up     after this many loads that the tester did not carry, each half of the one before,
--                         none is tried below them (default: never give up)
-- @param goal.learned     a load that the device is known to carry, and hardly more (default: unknown)
-- @param goal.max_trials  begin no further look after this many (default: never stop)
function M.run(goal, look_at)
   check(goal)
   local state = {
      goal = goal,
      look_at = look_at,
      lo = goal.min, -- untested until it passes
      passed = nil, -- the full-length trial that `lo` passed
      failures = {},
      looked_twice = {},
      learned = goal.learned, -- until the way is walked
      lows = {}, -- loads assumed to pass, the highest last
      seconds = goal.search_trial,
      contradictions = 0,
      trials = 0,
   }
   while true do
      local load = unproved(state) or next_load(state)
      state.begun = true
      if load and state.learned then
         assume(state, load)
      elseif not load and state.learned then
         state.learned = nil
      elseif not load and (state.passed or state.lo <= 0) then
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

return M
