-- SPDX-License-Identifier: BSD-3-Clause

--- Devices that forward by tokens: a policer, which drops what finds none, and a shaper, which lets it wait.
--
-- Both fill a bucket at a rate, in bits of what they count of a frame, which need not be what is on the line:
-- Linux counts a frame without its FCS, others count preamble and gap. The rates of several frame sizes tell.
-- A policer's frames do not wait. A shaper's wait until the bucket has filled, so the longest delay tells
-- what its queue holds; what is held besides is the bucket.
local ranges = require "framegauge.methods.characterise.ranges"
local tables = require "framegauge.core.tables"

local M = {}

--- What of a frame may count, and the bytes that differ from the frame's with its FCS. What frames are
-- commonly counted by comes first.
M.LAYERS = {
   { name = "frame", bytes = 0 }, { name = "without FCS", bytes = -4 }, { name = "layer 3", bytes = -18 },
   { name = "layer 1", bytes = 20 },
}

--- Bytes that differ.
-- @param name  as above; nil, or "unclear" where several explain the rates: the bytes of a frame with its FCS
function M.difference(name)
   local layer = tables.find(M.LAYERS, "name", name)
   return layer and layer.bytes or 0
end

-- What all sizes have in common; nil: nothing.
local function of_all(list, of)
   return ranges.common(tables.map(list, function(one) return one.rate and of(one) or nil end))
end

-- The layer in which all sizes have one rate, and the rate; nil: no such layer. Where there are several none
-- is told, and the rate is any one's.
local function rated(list)
   local layers, rates = {}, {}
   for _, layer in ipairs(M.LAYERS) do
      local cir = of_all(list, function(one)
         return ranges.times(one.rate, 8 * (one.frame_size + layer.bytes))
      end)
      if cir then
         layers[#layers + 1], rates[#rates + 1] = layer, cir
      end
   end
   if layers[2] then
      return { name = "unclear", bytes = M.difference "unclear" }, ranges.hull(rates)
   end
   return layers[1], rates[1]
end

--- A policer, by what the frame sizes show (identify.lua).
-- @return whether it is one; then `out` describes it
function M.policer(out, list)
   local layer, cir = rated(list)
   local cbs = layer and of_all(list, function(one)
      local counted = one.frame_size + layer.bytes
      -- the frame that a server would have begun does not belong to a bucket
      return { min = (one.places.min + 1) * counted, max = (one.places.max + 1) * counted }
   end)
   if not cbs then
      return false
   end
   out.limit, out.cir, out.cbs, out.counted = "policer", cir, cbs, layer.name
   return true
end

--- A shaper, by the same and how long frames waited.
-- @return whether it is one; then `out` describes it
function M.shaper(out, list)
   local layer, cir = rated(list)
   local queue = layer and of_all(list, function(one)
      local counted = one.frame_size + layer.bytes
      return one.wait and {
         min = math.max(0, one.wait.min) * cir.min / 8, max = one.wait.max * cir.max / 8 + 2 * counted,
      } or nil
   end)
   local held = queue and of_all(list, function(one)
      local counted = one.frame_size + layer.bytes
      return { min = (one.places.min + 1) * counted, max = (one.places.max + 2) * counted }
   end)
   if not held or held.max <= queue.min then
      return false
   end
   out.limit, out.cir, out.counted = "shaper", cir, layer.name
   out.cbs = { min = math.max(0, held.min - queue.max), max = held.max - queue.min }
   out.buffer_unit, out.buffer_bytes = "bytes", queue
   return true
end

return M
