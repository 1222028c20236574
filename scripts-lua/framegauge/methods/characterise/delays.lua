-- SPDX-License-Identifier: BSD-3-Clause

--- The delay of a device at rest: what is its own, what each byte adds, and whether it stores frames.
--
-- A line through the shortest delays of the frame sizes. With jitter the shortest delay that was seen may be
-- above what no delay is below: by little where the delays have an end there, as those that are evenly spread
-- or fall from it, and by an unknown time where they have a tail on that side, too.
local ethernet = require "framegauge.core.ethernet"
local parameters = require "framegauge.methods.characterise.parameters"
local ranges = require "framegauge.methods.characterise.ranges"
local tables = require "framegauge.core.tables"

local M = {}

-- By how much the delay of a frame at rest grows with its size, and the delay of one without bytes, from the
-- shortest delays.
local function by_shortest(rests)
   return ranges.line(tables.map(rests, function(one)
      return { x = one.frame_size, max = one.min_ns + one.error_ns,
         min = one.min_ns - one.error_ns - (one.jitter_error_ns or 0) }
   end))
end

-- The same where nobody knows how much shorter than the shortest one a delay can be: growth from the means,
-- because jitter adds as much to all sizes; and of the delay there is no lower bound.
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

--- What the delays of all frame sizes at rest say.
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
   local line = 8e9 / line_bps -- ns for a byte
   local store = slope.max >= line * (1 - 1e-9)
   out.switching = store and "store-and-forward" or "cut-through"
   local own = store and line or 0
   out.latency_per_byte = { min = math.max(0, slope.min - own), max = math.max(0, slope.max - own),
      coverage = slope.coverage }
   local header = store and 0 or ethernet.HEADER * line
   out.latency = { min = math.max(0, at0.min - header), max = at0.max - header,
      value = at0.value and math.max(0, at0.value - header) }
   if open then
      table.insert(out.remarks, "how much shorter than the shortest one a delay can be is not told, because jitter has no end on that side: the latency has an upper bound alone")
   end
end

return M
