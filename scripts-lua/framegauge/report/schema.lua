-- SPDX-License-Identifier: BSD-3-Clause

--- docs/reference/result.schema.json: the JSON Schema of result.json, of all methods, by their rows.
local json = require "framegauge.text.json"
local methods = require "framegauge.methods"
local results = require "framegauge.report.result"
local rows = require "framegauge.text.rows"
local tables = require "framegauge.core.tables"

local M = {}

local PLAIN = { -- keys of a schema in the order a person reads them
   "$schema", "title", "description", "$ref", "type", "const", "enum", "minimum", "maximum",
   "exclusiveMinimum", "anyOf",
   "required", "additionalProperties", "properties", "items", "minItems", "maxItems", "$defs",
}
local RANK = {}
for i, key in ipairs(PLAIN) do
   RANK[key] = i
end

local schema_of

local function object(t)
   return json.object(t, RANK)
end

-- A record stands once, under its name.
local function define(record, defs)
   if defs[record.name] then
      assert(defs[record.name].record == record, record.name)
      return
   end
   local schema = { type = "object", description = record.help, properties = {}, required = {} }
   defs[record.name] = { record = record, schema = schema }
   schema.additionalProperties = record.open == true
   for _, row in ipairs(record.rows) do
      if row[2] then
         local one = schema_of(row[2], defs, row.null)
         one.description = row[3]
         schema.properties[row[1]] = one
         schema.required[#schema.required + 1] = not row.optional and row[1] or nil
      end
   end
   schema.properties = json.object(schema.properties, record.rank)
   defs[record.name].schema = object(schema)
end

local FORMS = {
   record = function(t, defs)
      define(t, defs)
      return { ["$ref"] = "#/$defs/" .. t.name }
   end,
   list = function(t, defs)
      return { type = "array", items = schema_of(t.of, defs), minItems = t.least, maxItems = t.most }
   end,
   map = function(t, defs)
      return { type = "object", additionalProperties = schema_of(t.of, defs) }
   end,
   forms = function(t, defs)
      local list = tables.map(t, function(form) return schema_of(form, defs) end)
      return { anyOf = list }
   end,
}

function schema_of(t, defs, null)
   local schema
   if type(t) == "string" then
      schema = {}
      for key, value in pairs(rows.TYPES[t]) do
         schema[key] = value
      end
      schema.type = null and { schema.type, "null" } or schema.type
   elseif not t.kind then
      schema = { enum = { unpack(t) } }
      schema.enum[#t + 1] = null and json.null or nil
   else
      schema = FORMS[t.kind](t, defs)
      schema = null and { anyOf = { object(schema), object { type = "null" } } } or schema
   end
   return object(schema)
end

--- The record of a result of any method.
function M.record()
   local all, trials, seen = {}, {}, {}
   for _, name in ipairs(methods.names()) do
      local method = results.of(name)
      all[#all + 1] = method.RESULTS.rows
      for _, form in ipairs(method.TRIAL.kind == "forms" and method.TRIAL or { method.TRIAL }) do
         trials[#trials + 1] = not seen[form] and form or nil
         seen[form] = true
      end
   end
   local merged = rows.record("results", "rows of each test that was made", unpack(all))
   return results.record(merged, rows.forms(nil, unpack(trials)))
end

--- The text of docs/reference/result.schema.json.
function M.text()
   local defs, list = {}, {}
   local root = M.record()
   define(root, defs)
   for name, one in pairs(defs) do
      list[name] = name ~= root.name and one.schema or nil
   end
   local schema = { ["$schema"] = "https://json-schema.org/draft/2020-12/schema", title = "Framegauge result.json, version 1",
      ["$defs"] = json.object(list) }
   for key, value in pairs(defs[root.name].schema) do
      schema[key] = value
   end
   return json.encode(object(schema), { pretty = true }) .. "\n"
end

return M
