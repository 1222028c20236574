-- SPDX-License-Identifier: BSD-3-Clause

--- Devices that forward by tokens: a policer drops a frame that finds no token, a shaper lets it wait.
--
-- Both fill a bucket at a rate in bits. Which bytes of a frame count differs between devices: Linux counts a
-- frame without its FCS, others count preamble and gap. The rates of several frame sizes show which bytes.
-- A policer's frames do not wait. A shaper's frames wait until the bucket has filled, so the longest delay
-- shows what its queue holds. The frames held in addition to the queue are the bucket.
local ranges = require "framegauge.methods.characterise.ranges"
local tables = require "framegauge.core.tables"

local M = {}

--- Which bytes of a frame may count: their difference from the frame with its FCS, the most common first.
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

-- What all sizes have in common, or nil.
local function of_all(list, of)
   return ranges.common(tables.map(list, function(one) return one.rate and of(one) or nil end))
end

-- The layer in which all sizes have one rate, and the rate; nil: no such layer. With several such layers no
-- layer is returned, and the rate is the rate in any of them.
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
      -- the frame that a server would have begun to send does not belong to a bucket
      return { min = (one.places.min + 1) * counted, max = (one.places.max + 1) * counted }
   end)
   if not cbs then
      return false
   end
   out.limit, out.cir, out.cbs, out.counted = "policer", cir, cbs, layer.name
   return true
end

--- A shaper, by the same trials and by how long frames waited.
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
