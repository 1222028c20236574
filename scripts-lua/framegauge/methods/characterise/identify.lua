-- SPDX-License-Identifier: BSD-3-Clause

--- The device's parameters, each with its range, from the trials of one direction.
--
-- The model is a server that takes one frame at a time, with a buffer before it and a delay behind it
-- (queue.lua, lib/device/device.c). It fixes what an overload must show: until time t the server has begun
-- floor(c t) + 1 frames, and the buffer is full. So two overloads of different length give the server's rate
-- c and the places Q, each as a range that follows from whole frames; a third one can contradict. A policer
-- gives counts of the same form and holds nothing up: the longest delay tells them apart.
--
-- Where several models agree with all trials, there is no single result: the parameter stays unknown, and the
-- remarks say why.
local buckets = require "framegauge.methods.characterise.buckets"
local delays = require "framegauge.methods.characterise.delays"
local ethernet = require "framegauge.core.ethernet"
local format = require "framegauge.text.format"
local ranges = require "framegauge.methods.characterise.ranges"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

-- Memory is often allocated in cells; cell sizes that are tried, bytes.
local CELLS = { 64, 80, 128, 208, 256, 2048 }

-- Below the first share of a full buffer's delay there is no buffer, above the second there is one.
local NO_QUEUE, A_QUEUE = 0.25, 0.75

-- A frame size overloads a device if the line brings this multiple of the device's rate.
local MARGIN = 1.02

-- The delay of fewer places cannot be told from the device's own.
local PLACES_TO_TELL = 3

