-- SPDX-License-Identifier: BSD-3-Clause

--- Values as text for the prompt.
--
-- A list of records becomes a table with aligned columns, a record a list of keys and values, any other value
-- a line. Values with __tostring are written by it. At most two levels and 200 rows are shown.
local tables = require "framegauge.text.columns"
local units = require "framegauge.text.units"

local M = {}

local MOST_ROWS, MOST_CELL = 200, 48

local function sorted_keys(value)
   local keys = {}
   for key in pairs(value) do
      keys[#keys + 1] = key
   end
   table.sort(keys, function(a, b)
      if type(a) == type(b) and (type(a) == "number" or type(a) == "string") then
         return a < b
      end
      return type(a) == "number" or (type(b) ~= "number" and tostring(a) < tostring(b))
   end)
   return keys
end

local function number(value)
   if value % 1 == 0 and math.abs(value) < 1e15 then
      return math.abs(value) >= 1e5 and units.format_count(value) or ("%d"):format(value)
   end
   return ("%.6g"):format(value)
end

local function metamethod(value)
   local meta = getmetatable(value)
   return type(meta) == "table" and rawget(meta, "__tostring")
end

-- Without line ends and control characters.
local function printable(text)
   return (text:gsub("[%c\127]", function(c)
      return c == "\t" and " " or ("\\%d"):format(c:byte())
   end))
end

local function short(text)
   text = printable(text)
   return #text > MOST_CELL and text:sub(1, MOST_CELL - 3) .. "..." or text
end

local function cell(value)
   if value == nil then
      return "-"
   elseif type(value) == "number" then
      return number(value)
   elseif type(value) == "table" and not metamethod(value) then
      local keys = sorted_keys(value)
      local parts = {}
      for i = 1, math.min(#keys, 8) do
         local item = value[keys[i]]
         local text = type(item) == "table" and "{...}" or type(item) == "number" and number(item)
            or tostring(item)
         parts[i] = type(keys[i]) == "number" and text or tostring(keys[i]) .. "=" .. text
      end
      return short("{" .. table.concat(parts, ", ") .. (#keys > 8 and ", ..." or "") .. "}")
   end
   return short(tostring(value))
end

-- Keys of all rows, in the order in which they appear.
local function columns_of(rows)
   local list, seen = {}, {}
   for i = 1, math.min(#rows, MOST_ROWS) do
      for _, key in ipairs(sorted_keys(rows[i])) do
         if not seen[key] then
            seen[key], list[#list + 1] = true, key
         end
      end
   end
   return list
end

local function is_left(rows, key)
   for i = 1, math.min(#rows, MOST_ROWS) do
      if type(rows[i][key]) == "number" then
         return false
      end
   end
   return true
end

--- Rows as a table.
-- @param rows     list of records
-- @param columns  list of { key, title, format = function(value, row) or nil }; nil: every key there is
-- @return text, its lines ended
function M.rows(rows, columns)
   if not columns then
      columns = {}
      for i, key in ipairs(columns_of(rows)) do
         columns[i] = { key, tostring(key) }
      end
   end
   local grid, left = { {} }, {}
   for i, column in ipairs(columns) do
      grid[1][i], left[i] = column[2], is_left(rows, column[1]) and not column.format or column.left or false
   end
   for r = 1, math.min(#rows, MOST_ROWS) do
      grid[r + 1] = {}
      for i, column in ipairs(columns) do
         local value = rows[r][column[1]]
         grid[r + 1][i] = column.format and column.format(value, rows[r]) or cell(value)
      end
   end
   local text = tables.text(grid, left)
   if #rows > MOST_ROWS then
      text = text .. ("... and %d more\n"):format(#rows - MOST_ROWS)
   end
   return text
end

--- A list that is shown as a table with these columns.
-- @param empty  text without rows
function M.as_table(rows, columns, empty)
   return setmetatable(rows, {
      __tostring = function(self)
         return #self == 0 and empty or (M.rows(self, columns):gsub("\n$", ""))
      end,
   })
end

local function are_rows(value)
   for i = 1, math.min(#value, MOST_ROWS) do
      if type(value[i]) ~= "table" or metamethod(value[i]) then
         return false
      end
   end
   return #value > 0
end

local function record(value)
   local keys, grid = sorted_keys(value), {}
   for i = 1, math.min(#keys, MOST_ROWS) do
      grid[i] = { tostring(keys[i]), cell(value[keys[i]]) }
   end
   if #keys > MOST_ROWS then
      grid[#grid + 1] = { "...", ("and %d more"):format(#keys - MOST_ROWS) }
   end
   return #grid > 0 and tables.text(grid, { true, true }) or "{}\n"
end

--- A value as text.
-- @return text, its last line ended
function M.text(value)
   if type(value) == "table" and not metamethod(value) then
      return are_rows(value) and M.rows(value) or record(value)
   elseif type(value) == "number" then
      return number(value) .. "\n"
   elseif type(value) == "string" then
      return (value:gsub("\n$", "")) .. "\n"
   end
   return tostring(value):gsub("\n$", "") .. "\n"
end

return M
