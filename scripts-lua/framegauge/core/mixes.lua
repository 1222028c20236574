-- SPDX-License-Identifier: BSD-3-Clause

--- Mixes of frame sizes by their names (RFC 6985), which stand where a frame size stands.
--
-- A test with a mix sends its sizes one after the other, again and again. Its rates are frames per second,
-- and its bits follow from the mean size, which is not a whole number.
local tables = require "framegauge.core.tables"

local M = {}

-- The simple mix, 7:4:1, with the small frames spread; the middle size differs from tool to tool.
local function simple(b)
   return { 64, 64, b, 64, 64, b, 64, 64, b, 64, b, 1518 }
end

--- Bytes with FCS, by name; EMIX is RFC 6985's `abceg`.
M.CYCLES = {
   imix = simple(570), imix_576 = simple(576), imix_594 = simple(594), emix = { 64, 128, 256, 1024, 1518 },
}

--- The sizes of a mix, or the only one.
-- @usage table.concat(mixes.cycle "emix", " ") --> 64 128 256 1024 1518
function M.cycle(size)
   return M.CYCLES[size] or { size }
end

--- Bytes with FCS of a frame, in the mean of a mix.
-- @usage mixes.mean "emix", mixes.mean(64) --> 598 64
function M.mean(size)
   local cycle, sum = M.CYCLES[size], 0
   for _, one in ipairs(cycle or {}) do
      sum = sum + one
   end
   return cycle and sum / #cycle or size
end

--- All frame sizes of a list that may have mixes.
function M.all(list)
   local out = {}
   for _, size in ipairs(list) do
      tables.append(out, M.cycle(size))
   end
   return out
end

--- Whether a size stands before another: sizes ascending, then mixes.
function M.before(a, b)
   local mixed_a, mixed_b = M.CYCLES[a] ~= nil, M.CYCLES[b] ~= nil
   if mixed_a ~= mixed_b then
      return mixed_b
   end
   return M.mean(a) < M.mean(b)
end

--- The one that stands before all others.
function M.first(list)
   local found = list[1]
   for _, size in ipairs(list) do
      found = M.before(size, found) and size or found
   end
   return found
end

--- How a size is called.
-- @usage mixes.text(64), mixes.text "imix" --> 64 bytes  imix
function M.text(size)
   return M.CYCLES[size] and size or ("%s bytes"):format(size)
end

return M
