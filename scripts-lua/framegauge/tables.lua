-- SPDX-License-Identifier: BSD-3-Clause

--- Small things that are asked of plain tables in many places.
local M = {}

--- Whether two values are the same, tables by what is in them.
function M.same(one, other)
   if type(one) ~= "table" or type(other) ~= "table" then
      return one == other
   end
   for key, value in pairs(one) do
      if not M.same(value, other[key]) then
         return false
      end
   end
   for key in pairs(other) do
      if one[key] == nil then
         return false
      end
   end
   return true
end

--- A table of its own with the same fields.
function M.copy(t)
   local copy = {}
   for key, value in pairs(t) do
      copy[key] = value
   end
   return copy
end

--- One list of the items of several.
function M.joined(...)
   local list = {}
   for _, part in ipairs { ... } do
      for _, item in ipairs(part) do
         list[#list + 1] = item
      end
   end
   return list
end

--- Whether a value is in a list.
function M.contains(list, value)
   for _, item in ipairs(list) do
      if item == value then
         return true
      end
   end
   return false
end

--- Where in a list the item of a name is, nil when there is none.
function M.index_of(list, name)
   for i, item in ipairs(list) do
      if item.name == name then
         return i
      end
   end
   return nil
end

return M
