-- SPDX-License-Identifier: BSD-3-Clause

--- Rows of the keys of a plan, in the notation of result rows (text/rows.lua):
--
--    { "drain", "time", "meaning, in words", default = "2s", max = "10min" }
--
-- The second is a type, or a list of allowed words. After the three come the fields of plan/schema.lua, which
-- reads all of them by name: key, type, help.
local tables = require "framegauge.core.tables"

local M = {}

--- Names of the user's choice, for things that a test refers to (`names` of a map).
M.NAMES = { longest = 31, match = "^%w[%w_-]*$", expected = "letters, digits, '_' and '-'" }

local function name(row)
   tables.named(row, { "key", "type", "help" })
   if type(row.type) == "table" then
      row.type, row.values = "enum", row.type
   end
   return row
end

--- A list of rows with all fields by name.
-- @param rows  a list, which may have lists of rows, too; the rows are changed
function M.named(rows)
   local list = {}
   for _, row in ipairs(rows) do
      tables.append(list, type(row[1]) == "table" and M.named(row) or { name(row) })
   end
   return list
end

--- The row of keys below a key.
-- @param key   nil: of a value in a list or a map
-- @param rows  of these keys
-- @param o     further fields of the row; may be nil
function M.group(key, help, rows, o)
   local row = tables.copy(o or {})
   row.key, row.type, row.help, row.fields = key, "group", help, M.named(rows)
   return row
end

return M
