-- SPDX-License-Identifier: BSD-3-Clause

--- How a header field changes from frame to frame, as a plan writes it.
--
--    destination: 198.19.1.2-198.19.1.254                  from the first to the last, and again
--    destination: {from: 1024, to: 65535, step: 3}         in steps; downwards when `to` is less than `from`
--    destination: {from: 1024, count: 10}                  10 values
--    destination: [80, 443, 8080]                          these; or {list: [80, 443], hold: 2}
--    source: {random: 1024-65535, seed: 7}                 any of them; `all`: any value of the field, of an
--                                                          IPv6 address of all 128 bits
--    ttl: {from: 1, to: 255, every: 100}                   every hundredth frame only
--    ttl: {from: 1, to: 255, hold: 100}                    each for a hundred frames
--
-- Values are written like the field's. The value in a frame follows from the frame's number alone.
local field_value = require "framegauge.plan.field_value"
local octets = require "framegauge.core.octets"
local problems = require "framegauge.plan.problems"
local suggest = require "framegauge.core.suggest"
local wide_program = require "framegauge.plan.wide_program"

local M = {}

local KEYS = { "from", "to", "step", "count", "list", "random", "seed", "every", "hold" }
local MOST = 2 ^ 53 -- of numbers that Lua holds exactly

local known = {}
for _, key in ipairs(KEYS) do
   known[key] = true
end

local changing = { number = true, hex = true, flags = true, mac = true, ipv4 = true, ipv6 = true }

local function split(text)
   return text:match("^%s*([^-]+)%s*%-%s*([^-]+)%s*$")
end

--- Whether a node says how a field changes, instead of its value.
function M.is(field, node)
   if field.width == 0 or not changing[field.kind] then
      return false
   elseif node.kind == "scalar" then
      return split(node.value) ~= nil
   elseif node.kind == "list" then
      return true
   end
   return node.kind == "map" and node.entries[1] ~= nil and known[node.entries[1].key] ~= nil
end

local number = octets.number

local Reader = {}
Reader.__index = Reader

function Reader:wrong(message, expected, key)
   self.found:add(key and self.path .. "." .. key or self.path, message, expected,
      key and self.nodes[key] or self.node)
   self.failed = true
end

-- A value of the field.
function Reader:value(text, key)
   local value, wrong, expected = field_value.read(self.field, text)
   if value == nil then
      self:wrong(wrong, expected, key)
      return nil
   end
   return value
end

function Reader:integer(key, least)
   local node = self.nodes[key]
   if not node then
      return nil
   end
   local value = node.kind == "scalar" and node.value:find("^%d+$") and tonumber(node.value)
   if not value or value < least or value > MOST then
      self:wrong(problems.quote(node.value or "") .. " is not a whole number", "at least " .. least, key)
      return nil
   end
   return value
end

-- The step: a number, or written as the field's values are.
-- @return its low 64 bits, and of an address the others, and whether it was a number
function Reader:step()
   local node = self.nodes.step
   if not node then
      return { lo = 1ULL, hi = 0ULL, number = true }
   end
   local text = node.kind == "scalar" and node.value or ""
   local value = text:find("^%d+$") and tonumber(text) or field_value.read(self.field, text)
   local step = value and {
      lo = number(value), hi = type(value) == "string" and #value == 16 and number(value:sub(1, 8)) or 0ULL,
      number = type(value) == "number",
   }
   if not step or step.lo == 0 and step.hi == 0 then
      self:wrong(problems.quote(text) .. " is not a step", "a number above 0", "step")
      return { lo = 1ULL, hi = 0ULL, number = true }
   end
   return step
end

-- Kinds of programs that an address cannot have.
function Reader:too_wide(what)
   return self:wrong(("%s: in several /64, and more than %d values"):format(what, wide_program.LISTED),
      "a range within a /64, networks with the same host, whole networks at random, or fewer values")
end

-- first, last -> first, step, count; backwards is a step below 0, in the arithmetic of 64 bits
function Reader:range(first, last, random)
   local step = self:step()
   self.base = first
   if self.field.kind == "ipv6" then
      return wide_program.range(first, last, step, random)
         or self:too_wide(("%s to %s"):format(field_value.write(self.field, first),
            field_value.write(self.field, last)))
   end
   local a, b = number(first), number(last)
   local n = (b >= a and b - a or a - b) / step.lo
   return {
      first = a, step = b >= a and step.lo or 0 - step.lo, count = n == wide_program.ALL and n or n + 1,
   }
end

