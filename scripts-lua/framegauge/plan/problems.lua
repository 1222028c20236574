-- SPDX-License-Identifier: BSD-3-Clause

--- What is wrong with a plan: every error of a file in one go, each with its place.
--
-- Places come from the YAML nodes. A node from --set has an `origin` instead of a line, and its problems are
-- reported there.
local tables = require "framegauge.core.tables"

local M = {}

local Problems = {}
Problems.__index = Problems

-- More than a person reads, but few enough to keep hostile input cheap.
local MOST = 100

local Problem = {}

--- `FILE:LINE:COLUMN: KEY: what is wrong; expected what`
function Problem.__tostring(problem)
   local place = problem.origin
   if not place then
      place = problem.line and ("%s:%d:%d"):format(problem.file, problem.line, problem.column) or problem.file
   end
   local text = place .. ": "
   if problem.key ~= "" then
      text = text .. problem.key .. ": "
   end
   text = text .. problem.message
   if problem.expected then
      text = text .. "; expected " .. problem.expected
   end
   return (text:gsub("%c", "?"))
end

--- A text of the user, short enough to quote.
function M.quote(text)
   if #text > 60 then
      text = text:sub(1, 57):gsub("[\128-\255]+$", "") .. "..."
   end
   return '"' .. text .. '"'
end

--- One problem by itself; tostring() writes it.
-- @param fields  file, line, column, origin, key ("" for the whole file), message, expected (or nil)
function M.problem(fields)
   return setmetatable(fields, Problem)
end

local List = {}

function List.__tostring(list)
   return table.concat(tables.map(list, tostring), "\n")
end

--- Problems together; tostring() writes them one below the other, as `assert` of a script does.
function M.list(problems)
   return setmetatable(problems, List)
end

--- An empty list of problems of one file.
function M.new(file)
   return setmetatable({ file = file, list = {}, nodes = {}, bad = {}, lacking = {} }, Problems)
end

--- Remember where a key's value stands, so that rules can point at it.
function Problems:place(path, node)
   self.nodes[path] = node
end

-- The node of a path, or of the nearest group around it, that comes from the user and not from --quick.
function Problems:node_of(path)
   while (not self.nodes[path] or self.nodes[path].origin == "--quick") and path ~= "" do
      path = path:match("^(.*)[.%[]") or ""
   end
   return self.nodes[path]
end

--- Whether a key was written down, in the file or on the command line.
function Problems:given(path)
   return self.nodes[path] ~= nil
end

--- The path of an item of a list; a single value stands for a list of one.
function Problems:item(path, i)
   local item = ("%s[%d]"):format(path, i)
   return self.nodes[item] and item or path
end

--- Whether the value of a path already has a problem.
function Problems:has(path)
   return self.bad[path] == true
end

--- Whether a path or anything below it already has a problem.
function Problems:has_below(path)
   for bad in pairs(self.bad) do
      if bad:sub(1, #path) == path then
         return true
      end
   end
   return false
end

local function is_below(bad, path)
   for key in pairs(bad) do
      if key:sub(1, #path) == path and key:find("^[.%[]", #path + 1) then
         return true
      end
   end
   return false
end

--- Whether something is wrong below a path.
function Problems:below(path)
   return is_below(self.bad, path)
end

--- Remember a key that could not be read and has no default. The verdict of a rule on a group around it may
-- be wrong, and is left out.
function Problems:lacks(path)
   self.lacking[path] = true
end

--- Add one problem.
-- @param path      full path of the key, "" for the whole plan
-- @param message   what is wrong
-- @param expected  what would have been right, or nil
-- @param node      where it stands; by default the value of the path
function Problems:add(path, message, expected, node)
   if is_below(self.lacking, path) then
      return
   end
   node = node or self:node_of(path) or {}
   self.bad[path] = true
   if #self.list < MOST then
      self.list[#self.list + 1] = M.problem {
         file = self.file, line = node.line, column = node.column, origin = node.origin,
         key = path, message = message, expected = expected, number = #self.list,
      }
   end
end

--- The problems in the order of the file, problems of the command line last.
function Problems:sorted()
   table.sort(self.list, function(a, b)
      if (a.origin ~= nil) ~= (b.origin ~= nil) then
         return b.origin ~= nil
      elseif (a.line or 0) ~= (b.line or 0) then
         return (a.line or 0) < (b.line or 0)
      elseif (a.column or 0) ~= (b.column or 0) then
         return (a.column or 0) < (b.column or 0)
      end
      return a.number < b.number
   end)
   return M.list(self.list)
end

return M
