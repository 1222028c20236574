-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544 section 21: how near bursts may follow each other without loss.
--
-- A port sends bursts of n frames at the minimum gap, one burst every m frame times of the line.
-- For each burst length the search finds the shortest such interval at which the device loses no frame. A
-- longer interval is a lower load, so any search for a load finds it. An interval is a whole number of frame
-- times, so the loads between two intervals are the same trial.
--
-- Where both directions are wanted both send at once, and each has its own search; the second search uses the
-- trials of the first. A burst that the device cannot hold has no interval: the longest interval is tried
-- first.
local common = require "framegauge.methods.rfc2544.common"
local lag = require "framegauge.traffic.lag"
local search = require "framegauge.search"
local verdict = require "framegauge.text.verdict"

local M = {}

M.NAME, M.KEY = "rfc2544.bursty_traffic", "bursty_traffic"

function M.check(_, tester)
   if not tester:max_fps(64) then
      return "the line rate of these ports is not known, and bursty_traffic sends at it; give the ports' line_rate"
   end
   return nil
end

-- Frame times from one burst to the next, at a load: as short as it may be, at least the burst itself.
local function interval_of(burst_frames, load, line_fps)
   return math.max(burst_frames, math.ceil(burst_frames * line_fps / load * (1 - 1e-12)))
end

-- Length of a trial: whole intervals, so that the load is exact, and at least two.
local function seconds_of(interval_frames, line_fps, seconds)
   local intervals = math.ceil(seconds * line_fps / interval_frames * (1 - 1e-12))
   return math.max(2, intervals) * interval_frames / line_fps
end

-- Trials by interval. A trial made for another load with the same interval is used again; the same load asked
-- for twice is a new trial.
local function remembering(make)
   local seen = {}
   return function(load, interval_frames, seconds)
      local key = interval_frames .. " " .. seconds
      if not seen[key] or seen[key].load == load then
         seen[key] = { load = load, record = make(interval_frames, seconds) }
      end
      return seen[key].record
   end
end

local function goal_of(plan, line_fps, burst_frames)
   local o, t = plan.rfc2544.bursty_traffic, plan.rfc2544.throughput
   return search.goal(o, {
      min = line_fps * burst_frames / (burst_frames + math.floor(o.limit * line_fps)), max = line_fps,
      resolution = o.resolution, relative = true,
      max_trials = t.max_trials, max_r = t.loss_verify_trials, z = t.loss_verify_max,
   })
end

-- One search for one direction: first the longest interval, then the shortest that passes.
local function search_once(plan, session_trial, ask, direction)
   local goal = goal_of(plan, ask.line_fps, ask.burst_frames)
   local directions, name = common.directions(plan)
   local phase
   local trial = remembering(function(interval_frames, seconds)
      return common.view(session_trial {
         test = M.NAME, phase = phase, frame_size = ask.frame_size, direction = name,
         directions = directions, fps = ask.line_fps * ask.burst_frames / interval_frames,
         seconds = seconds_of(interval_frames, ask.line_fps, seconds), line_fps = ask.line_fps,
         burst = { frames = ask.burst_frames, interval_frames = interval_frames },
         max_lag = lag.of_burst(ask.burst_frames / ask.line_fps), any_loss = true,
      }, direction)
   end)
   function goal.trial(load, seconds, what)
      phase = what
      return trial(load, interval_of(ask.burst_frames, load, ask.line_fps), seconds)
   end
   local run = search.get(plan.rfc2544.bursty_traffic.search).run
   local longest = run(setmetatable({ max = goal.min, final_trial = goal.search_trial }, { __index = goal }))
   return longest.load and run(goal) or longest
end

local function reasons(result)
   if verdict.of_search(result.limited_by) == "valid" then
      return {}
   elseif result.limited_by == "max_trials" then
      local text = "the search was not done after %d trials (rfc2544.throughput.max_trials)"
      return { text:format(result.trials) }
   end
   return result.upper_trial and result.upper_trial.reasons or {}
end

local function interval(trial)
   return trial and trial.burst.interval_frames
end

local function row_of(plan, ask, direction, result)
   local o = plan.rfc2544.bursty_traffic
   local passed, line_fps = interval(result.lower_trial), ask.line_fps
   return {
      frame_size = ask.frame_size, direction = direction, burst_frames = ask.burst_frames,
      validity = verdict.of_search(result.limited_by), reasons = reasons(result),
      theoretical_fps = line_fps,
      interval_frames = passed, interval_ns = passed and passed / line_fps * 1e9,
      gap_ns = passed and (passed - ask.burst_frames) / line_fps * 1e9,
      load_mean_fps = passed and ask.burst_frames / passed * line_fps,
      load_mean_percent = passed and ask.burst_frames / passed * 100,
      interval_failed_frames = interval(result.upper_trial),
      resolution_percent = o.resolution * 100, limit_s = o.limit, trial_s = o.trial,
      lower_trial = result.lower_trial and result.lower_trial.trial,
      upper_trial = result.upper_trial and result.upper_trial.trial,
   }
end

local function measure_bursts(plan, session, ask, rows)
   local from, list = #session.trials + 1, {}
   for i, direction in ipairs((common.directions(plan))) do
      list[i] = row_of(plan, ask, direction, search_once(plan, session:again(from), ask, direction))
   end
   for _, row in ipairs(list) do
      row.trials = #session.trials - from + 1
      rows[#rows + 1] = row
   end
end

--- Measure one frame size, with every burst length of the plan.
function M.measure(plan, tester, session, frame_size, rows)
   for _, burst_frames in ipairs(plan.rfc2544.bursty_traffic.burst_frames) do
      measure_bursts(plan, session, {
         frame_size = frame_size, line_fps = tester:max_fps(frame_size), burst_frames = burst_frames,
      }, rows)
   end
end

return M
