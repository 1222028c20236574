-- SPDX-License-Identifier: BSD-3-Clause

--- Protocol stacks, as a plan writes them.
--
--    frame: [ethernet, {vlan: {id: 100, priority: 5}}, {ipv4: {dscp: 46, source: 198.18.1.2}}, udp]
--
-- A layer is a name, or a name with its fields, or with the one value that its main field takes
-- (`{vlan: 100}`). What protocols and fields there are, and how values are written, comes from the tables of
-- lib/frame. Becomes a list of { protocol =, fields = { { name =, value = } }, options = {layers}, text = as
-- the plan has it }.
local field_program = require "framegauge.plan.field_program"
local field_value = require "framegauge.plan.field_value"
local flow = require "framegauge.plan.flow"
local octet_program = require "framegauge.plan.octet_program"
local problems = require "framegauge.plan.problems"
local protocols = require "framegauge.core.protocols"
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"

local M = {}

--- A description of a stack, for messages.
M.expected = "a list of layers, such as [ethernet, {vlan: 100}, ipv4, {udp: {destination: 5000}}]"

local ONE_LAYER = "a protocol, or one with its fields: {ipv4: {ttl: 1}}"

local function names(rows)
   return tables.field(rows, "name")
end

local function is_empty(node)
   return node.kind == "scalar" and node.value == "" and not node.quoted
end

local function join_octets(field, node, path, found)
   local parts = {}
   for i, item in ipairs(node.items) do
      local value, wrong, expected = nil, "cannot stand here", nil
      if item.kind == "scalar" then
         value, wrong, expected = field_value.read(field, item.value)
      end
      if not value then
         found:add(("%s[%d]"):format(path, i), wrong, expected or field_value.expected(field), item)
         return nil
      end
      parts[i] = value
   end
   return table.concat(parts)
end

-- One field: a value, or how it changes.
local function read_field(field, node, path, found)
   found:place(path, node)
   if field.computed and node.kind == "scalar" and node.value == field_value.BAD then
      return { name = field.name, bad = true }
   elseif field.width == 0 and node.kind == "list" then
      return { name = field.name, value = join_octets(field, node, path, found) }
   elseif field_program.is(field, node) then
      return { name = field.name, program = field_program.read(field, node, path, found) }
   elseif node.kind ~= "scalar" or is_empty(node) then
      found:add(path, is_empty(node) and "no value" or "cannot stand here", field_value.expected(field), node)
      return nil
   end
   local value, wrong, expected = field_value.read(field, node.value)
   if value == nil then
      found:add(path, wrong, expected, node)
      return nil
   end
   return { name = field.name, value = value }
end

local function unknown_field(protocol, entry, path, found)
   local known = names(protocol.fields)
   known[#known + 1] = protocol.option_space and "options" or nil
   known[#known + 1] = "bytes"
   found:add(path, ("%s has no field of that name"):format(protocol.name),
      suggest.word(entry.key, known) or table.concat(known, ", "), entry)
end

local read_layer

local function read_options(protocol, node, path, found)
   return tables.map(node.kind == "list" and node.items or { node }, function(item, i)
      return read_layer(item, ("%s[%d]"):format(path, i), found, protocol)
   end)
end

local function read_fields(layer, protocol, node, path, found)
   for _, entry in ipairs(node.entries) do
      local below, field = path .. "." .. entry.key, protocol.field[entry.key]
      if field then
         layer.fields[#layer.fields + 1] = read_field(field, entry.value, below, found)
      elseif entry.key == "bytes" then
         layer.bytes = octet_program.read(nil, entry.value, below, found)
      elseif entry.key == "options" and protocol.option_space then
         layer.options = read_options(protocol, entry.value, below, found)
      else
         unknown_field(protocol, entry, below, found)
      end
   end
end

-- A layer's name and its value.
local function split(node)
   if node.kind == "scalar" and not is_empty(node) then
      return node.value, nil, node
   elseif node.kind == "map" and #node.entries == 1 then
      return node.entries[1].key, node.entries[1].value, node.entries[1]
   end
   return nil
end

-- The protocol of a layer, or of an option of another one.
local function find(name, owner)
   local protocol = protocols.by_name[name]
   if not owner then
      if protocol and protocol.option then
         return nil, name .. " is an option, not a layer", "it among the options of its protocol"
      end
      return protocol
   end
   local known = protocols.options_of(owner)
   local option = known[name] or known[protocols.short_name(name)]
   if option then
      return option
   end
   return nil, ("%s is no option of %s"):format(problems.quote(name), owner.name), table.concat(known, ", ")
end

function read_layer(node, path, found, owner)
   found:place(path, node)
   local name, value, at = split(node)
   if not name then
      found:add(path, "no layer", ONE_LAYER, node)
      return nil
   end
   local protocol, wrong, expected = find(name, owner)
   if not protocol then
      found:add(path, wrong or problems.quote(name) .. " is no protocol",
         expected or suggest.word(name, names(protocols.list)) or "one of 'framegauge help protocols'", at)
      return nil
   end
   local layer, below = { protocol = protocol.name, fields = {} }, path .. "." .. name
   if value and value.kind == "map" then
      local main = protocol.main and field_program.is(protocol.field[protocol.main], value)
      if main then
         layer.fields[1] = read_field(protocol.field[protocol.main], value, below, found)
      else
         read_fields(layer, protocol, value, below, found)
      end
   elseif value and not is_empty(value) then
      if protocol.main then
         layer.fields[1] = read_field(protocol.field[protocol.main], value, below, found)
      else
         found:add(below, "no single value can stand here", "fields of " .. name, value)
      end
   end
   return layer
end

--- Read a stack: a reader of plan/schema.lua.
function M.read(_, node, path, found)
   local items = node.kind == "list" and node.items or { node }
   local list = {}
   if is_empty(node) or node.kind == "map" or #items == 0 then
      found:add(path, "no stack", M.expected, node)
      return nil
   end
   for i, item in ipairs(items) do
      local layer = read_layer(item, ("%s[%d]"):format(path, i), found)
      if layer then
         layer.text = flow.write(item)
         list[#list + 1] = layer
      end
   end
   return list
end

return M
