-- SPDX-License-Identifier: BSD-3-Clause

--- Bytes that change, by their offset, as a plan writes them.
--
--    bytes: [{at: 30, octets: 2, mask: 0x0fff, from: 0, to: 4095}]
--
-- The new values are written as for a field (plan/field_program.lua), or as one `value`. The offset counts
-- from the start of the layer or, next to `frame`, of the frame. A checksum over these bytes is updated.
local field_program = require "framegauge.plan.field_program"
local field_value = require "framegauge.plan.field_value"
local flow = require "framegauge.plan.flow"
local octets = require "framegauge.core.octets"
local problems = require "framegauge.plan.problems"

local M = {}

--- A description, for messages.
M.expected = "a list of groups, such as [{at: 30, octets: 2, from: 0, to: 99}]"

local OWN = { at = true, octets = true, mask = true, value = true }

local function whole(node, least, most)
   local value = node and node.kind == "scalar" and node.value:find("^%d+$") and tonumber(node.value)
   return value and value >= least and value <= most and value or nil
end

local function full_mask(size)
   return size == 8 and 0ULL - 1 or 2 ^ (8 * size) - 1 + 0ULL
end

-- Our keys by name, and a node of the others.
local function split(node)
   local own = {}
   local rest = { kind = "map", entries = {}, line = node.line, column = node.column, origin = node.origin }
   for _, entry in ipairs(node.entries) do
      if OWN[entry.key] then
         own[entry.key] = entry.value
      else
         rest.entries[#rest.entries + 1] = entry
      end
   end
   return own, rest
end

local function read_one(node, path, found)
   if node.kind ~= "map" then
      return found:add(path, "no group of keys", "at, octets, mask, and value or how they change", node)
   end
   local own, rest = split(node)
   local at, size = whole(own.at, 0, 16000), own.octets and whole(own.octets, 1, 8) or not own.octets and 1
   if not at then
      return found:add(path .. ".at", "no offset", "a whole number, from 0", own.at or node)
   elseif not size then
      return found:add(path .. ".octets", "out of range", "1 to 8", own.octets)
   end
   local field = { name = "octets", kind = "hex", width = 8 * size }
   local mask = own.mask and field_value.read(field, own.mask.value or "")
   if own.mask and (not mask or mask == 0) then
      return found:add(path .. ".mask", problems.quote(own.mask.value or "") .. " is no mask",
         "such as 0x0fff", own.mask)
   end
   local program
   if own.value and rest.entries[1] then
      local other = rest.entries[1]
      return found:add(path .. "." .. other.key, "not together with value", "one of both", other.value)
   elseif own.value then
      local value, wrong, expected = field_value.read(field, own.value.value or "")
      if not value then
         return found:add(path .. ".value", wrong, expected, own.value)
      end
      program = { first = octets.number(value), step = 0ULL, count = 1ULL }
   else
      program = field_program.read(field, rest, path, found)
   end
   mask = mask and mask + 0ULL or full_mask(size)
   return program and { at = at, octets = size, mask = mask, program = program, text = flow.write(node) }
end

--- Read the list: a reader of plan/schema.lua.
-- @return list of { at =, octets =, mask = (uint64_t), program =, text = as the plan has it }
function M.read(_, node, path, found)
   local list = {}
   found:place(path, node)
   for i, item in ipairs(node.kind == "list" and node.items or { node }) do
      local below = node.kind == "list" and ("%s[%d]"):format(path, i) or path
      found:place(below, item)
      list[#list + 1] = read_one(item, below, found)
   end
   return list
end

return M
