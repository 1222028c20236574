-- SPDX-License-Identifier: BSD-3-Clause

--- The engine that reads a plan by its rows.
--
-- A row describes one key: type, default, range, help. The same row reads the value, fills in the default,
-- rejects invalid values, and writes the documentation (plan/help.lua). Rows of keys that hold others:
--
--    { type = "group", fields = { row, ... } }    known keys; each field row has its `key`; a single value
--                                                 or a list may stand for a group with the key `short`
--    { type = "map", of = row, name = "name" }    keys of the user's choice; becomes a list in the order of
--                                                 the file, each value with the key in its field `name`
--    { type = "list", of = row }                  a single value may stand for a list of one
--    { type = "stack" }                           a protocol stack (plan/stack.lua)
--    { type = "bytes" }                           bytes that change (plan/octet_program.lua)
--
-- All other types are for single values (plan/types.lua). Defaults, min and max are written as a user would
-- write them. A row may be `required`, `always` present in plans of its method (by a rule of the method), or
-- `optional` (a group or map that is nil when it is left out). All problems are collected and none stops the
-- reading; a bad value is replaced by its default, so that the rest can still be checked.
local named_file = require "framegauge.core.named_file"
local octet_program = require "framegauge.plan.octet_program"
local problems = require "framegauge.plan.problems"
local stack = require "framegauge.plan.stack"
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"
local types = require "framegauge.plan.types"

local M = {}

-- A text with more typing errors is not a misspelt key.
local LONGEST_KEY = 40

local kind_names = { map = "a group of keys", list = "a list", scalar = "a single value" }

local read -- of any row; defined below

local function join(path, key)
   return path == "" and key or path .. "." .. key
end

-- The value of a text that the rows themselves contain.
local function known(row, text)
   local value, wrong = types[row.type].read(text, row)
   if value == nil then
      error(("%s: %s"):format(row.key, wrong))
   end
   return value
end

--- The values that a row takes, in words.
function M.expected(row)
   if row.type == "group" then
      return row.expected or "a group of keys"
   elseif row.type == "map" then
      return row.expected
   elseif row.type == "list" then
      return "a list, each " .. M.expected(row.of)
   end
   return row.expected or types[row.type].expected(row)
end

--- The range of a row in words, nil when it has none.
function M.range(row)
   if row.min and row.max then
      return row.min .. " to " .. row.max
   end
   return row.min and "at least " .. row.min or row.max and "at most " .. row.max or nil
end

local function in_range(row, value)
   local order = types[row.type].order
   local number = order and order(value)
   if not number then
      return true
   end
   return (not row.min or number >= order(known(row, row.min)))
      and (not row.max or number <= order(known(row, row.max)))
end

--- The value of a row for an absent key.
function M.default(row)
   if row.type == "group" then
      local values = {}
      for _, field in ipairs(row.fields) do
         values[field.key] = M.default(field)
      end
      return not row.optional and values or nil
   elseif row.type == "list" then
      local values = tables.map(row.default or {}, function(text) return known(row.of, text) end)
      return (row.default or row.required) and values or nil
   elseif row.type == "map" then
      return not row.optional and {} or nil
   end
   if row.default then
      return known(row, row.default)
   end
   return nil
end

local function is_empty(node)
   return node.kind == "scalar" and node.value == "" and not node.quoted
end

-- The kind of a node that is of the wrong kind.
local function misplaced(node)
   return is_empty(node) and "no value" or kind_names[node.kind] .. " cannot stand here"
end

-- The use of the file that a key names, where the file must be a regular one
local READS = { ["reads the file"] = true, ["sends the bytes of the file"] = true }

local function read_scalar(row, node, path, found)
   if node.kind ~= "scalar" or is_empty(node) then
      found:add(path, misplaced(node), M.expected(row), node)
      return M.default(row)
   end
   -- C reads up to a NUL and would take what is before it
   if node.value:find("%z") then
      found:add(path, "a NUL character cannot stand in a value", M.expected(row), node)
      return M.default(row)
   end
   local value, wrong, expected = types[row.type].read(node.value, row)
   if value == nil then
      found:add(path, wrong, expected or M.expected(row), node)
      return M.default(row)
   elseif not in_range(row, value) then
      found:add(path, problems.quote(node.value) .. " is out of range", M.range(row), node)
      return M.default(row)
   elseif READS[row.does or ""] and not named_file.is_regular(value) then
      found:add(path, problems.quote(value) .. " is no regular file", "the path of a file", node)
      return M.default(row)
   end
   return value
end

local function keys_of(rows)
   return tables.field(rows, "key")
end

local function depth(path)
   return select(2, path:gsub("%.", ""))
