-- SPDX-License-Identifier: BSD-3-Clause

--- Named arguments of functions that scripts call, read by rows as the keys of a plan are.
--
-- A row, as in plan/keys.lua: key, type (plan/types.lua, "table", "function", words, or "group" with its
-- fields), required, min and max (in base units or as a plan has them). A quantity is a string with its unit
-- ("100ms", "64KiB"), or a number in base units: seconds, bytes, frames per second. An error has exit
-- status 2.
local keys = require "framegauge.plan.keys"
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"
local types = require "framegauge.plan.types"
local user_error = require "framegauge.core.user_error"

local M = {}

local IN_BASE_UNITS = {
   time = true, size = true, ratio = true, bits = true, frame_rate = true, integer = true, number = true,
}

local LUA = { table = true, ["function"] = true }

-- A bound of a row in base units; nil when it has none.
local function bound(row, key)
   local value = row[key]
   return type(value) == "string" and types[row.type].read(value, row) or value
end

-- Read one value. @return it, or nil and what is wrong
local function read(row, value)
   if LUA[row.type] then
      return type(value) == row.type and value or nil, "is no " .. row.type
   elseif type(value) == "number" and row.type == "rate" then
      return { unit = "fps", value = value, text = ("%.9gfps"):format(value) }
   elseif type(value) == "number" and IN_BASE_UNITS[row.type] then
      return (row.type ~= "integer" or value % 1 == 0) and value or nil, "is not a whole number"
   end
   local result, wrong = types[row.type].read(tostring(value), row)
   if result == nil then
      return nil, ("%s; expected %s"):format(wrong, types[row.type].expected(row))
   end
   return result
end

local function read_within(what, row, given)
   local value, wrong = nil, "is not a table of keys"
   if row.type ~= "group" then
      value, wrong = read(row, given)
   end
   local least, most = bound(row, "min"), bound(row, "max")
   if value == nil then
      user_error.raise(what, 2, "%s: %s: %s", what, row.key, wrong)
   elseif least and value < least then
      user_error.raise(what, 2, "%s: %s: %s is less than %s", what, row.key, tostring(given), row.min)
   elseif most and value > most then
      user_error.raise(what, 2, "%s: %s: %s is more than %s", what, row.key, tostring(given), row.max)
   end
   return value
end

--- Read them.
-- @param what  name of the function or the command, for messages
-- @param o     the arguments, by name
-- @param rows  list of rows
-- @return values by key
function M.read(what, o, rows)
   local values, known = {}, {}
   rows = keys.named(rows)
   for _, row in ipairs(rows) do
      known[row.key] = row
   end
   for key in pairs(o) do
      if not known[key] then
         user_error.raise(what, 2, "%s: unknown argument '%s'%s", what, tostring(key),
            suggest.hint(tostring(key), tables.field(rows, "key")))
      end
   end
   for _, row in ipairs(rows) do
      if row.type == "group" and type(o[row.key]) == "table" then
         values[row.key] = M.read(what .. "." .. row.key, o[row.key], row.fields)
      elseif o[row.key] ~= nil then
         values[row.key] = read_within(what, row, o[row.key])
      elseif row.required then
         user_error.raise(what, 2, "%s: %s is missing", what, row.key)
      end
   end
   return values
end

return M
