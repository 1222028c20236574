-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544 section 26.5: how long a device goes on losing frames after an overload has ended.
--
-- The device gets 110 % of its throughput, or the line rate if that is less, and then, from one frame to the
-- next, half of this load. The recovery time is from this moment (A) to the time at which the last lost frame
-- was due (B). B follows from the number of that frame, so it does not depend on any arrival.
--
-- A direction that carries the whole line cannot be overloaded. Where both directions are wanted both have
-- the same load, based on one direction's throughput; where both throughputs are equal one trial serves both.
local common = require "framegauge.methods.rfc2544.common"
local stats = require "framegauge.trial.stats"
local verdict = require "framegauge.text.verdict"

local M = {}

M.NAME, M.KEY = "rfc2544.system_recovery", "system_recovery"

local OVERLOAD, RELIEF = 1.1, 0.5

-- A device that still lost frames in the last tenth of the observed time had not recovered.
local NOT_RECOVERED = 0.9

function M.check(plan, tester)
   return common.check_rate(plan, tester, M.KEY)
end

local function loads_of(plan, line_fps, fps)
   local o = plan.rfc2544.system_recovery
   local overload = math.min(OVERLOAD * fps, line_fps or math.huge)
   return {
      { fps = overload, seconds = o.overload },
      { fps = RELIEF * overload, seconds = o.watch },
   }
end

-- When the overload's last frame ends, seconds from the start: the overload is a whole number of frames.
local function switch_time(loads)
   return math.floor(loads[1].fps * loads[1].seconds + 0.5) / loads[1].fps
end

local function make_trials(plan, session, frame_size, line_fps, loads)
   local directions, name = common.directions(plan)
   local seconds, records = loads[1].seconds + loads[2].seconds, {}
   for i = 1, plan.rfc2544.system_recovery.repetitions do
      records[i] = session:trial {
         test = M.NAME, phase = "measure", frame_size = frame_size, direction = name, directions = directions,
         loads = loads, fps = (loads[1].fps * loads[1].seconds + loads[2].fps * loads[2].seconds) / seconds,
         seconds = seconds, line_fps = line_fps,
      }
   end
   return records
end

local function new_row(plan, frame_size, direction, line_fps, rate)
   local o = plan.rfc2544.system_recovery
   local validity, reasons = rate.validity, rate.reasons
   if not rate.fps then
      validity, reasons = common.without_rate(rate)
   elseif line_fps and (rate.at_maximum or rate.fps >= line_fps) then
      validity = "not-applicable"
      reasons = { "the throughput is the line's maximum, so no overload is possible" }
   end
   return {
      frame_size = frame_size, direction = direction, validity = validity, reasons = reasons,
      theoretical_fps = line_fps,
      throughput_fps = rate.fps, throughput_source = rate.source, overload_s = o.overload, watch_s = o.watch,
      repetitions = o.repetitions, lost = 0, trials = 0,
   }
end

-- The result of one trial. @return the recovery time in ns; or nil, the verdict and the reason
local function recovery_of(row, record, loads)
   local counts = common.counts(record, row.direction)
   if counts.lost == 0 then
      return nil, "not-applicable", "no frame was lost at the highest load, so it was no overload"
   end
   local since = counts.last_lost_ns - switch_time(loads) * 1e9
   if since > NOT_RECOVERED * loads[2].seconds * 1e9 then
      return nil, "invalid", "the device still lost frames when the trial ended: raise rfc2544.system_recovery.watch"
   end
   return math.max(0, since)
end

local function add_figures(row, records, loads)
   local times = {}
   local validity, reasons = verdict.merge(records)
   row.validity = verdict.worse(row.validity, validity)
   row.reasons = #reasons > 0 and reasons or row.reasons
   row.overload_fps, row.relief_fps = loads[1].fps, loads[2].fps
   row.trials = #records
   for _, record in ipairs(records) do
      local counts = common.counts(record, row.direction)
      row.lost = row.lost + counts.lost
      row.resolution_ns = 1e9 / common.own_fps(counts, loads[2].fps)
      local time, worse, reason = recovery_of(row, record, loads)
      if not time then
         row.validity, row.reasons = worse, { reason }
         return
      end
      times[#times + 1] = time
   end
   row.recovery_mean_ns, row.recovery_stddev_ns = stats.mean(times), stats.stddev(times)
   row.recovery_min_ns, row.recovery_max_ns = stats.min(times), stats.max(times)
end

--- Measure one frame size.
function M.measure(plan, tester, session, frame_size, rows)
   local line_fps = tester:max_fps(frame_size)
   local made = {} -- trials by the throughput they started from
   for _, direction in ipairs((common.directions(plan))) do
      local rate = common.rate(plan, session, M.KEY, frame_size, line_fps, direction)
      local row = new_row(plan, frame_size, direction, line_fps, rate)
      if row.validity ~= "not-applicable" and rate.fps then
         local loads = loads_of(plan, line_fps, rate.fps)
         made[rate.fps] = made[rate.fps] or make_trials(plan, session, frame_size, line_fps, loads)
         add_figures(row, made[rate.fps], loads)
      end
      rows[#rows + 1] = row
   end
end

return M
