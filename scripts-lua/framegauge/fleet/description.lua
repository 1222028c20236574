-- SPDX-License-Identifier: BSD-3-Clause

--- The description of a trial for agents: the recipes and names of its streams, and the group memberships.
local octets = require "framegauge.core.octets"
local recipe = require "framegauge.fleet.recipe"
local shared = require "framegauge.fleet.shared"
local streams = require "framegauge.tester.streams"
local tables = require "framegauge.core.tables"
local Tester = require "framegauge.tester"
local user_error = require "framegauge.core.user_error"

local M = {}

local DRAIN, ANNOUNCEMENT_DRAIN = 0.5, 0.1

-- Features that agents cannot combine yet.
local NOT_SHARED = { outage = "an outage of the reference device", gap = "another gap between frames" }

-- The descriptions of streams, each with its id. @return them, and the first id
local function told(tester, list)
   local out = recipe.streams(list, function(i) return tester.owners[i] end)
   local first = shared.take_ids(tester, #out)
   for i, one in ipairs(out) do
      one.id = first + i - 1
   end
   return out, first
end

-- The descriptions of group memberships, or nil.
local function members_of(tester, members)
   return members and tables.map(members, function(member)
      local out = tables.copy(member)
      out.port, out.at = nil, tester.owners[tables.index_of(tester.ports, member.port)]
      out.group, out.source = octets.hex(member.group), member.source and octets.hex(member.source)
      return out
   end)
end

local function is_measured(described)
   for _, one in ipairs(described) do
      if one.measure then
         return true
      end
   end
   return nil
end

--- A trial.
-- @param tester  framegauge.fleet.tester
-- @param o       as its trial() takes it
function M.of_trial(tester, o)
   for key, words in pairs(NOT_SHARED) do
      if o[key] then
         user_error.raise("run", 2, "%s: not with the ports of agents", words)
      end
   end
   local list, described, seconds = Tester.streams_of(tester, o)
   local out, first = told(tester, list)
   return {
      streams = out, described = described, seconds = seconds, first_id = first, silent = o.silent,
      members = members_of(tester, o.members), strays = is_measured(described),
      patient = o.patient, modifier = o.modifier, management = o.management, tags = o.tags,
      learning_wait = o.learning_wait or 0, drain = o.drain or DRAIN, settle = o.settle or 0,
   }
end

--- Announcements of the stations behind every port, for a bridge, as a trial.
function M.of_announcements(tester, o)
   local list, seconds = streams.announcements(tester, o)
   local out, first = told(tester, list)
   return {
      streams = out, described = {}, seconds = seconds, first_id = first, learning_wait = 0,
      drain = ANNOUNCEMENT_DRAIN, settle = 0,
   }
end

return M
