-- SPDX-License-Identifier: BSD-3-Clause

--- What messages call an agent: two testers have names on the bus that no plan contains.
local plans = require "framegauge.plan"
local tables = require "framegauge.core.tables"

local M = {}

--- The port of an agent whose file names none.
M.PORT = "port"

-- The agent of a plan that the plan finds by its address alone, nil for another name.
local function unnamed(name, agents)
   return name == plans.UNNAMED and tables.find(agents or {}, "name", name) or nil
end

--- An agent in a table.
-- @param name    on the bus
-- @param agents  of the controller: list of { name =, address =, port = }; an agent itself has none
function M.short(name, agents)
   local one = unnamed(name, agents)
   return name == plans.OWN and "local tester" or one and one.address
      or name == plans.UNNAMED and "remote agent" or name
end

--- An agent in a sentence. Parameters as short().
function M.agent(name, agents)
   local one = unnamed(name, agents)
   return one and "the agent at " .. one.address or (name == plans.OWN or name == plans.UNNAMED)
      and "the " .. M.short(name) or "agent " .. name
end

--- A port of an agent in a table: as the plan names it where the agent's file does not.
function M.port(name, port, agents)
   local one = unnamed(name, agents)
   return one and one.port or M.short(name) .. "/" .. port
end

--- A sentence of an agent, its port called as in the plan of the controller.
function M.sentence(name, text, agents)
   local one = unnamed(name, agents)
   return one and (text:gsub("port " .. M.PORT .. "%f[^%w_-]", "port " .. one.port)) or text
end

return M
