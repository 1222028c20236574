-- SPDX-License-Identifier: BSD-3-Clause

--- Keys of a plan given in Lua or in words, as the settings that the plan reads (framegauge.plan.sets):
--
--    { frame_sizes = { 64, 1518 }, throughput = { trial = "1s" } }   tables, as in a plan
--    { ["throughput.trial"] = "1s" }                                 dotted keys, as of --set
local tables = require "framegauge.core.tables"
local M = {}

local function is_list(value)
   return type(value) == "table" and (value[1] ~= nil or next(value) == nil)
end

-- A value as YAML. Text is quoted only where it would be taken for something else.
local function yaml(value)
   if is_list(value) then
      local items = tables.map(value, function(item) return yaml(item) end)
      return "[" .. table.concat(items, ", ") .. "]"
   elseif type(value) == "table" then
      local entries = {}
      for key, item in pairs(value) do
         entries[#entries + 1] = tostring(key) .. ": " .. yaml(item)
      end
      table.sort(entries)
      return "{" .. table.concat(entries, ", ") .. "}"
   elseif type(value) == "string" and value:find "[:#,%[%]{}&*!|>'\"%%@`]" and not value:find "^%[.*%]$" then
      return "'" .. value:gsub("'", "''") .. "'"
   end
   return tostring(value)
end

-- A list in words, "64,1518", is one in the plan as well.
local function of_word(value)
   if type(value) == "string" and value:find "," and not value:find "[%[{'\"]" then
      return "[" .. value .. "]"
   end
   return yaml(value)
end

local function collect(list, values, prefix)
   for key, value in pairs(values) do
      if type(value) == "table" and not is_list(value) then
         collect(list, value, prefix .. key .. ".")
      else
         list[#list + 1] = prefix .. key .. "=" .. of_word(value)
      end
   end
end

--- Settings "path=value", sorted.
-- @param values  as above
-- @param prefix  before every key
function M.of(values, prefix)
   local list = {}
   collect(list, values, prefix)
   table.sort(list)
   return list
end

--- Settings that come after others: what is set again takes the place of what was there.
function M.after(earlier, later)
   local again, list = {}, {}
   for _, set in ipairs(later) do
      again[set:match "^[^=]*"] = true
   end
   for _, set in ipairs(earlier) do
      list[#list + 1] = not again[set:match "^[^=]*"] and set or nil
   end
   tables.append(list, later)
   return list
end

return M
