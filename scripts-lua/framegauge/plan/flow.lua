-- SPDX-License-Identifier: BSD-3-Clause

--- A node of a plan's YAML as text on one line: reports show frames in the words of the plan.
local tables = require "framegauge.core.tables"

local M = {}

local function scalar(node)
   return node.quoted and '"' .. node.value:gsub('[\\"]', "\\%0") .. '"' or node.value
end

--- Write a node.
function M.write(node)
   if node.kind == "list" then
      return "[" .. table.concat(tables.map(node.items, M.write), ", ") .. "]"
   elseif node.kind == "map" then
      return "{" .. table.concat(tables.map(node.entries, function(entry)
         return ("%s: %s"):format(entry.key, M.write(entry.value))
      end), ", ") .. "}"
   end
   return scalar(node)
end

return M
