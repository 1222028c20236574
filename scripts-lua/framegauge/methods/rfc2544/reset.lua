-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544 section 26.6, updated by RFC 6201: how long a device is out of service when it is reset.
--
-- The smallest frame size is sent at the throughput; after a while the device is reset: the reference device
-- by itself, a real one by a command of the plan or by the person at the terminal. There are two figures. By
-- loss: the time that the lost frames would have filled. By time stamps: from the last frame before the gap
-- to the first after it, less the normal time between two frames. The two differ where the device recovers in
-- steps. `reset_ns` is the figure by loss, which RFC 6201 prefers where the tester sends all the time, else
-- the figure by time stamps (the tester's own link went down with the device).
local common = require "framegauge.methods.rfc2544.common"
local hook = require "framegauge.methods.common.hook"
local mixes = require "framegauge.core.mixes"
local stats = require "framegauge.trial.stats"
local uv = require "luv"
local verdict = require "framegauge.text.verdict"

local M = {}

--- Trigger the reset while a trial is made, by framegauge.methods.common.hook.
-- @return function(make) that calls make() for the counts of the trial and returns them, with how the reset
--         went as `reset`
function M.around(o)
   return function(make)
      local raw, reset = hook.around({
         after = o.after, command = o.command, say = o.say, what = "reset the device",
         ask = "Reset the device under test now.",
      }, make)
      raw.reset = reset
      return raw
   end
end

M.NAME, M.KEY = "rfc2544.reset", "reset"

-- If losses continue this near to the end (a share of the observed time), the device had not recovered.
local NOT_BACK = 0.99

-- A few lost frames are no reset: one lost frame makes a gap of two nominal ones, two in a row of three.
local LEAST_GAP = 2.5 -- nominal gaps

--- It is made only with the smallest frame size of the plan (RFC 2544, 26.6).
function M.frame_sizes(plan)
   return { mixes.first(plan.rfc2544.frame_sizes) }
end

--- Who resets the device.
-- @return "reference device", "command" or "person"
function M.by(plan)
   return plan.reference_device and "reference device" or plan.rfc2544.reset.command and "command" or "person"
end

function M.check(plan, tester)
   if M.by(plan) == "person" and uv.guess_handle(0) ~= "tty" then
      return "without a terminal no person can reset the device: give rfc2544.reset.command, or run at one"
   end
   return common.check_rate(plan, tester, M.KEY)
end

local function make_trials(plan, session, frame_size, line_fps, fps)
   local o, records = plan.rfc2544.reset, {}
   local directions, name = common.directions(plan)
   local by = M.by(plan)
   for i = 1, o.repetitions do
      records[i] = session:trial {
         test = M.NAME, phase = "measure", frame_size = frame_size, direction = name, directions = directions,
         fps = fps, seconds = o.after + o.watch, line_fps = line_fps, link_may_change = true,
         outage = by == "reference device" and { at = o.after, seconds = o.outage } or nil,
         around = by ~= "reference device" and M.around {
            after = plan.rfc2544.learning_wait + o.after, command = o.command, say = session.say,
         } or nil,
      }
   end
   return records
end

--- The two figures of one trial.
-- @param counts  of one direction
-- @param fps     frames per second of that direction
-- @return by loss and by time stamps, ns
function M.figures(counts, fps)
   local gap = 1e9 / fps
   return counts.lost * gap, counts.lost > 0 and math.max(0, counts.gap_max_ns - gap) or 0
end

-- Why a trial has no reset time; nil when it has one.
local function problem_of(record, counts, fps)
   local command = record.reset
   if command and command.problem then
      return command.problem
   elseif counts.lost > 0 and counts.last_lost_ns > NOT_BACK * record.duration_s * 1e9 then
      return "frames were still lost when the trial ended: the device was not back (raise rfc2544.reset.watch) or does not carry this load for long"
   elseif counts.lost > 0 and counts.gap_max_ns < LEAST_GAP * 1e9 / fps then
      return "frames were lost, but one by one: that was no reset"
   end
   return nil
end

local function new_row(plan, frame_size, direction, line_fps, rate)
   local o = plan.rfc2544.reset
   return {
      frame_size = frame_size, direction = direction, theoretical_fps = line_fps, rate_fps = rate.fps,
      rate_percent = common.percent(rate.fps, line_fps), rate_source = rate.source, by = M.by(plan),
      after_s = o.after, watch_s = o.watch, repetitions = o.repetitions, lost = 0, trials = 0,
   }
end

local function add_figures(row, records, fps)
   local by_loss, by_stamps, command = {}, {}, nil
   for i, record in ipairs(records) do
      local counts = common.counts(record, row.direction)
      local own_fps = common.own_fps(counts, fps)
      local problem = problem_of(record, counts, own_fps)
      command = record.reset or command
      if problem then
         row.validity, row.reasons = "invalid", { problem }
      end
      row.lost = row.lost + counts.lost
      by_loss[i], by_stamps[i] = M.figures(counts, own_fps)
      row.resolution_ns = 1e9 / own_fps
   end
   row.trials = #records
   row.command_status = command and command.status
   row.effect = row.lost > 0 and "reset" or "no loss"
   row.reset_by_loss_ns, row.reset_by_timestamps_ns = stats.mean(by_loss), stats.mean(by_stamps)
   row.reset_stddev_ns = stats.stddev(row.validity == "valid" and by_loss or by_stamps)
   row.reset_ns = row.validity == "valid" and row.reset_by_loss_ns or row.reset_by_timestamps_ns
end

--- Measure one frame size.
function M.measure(plan, tester, session, frame_size, rows)
   local line_fps = tester:max_fps(frame_size)
   local rate = common.rate(plan, session, M.KEY, frame_size, line_fps)
   local records = rate.fps and make_trials(plan, session, frame_size, line_fps, rate.fps) or {}
   for _, direction in ipairs((common.directions(plan))) do
      local row = new_row(plan, frame_size, direction, line_fps, rate)
      row.validity, row.reasons = verdict.merge { rate, unpack(records) }
      if rate.fps then
         add_figures(row, records, rate.fps)
      else
         row.validity, row.reasons = common.without_rate(rate)
      end
      rows[#rows + 1] = row
   end
end

return M