end

-- Another place in the plan for a key of this name, so that "frame_sizes" at the top is told its group; of
-- several places the one with the shortest path.
local function place_of(row, key, path)
   if row.of then
      return place_of(row.of, key, path .. (row.type == "list" and "[]" or ".<name>"))
   end
   local nearest_place
   for _, field in ipairs(row.fields or {}) do
      local place = field.key == key and join(path, key) or place_of(field, key, join(path, field.key))
      if place and (not nearest_place or depth(place) < depth(nearest_place)) then
         nearest_place = place
      end
   end
   return nearest_place
end

local function unknown_key(row, entry, path, found)
   local meant = #entry.key <= LONGEST_KEY and suggest.word(entry.key, keys_of(row.fields))
   local elsewhere = not meant and place_of(found.root, entry.key, "")
   local expected = meant or (elsewhere and "it at " .. elsewhere) or table.concat(keys_of(row.fields), ", ")
   found:add(join(path, entry.key), "unknown key", expected, entry)
end

-- A single value, or a list, where a group may be given by one of its keys.
local function lengthened(row, node)
   local key = row.short and not is_empty(node) and tables.find(row.fields, "key", row.short)
   if key and (node.kind == "scalar" or (node.kind == "list" and key.type == "list")) then
      return { kind = "map", entries = { { key = row.short, value = node } } }
   end
   return node
end

local function read_group(row, node, path, found)
   node = lengthened(row, node)
   if node.kind ~= "map" then
      found:add(path, misplaced(node), "a group of keys: " .. table.concat(keys_of(row.fields), ", "), node)
      return M.default(row)
   end
   local values, given = {}, {}
   for _, entry in ipairs(node.entries) do
      local field = tables.find(row.fields, "key", entry.key)
      if field then
         local below = join(path, entry.key)
         given[entry.key] = true
         values[entry.key] = read(field, entry.value, below, found)
         if values[entry.key] == nil then
            found:lacks(below)
         end
      else
         unknown_key(row, entry, path, found)
      end
   end
   for _, field in ipairs(row.fields) do
      if not given[field.key] then
         values[field.key] = M.default(field)
         if field.required then
            found:add(join(path, field.key), "missing", M.expected(field))
         end
      end
   end
   return values
end

local function count_fits(row, count, path, found, node)
   local least, most = row.least or 0, row.most or math.huge
   if count < least or count > most then
      local bound = least == most and "" or count < least and "at least " or "at most "
      found:add(path, ("%d given"):format(count), bound .. (count < least and least or most), node)
   end
end

-- With too many items only the first ones are read: the rules are made for the allowed number.
local function first_of(row, all)
   local list = {}
   for i = 1, math.min(#all, row.most or math.huge) do
      list[i] = all[i]
   end
   return list
end

local function read_map(row, node, path, found)
   if node.kind ~= "map" then
      found:add(path, misplaced(node), M.expected(row), node)
      return {}
   end
   local list = {}
   for _, entry in ipairs(first_of(row, node.entries)) do
      local below = join(path, entry.key)
      if not types.string.read(entry.key, row.names) then
         found:add(below, problems.quote(entry.key) .. " is not a name", row.names.expected, entry)
      else
         local value = read(row.of, entry.value, below, found)
         value[row.name] = entry.key
         list[#list + 1] = value
      end
   end
   count_fits(row, #node.entries, path, found, node)
   return list
end

local function read_list(row, node, path, found)
   if node.kind == "map" or is_empty(node) then
      found:add(path, misplaced(node), M.expected(row), node)
      return M.default(row)
   end
   local items = node.kind == "list" and node.items or { node }
   local list, seen = {}, {}
   for i, item in ipairs(first_of(row, items)) do
      local below = node.kind == "list" and ("%s[%d]"):format(path, i) or path
      local value = read(row.of, item, below, found)
      if value ~= nil then
         if seen[value] and row.unique then
            found:add(below, problems.quote(item.value) .. " is there twice", "each value once", item)
         end
         seen[value] = true
         list[#list + 1] = value
      end
   end
   count_fits(row, #items, path, found, node)
   return list
end

local readers = { group = read_group, map = read_map, list = read_list, stack = stack.read,
   bytes = octet_program.read }

function read(row, node, path, found)
   found:place(path, node)
   return (readers[row.type] or read_scalar)(row, node, path, found)
end

--- Read a document.
-- @param row    the row of the whole plan, a group
-- @param node   the root node of the YAML document
-- @param found  takes the problems (plan/problems.lua)
-- @return the values, complete with defaults
function M.read(row, node, found)
   found.root = row
   return read(row, node, "", found)
end

return M
