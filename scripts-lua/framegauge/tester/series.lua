-- SPDX-License-Identifier: BSD-3-Clause

--- A stream over time, and its availability: what the engine kept, as plain lists.
--
-- A point is an interval, such as a second; in a longer trial it is several intervals, so that the number of
-- points stays limited. So a day's list is no longer than a quarter of an hour's, and no extreme is lost:
-- each point has the least, the mean and the greatest of its intervals.
local api = require "framegauge.core.api"
local ffi = require "ffi"

local C = api.C
local M = {}

--- Most points of a series.
M.MOST = 900

local LISTS = {
   "tx", "rx", "ir_min_bps", "ir_mean_bps", "ir_max_bps", "ftd_min_ns", "ftd_mean_ns", "ftd_max_ns",
   "fdv_max_ns", "reordered", "duplicates",
}

local function new_point()
   return {
      intervals = 0, tx = 0, rx = 0, octets = 0, ir_min = math.huge, ir_max = 0, min = math.huge, max = 0,
      sum = 0, fdv = 0, reordered = 0, duplicates = 0,
   }
end

local function add(point, interval, seconds)
   local rx, ir = tonumber(interval.rx), tonumber(interval.octets) * 8 / seconds
   point.intervals, point.tx, point.rx = point.intervals + 1, point.tx + tonumber(interval.tx), point.rx + rx
   point.octets = point.octets + tonumber(interval.octets)
   point.ir_min, point.ir_max = math.min(point.ir_min, ir), math.max(point.ir_max, ir)
   point.reordered = point.reordered + tonumber(interval.reordered)
   point.duplicates = point.duplicates + tonumber(interval.duplicates)
   if rx > 0 then
      local least = tonumber(interval.delay_min_ns)
      point.min, point.max = math.min(point.min, least), math.max(point.max, tonumber(interval.delay_max_ns))
      point.sum = point.sum + interval.delay_mean_ns * rx
      point.fdv = math.max(point.fdv, tonumber(interval.delay_p999_ns) - least)
   end
end

-- Without arrivals there is no delay: 0 in the lists.
local function put(lists, point, seconds)
   local heard = point.rx > 0
   local values = {
      tx = point.tx, rx = point.rx, ir_min_bps = point.ir_min, ir_max_bps = point.ir_max,
      ir_mean_bps = point.octets * 8 / (point.intervals * seconds), ftd_min_ns = heard and point.min or 0,
      ftd_mean_ns = heard and point.sum / point.rx or 0, ftd_max_ns = point.max, fdv_max_ns = point.fdv,
      reordered = point.reordered, duplicates = point.duplicates,
   }
   for _, name in ipairs(LISTS) do
      table.insert(lists[name], values[name])
   end
end

--- The intervals of a stream, one by one.
-- @param duration  of the trial, seconds; a partial interval at the end is left out
-- @param seconds   of an interval
-- @return struct fg_interval[n], and n
function M.intervals(engine, stream, duration, seconds)
   local most = math.floor(duration / seconds + 1e-9)
   local list = ffi.new("struct fg_interval[?]", math.max(1, most))
   return list, C.fg_engine_series(engine, stream, 0, list, most)
end

--- The series of a stream. Rates are of frames with FCS; frames count in the interval in which they were
-- sent.
-- @param list     struct fg_interval[n]
-- @param seconds  of an interval
-- @return { interval_s = seconds of a point, and the lists }
function M.read(list, n, seconds)
   local each = math.max(1, math.ceil(n / M.MOST))
   local lists, point = { interval_s = each * seconds }, new_point()
   for _, name in ipairs(LISTS) do
      lists[name] = {}
   end
   for i = 0, n - 1 do
      add(point, list[i], seconds)
      if point.intervals == each then
         put(lists, point, seconds)
         point = new_point()
      end
   end
   if point.intervals > 0 then
      put(lists, point, seconds)
   end
   return lists
end

--- A series of seconds that were joined from two testers' counts.
-- @return struct fg_availability_counts
function M.available(list, n)
   local state, out = ffi.new "struct fg_availability", ffi.new "struct fg_availability_counts"
   C.fg_availability_init(state)
   for i = 0, n - 1 do
      local one = list[i]
      C.fg_availability_add(state, ffi.new("struct fg_block", {
         sent = one.tx, received = one.rx, delay_sum = one.delay_mean_ns * tonumber(one.rx),
         delay_min = one.delay_min_ns, delay_max = one.delay_max_ns,
         delay_p999 = one.delay_p999_ns,
      }))
   end
   C.fg_availability_read(state, out)
   return out
end

--- Availability by the ten-second rule, and the frames sent and received in the available time.
-- @param available  struct fg_availability_counts
function M.availability(available)
   local block = available.available
   local rx = tonumber(block.received)
   return {
      percent = available.percent, seconds = tonumber(available.blocks),
      unavailable_s = tonumber(available.unavailable),
      severely_errored_s = tonumber(available.severely_errored), tx = tonumber(block.sent), rx = rx,
      ftd = rx > 0 and {
         min_ns = tonumber(block.delay_min), mean_ns = tonumber(block.delay_sum) / rx,
         max_ns = tonumber(block.delay_max), p999_ns = tonumber(block.delay_p999),
      } or nil,
   }
end

return M
