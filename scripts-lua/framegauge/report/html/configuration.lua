-- SPDX-License-Identifier: BSD-3-Clause

--- The plan as it was run, in the order and by the names of its keys (framegauge.plan.rows), with units. With
-- thousands of streams a browser would need minutes for the layout, so only the first of them are shown.
local h = require "framegauge.text.xml"
local json = require "framegauge.text.json"
local rows = require "framegauge.plan.rows"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

local function bits(value, row)
   return units.format_bits(value, row.key == "bandwidth" and 2 or 1)
end

local function load(rate)
   return rate.text or units.format_rate(rate)
end

local WRITERS = {
   time = units.format_time, bits = bits, frame_rate = units.format_frame_rate, ratio = units.format_ratio,
   rate = load, load_step = load,
   buffer = function(room)
      return type(room) == "table" and ("%s %s"):format(units.format_count(room.value), room.unit)
         or units.format_count(room)
   end,
   size = function(bytes) return units.format_count(bytes) .. " bytes" end,
}

-- Layers and bytes of a frame, as their plan has them; results of earlier versions do not have the text.
local function in_words(items)
   local texts = tables.field(items, "text")
   return items[1] and #texts == #items and "[" .. table.concat(texts, ", ") .. "]" or json.encode(items)
end

local function write(row, value)
   if row.type == "list" and type(value) == "table" then
      local parts = {}
      for i, item in ipairs(value) do
         parts[i] = row.of.type == "size" and ("%d"):format(item) or write(row.of, item)
      end
      return table.concat(parts, ", ") .. (row.of.type == "size" and " bytes" or "")
   elseif WRITERS[row.type] and (type(value) == "number" or type(value) == "table") then
      return (WRITERS[row.type](value, row):gsub("us$", "µs"))
   end
   return type(value) == "table" and in_words(value) or tostring(value)
end

local function address(port, family)
   local text = port["ipv" .. family]
   return text and text .. "/" .. tostring(port["prefix" .. family])
end

-- A loaded plan differs from its file in a few places (framegauge.plan.load).
local function as_written(plan)
   local copy = setmetatable({ dut = plan.device_under_test, ports = {} }, { __index = plan })
   for i, port in ipairs(plan.ports) do
      copy.ports[i] = setmetatable({
         ipv4 = address(port, 4) or false, ipv6 = address(port, 6) or false,
         gateway = port.gateway4, gateway6 = port.gateway6,
      }, { __index = port })
   end
   for _, key in ipairs { "reference_device", "reference_switch" } do
      local device = plan[key]
      copy[key] = device and setmetatable({
         buffer = device.buffer and ("%.0f %s"):format(device.buffer, device.buffer_unit),
      }, { __index = device })
   end
   return copy
end

local INDENT = "  "
local MAX_ITEMS = 100 -- of a map or list

local function line(out, depth, key, text)
   out[#out + 1] = h.tr {
      class = not text and "group" or nil,
      h.th { scope = "row", INDENT:rep(depth) .. key }, h.td { text or "" },
   }
end

local visit -- a group; defined below

-- The items of a map or list, each under its name.
local function visit_items(out, depth, field, items, name)
   line(out, depth, field.key)
   for i = 1, math.min(#items, MAX_ITEMS) do
      line(out, depth + 1, items[i][name] or "-")
      visit(out, depth + 2, field.of.fields, items[i])
   end
   if #items > MAX_ITEMS then
      line(out, depth + 1, ("and %s more"):format(units.format_count(#items - MAX_ITEMS)),
         "plan.yaml has them all")
   end
end

local function visit_field(out, depth, field, value)
   if value == nil or (field.type == "list" and #value == 0) then
      return
   elseif field.type == "group" then
      line(out, depth, field.key)
      visit(out, depth + 1, field.fields, value)
   elseif field.type == "map" then
      visit_items(out, depth, field, value, field.name)
   elseif field.type == "list" and field.of.type == "group" then
      visit_items(out, depth, field, value, "name")
   elseif value ~= false or field.type == "boolean" then
      line(out, depth, field.key, write(field, value))
   end
end

function visit(out, depth, fields, values)
   for _, field in ipairs(fields) do
      visit_field(out, depth, field, values[field.key])
   end
end

--- The table.
function M.build(plan)
   local out = {}
   visit(out, 0, rows.fields, as_written(plan))
   return h.div {
      class = "scroll", tabindex = 0,
      h.table {
         class = "plan",
         h.caption { "The plan as it was run, every default filled in" },
         h.thead { h.tr { h.th { scope = "col", "Key" }, h.th { scope = "col", "Value" } } }, "\n",
         h.tbody { out },
      },
   }
end

return M
