-- SPDX-License-Identifier: BSD-3-Clause

--- Tables for spreadsheets: RFC 4180 with line feeds, one line for each row of a result.
local json = require "framegauge.report.json"

local M = {}

local function field(row, path)
   local value = row
   for key in path:gmatch "[^.]+" do
      value = value and value[key]
   end
   if value == nil then
      return ""
   elseif type(value) == "number" then
      return json.encode(value)
   end
   local text = tostring(value)
   return text:find '[",\n]' and '"' .. text:gsub('"', '""') .. '"' or text
end

--- The text of a CSV file. What is not known is empty.
-- @param columns  which fields: list of "a" or "a.b"
function M.text(columns, rows)
   local lines = { (table.concat(columns, ","):gsub("%.", "_")) }
   for _, row in ipairs(rows) do
      local values = {}
      for i, path in ipairs(columns) do
         values[i] = field(row, path)
      end
      lines[#lines + 1] = table.concat(values, ",")
   end
   return table.concat(lines, "\n") .. "\n"
end

return M
