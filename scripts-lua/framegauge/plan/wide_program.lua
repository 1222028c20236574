-- SPDX-License-Identifier: BSD-3-Clause

--- How an address of 128 bits changes from frame to frame.
--
-- A program changes 64 bits (lib/frame). Most ranges lie within one half of an address: hosts of a /64, or
-- networks with the same host. Ranges that cross from one /64 into the next are written out, value by value,
-- if they are few, and random whole networks are a random program for each half.
local octets = require "framegauge.core.octets"

local M = {}

--- Values up to which a range is written out.
M.LISTED = 65536

local ALL = 0ULL - 1 -- 2^64 - 1; no stream sends as many frames, so it is as good as 2^64
M.ALL = ALL

local function halves(address)
   return octets.number(address:sub(1, 8)), octets.number(address:sub(9))
end

local function of_half(half)
   local list = {}
   for i = 8, 1, -1 do
      list[i], half = string.char(tonumber(half % 256)), half / 256
   end
   return table.concat(list)
end

-- Values of a range in 64 bits.
local function count_of(first, last, step)
   local n = (last - first) / step
   return n == ALL and ALL or n + 1
end

local function is_before(hi, lo, other_hi, other_lo)
   return hi < other_hi or hi == other_hi and lo < other_lo
end

-- The address a step further.
-- @return its halves; nil beyond the last address or the first
local function further(hi, lo, step, down)
   local next_hi, next_lo
   if down then
      next_lo, next_hi = lo - step.lo, hi - step.hi - (lo < step.lo and 1ULL or 0ULL)
   else
      next_lo = lo + step.lo
      next_hi = hi + step.hi + (next_lo < lo and 1ULL or 0ULL)
   end
   if is_before(next_hi, next_lo, hi, lo) == down then
      return next_hi, next_lo
   end
   return nil
end

-- One by one, until `last`, or `count` of them.
-- @return the program; nil where there are too many, or not as many
local function written_out(first, last, count, step)
   local hi, lo = halves(first)
   local last_hi, last_lo = halves(last or first)
   local down = last ~= nil and is_before(last_hi, last_lo, hi, lo)
   local list = {}
   while hi and #list <= M.LISTED do
      list[#list + 1] = of_half(hi) .. of_half(lo)
      if #list == count then
         break
      end
      hi, lo = further(hi, lo, step, down)
      if last and hi and (down and is_before(hi, lo, last_hi, last_lo)
            or not down and is_before(last_hi, last_lo, hi, lo)) then
         break
      end
   end
   local whole = #list <= M.LISTED and (last or #list == count)
   return whole and { list = list, count = #list + 0ULL } or nil
end

--- All addresses.
function M.all()
   return { first = 0ULL, step = 1ULL, count = ALL, other = { first = 0ULL, step = 1ULL, count = ALL } }
end

-- Whole networks at random: any value of the one half, and any of the other.
local function networks(a_hi, a_lo, b_hi, b_lo)
   if not (a_lo == 0 and b_lo == ALL and a_hi <= b_hi) then
      return nil
   end
   return { first = 0ULL, step = 1ULL, count = ALL,
      other = { first = a_hi, step = 1ULL, count = count_of(a_hi, b_hi, 1ULL) } }
end

-- Within one half.
local function in_half(a, b, step, high)
   local forward = b >= a
   local from, to = forward and a or b, forward and b or a
   return {
      first = a, step = forward and step or 0 - step, count = count_of(from, to, step), high = high or nil,
   }
end

--- A range from an address to another.
-- @param step    { hi =, lo =, number = whether it was written as a number: then of the half that changes }
-- @param random  whether values are drawn from it
-- @return the program; nil where it cannot be one
function M.range(first, last, step, random)
   local a_hi, a_lo = halves(first)
   local b_hi, b_lo = halves(last)
   local half = step.number and step.lo or step.hi
   if a_hi == b_hi and step.hi == 0 then
      return in_half(a_lo, b_lo, step.lo, false)
   elseif a_lo == b_lo and half ~= 0 and (step.number or step.lo == 0) then
      return in_half(a_hi, b_hi, half, true)
   end
   return random and step.lo == 1 and step.hi == 0 and networks(a_hi, a_lo, b_hi, b_lo)
      or written_out(first, last, nil, step)
end

--- A number of addresses.
-- @return the program; nil where it cannot be one
function M.counted(first, count, step)
   local hi, lo = halves(first)
   local function fits(from, by)
      return by == 0 or (ALL - from) / by >= count - 1ULL
   end
   if step.hi == 0 and fits(lo, step.lo) then
      return { first = lo, step = step.lo, count = count }
   elseif step.lo == 0 and fits(hi, step.hi) then
      return { first = hi, step = step.hi, count = count, high = true }
   end
   return count <= M.LISTED and written_out(first, nil, tonumber(count), step) or nil
end

return M
