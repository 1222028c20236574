-- SPDX-License-Identifier: BSD-3-Clause

--- `--set path=value`: keys changed on the command line.
--
-- They are written into the YAML tree before the schema sees it. So such a value is read, checked and
-- reported like any other, except that its place is the option and not a line.
local tables = require "framegauge.core.tables"
local yaml = require "framegauge.yaml"

local M = {}

local function entry_of(map, key)
   for _, entry in ipairs(map.entries) do
      if entry.key == key then
         return entry
      end
   end
   return nil
end

-- Mark a whole tree as coming from an option.
local function mark(node, origin)
   node.origin = origin
   for _, item in ipairs(node.items or {}) do
      mark(item, origin)
   end
   for _, entry in ipairs(node.entries or {}) do
      entry.origin = origin
      mark(entry.value, origin)
   end
   return node
end

local function value_node(text, origin)
   if not text:find("%S") then
      return { kind = "scalar", value = "", quoted = false, origin = origin }
   end
   local node, err = yaml.parse(text, origin)
   return node and mark(node, origin), err
end

-- The map that holds the last key of a path, made where it is missing; or nil and the path of the conflicting
-- value.
local function descend(root, keys, origin)
   local node = root
   for i = 1, #keys - 1 do
      local entry = entry_of(node, keys[i])
      if not entry then
         entry = { key = keys[i], origin = origin, value = { kind = "map", entries = {}, origin = origin } }
         table.insert(node.entries, entry)
      end
      node = entry.value
      if node.kind ~= "map" then
         return nil, table.concat(keys, ".", 1, i)
      end
   end
   return node
end

local function split(text)
   local path, value = text:match("^([^=]+)=(.*)$")
   local keys = {}
   for key in ((path or "") .. "."):gmatch("([^.]*)%.") do
      if key == "" then
         return nil
      end
      keys[#keys + 1] = key
   end
   return path, keys, value
end

--- The present value of a setting's key in a tree, as text; nil without one.
-- @param text  "path=value"
-- @return it, and the path
function M.earlier(root, text)
   local path, keys = split(text)
   local node = root
   for _, key in ipairs(keys or {}) do
      local entry = node.kind == "map" and entry_of(node, key)
      if not entry then
         return nil, path
      end
      node = entry.value
   end
   local items = node.items and "[" .. table.concat(tables.field(node.items, "value"), ", ") .. "]"
   return node.kind == "scalar" and node.value or items or "a group", path
end

--- Write one setting into the tree.
-- @param root    the root node, a map
-- @param text    "path=value"; the value is YAML, such as 5s or [64, 128]
-- @param origin  where it came from, for messages
-- @param found   takes the problems
function M.apply(root, text, origin, found)
   local at = { origin = origin }
   local path, keys, value = split(text)
   if not path then
      return found:add("", "not a setting", "path=value, such as rfc2544.retries=1", at)
   end
   local node, err = value_node(value, origin)
   if not node then
      return found:add(path, err.message, nil, at)
   end
   local map, obstacle = descend(root, keys, origin)
   if not map then
      return found:add(path, obstacle .. " holds no keys", "a key of 'framegauge help plan'", at)
   end
   local entry = entry_of(map, keys[#keys])
   if not entry then
      entry = { key = keys[#keys] }
      table.insert(map.entries, entry)
   end
   entry.value, entry.origin = node, origin
end

return M