local function tell(remarks, ...)
   remarks[#remarks + 1] = string.format(...)
end

-- The rate and the places of one frame size, from the times at which the queue was empty.
local function drained(d)
   local rate = {
      min = (d.rx - 1 - d.slack) / (d.seconds + d.error), max = (d.rx - 1 + d.slack) / (d.seconds - d.error),
   }
   return rate, { min = d.queued.min, max = d.overflowed and d.queued.max or math.huge }
end

-- The same from overloads: c t + Q of each. Nothing where overloads contradict each other.
local function served(size)
   return ranges.line(tables.map(size.overloads, function(p)
      return { x = p.seconds, min = p.rx - 1 - p.slack, max = p.rx + p.slack }
   end))
end

-- What one frame size shows: { frame_size, rate, places, policed } or { frame_size, at_least = fps, lost =
-- whether one overload lost frames, which gives no rate; contradicts = whether several of them do }.
local function of_size(size)
   local out = { frame_size = size.frame_size }
   if size.overloads[2] then
      out.rate, out.places = served(size)
   elseif size.drained then
      out.rate, out.places = drained(size.drained)
   else
      out.at_least, out.lost = size.carried_fps or 0, size.overloads[1] ~= nil
      return out
   end
   if not out.rate then
      out.at_least, out.contradicts = 0, true
      return out
   end
   local held = ranges.middle(out.places) / ranges.middle(out.rate) -- seconds, if it is a buffer
   if size.overloads[2] and size.rest and ranges.middle(out.places) >= PLACES_TO_TELL then
      -- with jitter a frame in it may have had one of the longest delays at rest
      -- an overload has more samples of the jitter than a trial at rest, and may have a longer one
      local error = size.rest.error_ns + (size.overload_error_ns or 0)
      local jitter = size.rest.max_ns - size.rest.min_ns
      out.wait = {
         min = (size.overload_delay_ns - size.rest.max_ns - jitter - error) / 1e9,
         max = (size.overload_delay_ns - size.rest.min_ns + error) / 1e9,
      }
      local least = (size.overload_delay_ns - size.rest.max_ns) / 1e9 / held
      local most = (size.overload_delay_ns - size.rest.min_ns) / 1e9 / held
      out.policed = least < NO_QUEUE and (most < A_QUEUE or "unclear") or most < A_QUEUE and "unclear"
         or false
      -- frames waited, and fewer than the device held
      out.shaped = out.wait.min * out.rate.min > PLACES_TO_TELL
         and out.wait.max * out.rate.max < out.places.min - PLACES_TO_TELL
   end
   return out
end

local function of_all(list, from, to, of)
   local out = {}
   for i = from, to do
      if list[i].rate then
         out[#out + 1] = of(list[i])
      end
   end
   return out
end

-- Can min(C, B / bits) carry the loads of the sizes without loss?
local function carries(list, frames, bps, bits)
   for _, one in ipairs(list) do
      if one.at_least and (one.at_least > frames.max or one.at_least * bits(one) > bps.max) then
         return false
      end
   end
   return true
end

-- Frame sizes up to the k-th are limited by frames per second, the others by bits per second.
-- @param more  bytes that count in addition to the frame
local function bent(list, k, more)
   local function bits(one)
      return 8 * (one.frame_size + more)
   end
   local flat = of_all(list, 1, k, function(one) return one.rate end)
   local falling = of_all(list, k + 1, #list, function(one) return ranges.times(one.rate, bits(one)) end)
   local frames, bps = ranges.common(flat), ranges.common(falling)
   if not frames or not bps or not carries(list, frames, bps, bits) then
      return nil
   end
   for i, one in ipairs(list) do -- each size is limited by its named limit
      local by_bits = ranges.times(bps, 1 / bits(one))
      if one.rate and (i <= k and by_bits.max < frames.min or i > k and frames.max < by_bits.min) then
         return nil
      end
   end
   for _, one in ipairs(list) do -- what is not reached is at least what was carried
      local fps = one.rate and one.rate.min or one.at_least
      frames.min, bps.min = math.max(frames.min, fps), math.max(bps.min, fps * bits(one))
   end
   return { frames = frames, bps = bps, has_frames = flat[1] ~= nil, has_bps = falling[1] ~= nil }
end

-- A fixed time for each frame and a further one for each byte: 1 / c = t0 + t1 F.
local function linear(list)
   local points = {}
   for _, one in ipairs(list) do
      points[#points + 1] = {
         x = one.frame_size, min = one.rate and 1 / one.rate.max or 0,
         max = 1 / (one.rate and one.rate.min or one.at_least),
      }
   end
   local per_byte, per_frame = ranges.line(points)
   if not per_byte or per_byte.max <= 0 or per_frame.max <= 0 then
      return nil
   end
   per_byte.min, per_frame.min = math.max(0, per_byte.min), math.max(0, per_frame.min)
   return { per_byte = per_byte, per_frame = per_frame }
end

-- All that no frame size contradicts, whatever of a frame counts; where several ways to count explain the
-- same sizes the bounds hold all of them. A limit of frames alone has no way to count.
local function models(list)
   local found = {}
   for _, layer in ipairs(buckets.LAYERS) do
      for k = #list, 0, -1 do
         local one = bent(list, k, layer.bytes)
         local name = one and (one.has_frames and one.has_bps and "both" or one.has_frames and "frames"
            or "bits")
         local same = one and tables.find(found, "name", name)
         if same and name ~= "frames" then -- the bend lies at either of two sizes, or another layer counts
            same.frames = ranges.hull { same.frames, one.frames }
            same.bps = ranges.hull { same.bps, one.bps }
            same.counted = same.counted == layer.name and layer.name or "unclear"
         elseif one and not same then
            one.name, one.counted = name, name ~= "frames" and layer.name or nil
            found[#found + 1] = one
         end
      end
   end
   return found, linear(list)
end

local function saturated(list)
   local n = 0
   for _, one in ipairs(list) do
      n = n + (one.rate and 1 or 0)
   end
   return n
end

-- A model with one limit explains what one with two does, and is preferred.
local function simplest(found)
   return tables.find(found, "name", "frames") and tables.find(found, "name", "bits") and nil
      or tables.find(found, "name", "frames") or tables.find(found, "name", "bits") or found[1]
end

local function engine(out, list, below_line, remarks)
   local found, line = models(list)
   local n = saturated(list)
   if n == 0 then
      out.limit = below_line and "load" or "line"
      local least = { frames = 0, bps = 0 }
      for _, one in ipairs(list) do
         least.frames = math.max(least.frames, one.at_least)
         least.bps = math.max(least.bps, one.at_least * 8 * one.frame_size)
      end
      out.capacity = { min = least.frames, max = math.huge }
      out.bandwidth = { min = least.bps, max = math.huge }
      return
   end
   local chosen = simplest(found)
   if chosen and not (chosen.name == "both" and line) then
      out.limit = chosen.name
      out.capacity = chosen.has_frames and chosen.frames or { min = chosen.frames.min, max = math.huge }
      out.bandwidth = chosen.has_bps and chosen.bps or { min = chosen.bps.min, max = math.huge }
      out.counted = chosen.counted
   elseif line then
      out.limit = chosen and "unclear" or "linear"
      out.per_frame, out.per_byte = line.per_frame, line.per_byte
      if chosen then
         out.capacity, out.bandwidth, out.counted = chosen.frames, chosen.bps, chosen.counted
         tell(remarks, "two limits, of frames and of bits, and a time for each frame and byte explain the rates alike: more frame sizes tell them apart")
      end
   elseif found[1] then
      out.limit = "unclear"
      tell(remarks, "only %s could be overloaded: whether frames or bits are limited is not told", n == 1
         and "one frame size" or "few frame sizes")
      out.capacity = { min = found[1].frames.min, max = math.huge }
      out.bandwidth = { min = found[1].bps.min, max = math.huge }
   else
      out.limit = "other"
      tell(remarks, "no limit of frames and bits, and no time for each frame and byte, explains the rates of all frame sizes")
   end
end

-- Places are whole.
local function whole(range)
   return { min = math.max(0, math.ceil(range.min - 1e-6)), max = math.floor(range.max + 1e-6) }
end

-- Bytes of memory, if a frame takes a whole number of cells.
local function by_cells(list, cell)
   return ranges.common(of_all(list, 1, #list, function(one)
      local bytes, places = math.ceil(one.frame_size / cell) * cell, whole(one.places)
      return { min = places.min * bytes, max = (places.max + 1) * bytes - 1 }
   end))
end

local function unit_of_buffer(out, list, remarks)
   local frames = ranges.common(of_all(list, 1, #list, function(one) return whole(one.places) end))
   local bytes = by_cells(list, 1)
   if frames and not bytes then
      out.buffer_unit, out.buffer_frames = "frames", frames
   elseif bytes and not frames then
      out.buffer_unit, out.buffer_bytes = "bytes", bytes
   elseif frames and bytes then
      out.buffer_unit, out.buffer_frames, out.buffer_bytes = "unclear", frames, bytes
      tell(remarks, "whether the buffer holds frames or bytes is not told: too few frame sizes fill it")
   else
      out.buffer_unit = "other"
      for _, cell in ipairs(CELLS) do
         local found = by_cells(list, cell)
         if found then
            out.buffer_unit, out.buffer_cell_bytes, out.buffer_bytes = "cells", cell, found
            return
         end
      end
      tell(remarks, "what the buffer holds at the frame sizes fits neither frames nor bytes nor cells of a usual size")
   end
end

-- A policer loses frames that have not waited; of a shaper's some wait, and the bucket has let others pass.
local function by_tokens(out, list)
   local policed, shaped = 0, 0
   for _, one in ipairs(list) do
      policed = policed + (one.policed == true and 1 or 0)
      shaped = shaped + (one.shaped and 1 or 0)
   end
   local found = shaped > 0 and buckets.shaper(out, list) or policed > 0 and buckets.policer(out, list)
   if policed > 0 and not found then
      out.limit = "other"
      tell(out.remarks, "frames are lost without having waited, as by a policer, but no rate and burst size in bits explain all frame sizes")
   end
   return found or policed > 0
end

local PARAMETERS = { "capacity", "bandwidth", "per_frame", "per_byte", "cir", "cbs", "counted" }
local OF_BUFFER = { "buffer_unit", "buffer_frames", "buffer_bytes", "buffer_cell_bytes" }

-- Take back what no model stands behind.
-- @param limit  the limit found instead, or "unclear" where it is already "other"
local function refuse(out, limit, ...)
   out.limit = out.limit == "other" and "other" or limit
   for _, keys in ipairs { ... } do
      for _, key in ipairs(keys) do
         out[key] = nil
      end
   end
end

-- Of frame sizes whose overloads fit no server and no bucket, or tell too little of one: what the others
-- carried may be no more than what passed at first.
-- @return whether there is any doubt
local function doubt(out, sizes, list, has_bucket)
   local told = #out.remarks
   for i, one in ipairs(list) do
      if one.contradicts then
         tell(out.remarks, "%d bytes: overloads of different length contradict one rate and one buffer",
            one.frame_size)
         refuse(out, "other", PARAMETERS, OF_BUFFER)
      elseif one.lost and not has_bucket then
         tell(out.remarks, "%d bytes: only an overload of %s lost frames, so the rate is not told: raise characterise.longest", one.frame_size, units.format_time(sizes[i].overloads[1].seconds))
         refuse(out, "unclear", PARAMETERS, OF_BUFFER)
      elseif one.policed == "unclear" and not has_bucket then
         local error = sizes[i].rest.error_ns + (sizes[i].overload_error_ns or 0)
         tell(out.remarks, "%d bytes: the longest delay of the overload, %s (known to within %s), is neither the delay of a full buffer nor of an empty one", one.frame_size,
            format.nanoseconds(sizes[i].overload_delay_ns), format.nanoseconds(error))
         refuse(out, "unclear", OF_BUFFER)
      end
   end
   if out.limit == "other" then
      refuse(out, "other", PARAMETERS, OF_BUFFER)
   end
   return out.limit == "other" or #out.remarks > told
end

--- What is found of the device in one direction.
-- @param seen  line_bps; below_line = whether overloads were less than the line brings; and sizes: list, by
--              ascending frame size, of
--              frame_size
--              overloads          list of { seconds = from the first to the last departure, rx =, slack =
--                                 frames by which counts may be off }, of those that lost frames by load
--              drained            of a queue that grew: { seconds = until it was empty, error =, rx =, slack
--                                 =, queued = range of frames that it held, overflowed = }
--              carried_fps        where nothing was lost: what it forwards at least
--              overload_delay_ns  the longest delay under overload
--              overload_error_ns  by which it may be off; nil: by no more than delays at rest
--              rest               { min_ns =, max_ns =, error_ns =, jitter_error_ns = how far the shortest
--                                 may be above what jitter adds to, or nil; has_end = whether that is
--                                 certain, and where it is false mean_ns =, mean_error_ns = } of delays
--                                 under a low load
-- @return a table of ranges: capacity (frames/s), bandwidth (bit/s), or per_frame and per_byte (s);
--         buffer_frames or buffer_bytes; cir (bit/s) and cbs (bytes); latency (ns), latency_per_byte (ns);
--         and words: limit ("line", "load", "frames", "bits", "both", "policer", "shaper", "linear",
--         "unclear", "other"), counted (what of a frame counts in bandwidth, or in cir and
--         cbs, buckets.lua),
--         buffer_unit ("frames", "bytes", "cells", "unclear", "other"), switching, remarks = list of
-- sentences
function M.direction(seen)
   local out, list = { remarks = {} }, tables.map(seen.sizes, of_size)
   local has_bucket = by_tokens(out, list)
   if not has_bucket then
      engine(out, list, seen.below_line, out.remarks)
   end
   if not doubt(out, seen.sizes, list, has_bucket) and not has_bucket and saturated(list) > 0 then
      unit_of_buffer(out, list, out.remarks)
   end
   if out.counted == "unclear" then
      tell(out.remarks, "several ways to count the bytes of a frame explain the rates: the bounds of the %s hold all of them", out.cir and "CIR" or "bandwidth")
   end
   delays.add(out, seen.sizes, seen.line_bps)
   return out
end

-- Seconds of a frame in the server by the limit of frames and by the limit of bits, as far as these are
-- known.
local function services(found, size)
   local function known(range)
      return range.max < math.huge and ranges.middle(range) or range.max
   end
   return 1 / known(found.capacity),
      8 * (size + buckets.difference(found.counted)) / known(found.bandwidth)
end

-- By how much two explanations of the rates differ at a frame size.
local function difference(found, size)
   local other = ranges.middle(found.per_frame) + ranges.middle(found.per_byte) * size
   return math.abs(math.max(services(found, size)) / other - 1)
end

-- By how much ways to count a frame differ at a size that is limited by bits, from those at the largest.
local function counted_otherwise(found, size, largest)
   local by_frames, by_bits = services(found, size)
   return by_bits > MARGIN * by_frames and 1 / size - 1 / largest or 0
end

--- The frame size that would tell apart what M.direction() could not; nil: none would.
-- @param tried  frame sizes that were tried, ascending
function M.telling_size(found, line_bps, tried, candidates)
   local by_rates = found.limit == "unclear" and found.per_byte
   local by_count = not by_rates and found.counted == "unclear" and found.buffer_unit ~= "unclear"
   if not by_rates and not by_count and found.buffer_unit ~= "unclear" or not found.capacity then
      return nil
   end
   local best, most
   for _, size in ipairs(candidates) do
      local worth = by_rates and difference(found, size)
         or by_count and counted_otherwise(found, size, tried[#tried]) or size
      local overloads = math.max(services(found, size)) > MARGIN * ethernet.l1_bps(1, size) / line_bps
      local is_new = not tables.contains(tried, size) and size > tried[1] and size < tried[#tried]
      if is_new and overloads and worth > (most or 1e-4) then
         best, most = size, worth
      end
   end
   return best
end

return M
