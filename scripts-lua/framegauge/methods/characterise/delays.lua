-- SPDX-License-Identifier: BSD-3-Clause

--- The delay of a device at rest: its own part, the part of each byte, and whether it stores frames.
--
-- A line is fitted to the shortest delays of the frame sizes. With jitter the shortest delay seen may exceed
-- the least possible delay: by little where the distribution has a sharp lower end (uniform, or falling from
-- there), by an unknown time where it has a tail on that side, too.
--
-- Delays grow with the frame in a device that stores frames, and in one that cuts through and needs time for
-- each byte. The two are told apart only where the growth is certainly less, or not less, than the line's.
local ethernet = require "framegauge.core.ethernet"
local parameters = require "framegauge.methods.characterise.parameters"
local ranges = require "framegauge.methods.characterise.ranges"
local tables = require "framegauge.core.tables"

local M = {}

-- A delay is the difference of two stamps, each rounded to a nanosecond. Growth that is below the line's by
-- no more than this rounding counts as the line's: such devices cannot be told apart.
local ROUNDED_NS = 2

-- Two values from the shortest delays at rest: growth of the delay with the frame's size, and the delay of a
-- frame without bytes.
local function by_shortest(rests)
   return ranges.line(tables.map(rests, function(one)
      return { x = one.frame_size, max = one.min_ns + one.error_ns,
         min = one.min_ns - one.error_ns - (one.jitter_error_ns or 0) }
   end))
end

-- The same two values where the distance to the least possible delay is unknown. The growth is taken from the
-- means, because jitter adds as much to all sizes; the delay has no lower bound.
local function by_means(rests)
   local slope = ranges.line(tables.map(rests, function(one)
      local error = one.error_ns + one.mean_error_ns
      return { x = one.frame_size, min = one.mean_ns - error, max = one.mean_ns + error }
   end))
   if not slope then
      return nil
   end
   local at0 = { min = -math.huge, max = math.huge }
   for _, one in ipairs(rests) do
      at0.max = math.min(at0.max, one.min_ns + one.error_ns - slope.min * one.frame_size)
   end
   at0.value = at0.max - rests[1].jitter_error_ns / 2
   slope.coverage = parameters.MEAN_COVERAGE
   return slope, at0
end

-- The kind of switching, by how a delay grows with each byte.
-- @param line  ns that a byte takes there
local function switching(slope, rests, line)
   local rounded = 4 * ROUNDED_NS / (rests[#rests].frame_size - rests[1].frame_size)
   return slope.max < line * (1 - 1e-9) and "cut-through" or slope.min >= line - rounded
      and "store-and-forward" or "unclear"
end

-- What the growth shows of the device. Where both kinds of switching explain it, the bounds hold both, and
-- the values describe a device that cuts through.
local function add_switching(out, slope, at0, rests, line)
   local header = ethernet.HEADER * line
   out.switching = switching(slope, rests, line)
   if out.switching == "unclear" then
      out.latency_per_byte = { min = 0, max = slope.max, value = math.max(0, ranges.middle(slope)) }
      out.latency = { min = math.max(0, at0.min - header), max = at0.max,
         value = math.max(0, (at0.value or ranges.middle(at0)) - header) }
      table.insert(out.remarks, ("whether frames are stored is not told: a delay grows by %.3g to %.3g ns with each byte, and %.3g ns are the line's"):format(slope.min, slope.max, line))
   else
      local stores = out.switching == "store-and-forward"
      local own, before = stores and line or 0, stores and 0 or header
      out.latency_per_byte = { min = math.max(0, slope.min - own), max = math.max(0, slope.max - own) }
      out.latency = { min = math.max(0, at0.min - before), max = at0.max - before,
         value = at0.value and math.max(0, at0.value - before) }
   end
   out.latency_per_byte.coverage = slope.coverage
end

--- What the delays of all frame sizes at rest show.
-- @param out       gets latency (ns), latency_per_byte (ns), switching, and remarks
-- @param sizes     of identify.lua
-- @param line_bps  of the line
function M.add(out, sizes, line_bps)
   local rests = {}
   for _, size in ipairs(sizes) do
      rests[#rests + 1] = size.rest and setmetatable({ frame_size = size.frame_size },
         { __index = size.rest })
   end
   if not rests[2] then
      return
   end
   local open = tables.find(rests, "has_end", false)
   local slope, at0 = (open and by_means or by_shortest)(rests)
   if not slope then
      table.insert(out.remarks, "the delays of the frame sizes at rest lie on no line: the model has no delay for them")
      return
   end
   add_switching(out, slope, at0, rests, 8e9 / line_bps)
   if open then
      table.insert(out.remarks, "how much shorter than the shortest one a delay can be is not told, because jitter has no end on that side: the latency has an upper bound alone")
   end
end

return M
