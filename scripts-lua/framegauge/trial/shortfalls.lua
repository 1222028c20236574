-- SPDX-License-Identifier: BSD-3-Clause

--- Why the tester fell short in a trial, in sentences.
--
-- A mesh of 64 ports has 4032 directions, and a late tester is late in all of them. So several shortfalls of
-- one kind make one sentence: the worst one, and their number.
local tables = require "framegauge.core.tables"

local Shortfalls = {}
Shortfalls.__index = Shortfalls

local M = {}

local FEW = 3 -- up to this many are named one by one

--- An empty list.
-- @usage local found = shortfalls.new()
-- for i = 1, 5 do
--    found:add("ports full", i % 4, "p%d: %d frames were dropped", i, i % 4)
-- end
-- found:add("lcores late", 1, "lcore 1 began late")
-- table.concat(found:sentences(), "; ")
-- --> p3: 3 frames were dropped (the worst of 5 ports); lcore 1 began late
function M.new()
   return setmetatable({ by_kind = {}, kinds = {}, n = 0 }, Shortfalls)
end

--- Add a sentence.
-- @param kind  what happened; its first word names the affected ones, in the plural
-- @param how   severity, compared with others of the kind
-- @param ...   the sentence, as string.format takes it
function Shortfalls:add(kind, how, ...)
   local list = self.by_kind[kind]
   if not list then
      list = { affected = kind:match "%S+" }
      self.by_kind[kind], self.kinds[#self.kinds + 1] = list, list
   end
   self.n = self.n + 1
   local one = { n = self.n, how = how, text = string.format(...) }
   list[#list + 1] = one
   list.worst = (not list.worst or how > list.worst.how) and one or list.worst
end

--- All of them, in the order in which they were added.
function Shortfalls:sentences()
   local found = {}
   for _, list in ipairs(self.kinds) do
      if #list > FEW then
         found[#found + 1] = { n = list[1].n,
            text = ("%s (the worst of %d %s)"):format(list.worst.text, #list, list.affected) }
      else
         found = tables.joined(found, list)
      end
   end
   table.sort(found, function(one, other) return one.n < other.n end)
   return tables.field(found, "text")
end

return M
