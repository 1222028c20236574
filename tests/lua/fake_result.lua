-- SPDX-License-Identifier: BSD-3-Clause

--- A result of all tests as result.json gives it to the reports: written and read as a run does, and
-- held to the schema in html_spec.
local fake_plan = require "fake_plan"
local files = require "framegauge.report.files"
local format = require "framegauge.report.result"
local json = require "framegauge.text.json"

local LATENCY = {
   count = 1000, min_ns = 20000, mean_ns = 20512.5, p50_ns = 20479, p99_ns = 29000, p999_ns = 41000,
   max_ns = 52000, source = "wire", error_bound_ns = 8, definition = "first bit to first bit (FIFO)",
}

local function throughput(frame_size, trial)
   return {
      frame_size = frame_size, direction = "both", validity = "valid", limited_by = "loss", reasons = {},
      theoretical_fps = 1488095, throughput_fps = 899541.8, throughput_percent = 60.449,
      throughput_l1_mbps = 604.49, throughput_l2_mbps = 460.57, upper_fps = 900995, resolution_fps = 1488.095,
      loss_tolerance_ratio = 0, trial_s = 60,
      trials = 1, lower_trial = trial, latency = LATENCY,
      evidence = { late = 0, refused = 3, tester_drops = 0, poll_gap_max_ns = 12000 },
   }
end

local function row(o)
   o.frame_size, o.direction, o.validity, o.reasons = 64, "east->west", o.validity or "valid", o.reasons or {}
   o.theoretical_fps, o.trials = 1488095, 3
   return o
end

local function loss_row(o)
   o.intended_fps, o.offered_fps, o.tx, o.rx = 1488095, 1488095, 1000, 1000 - o.lost
   o.trial_s, o.trial = 60, 1
   local made = row(o)
   made.trials = nil
   return made
end

local function trial(number, frame_size)
   local direction = {
      direction = "east->west", intended_frames = 1000, offered_fps = 899541, tx = 1000, rx = 999, lost = 1,
      loss_ratio = 0.001, unsent = 0, latency = LATENCY, duplicates = 0, loss_bursts = 1,
      loss_burst_max_frames = 1,
      stale = 0, excess = 0, late = 0, off_schedule = 0, refused = 0, no_mbuf = 0, reordered = 0,
      reordering_extent_max_frames = 0,
   }
   return {
      trial = number, test = "rfc2544.throughput", phase = "confirm", frame_size = frame_size,
      direction = "both", duration_s = 60, time = "wire-free", intended_fps = 899541.8,
      intended_percent = 60.449, offered_fps = 899541, tx = 2000, rx = 1998, lost = 2, loss_ratio = 0.001,
      duplicates = 0, reordered = 0, late = 0, off_schedule = 0, refused = 3, tester_drops = 0, rx_errors = 0,
      misdirected = 0, unsolicited = 0, lag_max_ns = 300, poll_gap_max_ns = 12000, latency = LATENCY,
      validity = "valid", reasons = {}, directions = { direction, direction },
   }
end

local function all_results()
   return {
      throughput = { throughput(64, 1), throughput(1518, 2) },
      latency = { row {
         definition = "lifo", source = "wire", error_bound_ns = 8, latency_mean_ns = 20100,
         latency_min_ns = 20000, latency_max_ns = 21000, tagged_frames = 20, repetitions = 20, lost = 0,
         rate_fps = 899541, rate_percent = 60.4, trial_s = 120, tag_after_s = 60,
         every_frame_latency = LATENCY,
         rate_source = "throughput", calibration = "not-needed",
      } },
      frame_loss = {
         loss_row { load_percent = 100, loss_ratio = 0.395, lost = 395 },
         loss_row { load_percent = 90, loss_ratio = 0.000001, lost = 0 },
      },
      back_to_back = { row {
         burst_mean_frames = 26000.5, burst_min_frames = 25990, burst_max_frames = 26010,
         burst_stddev_frames = 5.25, repetitions = 50, step_frames = 1, limit_frames = 2976190,
         buffer_time_ns = 17472000, buffer_time_corrected_ns = 6911000, near_limit = false,
         throughput_fps = 899541, throughput_source = "throughput",
      } },
      system_recovery = { row {
         recovery_mean_ns = 120e6, recovery_min_ns = 119e6, recovery_max_ns = 121e6, overload_s = 60,
         watch_s = 60,
         overload_fps = 989496, relief_fps = 494748, throughput_fps = 899541, resolution_ns = 2021, lost = 99,
         repetitions = 1, throughput_source = "throughput",
      } },
      reset = { row {
         validity = "not-applicable", reasons = { "no load passes without loss" }, after_s = 15,
         by = "person",
         lost = 0, repetitions = 1, rate_source = "throughput", watch_s = 120,
      } },
      bursty_traffic = {
         row {
            burst_frames = 16, interval_frames = 27, interval_ns = 18144, gap_ns = 7392,
            load_mean_fps = 881834, load_mean_percent = 59.26, interval_failed_frames = 26,
            resolution_percent = 0.1, limit_s = 1,
            trial_s = 60, lower_trial = 1, upper_trial = 2,
         },
         row {
            burst_frames = 1024, interval_failed_frames = 1489119, resolution_percent = 0.1, limit_s = 1,
            trial_s = 60, upper_trial = 2,
         },
      },
   }
end

--- @param o  fields that replace the result's
-- @return it, and the text of result.json
return function(o)
   local result = {
      calibration = { state = "not-needed", date = json.null, reasons = {}, frame_sizes = {} },
      schema_version = 1, validity = "valid", interrupted = false, expectations = {},
      generator = { name = "framegauge", version = "1.2.3", dpdk = "DPDK 99.1", luajit = "LuaJIT 2.1" },
      conformance = { standard = "RFC 2544", conforms = true, notes = {} }, results = all_results(),
      ports = {
         { name = "east", device = "wire0", driver = "wire", mode = "wire", line_rate = 1e9, notes = {} },
         { name = "west", device = "wire1", driver = "wire", mode = "wire", notes = { "a note" } },
      },
      plan = fake_plan { frame_sizes = { 64, 1518 } }, trials = { trial(1, 64), trial(2, 1518) },
   }
   for key, value in pairs(o or {}) do
      result[key] = value
   end
   local text = format.text(result)
   return files.read(text), text
end
