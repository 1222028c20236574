-- SPDX-License-Identifier: BSD-3-Clause

--- What a row of the traffic test holds, in the order a person reads it: the columns of traffic.csv and the
-- keys of result.json, null there when nothing is known. docs/results.md says what they mean.
local nulls = require "framegauge.report.nulls"

local M = {}

M.COLUMNS = {
   "stream", "from", "to", "frame_size", "duration_s", "intended_fps", "offered_fps", "percent",
   "offered_mbps_l1", "offered_mbps_l2", "received_mbps_l2", "tx", "rx", "lost", "loss_percent",
   "expired", "loss_bursts", "max_loss_burst", "duplicates", "reordered", "max_extent", "extents_unknown",
   "stale", "longest_gap_ns", "wrong_tx", "wrong_rx", "verdict",
   "latency.min_ns", "latency.mean_ns", "latency.p50_ns", "latency.p99_ns", "latency.p999_ns",
   "latency.max_ns", "latency.source", "latency.definition", "latency.error_bound_ns", "trial",
}

--- Columns of errors.csv, where streams make some on purpose.
M.ERRORS = { "stream", "from", "to", "kind", "sent", "received" }

--- Errors on purpose, a row for each kind of each stream.
function M.errors(results)
   local list = {}
   for _, row in ipairs(results.traffic or {}) do
      for _, one in ipairs(row.errors or {}) do
         list[#list + 1] = {
            stream = row.stream, from = row.from, to = row.to, kind = one.kind, sent = one.sent,
            received = one.received,
         }
      end
   end
   return list
end

--- Keys of a row, without those inside of objects.
M.ORDER, M.KEYS = { "traffic" }, {}
for _, path in ipairs(M.COLUMNS) do
   local key = path:match "^[^.]+"
   if M.KEYS[#M.KEYS] ~= key then
      M.KEYS[#M.KEYS + 1], M.ORDER[#M.ORDER + 1] = key, key
   end
end

--- The results as result.json has them.
function M.published(results)
   return { traffic = nulls.each(results.traffic or {}, function(row)
      return nulls.fill(row, M.KEYS)
   end) }
end

return M
