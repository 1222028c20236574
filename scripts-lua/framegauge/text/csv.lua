-- SPDX-License-Identifier: BSD-3-Clause

--- Tables for spreadsheets: RFC 4180 with line feeds, one line for each row of a result.
--
-- A spreadsheet takes a text that begins with one of FORMULA for a formula, which may run programs. Such a
-- text gets an apostrophe in front. Numbers stay as they are.
local json = require "framegauge.text.json"
local rows = require "framegauge.text.rows"
local tables = require "framegauge.core.tables"

local M = {}

local FORMULA = "^[=+%-@\t\r]"

local function field(value)
   if value == nil then
      return ""
   elseif type(value) == "number" then
      return json.encode(value)
   end
   local text = type(value) == "table" and table.concat(value, "; ") or tostring(value)
   text = text:find(FORMULA) and "'" .. text or text
   return text:find '[",\r\n]' and '"' .. text:gsub('"', '""') .. '"' or text
end

--- The text of a CSV file. What is not known is empty.
-- @param columns  which fields: list of "a" or "a.b"
function M.text(columns, lines)
   local out = { (table.concat(columns, ","):gsub("%.", "_")) }
   for _, line in ipairs(lines) do
      local values = tables.map(columns, function(path) return field(rows.value(line, path)) end)
      out[#out + 1] = table.concat(values, ",")
   end
   return table.concat(out, "\n") .. "\n"
end

--- The text of a CSV file with all figures of rows.
-- @param record  what the rows are (framegauge.text.rows)
-- @param lead    keys in front that the record has not, or nil
function M.rows(record, lines, lead)
   local columns = { unpack(lead or {}) }
   for _, figure in ipairs(rows.flat(record, lines)) do
      columns[#columns + 1] = figure[1]
   end
   return M.text(columns, lines)
end

return M
