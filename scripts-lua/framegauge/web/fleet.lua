-- SPDX-License-Identifier: BSD-3-Clause

--- The agents of a plan for the page. They are queried on a viewer's request, and at most once in some
-- seconds for all viewers.
local job = require "framegauge.core.job"
local overview = require "framegauge.fleet.overview"
local uv = require "luv"

local M = {}

local SECONDS = 2 -- for which an answer is good
local PATIENCE = 2 -- seconds for the answer of an agent

local Fleet = {}
Fleet.__index = Fleet

--- @param agents  list of { name =, address = }
function M.new(agents)
   return setmetatable({ agents = agents }, Fleet)
end

-- What an agent answered, without what only programs need.
local function shown(one)
   return { name = one.name, problem = one.problem, draining = one.ports and one.ports.draining,
      ports = one.ports and one.ports.ports or {} }
end

local function ask(self)
   local agents = self.agents
   local list = overview.ask(agents, { "ports", "clock" }, { some = true, patience = PATIENCE })
   local out = { agents = {}, clocks = overview.clocks(list), time_ms = math.floor(uv.gettimeofday() * 1000) }
   for i, one in ipairs(list) do
      out.agents[i] = shown(one)
   end
   self.list = list
   return out
end

--- Agents with their ports, and how far their clocks may differ. Call it inside a job.
function Fleet:read()
   local now = uv.hrtime() / 1e9
   if not self.asked or self.asked.done and now - self.at > SECONDS then
      self.asked, self.at = job.spawn(ask, self), now
   end
   return self.asked:join()
end

--- The same as the agents tell it (framegauge.fleet.overview). Call it inside a job.
function Fleet:answers()
   self:read()
   return self.list
end

return M
