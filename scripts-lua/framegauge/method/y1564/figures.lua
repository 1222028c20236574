-- SPDX-License-Identifier: BSD-3-Clause

--- What a trial says of a service: rates, loss ratio, delay and its variation.
--
-- The received rate is that of all frames received, over the time in which they were sent: it is summed over
-- the trial and never taken second by second.
local line = require "framegauge.line"

local marking = require "framegauge.method.y1564.marking"
local tables = require "framegauge.tables"

local M = {}

--- Delay variation, by the statistic of the plan.
-- @param delay  { min =, max =, p999 = }, nanoseconds
function M.variation(delay, statistic)
   return (statistic == "range" and delay.max or delay.p999) - delay.min
end

--- From the first bit in to the last bit out: the tester's stamps are those of the first bit
-- (framegauge.bench), so the frame's own time on the line, or the mean of several sizes, comes on top where
-- the line's rate is known.
-- @return { min =, mean =, max = }, nanoseconds
function M.transfer_delay(path, least, mean, most)
   local own = path.line_rate and line.l2_bps(1, path.frame_size) / path.line_rate * 1e9 or 0
   return { min = least + own, mean = mean + own, max = most + own }
end

-- Seconds in which a stream was sent. Frames of one size are evenly spaced, and their departures say it;
-- those of several sizes are not, and the schedule does.
local function seconds_of(direction, path)
   if path.sizes then
      return direction.intended_frames / direction.intended_fps
   end
   return direction.tx > 0 and direction.tx / direction.offered_fps or 1
end

--- Figures of one stream.
-- @param direction  of a trial record (framegauge.trial)
-- @param path       framegauge.method.y1564.paths
-- @param colour     of its frames as they are sent
-- @param statistic  of the delay variation: "p999" or "range"
-- @return tx, rx, lost, flr, offered and received rates (ir: with FCS, ulr: of the line), marks, remarked,
-- ftd_ns and fdv_ns; the last two are nil when nothing was received
function M.of_stream(direction, path, colour, statistic)
   local seconds, latency = seconds_of(direction, path), direction.latency
   local function ir(octets)
      return octets * 8 / seconds
   end
   local function ulr(octets, frames)
      return ir(octets + line.OVERHEAD * frames)
   end
   return {
      tx = direction.tx, rx = direction.rx, lost = direction.lost, flr = direction.loss_ratio,
      offered_ir_bps = ir(direction.octets), offered_ulr_bps = ulr(direction.octets, direction.tx),
      received_ir_bps = ir(direction.rx_octets), received_ulr_bps = ulr(direction.rx_octets, direction.rx),
      duplicates = direction.duplicates, reordered = direction.reordered, marks = direction.marks,
      remarked = marking.changed(direction.marks, path, colour),
      clock_error_ns = latency and latency.clock_error_ns or nil,
      ftd_ns = latency and M.transfer_delay(path, latency.min_ns, latency.mean_ns, latency.max_ns) or nil,
      fdv_ns = latency and M.variation({
         min = latency.min_ns, max = latency.max_ns, p999 = latency.p999_ns,
      }, statistic) or nil,
   }
end

--- The least and the greatest rate of a second, and the mean over all.
-- @param list      series of streams that were sent together (framegauge.bench.series)
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
   return least < math.huge and { min = least, mean = received, max = most } or nil
end

local SUMS = {
   "tx", "rx", "lost", "offered_ir_bps", "offered_ulr_bps", "received_ir_bps", "received_ulr_bps",
   "duplicates", "reordered", "remarked",
}

-- The greatest delay variation that two streams together can have: of the percentile of both it is known that
-- it cannot exceed the greater of the two.
local function joined_delay(a, b, one, other)
   local ftd = {
      min = math.min(a.min, b.min), max = math.max(a.max, b.max),
      mean = (a.mean * one.rx + b.mean * other.rx) / (one.rx + other.rx),
   }
   return ftd, math.max(a.min + one.fdv_ns, b.min + other.fdv_ns) - ftd.min
end

--- Figures of two streams of the same colour as those of one.
function M.joined(one, other)
   local all = { marks = tables.joined(one.marks, other.marks), clock_error_ns = one.clock_error_ns }
   for _, key in ipairs(SUMS) do
      all[key] = one[key] and other[key] and one[key] + other[key] or nil
   end
   all.flr = all.tx > 0 and all.lost / all.tx or 0
   if one.ftd_ns and other.ftd_ns then
      all.ftd_ns, all.fdv_ns = joined_delay(one.ftd_ns, other.ftd_ns, one, other)
   else
      local arrived = one.ftd_ns and one or other
      all.ftd_ns, all.fdv_ns = arrived.ftd_ns, arrived.fdv_ns
   end
   return all
end

--- Figures of a step: sums over its colours; loss, delay and variation are those of the green frames, by
-- which it is judged.
-- @param green, yellow  as of_stream() gave them; yellow may be nil
function M.of_step(green, yellow)
   local row = {
      flr = green.flr, ftd_ns = green.ftd_ns, fdv_ns = green.fdv_ns, clock_error_ns = green.clock_error_ns,
   }
   for _, key in ipairs(SUMS) do
      local other = yellow and yellow[key]
      row[key] = green[key] and (not yellow or other) and green[key] + (other or 0) or nil -- not of one alone
   end
   return row
end

return M
