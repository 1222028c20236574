-- SPDX-License-Identifier: BSD-3-Clause

--- Effects on frames in two directions: the second way has the keys of the first, whose values are its
-- defaults.
local M = {}

--- The rows of the second way.
-- @param fields  rows of the first
function M.inherited(fields)
   local list = {}
   for i, field in ipairs(fields) do
      list[i] = {}
      for name, value in pairs(field) do
         list[i][name] = value
      end
      list[i].default, list[i].default_help = nil, "as the first direction"
   end
   return list
end

--- Fill in the defaults of the second way.
-- @param group    values of the first way, with the second in `reverse`, or without
-- @param one_way  the rows that both have
-- @return the second way, or nil
function M.shape(group, one_way)
   local reverse = group.reverse
   for _, row in ipairs(reverse and one_way or {}) do
      if reverse[row.key] == nil then
         reverse[row.key] = group[row.key]
      end
   end
   return reverse
end

return M
