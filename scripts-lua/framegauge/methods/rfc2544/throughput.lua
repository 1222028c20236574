-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544 section 26.1: the highest load at which the device loses no frame, for every frame size.
--
-- Each frame size is one search (framegauge.search) over the load of a direction; both directions, where the
-- plan wants them, are loaded alike and at once, and a frame lost in either fails the trial. The figure
-- published is the search's lower bound: a load that passed a trial of the full length. MLRsearch may have
-- several goals: then each is a row.
local ethernet = require "framegauge.core.ethernet"
local format = require "framegauge.text.format"
local loads = require "framegauge.traffic.loads"
local search = require "framegauge.search"
local tables = require "framegauge.core.tables"
local topology = require "framegauge.traffic.topology"
local trial = require "framegauge.trial"
local verdict = require "framegauge.text.verdict"

local M = {}

M.NAME, M.KEY = "rfc2544.throughput", "throughput"

-- A tester that carries no load down to a thousandth of the highest is unfit for the test.
local GIVE_UP = 11

-- Goals of MLRsearch: the default width is the resolution.
local function goals_of(o, resolution)
   local goals = tables.map(o.goals or {}, function(goal)
      return setmetatable({ width = goal.width or resolution }, { __index = goal })
   end)
   return goals[1] and goals
end

--- The plan's expectation of the device's throughput, or nil.
-- @param o  the group rfc2544.throughput
function M.learned(o, frame_size)
   local known = tables.find(o.learned or {}, "frame_size", frame_size)
   return known and known.load
end

--- The search for one frame size, without its trial function.
--
-- Where the line's rate is unknown (memif), the maximum must be a rate, and shares are shares of it. Loads
-- that the tester is known not to carry are not tried.
-- @param o         the group rfc2544.throughput
-- @param line_fps  the line's maximum, or nil
-- @param limits    loads that the tester carries, by frame size (framegauge.run.calibration), or nil
-- @return the goal, or nil and what is wrong
function M.goal(o, frame_size, line_fps, limits)
   local max = loads.of_rate(o.max, frame_size, line_fps)
   if not max then
      return nil, "the line rate of these ports is not known, so rfc2544.throughput.max cannot be a share of it; give a load (--set rfc2544.throughput.max=5Mfps) or the ports' line_rate"
   end
   max = line_fps and math.min(max, line_fps) or max
   local whole = line_fps or max
   local function fps(rate)
      return rate and math.min(max, loads.of_rate(rate, frame_size, whole))
   end
   local resolution, carried = fps(o.resolution), limits and limits[frame_size]
   local goal = search.goal(o, { max = max, carried = carried })
   max = goal.max
   goal.min, goal.initial, goal.backoff = fps(o.min), fps(o.initial), fps(o.backoff)
   goal.learned = M.learned(o, frame_size)
   goal.resolution, goal.step = resolution, o.search == "tst009" and resolution or nil
   goal.goals, goal.preceding = goals_of(o, resolution / max), o.preceding_targets
   goal.give_up, goal.time_limit = GIVE_UP, o.time_limit
   return goal
end

--- Does a single lost frame fail a trial of the search?
function M.fails_by_any_loss(goal)
   return goal.tolerance == 0 and not goal.goals
end

function M.check(plan, tester)
   for _, frame_size in ipairs(plan.rfc2544.frame_sizes) do
      local goal, problem = M.goal(plan.rfc2544.throughput, frame_size, tester:max_fps(frame_size))
      if not goal then
         return problem
      end
   end
   return nil
end

--- Why the row has its verdict, in sentences.
local function reasons(result)
   if result.limited_by == "max_trials" or result.limited_by == "time_limit" then
      local text = "the search was not done after %d trials (rfc2544.throughput.%s)"
      return { text:format(result.trials, result.limited_by) }
   elseif result.limited_by == "tester" and result.upper and not result.load then
      local text = "the tester carried no load, down to %s frames per second (framegauge doctor may show why)"
      return tables.joined({ text:format(format.count(result.upper)) }, result.upper_trial.reasons)
   elseif verdict.of_search(result.limited_by) ~= "valid" then
      return result.upper_trial and result.upper_trial.reasons
         or { ("the tester itself carries no more than %s frames per second (calibration)"):format(
            format.count(result.load)) }
   end
   return {}
