-- SPDX-License-Identifier: BSD-3-Clause

--- Random numbers that follow from a seed: SplitMix64 (Steele, Lea and Flood, 2014).
local M = {}

--- A sequence.
-- @return function() -> the next number, 64 bits
-- @usage tonumber(random.sequence(1)() % 100) --> 65
function M.sequence(seed)
   local state = seed + 0ULL
   return function()
      state = state + 0x9e3779b97f4a7c15ULL
      local z = state
      z = bit.bxor(z, bit.rshift(z, 30)) * 0xbf58476d1ce4e5b9ULL
      z = bit.bxor(z, bit.rshift(z, 27)) * 0x94d049bb133111ebULL
      return bit.bxor(z, bit.rshift(z, 31))
   end
end

return M
