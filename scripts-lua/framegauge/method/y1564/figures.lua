-- SPDX-License-Identifier: BSD-3-Clause

--- What a trial says of a service: rates, loss ratio, delay and its variation.
--
-- The received rate is that of all frames received, over the time in which they were sent: it is summed over
-- the trial and never taken second by second.
local line = require "framegauge.line"
local paths = require "framegauge.method.y1564.paths"

local M = {}

local FDV = {
   p999 = function(latency) return latency.p999_ns - latency.min_ns end,
   range = function(latency) return latency.max_ns - latency.min_ns end,
}

-- From the first bit in to the last bit out: the tester's stamps are those of the first bit
-- (framegauge.bench), so the frame's own time on the line comes on top where its rate is known.
local function transfer_delay(latency, path)
   local own = path.line_rate and line.l2_bps(1, path.frame_size) / path.line_rate * 1e9 or 0
   return { min = latency.min_ns + own, mean = latency.mean_ns + own, max = latency.max_ns + own }
end

--- Figures of one stream.
-- @param direction  of a trial record (framegauge.trial)
-- @param path       framegauge.method.y1564.paths
-- @param statistic  of the delay variation: "p999" or "range"
-- @return tx, rx, lost, flr, offered and received rates (ir: with FCS, ulr: of the line), ftd_ns and fdv_ns;
-- the last two are nil when nothing was received
function M.of_stream(direction, path, statistic)
   local offered = line.l2_bps(direction.offered_fps, path.frame_size)
   local received = direction.tx > 0 and offered * direction.rx / direction.tx or 0
   local latency = direction.latency
   return {
      tx = direction.tx, rx = direction.rx, lost = direction.lost, flr = direction.loss_ratio,
      offered_ir_bps = offered, offered_ulr_bps = paths.ulr(offered, path.frame_size),
      received_ir_bps = received, received_ulr_bps = paths.ulr(received, path.frame_size),
      duplicates = direction.duplicates, reordered = direction.reordered,
      ftd_ns = latency and transfer_delay(latency, path) or nil,
      fdv_ns = latency and FDV[statistic](latency) or nil,
   }
end

local SUMS = {
   "tx", "rx", "lost", "offered_ir_bps", "offered_ulr_bps", "received_ir_bps", "received_ulr_bps",
      "duplicates",
   "reordered",
}

--- Figures of a step: sums over its colours; loss, delay and variation are those of the green frames, by
-- which it is judged.
-- @param green, yellow  as of_stream() gave them; yellow may be nil
function M.of_step(green, yellow)
   local row = { flr = green.flr, ftd_ns = green.ftd_ns, fdv_ns = green.fdv_ns }
   for _, key in ipairs(SUMS) do
      row[key] = green[key] + (yellow and yellow[key] or 0)
   end
   return row
end

return M
