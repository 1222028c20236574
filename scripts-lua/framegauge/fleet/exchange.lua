-- SPDX-License-Identifier: BSD-3-Clause

--- Counts of a trial as testers exchange them, as JSON. One tester knows the sent frames of a stream, another
-- the received ones: both are joined here.
local altered = require "framegauge.tester.altered"
local delays = require "framegauge.tester.delays"
local ffi = require "ffi"
local octets = require "framegauge.core.octets"
local series = require "framegauge.tester.series"

local M = {}

local FIELDS = {
   "tx", "rx", "octets", "duplicates", "reordered", "delay_min_ns", "delay_max_ns", "delay_p999_ns",
   "delay_mean_ns",
}

--- Counts of a trial as they are exchanged: the intervals of each stream become lists, and its delays text.
-- @param raw  what Tester:trial gave
function M.pack_counts(raw)
   for _, direction in ipairs(raw.directions) do
      local kept = direction.intervals
      direction.delays = direction.delays and octets.hex(direction.delays)
      direction.intervals, direction.series, direction.availability = nil, nil, nil
      if kept then
         direction.intervals = {}
         for _, field in ipairs(FIELDS) do
            local list = {}
            for i = 1, kept.n do
               list[i] = tonumber(kept.list[i - 1][field])
            end
            direction.intervals[field] = list
         end
      end
   end
   return raw
end

-- Fields of a stream that only the receiving tester knows.
local RECEIVED = {
   "rx", "duplicates", "stale", "reordered", "reordering_extent_max_frames", "excess", "rx_bytes",
   "loss_bursts",
   "loss_burst_max_frames", "last_lost_ns", "gap_max_ns", "gap_max_begin_ns", "latency", "delays",
   "negative",
   "marks", "translated", "reordering_extent_unknown_frames", "payload_checked",
}

-- The intervals that both have: one tester knows the departures, the other the arrivals.
local function join_intervals(sent, received)
   local n = math.min(#sent.tx, #received.rx)
   local list = ffi.new("struct fg_interval[?]", math.max(1, n))
   for i = 1, n do
      for _, field in ipairs(FIELDS) do
         list[i - 1][field] = (field == "tx" and sent or received)[field][i]
      end
   end
   return list, n
end

--- The counts of a stream, of its sender and of its receiver. An ICMP error that quotes a frame returns to
-- the tester that sent the frame.
-- @param seconds  of an interval of the series that is kept, or nil
function M.join_direction(sent, received, seconds)
   if sent ~= received then -- by one tester where both ports are its own
      sent.altered = altered.sum { sent = sent.altered, received = received.altered }
      for _, key in ipairs(RECEIVED) do
         sent[key] = received[key]
      end
      if sent.latency then
         delays.add_sender_error(sent)
      end
   end
   sent.delays = sent.delays and octets.unhex(sent.delays)
   if seconds then
      local list, n = join_intervals(sent.intervals, received.intervals)
      sent.series = series.read(list, n, seconds)
      sent.availability = series.availability(series.available(list, n))
   end
   sent.intervals = nil
   return sent
end

return M