-- first, and how many
function Reader:counted(first, count)
   local step = self:step()
   self.base = first
   if self.field.kind == "ipv6" then
      return wide_program.counted(first, count + 0ULL, step)
         or self:too_wide(("%.0f values from %s"):format(count, field_value.write(self.field, first)))
   end
   local a, end_of = number(first), self.field.width >= 64 and wide_program.ALL or 2ULL ^ self.field.width - 1
   local most = (end_of - a) / step.lo
   if count - 1ULL > most then
      return self:wrong(("%.0f values from %s in steps of %s go beyond the field"):format(count,
         field_value.write(self.field, first), tostring(step.lo):match "%d+"),
         ("at most %.0f"):format(tonumber(most) + 1), "count")
   end
   return { first = a, step = step.lo, count = count + 0ULL }
end

function Reader:range_text(text, key)
   local from, to = split(text)
   local first, last = from and self:value(from, key), to and self:value(to, key)
   if first and last then
      return self:range(first, last, key == "random")
   elseif not from then
      self:wrong(problems.quote(text) .. " is no range", "two values with a dash between", key)
   end
   return nil
end

-- Any value of the field.
function Reader:all()
   if self.field.width > 64 then
      return wide_program.all()
   end
   local whole = self.field.width == 64
   return { first = 0ULL, step = 1ULL, count = whole and wide_program.ALL or 2 ^ self.field.width + 0ULL }
end

function Reader:from_to()
   local from, to = self.nodes.from, self.nodes.to
   local count = self:integer("count", 1)
   if not from then
      return self:wrong("missing", "the first value", "from")
   elseif (to and count) or not (to or count) then
      return self:wrong("either `to` or `count`", "the last value, or how many")
   end
   local first = self:value(from.value or "", "from")
   if not first then
      return nil
   elseif to then
      local last = self:value(to.value or "", "to")
      return last and self:range(first, last)
   end
   return self:counted(first, count)
end

-- Values one by one.
function Reader:list(node)
   local values = {}
   for i, item in ipairs(node.kind == "list" and node.items or { node }) do
      local value, wrong, expected = nil, "cannot stand here", field_value.expected(self.field)
      if item.kind == "scalar" then
         value, wrong, expected = field_value.read(self.field, item.value)
      end
      if value == nil then
         self.found:add(("%s[%d]"):format(self.path, i), wrong, expected, item)
         self.failed = true
      end
      values[i] = value
   end
   if not node.items or #node.items == 0 then
      self:wrong("no list", "values, such as [1, 2, 3]", "list")
   end
   return { list = values, count = #values + 0ULL }
end

function Reader:random(text)
   return text == "all" and self:all() or self:range_text(text, "random")
end

-- Exactly one way to give the values is allowed.
function Reader:is_said_once()
   local way = self.nodes.list and "list" or self.nodes.random and "random"
   for _, key in ipairs { "from", "to", "count", way == "list" and "step" or nil } do
      if way and self.nodes[key] then
         self:wrong("not together with " .. way, "one of both", key)
      end
   end
   return not self.failed
end

function Reader:map()
   for _, entry in ipairs(self.node.entries) do
      if not known[entry.key] then
         self.nodes[entry.key] = entry
         return self:wrong("unknown key", suggest.word(entry.key, KEYS) or table.concat(KEYS, ", "),
            entry.key)
      end
      self.nodes[entry.key] = entry.value
   end
   if not self:is_said_once() then
      return nil
   end
   local random, list = self.nodes.random, self.nodes.list
   local program
   if list then
      program = self:list(list)
   else
      program = random and self:random(random.value or "") or not random and self:from_to() or nil
   end
   local seed, every, hold = self:integer("seed", 0), self:integer("every", 1), self:integer("hold", 1)
   if not program then
      return nil
   elseif seed and not random then
      return self:wrong("nothing is random here", "it with random", "seed")
   end
   if every and hold then
      return self:wrong("not together with every", "one of both", "hold")
   end
   program.random, program.seed, program.every, program.hold = random ~= nil, seed, every, hold
   return program
end

--- Read a program.
-- @return { first =, step =, count = (uint64_t), list = or nil, random =, seed =, every =, hold =,
-- base = what the field holds where
-- it does not change, or nil, high = the first 64 bits of an address change, other = { first =, step =,
-- count = } of the first 64 bits where both halves of an address are random }, or nil after a problem was
-- added
function M.read(field, node, path, found)
   local reader = setmetatable({
      field = field, node = node, path = path, found = found, nodes = {},
   }, Reader)
   local program
   if node.kind == "scalar" then
      program = reader:range_text(node.value)
   elseif node.kind == "list" then
      program = reader:list(node)
   else
      program = reader:map()
   end
   if reader.failed or not program then
      return nil
   end
   program.base = reader.base
   return program
end

return M