end

local EVIDENCE = { "late", "refused", "tester_drops", "lag_max_ns", "poll_gap_max_ns" }

--- The worst of the trials that decided: the one that passed and the one that did not.
local function evidence(result)
   local worst = {}
   for _, record in pairs { result.lower_trial, result.upper_trial } do
      for _, key in ipairs(EVIDENCE) do
         local value = record[key]
         worst[key] = value and math.max(value, worst[key] or 0) or worst[key]
      end
   end
   return worst
end

--- The search that a result belongs to: the goal of its name, or the whole search.
local function asked(goal, result)
   for _, one in ipairs(goal.goals or {}) do
      if one.name == result.name then
         local resolution = one.width * (result.upper or goal.max)
         return { resolution = resolution, tolerance = one.loss_ratio, final_trial = one.final_trial }
      end
   end
   return goal
end

local function row(frame_size, direction, line_fps, goal, result, trials)
   local fps = result.load
   return {
      frame_size = frame_size,
      direction = direction,
      goal = result.name,
      theoretical_fps = line_fps,
      throughput_fps = fps,
      throughput_percent = fps and line_fps and fps / line_fps * 100,
      throughput_l1_mbps = fps and ethernet.l1_bps(fps, frame_size) / 1e6,
      throughput_l2_mbps = fps and ethernet.l2_bps(fps, frame_size) / 1e6,
      conditional_fps = result.conditional,
      lower_fps = result.name and fps,
      upper_fps = result.upper,
      regular = result.regular,
      resolution_fps = goal.resolution,
      loss_tolerance_ratio = goal.tolerance,
      trial_s = goal.final_trial,
      trials = trials,
      lower_trial = result.lower_trial and result.lower_trial.trial,
      upper_trial = result.upper_trial and result.upper_trial.trial,
      limited_by = result.limited_by,
      validity = verdict.of_search(result.limited_by),
      reasons = reasons(result),
      latency = result.lower_trial and trial.is_on_schedule(result.lower_trial) and result.lower_trial.latency
         or nil,
      evidence = evidence(result),
   }
end

--- Directions the plan asks for. @return list of "from->to", and the name of the whole in reports
function M.directions(plan)
   return topology.directions(plan.ports, plan.needs.topology, plan.needs.one_way)
end

--- Search the throughput of one frame size.
-- @param o           the group rfc2544.throughput
-- @param directions  as directions() gives them, and the name of the whole
-- @param line_fps, limits  as goal() takes them
-- @return a row, or one for each goal
function M.rows(o, session, directions, direction, frame_size, line_fps, limits)
   local before, rows = #session.trials, {}
   local goal = assert(M.goal(o, frame_size, line_fps, limits))
   function goal.trial(fps, seconds, phase)
      return session:trial {
         test = M.NAME, phase = phase, frame_size = frame_size, direction = direction,
         directions = directions,
         fps = fps, seconds = seconds, line_fps = line_fps, any_loss = M.fails_by_any_loss(goal),
      }
   end
   local result = search.run(o.search, goal)
   for i, one in ipairs(result.goals or { result }) do
      rows[i] = row(frame_size, direction, line_fps, asked(goal, one), one, #session.trials - before)
   end
   return rows
end

--- Measure one frame size: a row, or one for each goal.
function M.measure(plan, tester, session, frame_size, rows)
   local directions, direction = M.directions(plan)
   for _, one in ipairs(M.rows(plan.rfc2544.throughput, session, directions, direction, frame_size,
      tester:max_fps(frame_size), plan.tester_limits)) do
      rows[#rows + 1] = one
   end
end

return M
