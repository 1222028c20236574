-- SPDX-License-Identifier: BSD-3-Clause

--- Delays of a stream: as a few figures, and as bytes that hold the whole histogram
-- (lib/metric/fg_latency.h). Only these bytes give the percentiles of several streams, at one tester or many.
local api = require "framegauge.core.api"
local ffi = require "ffi"

local M = {}

local C = api.C

local buffer = ffi.new("uint8_t[?]", 0)

--- A latency as records have it; nil when there was no frame.
-- @param l       struct fg_latency
-- @param source  of the time stamps @param bound  of their errors, ns
function M.latency(l, source, bound)
   if l.count == 0 then
      return nil
   end
   return api.numbers(l, { "count", "min_ns", "mean_ns", "p50_ns", "p99_ns", "p999_ns", "max_ns" }, {
      source = source, error_bound_ns = bound, definition = "first bit to first bit (FIFO)",
   })
end

--- Widen the error bound of delays by the sender's share. A frame is stamped before it is handed over, and
-- frames that left off schedule wait for each other, at most for the greatest lag. Where the port does not
-- send at the time of the stamp, a frame also waits until earlier frames have left the line.
-- @param direction  with the counts of its sender
function M.add_sender_error(direction)
   local late = direction.off_schedule > 0 and direction.lag_max_ns or 0
   local queue = direction.latency.source ~= "wire" and direction.own_queue_max_ns or 0
   direction.latency.error_bound_ns = direction.latency.error_bound_ns + direction.stamp_held_ns + late
      + queue
end

--- The histogram of the stream that the engine has at this index, from 0.
function M.pack(engine, i)
   local octets = tonumber(C.fg_engine_delays(engine, i, buffer, ffi.sizeof(buffer)))
   if octets > ffi.sizeof(buffer) then
      buffer = ffi.new("uint8_t[?]", octets)
      octets = tonumber(C.fg_engine_delays(engine, i, buffer, octets))
   end
   return ffi.string(buffer, octets)
end

--- The latency of all frames of several streams.
-- @param list  of pack() @return as latency()
function M.merge(list, source, bound)
   local all, out, err = table.concat(list), ffi.new "struct fg_latency", api.error()
   api.check(C.fg_latency_merge(all, #all, out, err), err)
   return M.latency(out, source, bound)
end

--- The latency of all frames of several directions; nil where a direction has no delays.
-- @param directions  as framegauge.tester.counts gives them
function M.of_all(directions)
   local list, bound, source = {}, 0, nil
   for _, direction in ipairs(directions) do
      local latency = direction.latency
      if latency and not direction.delays then
         return nil
      elseif latency then
         list[#list + 1] = direction.delays
         bound, source = math.max(bound, latency.error_bound_ns), source or latency.source
      end
   end
   return M.merge(list, source, bound)
end

return M
