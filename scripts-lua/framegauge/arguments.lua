-- SPDX-License-Identifier: BSD-3-Clause

--- Named arguments of functions that scripts call, read by rows as the keys of a plan are.
--
-- A row: key, type (framegauge.plan.types, or "table" or "function"), required, min (in base units), values
-- of an enum. A quantity is a string with its unit ("100ms", "64KiB"), or a number in base units: seconds,
-- bytes, frames per second. What is wrong raises an error that a program leaves with status 2 for.
local nearest = require "framegauge.nearest"
local refusal = require "framegauge.refusal"
local types = require "framegauge.plan.types"

local M = {}

local IN_BASE_UNITS = {
   time = true, size = true, ratio = true, bits = true, frame_rate = true, integer = true, number = true,
}

local LUA = { table = true, ["function"] = true }

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

--- Read them.
-- @param what  name of the function or the command, for messages
-- @param o     the arguments, by name
-- @param rows  list of rows
-- @return values by key
function M.read(what, o, rows)
   local values, known, keys = {}, {}, {}
   for i, row in ipairs(rows) do
      known[row.key], keys[i] = row, row.key
   end
   for key in pairs(o) do
      if not known[key] then
         refusal.raise(what, 2, "%s: unknown argument '%s'%s", what, tostring(key),
            nearest.hint(tostring(key), keys))
      end
   end
   for _, row in ipairs(rows) do
      if o[row.key] ~= nil then
         local value, wrong = read(row, o[row.key])
         if value == nil then
            refusal.raise(what, 2, "%s: %s: %s", what, row.key, wrong)
         elseif row.min and value < row.min then
            refusal.raise(what, 2, "%s: %s: %s is less than %s", what, row.key, tostring(o[row.key]), row.min)
         end
         values[row.key] = value
      elseif row.required then
         refusal.raise(what, 2, "%s: %s is missing", what, row.key)
      end
   end
   return values
end

return M
