-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544 section 26.4, as RFC 9004 has it: the longest burst at the rate of the line that loses no frame.
--
-- A burst is a trial of n frames with a drain long enough for the device to forward all frames that it holds.
-- The search for the length is a search for a load, but in whole frames; it is made several times, each
-- independently. Where both directions are wanted, both send the burst at once and each has its own search;
-- the second search uses the bursts of the first.
--
-- A buffer only fills where frames arrive faster than they leave. So a frame size at which the device carries
-- the whole line has no result. Frames also leave while the burst arrives, so the burst is longer than the
-- buffer: the corrected buffer time subtracts that (RFC 9004, 6.4).
local common = require "framegauge.methods.rfc2544.common"
local lag = require "framegauge.traffic.lag"
local search = require "framegauge.search"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local verdict = require "framegauge.text.verdict"

local M = {}

M.NAME, M.KEY = "rfc2544.back_to_back", "back_to_back"

-- A result this near to the longest burst has no meaning (RFC 9004, 6.3: raise the limit and run again).
local NEAR_LIMIT = 0.9

--- Duration of a burst, and the part of it that the device had to buffer (RFC 9004, 6.4).
-- @param burst_frames    mean length
-- @param line_fps        frames per second of the burst
-- @param throughput_fps  frames per second that leave the device meanwhile
-- @return implied and corrected buffer time, nanoseconds
function M.buffer_time(burst_frames, line_fps, throughput_fps)
   local implied = burst_frames / line_fps * 1e9
   return implied, implied * (1 - throughput_fps / line_fps)
end

function M.check(plan, tester)
   if not tester:max_fps(64) then
      return "the line rate of these ports is not known, and back_to_back sends at it; give the ports' line_rate"
   end
   return common.check_rate(plan, tester, M.KEY)
end

local function limit_of(plan, line_fps)
   return math.max(1, math.floor(plan.rfc2544.back_to_back.limit * line_fps))
end

local function goal_of(plan, limit)
   local o = plan.rfc2544.back_to_back
   local t = plan.rfc2544.throughput
   return search.goal(o, {
      min = 0, max = limit, resolution = o.step, step = o.step,
      search_trial = 1, final_trial = 1, -- each trial is of full length
      max_r = t.loss_verify_trials, z = t.loss_verify_max,
   })
end

-- How long a burst lasts, and how long at most the device takes to forward it.
local function seconds_of(frames, line_fps, throughput_fps)
   local burst = frames / line_fps
   return burst, math.max(0, frames / throughput_fps - burst)
end

-- A burst counts only if it was sent completely.
local function view(record, direction)
   local counts, seen = common.counts(record, direction), common.view(record, direction)
   if counts.tx < counts.intended_frames and record.validity == "valid" then
      seen.validity = "tester-limited"
      seen.reasons = {
         ("%s: a burst of %d frames was not sent whole"):format(direction, counts.intended_frames),
      }
   end
   return seen
end

-- One search for one direction.
local function search_once(plan, trial, frame_size, line_fps, rate, direction)
   local directions, name = common.directions(plan)
   local goal = goal_of(plan, limit_of(plan, line_fps))
   function goal.trial(frames)
      frames = math.max(1, math.floor(frames))
      local burst, drain = seconds_of(frames, line_fps, rate.fps)
      local seen
      for _ = 0, plan.rfc2544.retries do
         seen = view(trial {
            test = M.NAME, phase = "search", frame_size = frame_size, direction = name,
            directions = directions, fps = line_fps, seconds = burst, line_fps = line_fps,
            drain = plan.rfc2544.drain + drain, max_lag = lag.of_burst(burst, rate.fps),
            any_loss = true,
         }, direction)
         if seen.validity ~= "tester-limited" then
            break -- a burst is short: a stall of the tester need not recur
         end
      end
      return seen
   end
   return search.get(plan.rfc2544.back_to_back.search).run(goal)
end

local function new_row(plan, frame_size, direction, line_fps, rate)
   local o = plan.rfc2544.back_to_back
   local validity, reasons = rate.validity, rate.reasons
   if not rate.fps then
      validity, reasons = common.without_rate(rate)
   elseif rate.at_maximum then
      validity, reasons = "not-applicable", { "the throughput is the line's maximum, so no buffer fills" }
   end
   return {
      frame_size = frame_size, direction = direction, validity = validity, reasons = reasons,
      theoretical_fps = line_fps,
      throughput_fps = rate.fps, throughput_source = rate.source, repetitions = o.repetitions,
      step_frames = o.step, limit_frames = limit_of(plan, line_fps), near_limit = false, trials = 0,
   }
end

-- What ended a search, if not the device.
local function judge(row, result)
   local found = verdict.of_search(result.limited_by)
   if found ~= "valid" then
      row.validity = verdict.worse(row.validity, found)
      row.reasons = result.upper_trial and result.upper_trial.reasons or row.reasons
   end
end

local function add_figures(row, bursts, line_fps, rate)
   row.burst_mean_frames, row.burst_stddev_frames = stats.mean(bursts), stats.stddev(bursts)
   row.burst_min_frames, row.burst_max_frames = stats.min(bursts), stats.max(bursts)
   row.buffer_time_ns, row.buffer_time_corrected_ns = M.buffer_time(row.burst_mean_frames, line_fps, rate.fps)
   row.near_limit = row.burst_max_frames >= NEAR_LIMIT * row.limit_frames
   if row.near_limit then
      row.validity = verdict.worse(row.validity, "invalid")
      row.reasons = { ("the longest burst (%d of %d frames) is too near the limit: raise rfc2544.back_to_back.limit"):format(row.burst_max_frames, row.limit_frames) }
   end
end

--- Measure one frame size.
function M.measure(plan, tester, session, frame_size, rows)
   local list, applicable, line_fps = {}, {}, tester:max_fps(frame_size)
   for i, direction in ipairs((common.directions(plan))) do
      local rate = common.rate(plan, session, M.KEY, frame_size, line_fps, direction)
      list[i] = new_row(plan, frame_size, direction, line_fps, rate)
      if rate.fps and list[i].validity ~= "not-applicable" then
         table.insert(applicable, { row = list[i], rate = rate, bursts = {} })
      end
   end
   local before = #session.trials
   for i = 1, plan.rfc2544.back_to_back.repetitions do
      local from = #session.trials + 1
      for _, one in ipairs(applicable) do
         local trial = session:again(from)
         local result = search_once(plan, trial, frame_size, line_fps, one.rate, one.row.direction)
         one.bursts[i] = math.floor(result.load or 0)
         judge(one.row, result)
      end
   end
   for _, one in ipairs(applicable) do
      one.row.trials = #session.trials - before
      add_figures(one.row, one.bursts, line_fps, one.rate)
   end
   tables.append(rows, list)
end

return M
