-- SPDX-License-Identifier: BSD-3-Clause

--- From ranges to the figures of a row, and from a row to the model: its two extremes for a prediction, and
-- the reference device that behaves like it.
local binomial = require "framegauge.core.binomial"
local buckets = require "framegauge.methods.characterise.buckets"
local ethernet = require "framegauge.core.ethernet"
local ranges = require "framegauge.methods.characterise.ranges"
local tables = require "framegauge.core.tables"

local M = {}

local WHOLE = { frames = true, bytes = true, addresses = true }

--- A range as an estimate of the result (result.lua).
-- @param range  in a unit; nil: not told. It may have a value, where that is not its middle, and a coverage,
--               where that is not 1
-- @param by     factor to that unit; default 1
function M.estimate(range, unit, by)
   if not range then
      return nil
   end
   local likely, coverage = range.value, range.coverage or 1
   range = ranges.times(range, by or 1)
   local bounded = range.max < math.huge
   local min, max, value = range.min, bounded and range.max or nil, bounded and ranges.middle(range) or nil
   value = likely and likely * (by or 1) or min > 0 and value or value and 0 -- what may be nothing is nothing
   if WHOLE[unit] then
      min, max = math.floor(min), max and math.ceil(max)
      value = value and math.floor(value + 0.5)
   end
   return { [unit] = value, ["min_" .. unit] = min, ["max_" .. unit] = max, coverage = coverage }
end

--- The share of frames that is lost without load. A burst of losses counts as one event, because only bursts
-- may be independent.
-- @param rests  { tx =, lost =, loss_bursts = } of all trials at rest together
function M.loss(rests)
   if rests.tx == 0 then
      return nil
   end
   local each = rests.loss_bursts > 0 and rests.lost / rests.loss_bursts or 1
   local low, high = binomial.interval(math.floor(rests.lost / each + 0.5), math.floor(rests.tx / each))
   return { ratio = rests.lost / rests.tx, min_ratio = low, max_ratio = math.min(1, high), coverage = 0.95 }
end

--- The run of losses in a row that is exceeded once in a thousand times, where each frame is lost
-- independently with some chance.
function M.in_a_row(ratio)
   return ratio > 0 and math.ceil(math.log(1e-3) / math.log(ratio)) or 0
end

-- Shares of the mean: of a normal distribution with a deviation of a quarter, cut off at nothing; and of one
-- with a density of at least 1 / mean at its lower end, which has FEW samples below it by this distance.
local NORMAL_EXCESS, FEW = 0.25, 20

--- How often the mean delay is within M.mean_error() of the truth, at least.
M.MEAN_COVERAGE = 0.999
local MEAN_SIGMAS = 4

-- Mean and 99th percentile above the minimum, as multiples of the mean, of the distributions.
local SHAPES = { uniform = 1.98, normal = 1.58, exponential = 4.61, pareto = 7.28 }

-- Two signs of a sharp lower end. The greatest delay is hardly above the 99th percentile, and the least is
-- as near to the median. Or the delays below the median lie closer together than the others by this factor.
local FLAT, EVEN, FALLING = 1.06, 0.1, 0.25

-- Percentiles are rounded by a thousandth of the delay; differences must be well above that.
local ROUNDED = 0.02

-- Do delays begin close to the shortest one seen? Where a distribution has a tail on that side, too, its end
-- is unknown.
local function has_lower_end(rest)
   local below, above = rest.p50_ns - rest.min_ns, rest.p99_ns - rest.p50_ns
   local most = rest.max_ns - rest.p50_ns
   if above <= ROUNDED * rest.p99_ns then
      return false
   end
   return most < FLAT * above and math.abs(below / most - 1) < EVEN or below < FALLING * above
end

--- By how much the shortest of many delays may exceed the least possible delay.
-- @param rest  a low load, as in trials.lua
-- @return ns; and whether that is certain, because the delays have an end there
function M.shortest_error(rest)
   local mean = rest.mean_ns - rest.min_ns
   if rest.max_ns - rest.min_ns <= 2 * rest.error_ns then
      return 0, true
   end
   local certain = has_lower_end(rest)
   return math.max(certain and 0 or NORMAL_EXCESS, math.min(1, FEW / (rest.tx - rest.lost))) * mean, certain
end

--- By how much the mean delay may be off, where delays are independent. The deviation of values between two
-- ends is at most the deviation of values at the ends alone (Bhatia and Davis).
-- @return ns; the mean is within it at least as often as M.MEAN_COVERAGE
function M.mean_error(rest)
   return MEAN_SIGMAS * math.sqrt((rest.max_ns - rest.mean_ns) * (rest.mean_ns - rest.min_ns)
      / (rest.tx - rest.lost))
