-- SPDX-License-Identifier: BSD-3-Clause

--- How far the true values may be from RFC 2544's figures: function(row, run) for the `uncertainty` of a
-- result row (framegauge.text.rows), from the row and the trials that decided.
local components = require "framegauge.trial.components"
local tables = require "framegauge.core.tables"
local uncertainty = require "framegauge.trial.uncertainty"

local M = {}

--- The load that the device carries for any duration.
--
-- Where losses are tolerated, or trials may fail as MLRsearch has it, that needs a device whose share of
-- losses does not change from trial to trial, and nothing is claimed.
function M.throughput(row, run)
   if row.loss_tolerance_ratio > 0 or row.goal then
      return nil
   end
   local fps, line = row.throughput_fps, row.theoretical_fps
   local carries_line = row.limited_by == "maximum" and line and fps >= line * (1 - 1e-9)
   local failed = components.too_much(row.upper_fps, run.trial[row.upper_trial],
      run.plan.rfc2544.learning_wait)
   return components.sustained(fps, run.trial[row.lower_trial], failed, carries_line and line or nil)
end

-- @param own  component of the tester's share in the delay, or false where it has none
local function delay(value, row, run, own)
   local sample = components.repetitions(row.latency_stddev_ns, row.repetitions)
   return sample and uncertainty.of(value, {
      sample, components.stamp(row.every_frame_latency), own, components.clock(value, run.time),
   }) or nil
end

--- The mean delay at the load of the test. On real ports the tester's own share is in it, which is known only
-- by calibration: then latency_corrected() tells.
function M.latency(row, run)
   return run.calibration.state == "not-needed" and delay(row.latency_mean_ns, row, run, false) or nil
end

function M.latency_corrected(row, run)
   local own = tables.find(run.calibration.frame_sizes, "frame_size", row.frame_size)
   return own and type(own.latency_mean_ns) == "number" and delay(row.latency_corrected_mean_ns, row, run,
      components.calibration(own, run.calibration.date)) or nil
end

--- The share of frames that the device loses at a load however long it lasts.
function M.loss(row, run)
   local record = run.trial[row.trial]
   local counts = record and tables.find(record.directions, "direction", row.direction)
   return counts and components.loss_ratio(row.loss_ratio, counts, record.duration_s)
end

--- The longest burst: each search ends one step below a burst that failed.
function M.burst(row)
   local mean = row.burst_mean_frames
   return uncertainty.of(mean, {
      components.search(mean, mean + row.step_frames),
      components.repetitions(row.burst_stddev_frames, row.repetitions),
   }, { min = 0 })
end

--- The recovery ends between the last frame that was lost and the second one behind it: a device that
-- recovers may let every other frame pass.
function M.recovery(row, run)
   local mean = row.recovery_mean_ns
   return uncertainty.of(mean, {
      components.resolution(0, 2 * row.resolution_ns, "two frames: one may have passed"),
      components.repetitions(row.recovery_stddev_ns, row.repetitions), components.clock(mean, run.time),
   }, { min = 0 })
end

--- A reset begins and ends between two frames.
function M.reset(row, run)
   return uncertainty.of(row.reset_ns, {
      components.resolution(row.resolution_ns, row.resolution_ns, "time between two frames"),
      components.repetitions(row.reset_stddev_ns, row.repetitions), components.clock(row.reset_ns, run.time),
   }, { min = 0 })
end

-- Of the shortest interval: what the device still held at the end would have been too much in a longer trial.
local function held_of_bursts(row, record)
   local fps = row.load_mean_fps
   local held = components.still_held(fps, record)
   local least = math.max(0, fps - held.below) -- 0: no interval is known to be long enough
   return { name = held.name, type = held.type, below = 0,
      above = row.burst_frames / least * 1e9 - row.interval_ns, source = held.source }
end

--- The shortest interval of bursts that the device carries however long they come: one that passed, and the
-- longest below it that failed.
function M.interval(row, run)
   local failed, passed = row.interval_failed_frames or row.burst_frames, run.trial[row.lower_trial]
   return passed and uncertainty.of(row.interval_ns, {
      components.resolution((row.interval_frames - failed) / row.theoretical_fps * 1e9, 0,
         "the longest interval that failed"),
      held_of_bursts(row, passed), components.clock(row.interval_ns, run.time),
   }, { min = 0 }) or nil
end

return M
