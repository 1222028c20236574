-- SPDX-License-Identifier: BSD-3-Clause

--- Holding what is read back against docs/result.schema.json, which travels inside the program.
--
-- Of JSON Schema as much as that file uses, but for `pattern`, whose expressions Lua does not have. Where
-- there are several forms (anyOf, oneOf) it must be the one that knows the most of its keys.
local json = require "framegauge.report.json"
local source = require "framegauge.source"

local M = {}

local root, properties

local function of_reference(schema)
   local name = schema["$ref"] and schema["$ref"]:match "^#/%$defs/(.+)$"
   return name and of_reference(root["$defs"][name]) or schema
end

local function is_number(value)
   return type(value) == "number" and math.abs(value) < math.huge -- false for NaN as well
end

local function is_list(value)
   return type(value) == "table" and (next(value) == nil or value[1] ~= nil)
end

local IS = {
   null = function(value) return value == json.null end,
   boolean = function(value) return type(value) == "boolean" end,
   string = function(value) return type(value) == "string" end,
   number = is_number,
   integer = function(value) return is_number(value) and value % 1 == 0 end,
   array = is_list,
   object = function(value) return type(value) == "table" and (next(value) == nil or not is_list(value)) end,
}

local function fits_type(schema, value)
   local types = schema.type
   for _, name in ipairs(type(types) == "table" and types or { types }) do
      if IS[name](value) then
         return true
      end
   end
   return types == nil
end

local function is_one_of(list, value)
   for _, one in ipairs(list) do
      if one == value then
         return true
      end
   end
   return false
end

local function text_of(value)
   local encoded, text = pcall(json.encode, value)
   return encoded and #text <= 60 and text or type(value)
end

local function expected(schema)
   local types = type(schema.type) == "table" and table.concat(schema.type, " or ") or schema.type
   local parts = { types }
   for _, bound in ipairs {
      { "minimum", "at least " }, { "maximum", "at most " }, { "exclusiveMinimum", "above " },
      { "exclusiveMaximum", "below " }, { "enum", "one of " }, { "const", "" },
   } do
      local limit = schema[bound[1]]
      parts[#parts + 1] = limit ~= nil and bound[2] .. text_of(limit) or nil
   end
   return table.concat(parts, ", ")
end

local function fits(schema, value)
   if type(value) == "number" and (value < (schema.minimum or value) or value > (schema.maximum or value)
         or schema.exclusiveMinimum and value <= schema.exclusiveMinimum
         or schema.exclusiveMaximum and value >= schema.exclusiveMaximum) then
      return false
   end
   return fits_type(schema, value) and (not schema.enum or is_one_of(schema.enum, value))
      and (schema.const == nil or schema.const == value)
end

-- Of any value, and what is in it: what is wrong, and the path below the value; nil when all is well.
local wrong

local function wrong_object(schema, value)
   for _, key in ipairs(schema.required or {}) do
      if value[key] == nil then
         return "missing", "." .. key
      end
   end
   local known, others = schema.properties or {}, schema.additionalProperties
   for key, item in pairs(value) do
      local below = known[key] or others
      if below == false then
         return "not known", "." .. tostring(key)
      elseif type(below) == "table" then
         local problem, path = wrong(below, item)
         if problem then
            return problem, "." .. tostring(key) .. path
         end
      end
   end
end

local function wrong_list(schema, value)
   if #value < (schema.minItems or 0) or #value > (schema.maxItems or math.huge) then
      return #value .. " items", ""
   end
   for i, item in ipairs(value) do
      local below = schema.prefixItems and schema.prefixItems[i] or schema.items
      if type(below) == "table" then
         local problem, path = wrong(below, item)
         if problem then
            return problem, ("[%d]%s"):format(i, path)
         end
      end
   end
end

-- How many keys of a value a form knows; -1 when the value itself does not fit.
local function likeness(schema, value)
   if not fits(schema, value) then
      return -1
   end
   local n = 0
   for key in pairs(type(value) == "table" and schema.properties and value or {}) do
      n = n + (schema.properties[key] and 1 or 0)
   end
   return n
end

local function wrong_form(forms, value)
   local like, most = nil, -2
   for _, form in ipairs(forms) do
      local alike = likeness(of_reference(form), value)
      if alike > most then
         like, most = form, alike
      end
   end
   return wrong(like, value)
end

function wrong(schema, value)
   schema = of_reference(schema)
   local forms = schema.anyOf or schema.oneOf
   if not fits(schema, value) then
      return ("%s; expected %s"):format(text_of(value), expected(schema)), ""
   elseif forms then
      return wrong_form(forms, value)
   elseif type(value) ~= "table" then
      return nil
   elseif is_list(value) and (schema.items or schema.prefixItems) then
      return wrong_list(schema, value)
   end
   return wrong_object(schema, value)
end

--- What is wrong with an item of one of the lists of a result.
-- @param list  "trials"
-- @param item  as framegauge.report.json reads it
-- @return the key, what stands there and what was expected; nil when the item fits
function M.wrong(list, item)
   if not root then
      root = json.decode(source.read "framegauge.result_schema")
      properties = root.properties
   end
   local problem, path = wrong(properties[list].items, item)
   return problem and ("%s: %s"):format(path:sub(2), problem)
end

return M
