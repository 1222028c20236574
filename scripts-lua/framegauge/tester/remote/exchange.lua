-- SPDX-License-Identifier: BSD-3-Clause

--- What two testers exchange about a trial, as JSON; and the two halves joined into one result.
--
-- Both run the same trial, with the streams in the same order. A stream from the port of the other tester is
-- idle here, but its frames arrive here; a stream from our port never arrives here. So of each stream one
-- tester knows what was sent, and the other what was received.
local altered = require "framegauge.tester.altered"
local delays = require "framegauge.tester.delays"
local ffi = require "ffi"
local frame = require "framegauge.traffic.frame"
local octets = require "framegauge.core.octets"
local series = require "framegauge.tester.series"
local tables = require "framegauge.core.tables"

local M = {}

local ADDRESSED = { ethernet = true, ipv4 = true, ipv6 = true } -- layers whose ends are binary

local function each_end(fields, convert)
   for _, key in ipairs { "source", "destination" } do
      fields[key] = fields[key] and convert(fields[key])
   end
end

local function pack_stack(stack)
   return tables.map(stack, function(layer)
      local fields = tables.copy(layer)
      fields[1] = nil
      if ADDRESSED[layer[1]] then
         each_end(fields, octets.hex)
      end
      return { layer = layer[1], fields = fields }
   end)
end

local function unpack_stack(list)
   return tables.map(list, function(one)
      local layer = tables.copy(one.fields)
      layer[1] = one.layer
      if ADDRESSED[one.layer] then
         each_end(layer, octets.unhex)
      end
      return layer
   end)
end

--- Streams of a method as they are sent to the other tester.
-- @param list  as Tester:trial takes them, their frames { size =, stack = } in place of templates
function M.pack_streams(list)
   return tables.map(list, function(one)
      local made = one.sizes and one.frame(one.sizes[1]) or one.frame
      return {
         name = one.name, from = one.from, loads = one.loads, sizes = one.sizes, delay = one.delay,
         over_time = one.over_time, marks = one.marks, size = made.size, stack = pack_stack(made.stack),
      }
   end)
end

--- The same streams as one of the two testers takes them.
-- @param port  name of our port in our own plan
-- @param ours  its name in both plans: streams from it are sent here
function M.unpack_streams(list, port, ours)
   return tables.map(list, function(one)
      local stack = unpack_stack(one.stack)
      return {
         name = one.name, from = port, to = port, idle = one.from ~= ours, loads = one.loads,
         sizes = one.sizes, delay = one.delay, over_time = one.over_time, marks = one.marks,
         frame = one.sizes and function(size) return frame.build(size, stack) end
            or frame.build(one.size, stack),
      }
   end)
end

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

-- What only the receiving tester knows of a stream.
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

--- The counts of both testers as counts of one trial.
-- @param streams  as M.pack_streams made them
-- @param ours     name of this tester's port
-- @param own, other  packed counts
function M.join(streams, ours, own, other)
   for i, one in ipairs(streams) do
      local here, there = own.directions[i], other.directions[i]
      own.directions[i] = one.from == ours and M.join_direction(here, there, one.over_time)
         or M.join_direction(there, here, one.over_time)
      own.directions[i].from = one.from -- the port's name in the plan
   end
   tables.append(own.ports, other.ports)
   tables.append(own.lcores, other.lcores)
   return own
end

return M
