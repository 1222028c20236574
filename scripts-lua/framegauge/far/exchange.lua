-- SPDX-License-Identifier: BSD-3-Clause

--- What two testers tell each other of a trial, as JSON can carry it; and the two halves of it put together.
--
-- Both make the same trial, with the streams in the same order. A stream that starts from the port of the
-- other tester is an idle one here, whose frames arrive nevertheless; one that starts here never arrives
-- here. So of each stream one tester knows what was sent, and the other what came of it.
local altered = require "framegauge.bench.altered"
local ffi = require "ffi"
local frame = require "framegauge.frame"
local octets = require "framegauge.octets"
local series = require "framegauge.bench.series"

local M = {}

local ADDRESSED = { ethernet = true, ipv4 = true, ipv6 = true } -- layers whose ends are octets

local function each_end(fields, convert)
   for _, key in ipairs { "source", "destination" } do
      fields[key] = fields[key] and convert(fields[key])
   end
end

local function pack_stack(stack)
   local list = {}
   for i, layer in ipairs(stack) do
      local fields = {}
      for key, value in pairs(layer) do
         fields[key] = key ~= 1 and value or nil
      end
      if ADDRESSED[layer[1]] then
         each_end(fields, octets.hex)
      end
      list[i] = { layer = layer[1], fields = fields }
   end
   return list
end

local function unpack_stack(list)
   local stack = {}
   for i, one in ipairs(list) do
      local layer = { one.layer }
      for key, value in pairs(one.fields) do
         layer[key] = value
      end
      if ADDRESSED[one.layer] then
         each_end(layer, octets.unhex)
      end
      stack[i] = layer
   end
   return stack
end

--- Streams of a method as both testers are told them.
-- @param list  as Bench:trial takes them, their frames { size =, stack = } in place of templates
function M.pack_streams(list)
   local out = {}
   for i, one in ipairs(list) do
      local made = one.sizes and one.frame(one.sizes[1]) or one.frame
      out[i] = {
         name = one.name, from = one.from, loads = one.loads, sizes = one.sizes, delay = one.delay,
         over_time = one.over_time, marks = one.marks, size = made.size, stack = pack_stack(made.stack),
      }
   end
   return out
end

--- The same as the bench of one of them takes them.
-- @param port  the name that port has to its own bench
-- @param ours  and to both: streams from it are sent here
function M.unpack_streams(list, port, ours)
   local out = {}
   for i, one in ipairs(list) do
      local stack = unpack_stack(one.stack)
      out[i] = {
         name = one.name, from = port, to = port, idle = one.from ~= ours, loads = one.loads,
         sizes = one.sizes, delay = one.delay, over_time = one.over_time, marks = one.marks,
         frame = one.sizes and function(size) return frame.build(size, stack) end
            or frame.build(one.size, stack),
      }
   end
   return out
end

local FIELDS = {
   "tx", "rx", "octets", "duplicates", "reordered", "delay_min_ns", "delay_max_ns", "delay_p999_ns",
   "delay_mean_ns",
}

--- Counts of a trial as they are sent: the intervals of each stream become lists.
-- @param raw  what Bench:trial gave
function M.pack_counts(raw)
   for _, direction in ipairs(raw.directions) do
      local kept = direction.intervals
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

-- What only the tester that receives a stream knows of it.
local RECEIVED = {
   "rx", "duplicates", "stale", "reordered", "max_extent", "excess", "rx_octets", "loss_bursts",
   "max_loss_burst", "last_lost_ns", "longest_gap_ns", "gap_begin_ns", "latency", "negative",
   "marks", "translated", "extents_unknown",
}

-- Intervals of which one tester knows the departures, the other the arrivals. They are those that both have.
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

-- An ICMP error that quotes a frame comes back to the tester that sent it.
local function join_direction(sent, received, seconds)
   sent.altered = altered.sum { near = sent.altered, far = received.altered }
   for _, key in ipairs(RECEIVED) do
      sent[key] = received[key]
   end
   if seconds then
      local list, n = join_intervals(sent.intervals, received.intervals)
      sent.series = series.read(list, n, seconds)
      sent.availability = series.availability(series.available(list, n))
   end
   sent.intervals = nil
   return sent
end

--- The counts of both testers as those of one trial.
-- @param streams  as M.pack_streams made them
-- @param ours     name of this tester's port
-- @param near, far  packed counts
function M.join(streams, ours, near, far)
   for i, one in ipairs(streams) do
      local here, there = near.directions[i], far.directions[i]
      near.directions[i] = one.from == ours and join_direction(here, there, one.over_time)
         or join_direction(there, here, one.over_time)
   end
   for _, list in ipairs { "ports", "lcores" } do
      for _, one in ipairs(far[list]) do
         table.insert(near[list], one)
      end
   end
   return near
end

return M
