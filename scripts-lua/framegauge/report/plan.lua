-- SPDX-License-Identifier: BSD-3-Clause

--- The plan in a result that was read. Somebody may have changed it, and the plan of an earlier version lacks
-- newer keys.
--
-- The rows of plans (framegauge.plan.rows) define its form: keys outside of the rows, which a loaded plan has
-- in addition, may have any value. A missing key has its default.
local mixes = require "framegauge.core.mixes"
local plan_rows = require "framegauge.plan.rows"
local rows = require "framegauge.text.rows"
local schema = require "framegauge.plan.schema"
local tables = require "framegauge.core.tables"
local topology = require "framegauge.traffic.topology"

local M = {}

local BUFFER = rows.record("buffer", "", { { "unit", { "frames", "bytes" }, "" }, { "value", "number", "" } })
local RATE = rows.record("rate", "", {
   { "unit", { "ratio", "fps", "bps" }, "" }, { "value", "number", "" },
   { "layer", { 1, 2, 3 }, "", optional = true }, { "text", "text", "", optional = true },
})
local PREFIX = rows.record("prefix", "", { { "address", "text", "" }, { "prefix", "count", "" } })

local function form_of_size(value)
   return mixes.CYCLES[value] and "text" or "positive"
end

-- Types of a loaded plan whose values are not text.
local FORMS = {
   boolean = "boolean", number = "signed", integer = "integer", time = "number", bits = "number",
   buffer = "number", frame_rate = "number", ratio = "signed", size = "number", rate = RATE, load_step = RATE,
   frame_size = rows.forms(form_of_size), network = PREFIX, stack = rows.list "object", bytes = "object",
}

local KEYS = { dut = "device_under_test" } -- of a loaded plan, where they differ
local ALWAYS = { name = true, test = true, ports = true }
local OF_ALL = { host = true, clock = true, fleet = true } -- groups that every loaded plan has
local OF_TEST = { traffic = "streams" } -- groups of a test in addition to its own

local form_of -- of any row; defined below

-- @param name  key in which an item has its name
local function form_of_group(row, name)
   local record = rows.record("group", "", tables.map(row.fields, function(field)
      return { field.key, form_of(field), "", optional = not (field.required or field.always) }
   end), name and { { name, "text", "" } } or {})
   record.open = true
   return record
end

function form_of(row, name)
   if row.type == "group" then
      return form_of_group(row, name)
   elseif row.type == "map" or row.type == "list" then
      return rows.list(row.of.type == "buffer" and BUFFER or form_of(row.of, row.name))
   end
   return row.type == "enum" and row.values or FORMS[row.type] or "text"
end

local NEEDS = rows.record("needs", "", {
   { "topology", topology.NAMES, "" }, { "one_way", "boolean", "" },
   { "frame_sizes", rows.list(FORMS.frame_size), "" },
})
NEEDS.open = true

local function form_of_plan(test)
   local record = rows.record("plan", "", tables.map(plan_rows.fields, function(field)
      return { KEYS[field.key] or field.key, form_of(field), "",
         optional = not ALWAYS[field.key] and field.key ~= test and field.key ~= OF_TEST[test] }
   end), { { "needs", NEEDS, "" } })
   record.open = true
   return record
end

--- What is wrong with a plan, with its nulls; nil when nothing is.
function M.wrong(plan)
   return rows.wrong(plan, form_of_plan(plan.test), "plan")
end

local complete -- a value of any row; defined below

local function complete_group(values, fields)
   for _, field in ipairs(fields) do
      if values[field.key] == nil and field.type ~= "buffer" then -- whose shape depends on its place
         values[field.key] = schema.default(field)
      elseif values[field.key] ~= nil then
         complete(values[field.key], field)
      end
   end
end

function complete(value, row)
   if row.type == "group" then
      complete_group(value, row.fields)
   elseif row.of and row.of.type == "group" then
      for _, item in ipairs(value) do
         complete_group(item, row.of.fields)
      end
   end
end

--- Add missing defaults to the groups of a plan.
function M.complete(plan)
   for _, field in ipairs(plan_rows.fields) do
      if plan[field.key] == nil and OF_ALL[field.key] then
         plan[field.key] = schema.default(field)
      elseif plan[field.key] ~= nil then
         complete(plan[field.key], field)
      end
   end
end

return M
