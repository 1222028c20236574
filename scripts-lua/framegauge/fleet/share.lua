-- SPDX-License-Identifier: BSD-3-Clause

--- The part of a trial for one agent: the streams that it sends or receives, with their places among all.
--
-- Ids of streams follow from their places, which all agents share. A list for an agent has a number in place
-- of each run of other agents' streams: even with a thousand agents its size does not depend on theirs.
local l4 = require "framegauge.fleet.l4"
local tables = require "framegauge.core.tables"

local M = {}

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
      add(one.from.agent, i)
      add(one.to.agent, i)
      if one.copies_of then
         add(one.to.agent, one.copies_of)
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

-- The items of a list as it is told by their places, the places, and how many places there are.
local function placed(list, most)
   local out, places, size = {}, {}, 0
   for _, one in ipairs(list) do
      local n = type(one) == "number" and one or 1
      if size + n > most or n < 1 or n % 1 ~= 0 then
         error(("not a number of streams up to %d: %s"):format(most, tostring(n)), 0)
      end
      size = size + n
      if type(one) ~= "number" then
         out[size], places[#places + 1] = one, size
      end
   end
   return out, places, size
end

--- A description with its streams by their places, and `count` for how many there are: of the thousands of
-- others' streams nothing is made. Raises when it has no form.
-- @return it, and the places of the streams that are told
function M.placed(body, most)
   local out = tables.copy(body)
   local streams, places, count = placed(body.streams, most)
   out.streams, out.count, out.described = streams, count, (placed(body.described, most))
   if count > 0 and not places[1] then
      error("only streams of others", 0)
   end
   return out, places
end

return M
