-- SPDX-License-Identifier: BSD-3-Clause

--- What the results of RFC 6349 hold, in the order a person reads it. docs/results.md says what the keys
-- mean.
local nulls = require "framegauge.report.nulls"

local M = {}

M.ORDER = {
   "rfc6349", "path_mtu", "mtu", "tested_up_to", "given", "probes", "baseline", "rtt_ns", "mean_ns", "max_ns",
   "samples", "bandwidth", "direction", "frame_size", "bandwidth_fps", "l1_bps", "l2_bps", "l3_bps",
   "transfers",
   "both_directions", "window_share", "windows", "window", "window_scale", "connections", "bdp", "octets",
   "achieved_bps", "achievable_bps", "percent", "most_bps", "ideal_s", "actual_s", "transfer_time_ratio",
   "efficiency_percent", "buffer_delay_percent", "retransmitted_octets", "retransmitted_segments", "timeouts",
   "baseline_rtt_ns", "mean_rtt_ns", "max_rtt_ns", "rtt_samples", "hint", "warnings", "verdict", "reasons",
   "trial",
   "title", "setting",
}

local TRANSFER_NULLS = {
   "actual_s", "achieved_bps", "percent", "transfer_time_ratio", "buffer_delay_percent", "mean_rtt_ns",
   "max_rtt_ns",
   "hint",
}
local BANDWIDTH_NULLS = {
   "bandwidth_fps", "l1_bps", "l2_bps", "l3_bps", "achievable_bps", "lower_trial", "upper_trial",
}

--- The results as result.json has them.
function M.published(results)
   local found = results.rfc6349
   if not found then
      return {}
   end
   return { rfc6349 = {
      path_mtu = found.path_mtu and nulls.fill(found.path_mtu, { "mtu" }),
      baseline = found.baseline and nulls.fill(found.baseline, { "rtt_ns", "mean_ns", "max_ns" }),
      bandwidth = nulls.each(found.bandwidth or {}, function(row) return nulls.fill(row,
         BANDWIDTH_NULLS) end),
      transfers = nulls.each(found.transfers, function(row) return nulls.fill(row, TRANSFER_NULLS) end),
   } }
end

--- All that has a verdict.
function M.rows(results)
   local list, found = {}, results.rfc6349
   for _, row in pairs(found and { found.path_mtu or nil, found.baseline } or {}) do
      list[#list + 1] = row
   end
   for _, part in ipairs(found and { found.bandwidth or {}, found.transfers } or {}) do
      for _, row in ipairs(part) do
         list[#list + 1] = row
      end
   end
   return list
end

--- Columns of the CSV file.
M.CSV = {
   "direction", "both_directions", "window_share", "windows", "window", "window_scale", "connections", "bdp",
   "octets",
   "achieved_bps", "achievable_bps", "percent", "most_bps", "ideal_s", "actual_s", "transfer_time_ratio",
   "efficiency_percent", "buffer_delay_percent", "retransmitted_octets", "retransmitted_segments", "timeouts",
   "baseline_rtt_ns", "mean_rtt_ns", "max_rtt_ns", "verdict", "trial",
}

return M
