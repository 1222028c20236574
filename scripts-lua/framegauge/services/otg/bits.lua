-- SPDX-License-Identifier: BSD-3-Clause

--- Fields of a header that share bytes: their constant bits, and programs of those that vary.
local tables = require "framegauge.core.tables"
local pattern = require "framegauge.services.otg.pattern"

local M = {}

-- The program of a part at a bit: of the bytes it lies in.
local function program_of(list, at, width)
   local first = math.floor(at / 8)
   local size = math.ceil((at + width) / 8) - first
   local shift = 8 * (first + size) - at - width
   local shifted = tables.map(list, function(value) return value * 2 ^ shift end)
   return {
      at = first, octets = size, mask = (2 ^ width - 1) * 2 ^ shift + 0ULL,
      program = { list = shifted, count = #list + 0ULL },
   }
end

-- Add a number to a list of bits.
local function append(bits, value, width)
   for i = width - 1, 0, -1 do
      bits[#bits + 1] = math.floor(value / 2 ^ i) % 2
   end
end

--- Compose parts one after the other.
-- @param programs  list for frame.build's `bytes`: programs of what varies are added
-- @param at        bit of the first part in its layer
-- @param parts     list of { width = bits, at most 32, p = pattern, def = its message, path = }
-- @return the bytes from the one in which the first part begins; bits beside the parts are 0
function M.compose(programs, at, parts, found)
   local bits = {}
   append(bits, 0, at % 8)
   for _, part in ipairs(parts) do
      local here = at - at % 8 + #bits
      local list = pattern.numbers(part.p, part.def, { found = found, path = part.path }) or { 0 }
      append(bits, list[1], part.width)
      if list[2] then
         programs[#programs + 1] = program_of(list, here, part.width)
      end
   end
   append(bits, 0, -#bits % 8)
   local out = {}
   for i = 1, #bits, 8 do
      local octet = 0
      for k = i, i + 7 do
         octet = 2 * octet + bits[k]
      end
      out[#out + 1] = string.char(octet)
   end
   return table.concat(out)
end

return M
