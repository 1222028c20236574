-- SPDX-License-Identifier: BSD-3-Clause

--- Patterns of the API as fields of a frame: one value, or a program of those that come one after the other.
--
-- Counters wrap at the width of their field. One that does so, or whose steps do not fit the field program,
-- becomes a list of its values, as do random ones, which are drawn here. All restart with their flow.
local tables = require "framegauge.core.tables"
local address = require "framegauge.plan.address"
local bit = require "bit"
local octets = require "framegauge.core.octets"

local M = {}

local MAX_LIST = 65536 -- values

local WIDTHS = { mac = 48, ipv4 = 32 }
local SIZES = { mac = 6, ipv4 = 4 } -- bytes

-- A value as a number; of IPv6 its bytes.
local function number(format, value)
   if format == "mac" then
      return tonumber(octets.number(octets.unhex((value:gsub("[:-]", "")))))
   elseif format == "ipv4" then
      return tonumber(octets.number(address.bytes(value, 4)))
   end
   return format == "ipv6" and address.bytes(value, 6) or value
end

--- A value as a field of a frame takes it: numbers, and addresses as bytes.
local function field_value(format, value)
   return SIZES[format] and octets.of_number(value, SIZES[format]) or value
end

-- Sum or difference of two addresses of 16 bytes, without the carry.
local function add_bytes(one, other, sign)
   local out, carry = {}, 0
   for i = 16, 1, -1 do
      local sum = one:byte(i) + sign * other:byte(i) + carry
      out[i], carry = string.char(sum % 256), math.floor(sum / 256)
   end
   return table.concat(out)
end

-- start, start +- step ... as a list; nil where it is too long
local function counted(format, width, p, sign)
   if p.count > MAX_LIST then
      return nil
   end
   local list, value, step = {}, number(format, p.start), number(format, p.step)
   for i = 1, p.count do
      list[i] = value
      value = format == "ipv6" and add_bytes(value, step, sign) or (value + sign * step) % 2 ^ width
   end
   return list
end

-- The same as a counter of the field program; nil where it wraps, or carries into the upper half of an
-- address.
local function counter(format, width, p, sign)
   local start, step = number(format, p.start), number(format, p.step)
   if format == "ipv6" then
      local low, low_step = octets.number(start), octets.number(step)
      local room = sign > 0 and 0ULL - 1 - low or low
      local fits = octets.number(step:sub(1, 8)) == 0
         and (low_step == 0 or room / low_step >= p.count - 1)
      return fits and { first = low, step = sign > 0 and low_step or 0 - low_step, count = p.count + 0ULL,
         base = start } or nil
   end
   local last = start + sign * step * (p.count - 1)
   if last < 0 or last >= 2 ^ width then
      return nil
   end
   return {
      first = start + 0ULL, step = sign > 0 and step + 0ULL or 0 - (step + 0ULL), count = p.count + 0ULL,
      base = field_value(format, start),
   }
end

local function random(format, p, seed)
   local least, most, list = number(format, p.min), number(format, p.max), {}
   local state = bit.bxor(seed ~= 0 and seed or 1, 0x2545f491)
   state = state ~= 0 and state or 1
   for i = 1, p.count do
      state = bit.bxor(state, bit.lshift(state, 13))
      state = bit.bxor(state, bit.rshift(state, 17))
      state = bit.bxor(state, bit.lshift(state, 5))
      list[i] = least + math.floor(state % 2 ^ 32 / 2 ^ 32 * (most - least + 1))
   end
   return list
end

local function list_program(format, list)
   if #list == 1 then
      return { value = field_value(format, list[1]) }
   end
   return { program = { list = list, count = #list + 0ULL, base = field_value(format, list[1]) } }
end

local function too_many(count, c)
   return c.found:fault(c.path, "%.0f values that wrap; at most %d", count, MAX_LIST)
end

-- What each choice becomes. c = { found =, path = }
local make = {}

function make.value(p, format)
   return { value = field_value(format, number(format, p.value)) }
end

function make.values(p, format, _, c)
   local list = tables.map(p.values, function(value) return number(format, value) end)
   if #list == 0 then
      return c.found:fault(c.path .. ".values", "is empty")
   elseif #list > MAX_LIST then
      return too_many(#list, c)
   end
   return list_program(format, list)
end

local function counting(key, sign)
   make[key] = function(p, format, width, c)
      local o = p[key]
      local program = o.count > 1 and counter(format, width, o, sign)
      if program then
         return { program = program }
      end
      local list = counted(format, width, o, sign)
      return list and list_program(format, list) or too_many(o.count, c)
   end
end

counting("increment", 1)
counting("decrement", -1)

function make.random(p, format, _, c)
   local o = p.random
   if o.count > MAX_LIST then
      return too_many(o.count, c)
   elseif number(format, o.min) > number(format, o.max) then
      return c.found:fault(c.path, "min is above max")
   end
   return list_program(format, random(format, o, o.seed))
end

--- What a field is to hold.
-- @param p       a pattern that was read (framegauge.services.otg.read), not auto
-- @param def     its message (framegauge.services.otg.schema)
-- @param c       { found =, path = } for faults
-- @return { value = number or bytes }, or { program = as framegauge.traffic.frame takes it }; nil after a
-- fault
function M.field(p, def, c)
   return make[p.choice](p, def.pattern, def.bits or WIDTHS[def.pattern] or 128, c)
end

--- All values of a field of numbers, in turn, for one that shares its bytes with others.
function M.numbers(p, def, c)
   local field = M.field(p, def, c)
   if not field or field.value then
      return field and { field.value }
   end
   local program = field.program
   local list = program.list
   if not list then
      list = {}
      for i = 1, tonumber(program.count) do
         list[i] = tonumber(program.first + program.step * (i - 1))
      end
   end
   return list
end

return M