end

--- The additional delay at a low load.
-- @param rest  of the smallest frame
-- @return the nearest distribution and its mean, ns
function M.jitter(rest)
   local mean = rest.mean_ns - rest.min_ns
   if rest.max_ns - rest.min_ns <= 2 * rest.error_ns then
      return "none", 0
   end
   local ratio, best = (rest.p99_ns - rest.min_ns) / mean, nil
   for name, of in pairs(SHAPES) do
      if not best or math.abs(of - ratio) < math.abs(SHAPES[best] - ratio) then
         best = name
      end
   end
   return math.abs(SHAPES[best] / ratio - 1) < 0.15 and best or "other", mean
end

--- The time for which it loses frames after an overload.
-- @param seen     list of what trials.lua saw; empty: nothing was lost
-- @param remarks  gets a sentence where that is not told
function M.recovery(seen, remarks)
   table.sort(seen, function(a, b) return a.since_ns < b.since_ns end)
   local first, last = seen[1], seen[#seen]
   if not first then
      return nil
   elseif first.since_ns > 0.9 * first.watched_ns then
      remarks[#remarks + 1] = "it still lost frames when the trial ended: raise characterise.watch"
      return nil
   elseif first.since_ns > 0 and last.since_ns - first.since_ns > 2 * first.interval_ns then
      remarks[#remarks + 1] = "when the last frame was lost after an overload differs from trial to trial"
      return nil
   end
   -- meanwhile at least every second frame is lost: the last loss is up to two frames before the end
   local more = (first.since_ns > 0 and 2 or 1) * first.interval_ns + first.error_ns
   return { ns = first.since_ns, min_ns = math.max(0, first.since_ns - first.interval_ns),
      max_ns = first.since_ns + more, coverage = 1 }
end

-- Which bound of an estimate, or the estimate.
local function pick(estimate, unit, which)
   if not estimate then
      return nil
   end
   return which and estimate[which .. "_" .. unit] or not which and estimate[unit] or nil
end

--- Is it a policer or a shaper?
function M.has_bucket(row)
   return row.limit == "policer" or row.limit == "shaper"
end

--- The model of a row, for queue.lua.
-- @param which  "min" or "max": the device that forwards least or most within the ranges; nil: the estimate
function M.model(row, line_bps, which)
   local slow = which == "min" and "max" or which == "max" and "min" or nil -- of times
   local frame, byte = pick(row.time_per_frame, "ns", slow), pick(row.time_per_byte, "ns", slow)
   local linear = row.limit == "linear" and frame and byte
   return {
      line_bps = line_bps,
      capacity_fps = row.capacity and row.capacity.max_fps and pick(row.capacity, "fps", which),
      bandwidth_bps = row.bandwidth and row.bandwidth.max_bps and pick(row.bandwidth, "bps", which),
      frame_s = linear and frame / 1e9 or nil, byte_s = linear and byte / 1e9 or nil,
      buffer_frames = row.buffer_unit == "frames" and pick(row.buffer, "frames", which) or nil,
      buffer_bytes = row.buffer_unit == "bytes" and pick(row.buffer_memory, "bytes", which) or nil,
      cir_bps = M.has_bucket(row) and pick(row.cir, "bps", which) or nil,
      cbs_bytes = M.has_bucket(row) and pick(row.cbs, "bytes", which) or nil,
      shapes = row.limit == "shaper" or nil, counted_more = buckets.difference(row.counted),
   }
end

--- Nanoseconds from the first bit in to the first bit out, without waiting; nil where unknown.
-- @param which  "min", "max" or nil
function M.transit_ns(row, line_bps, frame_size, which)
   if not row.base_latency then
      return nil
   end
   local stored = row.switching == "store-and-forward" and frame_size or ethernet.HEADER
   return 8e9 / line_bps * stored + pick(row.base_latency, "ns", which)
      + frame_size * pick(row.latency_per_byte, "ns", which)
end

--- Whether the model has all that a prediction needs.
function M.is_whole(row)
   local limited = tables.contains({ "line", "load", "frames", "bits", "both", "policer", "shaper",
      "linear" }, row.limit)
   local buffered = row.limit == "line" or row.limit == "load" or row.limit == "policer"
      or row.buffer_unit == "frames"
      or row.buffer_unit == "bytes"
   return limited and buffered
end

return M
