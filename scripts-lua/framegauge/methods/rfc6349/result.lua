-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows of RFC 6349: what the path is, and a row for each window and direction (framegauge.text.rows).
local components = require "framegauge.trial.components"
local l4 = require "framegauge.methods.l4.result"
local rows = require "framegauge.text.rows"
local trial = require "framegauge.trial.result"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, record = rows.list, rows.record

local function percent(value)
   return ("windows of %.4g %% of the BDP"):format(value * 100)
end

local DIRECTION = { "direction", "text", "which way", col = "Direction", id = "%s" }

M.PATH_MTU = record("path_mtu", "the path MTU", {
   { "mtu", "ordinal", "bytes of the IP packet; null when nothing came back", null = true },
   { "tested_up_to", "ordinal", "the largest size that was tried", optional = true },
   { "given", "boolean", "whether the plan gave it", optional = true },
   { "probes", "count", "how many probes it took" },
}, verdict.ROWS)

M.BASELINE = record("baseline", "the round trip without load", {
   { "rtt_min_ns", "count", "shortest: the baseline", null = true }, { "rtt_mean_ns", "number", "mean",
      null = true, n = "rtt_samples" },
   { "rtt_max_ns", "count", "longest", null = true }, { "rtt_samples", "count", "of how many" },
   { "trial", "ordinal", "number of its trial" },
}, verdict.ROWS)
M.BASELINE.together = { { "rtt_min_ns", "rtt_mean_ns", "rtt_max_ns" } }

local function bits(key, help, col, unit)
   return { key, "number", help, null = true, col = col, unit = unit, at = "html" }
end

local function searched(row, run)
   local failed = run.trial[row.upper_trial]
   return components.sustained(row.bandwidth_fps, run.trial[row.lower_trial], failed and failed.intended_fps)
end

M.BANDWIDTH = record("bandwidth", "the bottleneck bandwidth of a direction", {
   DIRECTION,
   { "frame_size", "ordinal", "bytes with FCS", col = "Frame", unit = "bytes", at = "html" },
   { "bandwidth_fps", "number", "frames per second", null = true, col = "Bandwidth", at = "html",
      uncertainty = searched },
   bits("bandwidth_l1_bps", "the same at layer 1", "Layer 1"), bits("bandwidth_l2_bps", "at layer 2",
      "Layer 2"),
   bits("bandwidth_l3_bps", "at layer 3", "Layer 3"),
   bits("achievable_bps", "what TCP can have of it", "TCP at most", "payload"),
   { "limited_by", "text", "why the search stopped", col = "Limit", at = "html" },
   { "lower_trial", "ordinal", "number of the trial that passed", null = true },
   { "upper_trial", "ordinal", "number of the trial that did not", null = true },
   { "trials", "ordinal", "how many trials it took", optional = true, col = "Trials", at = "html" },
}, verdict.ROWS)

M.TRANSFER = record("rfc6349", "A transfer with a window of one share of the bandwidth-delay product, one way. What is null was not known because the transfers did not end", {
   DIRECTION,
   { "both_directions", "boolean", "whether both ways sent at once", col = "Both ways",
      as = "yes", id = function() return "both ways at once" end },
   { "window_share", "number", "of the bandwidth-delay product: the windows of all connections",
      as = "ratio", id = percent },
   { of = function(row) return row.window_share * 100 end, col = "Windows", unit = "% of BDP", as = "number",
      at = "terminal summary details" },
   { "windows", "number", "the windows of all connections, bytes" },
   { "window", "number", "the window of each, bytes", col = "of each", unit = "bytes", as = "count",
      at = "details", better = false },
   { "window_scale", "number", "the window scale it needs", null = true, col = "Scale", at = "details",
      better = false },
   { "connections", "number", "how many" }, { "bdp", "number", "bandwidth-delay product, bytes",
      null = true },
   { "payload_bytes", "number", "what they moved", col = "Payload", at = "details", better = false },
   { "achieved_bps", "number", "what the transfers had", null = true, col = "Achieved",
      at = "terminal summary", criterion = "throughput" },
   { "achievable_bps", "number", "what the window allows of the bottleneck", null = true, col = "Achievable",
      at = "terminal summary", better = false },
   { "achieved_percent", "number", "the share of it that was achieved", null = true },
   { "bottleneck_bps", "number", "what TCP can have of the bottleneck", null = true },
   { "ideal_s", "number", "time of the transfers at that rate", null = true, col = "Ideal", as = "seconds3",
      at = "details" },
   { "actual_s", "number", "from the first byte sent to the last one acknowledged", null = true,
      col = "Actual", as = "seconds3", at = "details" },
   { "transfer_time_ratio", "number", "`actual_s` / `ideal_s` (RFC 6349, 4.1)", null = true,
      col = "Transfer time", unit = "ratio", as = "number3", at = "terminal summary",
      plain = true, better = "<=" },
   { "efficiency_percent", "number", "bytes that were not retransmitted, of all that were sent (4.2)",
      null = true, col = "Efficiency", at = "terminal summary" },
   { "buffer_delay_percent", "number", "how much longer than the baseline the mean round trip was (4.3)",
      null = true, col = "Buffer delay", as = "percent1", at = "terminal summary", better = "<=" },
   { "retransmitted_bytes", "number", "bytes that were retransmitted", null = true, col = "Retransmitted",
      at = "details" },
   { "retransmitted_segments", "number", "segments that were retransmitted", null = true },
   { "timeouts", "number", "retransmission time-outs", null = true, col = "Time-outs", as = "count",
      at = "details" },
   { "rtt_baseline_ns", "number", "round trip without load", null = true },
   { "rtt_mean_ns", "number", "TCP's smoothed round trip at the end of each interval, mean", null = true,
      col = "RTT mean", as = "time", at = "details", n = "rtt_samples" },
   { "rtt_max_ns", "number", "the same, longest", null = true, col = "max", as = "time", at = "details" },
   { "rtt_samples", "number", "of how many", null = true },
   { "hint", "text", "what the three metrics together usually mean (5); no verdict", null = true },
   { "warnings", list "text", "what may have changed the figures" },
   { "trial", "ordinal", "number of the trial" },
}, verdict.ROWS)

M.RESULTS = record("rfc6349_results", "results of RFC 6349", {
   { "rfc6349", record("rfc6349_path", "what RFC 6349 found", {
      { "path_mtu", M.PATH_MTU, "the path MTU", optional = true },
      { "baseline", M.BASELINE, "the round trip", optional = true },
      { "bandwidth", list(M.BANDWIDTH), "of each direction that sends", optional = true },
      { "transfers", list(M.TRANSFER), "a row for each window and direction" },
   }), "the path and the transfers", optional = true },
})

local function part(key)
   return function(results)
      local found = results.rfc6349 and results.rfc6349[key] or {}
      return found.validity and { found } or found
   end
end

M.TABLES = {
   { name = "rfc6349", title = "TCP throughput", record = M.TRANSFER, rows = part "transfers" },
   { name = "bandwidth", title = "Bottleneck bandwidth", record = M.BANDWIDTH, rows = part "bandwidth",
      inner = true },
   { name = "path_mtu", title = "Path MTU", record = M.PATH_MTU, rows = part "path_mtu", inner = true },
   { name = "baseline", title = "Round trip without load", record = M.BASELINE, rows = part "baseline",
      inner = true },
}

--- Trials are of frames, or of TCP.
M.TRIAL = rows.forms(function(value)
   return type(value) == "table" and value.directions and trial.TRIAL or l4.TRIAL
end, trial.TRIAL, l4.TRIAL)

return M
