-- SPDX-License-Identifier: BSD-3-Clause

--- A service's figures from a trial: rates, loss ratio, delay and its variation.
--
-- The received rate counts all frames received, over the time in which they were sent: it is summed over
-- the trial and never taken second by second.
local ethernet = require "framegauge.core.ethernet"

local frames = require "framegauge.methods.y1564.frames"
local tables = require "framegauge.core.tables"

local M = {}

--- Delay variation, by the statistic of the plan.
-- @param delay  { min_ns =, max_ns =, p999_ns = }
function M.variation(delay, statistic)
   return (statistic == "range" and delay.max_ns or delay.p999_ns) - delay.min_ns
end

--- From the first bit in to the last bit out: the tester's stamps are taken at the first bit
-- (framegauge.tester), so the frame's own time on the line, or the mean of several sizes, comes on top where
-- the port tells the line's rate; one that the plan alone declares takes no time.
-- @return { min_ns =, mean_ns =, max_ns = }
function M.transfer_delay(path, least, mean, most)
   local own = path.serial_rate and ethernet.l2_bps(1, path.frame_size) / path.serial_rate * 1e9 or 0
   return { min_ns = least + own, mean_ns = mean + own, max_ns = most + own }
end

-- Seconds in which a stream was sent. Frames of one size are evenly spaced, and their departures say it;
-- gaps between several sizes are not, and the schedule does.
local function seconds_of(direction, path)
   if path.sizes then
      return direction.intended_frames / direction.intended_fps
   end
   return direction.tx > 0 and direction.tx / direction.offered_fps or 1
end

--- Figures of one stream.
-- @param direction  of a trial record (framegauge.trial)
-- @param path       framegauge.methods.y1564.plan.paths
-- @param colour     of its frames as they are sent
-- @param statistic  of the delay variation: "p999" or "range"
-- @return tx, rx, lost, loss_ratio with judged_tx and judged_lost that it is of, offered and received rates
-- (ir: with FCS, ulr: of the line), marks, remarked, ftd and fdv_ns; the last two are nil when nothing was
-- received
function M.of_stream(direction, path, colour, statistic)
   local seconds, latency = seconds_of(direction, path), direction.latency
   local function ir(octets)
      return octets * 8 / seconds
   end
   local function ulr(octets, n)
      return ir(octets + ethernet.OVERHEAD * n)
   end
   return {
      tx = direction.tx, rx = direction.rx, lost = direction.lost, loss_ratio = direction.loss_ratio,
      judged_tx = direction.tx, judged_rx = direction.rx, judged_lost = direction.lost,
      offered_ir_bps = ir(direction.tx_bytes), offered_ulr_bps = ulr(direction.tx_bytes, direction.tx),
      received_ir_bps = ir(direction.rx_bytes), received_ulr_bps = ulr(direction.rx_bytes, direction.rx),
      duplicates = direction.duplicates, reordered = direction.reordered, marks = direction.marks,
      remarked = frames.changed(direction.marks, path, colour),
      clock_error_ns = latency and latency.clock_error_ns or nil,
      ftd = latency and M.transfer_delay(path, latency.min_ns, latency.mean_ns, latency.max_ns) or nil,
      fdv_ns = latency and M.variation(latency, statistic) or nil,
   }
end

--- The least and the greatest rate of a second, and the mean over all.
-- @param list      series of streams that were sent together (framegauge.tester.series)
-- @param received  their mean rate
-- @return { min =, mean =, max = }, nil where the trial had no whole second or kept none
function M.rate_by_seconds(list, received)
   local least, most = math.huge, 0
   for i = 1, list[1] and #list[1].tx or 0 do
      local low, high = 0, 0
      for _, series in ipairs(list) do
         low, high = low + series.ir_min_bps[i], high + series.ir_max_bps[i]
      end
      least, most = math.min(least, low), math.max(most, high)
   end
   return least < math.huge and { min_bps = least, mean_bps = received, max_bps = most } or nil
end

local SUMS = {
   "tx", "rx", "lost", "offered_ir_bps", "offered_ulr_bps", "received_ir_bps", "received_ulr_bps",
   "duplicates", "reordered", "remarked",
}

-- The greatest possible delay variation of two streams together: the percentile of both cannot exceed the
-- greater of the two.
local function joined_delay(a, b, one, other)
   local ftd = {
      min_ns = math.min(a.min_ns, b.min_ns), max_ns = math.max(a.max_ns, b.max_ns),
      mean_ns = (a.mean_ns * one.rx + b.mean_ns * other.rx) / (one.rx + other.rx),
   }
   return ftd, math.max(a.min_ns + one.fdv_ns, b.min_ns + other.fdv_ns) - ftd.min_ns
end

--- Figures of two streams of the same colour as figures of one.
function M.joined(one, other)
   local all = { marks = tables.joined(one.marks, other.marks), clock_error_ns = one.clock_error_ns }
   for _, key in ipairs(SUMS) do
      all[key] = one[key] and other[key] and one[key] + other[key] or nil
   end
   all.judged_tx, all.judged_rx, all.judged_lost = all.tx, all.rx, all.lost
   all.loss_ratio = all.tx > 0 and all.lost / all.tx or 0
   if one.ftd and other.ftd then
      all.ftd, all.fdv_ns = joined_delay(one.ftd, other.ftd, one, other)
   else
      local arrived = one.ftd and one or other
      all.ftd, all.fdv_ns = arrived.ftd, arrived.fdv_ns
   end
   return all
end

--- Figures of a step: sums over its colours; loss, delay and variation are the green frames', by
-- which it is judged.
-- @param green, yellow  as of_stream() gave them; yellow may be nil
function M.of_step(green, yellow)
   local row = {
      judged_tx = green.tx, judged_rx = green.rx, judged_lost = green.lost, loss_ratio = green.loss_ratio,
      ftd = green.ftd,
      fdv_ns = green.fdv_ns, clock_error_ns = green.clock_error_ns,
   }
   for _, key in ipairs(SUMS) do
      local other = yellow and yellow[key]
      row[key] = green[key] and (not yellow or other) and green[key] + (other or 0) or nil -- not of one alone
   end
   return row
end

return M
