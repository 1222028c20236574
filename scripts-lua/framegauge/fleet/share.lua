-- SPDX-License-Identifier: BSD-3-Clause

--- What one agent is told of a trial: the streams that it sends or receives, with their places among all.
--
-- Ids of streams follow from their places, which all agents share. A list as it is told has, instead of
-- streams of others in a row, how many they are: with a thousand agents nobody hears of the others' streams.
local l4 = require "framegauge.fleet.l4"
local tables = require "framegauge.core.tables"

local M = {}

local OTHERS = { other = true, from = {}, to = {}, loads = {}, fps = 0 }

--- Places of the streams that each agent is told, by its name: its own and streams whose copies it receives,
-- or the first one where it has none.
function M.places(body)
   local by_agent = {}
   local function add(name, i)
      local list = by_agent[name] or {}
      local at = #list
      while at > 0 and list[at] > i do
         at = at - 1
      end
      if list[at] ~= i then
         table.insert(list, at + 1, i)
      end
      by_agent[name] = list
   end
   for i, one in ipairs(body.streams) do
      if not one.other then
         add(one.from.agent, i)
         add(one.to.agent, i)
         if one.copies_of then
            add(one.to.agent, one.copies_of)
         end
      end
   end
   return setmetatable(by_agent, { __index = function()
      return { body.streams[1] and 1 }
   end })
end

local function told(list, places)
   local out, last = {}, 0
   for _, i in ipairs(places) do
      if list[i] then
         out[#out + 1] = i > last + 1 and i - last - 1 or nil
         out[#out + 1] = list[i]
         last = i
      end
   end
   out[#out + 1] = #list > last and #list - last or nil
   return out
end

--- The part of a trial's description that an agent is told.
-- @param places  the ones of places() that are the agent's
-- @param name    of the agent
function M.of(body, places, name)
   local out = tables.copy(body)
   out.streams, out.described = told(body.streams, places), told(body.described, places)
   out.l4 = body.l4 and l4.of(body.l4, name)
   out.members = body.members and tables.map(body.members, function(member)
      return member.at.agent == name and member or nil
   end)
   return out
end

local function whole(list, most)
   local out, size = {}, 0
   for _, one in ipairs(list) do
      local n = type(one) == "number" and one or 1
      if size + n > most or n < 1 or n % 1 ~= 0 then
         error(("not a number of streams up to %d: %s"):format(most, tostring(n)), 0)
      end
      for i = size + 1, size + n do
         out[i] = type(one) == "number" and OTHERS or one
      end
      size = size + n
   end
   return out
end

--- A description with all places again; other agents' have other = true. Raises when it has no form.
function M.whole(body, most)
   local out = tables.copy(body)
   out.streams, out.described = whole(body.streams, most), whole(body.described, most)
   return out
end

--- Counts of streams by their places: unmeasured streams have no counts.
-- @param list    of counts
-- @param beside  what the streams are called, with all places
function M.by_place(list, beside)
   local out, at = {}, 0
   for i, one in ipairs(beside) do
      at = at + (one.unmeasured and 0 or 1)
      out[i] = not one.unmeasured and list[at] or nil
   end
   return out
end

--- Counts of streams that are not of others, in the order of their places. @param beside  as of by_place()
function M.own(list, beside)
   local out, counts = {}, M.by_place(list, beside)
   for i, one in ipairs(beside) do
      out[#out + 1] = not one.other and counts[i] or nil
   end
   return out
end

return M
