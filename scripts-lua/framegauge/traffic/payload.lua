-- SPDX-License-Identifier: BSD-3-Clause

--- What a stream's frames carry between their headers and the signature, as bytes that are repeated.
local bit = require "bit"

local M = {}

local LARGEST = 16128 -- bytes of a frame

-- Pseudorandom bit sequences of ITU-T O.150 (and O.153 for the first): the shift register has `length`
-- stages, and what is fed back is the sum of the last and of stage `tap`. The longer ones are sent inverted.
local PRBS = {
   prbs9 = { length = 9, tap = 5 }, prbs15 = { length = 15, tap = 14, inverted = true },
   prbs23 = { length = 23, tap = 18, inverted = true }, prbs31 = { length = 31, tap = 28, inverted = true },
}
local WORDS = {
   incrementing = true, zeros = true, ones = true, random = true, prbs9 = true, prbs15 = true, prbs23 = true,
   prbs31 = true,
}

--- A description, for messages.
M.expected = "a payload, such as incrementing, zeros, ones, random, prbs31 or bytes in hex as 0xdeadbeef"

--- Read what a plan says.
-- @return the same; nil when it is not a payload
-- @usage payload.parse "0xdeadbeef" --> "0xdeadbeef"
function M.parse(text)
   local digits = text:match "^0[xX](%x+)$"
   return (WORDS[text] or digits and #digits % 2 == 0) and text or nil
end

-- xorshift of 32 bits: any bytes will do that no device makes by itself, and that are the same everywhere.
local function random_octets(seed)
   local state, list = bit.bxor(bit.tobit(seed), 0x2545f491), {}
   state = state ~= 0 and state or 1
   for i = 1, LARGEST do
      state = bit.bxor(state, bit.lshift(state, 13))
      state = bit.bxor(state, bit.rshift(state, 17))
      state = bit.bxor(state, bit.lshift(state, 5))
      list[i] = string.char(bit.band(bit.rshift(state, 11), 0xff))
   end
   return table.concat(list)
end

local sequences = {}

-- As many bytes of a sequence as the largest frame holds, from the register of ones on, first bit first.
local function prbs(name)
   if sequences[name] then
      return sequences[name]
   end
   local o, list = PRBS[name], {}
   local register, last, flip = 2 ^ o.length - 1, o.length - 1, o.inverted and 255 or 0
   for i = 1, LARGEST do
      local octet = 0
      for _ = 1, 8 do
         local out = bit.band(bit.rshift(register, last), 1)
         local fed = bit.bxor(out, bit.band(bit.rshift(register, o.tap - 1), 1))
         register = bit.band(bit.bor(bit.lshift(register, 1), fed), 2 ^ o.length - 1)
         octet = 2 * octet + out
      end
      list[i] = string.char(bit.bxor(octet, flip))
   end
   sequences[name] = table.concat(list)
   return sequences[name]
end

--- The bytes that are repeated.
-- @param o.octets  as parse() takes them, or nil
-- @param o.text    a text, or nil
-- @param o.seed    of random bytes
-- @return a string; nil for what frames carry anyway: bytes counting up
-- @usage payload.octets { text = "ab" } --> "ab"
function M.octets(o)
   local what = o and o.octets
   if o and o.text then
      return o.text
   elseif not what or what == "incrementing" then
      return nil
   elseif what == "random" then
      return random_octets(o.seed)
   elseif PRBS[what] then
      return prbs(what)
   elseif WORDS[what] then
      return what == "zeros" and "\0" or "\255"
   end
   return (what:sub(3):gsub("%x%x", function(pair)
      return string.char(tonumber(pair, 16))
   end))
end

return M
