-- SPDX-License-Identifier: BSD-3-Clause

--- What a row of each test holds, in the order a person reads it.
--
-- One list for each test gives the columns of its CSV file, the order of the keys in result.json, and the
-- keys that are null there when nothing is known. "a.b" is b in the object a. Besides these every row has its
-- `reasons`. docs/results.md says what they mean.
local json = require "framegauge.report.json"
local nulls = require "framegauge.report.nulls"

local M = {}

--- Tests in the order of RFC 2544 section 26, then bursty traffic (section 21).
M.TESTS = {
   "throughput", "latency", "frame_loss", "back_to_back", "system_recovery", "reset", "bursty_traffic",
}

M.throughput = {
   "frame_size", "direction", "theoretical_fps", "throughput_fps", "percent", "mbps_l1", "mbps_l2",
   "upper_fps", "resolution_fps", "trial_s", "trials", "verdict", "latency.min_ns", "latency.mean_ns",
   "latency.p50_ns", "latency.p99_ns", "latency.p999_ns", "latency.max_ns",
   "goal", "conditional_fps", "regular", "latency.source", "latency.definition", "latency.error_bound_ns",
   "latency.calibration", "latency.tester_min_ns", "latency.corrected.min_ns", "latency.corrected.mean_ns",
}

M.latency = {
   "frame_size", "direction", "theoretical_fps", "rate_fps", "rate_percent", "rate_source", "trial_s",
   "tag_after_s", "repetitions", "tagged_frames", "latency_ns_mean", "latency_ns_min", "latency_ns_max",
   "typical_latency_ns", "worst_case_latency_ns", "definition", "source", "error_bound_ns", "lost", "trials",
   "verdict", "every_frame.count", "every_frame.min_ns", "every_frame.mean_ns", "every_frame.p50_ns",
   "every_frame.p99_ns", "every_frame.p999_ns", "every_frame.max_ns", "calibration", "tester_min_ns",
   "latency_ns_mean_corrected", "every_frame.corrected.min_ns", "every_frame.corrected.mean_ns",
}

M.frame_loss = {
   "frame_size", "direction", "load_percent", "theoretical_fps", "intended_fps", "offered_fps", "tx", "rx",
   "lost", "loss_percent", "trial_s", "trial", "verdict",
}

M.back_to_back = {
   "frame_size", "direction", "theoretical_fps", "throughput_fps", "throughput_source", "repetitions",
   "step_frames", "limit_frames", "burst_frames_mean", "burst_frames_min", "burst_frames_max",
   "burst_frames_stddev", "buffer_time_ns", "corrected_buffer_time_ns", "near_limit", "trials", "verdict",
}

M.system_recovery = {
   "frame_size", "direction", "theoretical_fps", "throughput_fps", "throughput_source", "overload_fps",
   "relief_fps", "overload_s", "watch_s", "repetitions", "recovery_ns", "recovery_ns_min", "recovery_ns_max",
   "resolution_ns", "lost", "trials", "verdict",
}

M.reset = {
   "frame_size", "direction", "theoretical_fps", "rate_fps", "rate_percent", "rate_source", "by",
   "command_status", "after_s", "watch_s", "repetitions", "outcome", "reset_ns", "reset_ns_by_loss",
   "reset_ns_by_timestamps", "resolution_ns", "lost", "trials", "verdict",
}

M.bursty_traffic = {
   "frame_size", "direction", "burst_frames", "theoretical_fps", "interval_frames", "interval_ns", "gap_ns",
   "mean_load_fps", "mean_load_percent", "failed_interval_frames", "resolution_percent", "limit_s", "trial_s",
   "lower_trial", "upper_trial", "trials", "verdict",
}

--- Columns of a CSV file: those of the test, and the modifier where there is any.
function M.columns(test, rows)
   for _, row in ipairs(rows) do
      if row.modifier then
         return { "modifier", unpack(M[test]) }
      end
   end
   return M[test]
end

--- Keys of a row of one test, without those inside of objects.
function M.keys(test)
   local keys, seen = {}, {}
   for _, path in ipairs(M[test]) do
      local key = path:match "^[^.]+"
      if not seen[key] then
         seen[key], keys[#keys + 1] = true, key
      end
   end
   return keys
end

--- All keys of all tests.
M.ORDER = {}
for _, test in ipairs(M.TESTS) do
   for _, key in ipairs(M.keys(test)) do
      M.ORDER[#M.ORDER + 1] = key
   end
end

local EVIDENCE_NULLS = { "late", "refused", "tester_drops", "worst_lag_ns", "longest_poll_gap_ns" }
local THROUGHPUT_NULLS = {
   "theoretical_fps", "throughput_fps", "percent", "mbps_l1", "mbps_l2", "upper_fps", "lower_trial",
   "upper_trial", "latency",
}

-- And where a row is about a goal.
local GOAL_NULLS = { "conditional_fps", "lower_fps" }

local function throughput_row(row)
   local copy = nulls.fill(nulls.fill(row, THROUGHPUT_NULLS), row.goal and GOAL_NULLS or {})
   copy.evidence = nulls.fill(row.evidence, EVIDENCE_NULLS)
   return copy
end

--- The results as result.json has them.
function M.published(results)
   local copy = json.object {}
   for test, rows in pairs(results) do
      local keys = M.keys(test)
      copy[test] = nulls.each(rows, test == "throughput" and throughput_row or function(row)
         return nulls.fill(row, keys)
      end)
   end
   return copy
end

return M
