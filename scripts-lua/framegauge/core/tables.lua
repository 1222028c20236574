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

--- A row, which is changed, with its first fields by name; those that have their names stay.
function M.named(row, names)
   for i, name in ipairs(names) do
      row[name], row[i] = row[name] or row[i], nil
   end
   return row
end

--- Add the items of a list to another.
function M.append(list, more)
   for _, item in ipairs(more) do
      list[#list + 1] = item
   end
end

--- One list of the items of several.
function M.joined(...)
   local list = {}
   for _, part in ipairs { ... } do
      M.append(list, part)
   end
   return list
end

--- A list of what a function gives for each item of a list: function(item, index); items of nil are left out.
function M.map(list, fn)
   local out = {}
   for i, item in ipairs(list) do
      out[#out + 1] = fn(item, i)
   end
   return out
end

--- A list of one field of each item.
function M.field(list, key)
   return M.map(list, function(item)
      return item[key]
   end)
end

--- The keys of a table that are text, sorted.
function M.keys(t)
   local list = {}
   for key in pairs(t) do
      list[#list + 1] = type(key) == "string" and key or nil
   end
   table.sort(list)
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

--- Whether a function is true of any item of a list.
function M.any(list, fn)
   for _, item in ipairs(list) do
      if fn(item) then
         return true
      end
   end
   return false
end

--- The item of a list that has a value in a field, nil without one.
function M.find(list, field, value)
   for _, item in ipairs(list) do
      if item[field] == value then
         return item
      end
   end
   return nil
end

--- The first item of a list with the greatest value of a field.
function M.greatest(list, field)
   local greatest = list[1]
   for _, item in ipairs(list) do
      greatest = item[field] > greatest[field] and item or greatest
   end
   return greatest
end

--- The greatest number of a list, which may be longer than what a function takes.
function M.max(list)
   local most = list[1]
   for _, value in ipairs(list) do
      most = math.max(most, value)
   end
   return most
end

--- Where in a list the first item of a name is, nil without one.
function M.index_of(list, name)
   for i, item in ipairs(list) do
      if item.name == name then
         return i
      end
   end
   return nil
end

--- The same for all names of a list, which has more of them than one may search for one by one.
function M.places(list)
   local places = {}
   for i, item in ipairs(list) do
      local name = item.name
      if name ~= nil and not places[name] then
         places[name] = i
      end
   end
   return places
end

return M
