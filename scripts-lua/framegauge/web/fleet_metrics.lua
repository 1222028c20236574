-- SPDX-License-Identifier: BSD-3-Clause

--- The agents of a plan for Prometheus: which answer, who has their ports, and what is known of their clocks.
local tables = require "framegauge.core.tables"

local M = {}

local STATES = { "ready", "draining", "silent" }

local function state_of(agent)
   return agent.problem and "silent" or agent.ports.draining and "draining" or "ready"
end

local function write_ports(out, agents)
   out:family("gauge", "framegauge_agent_ports", "Ports of an agent that are free, or leased to somebody.")
   for _, agent in ipairs(agents) do
      local leased = #tables.field(agent.ports.ports, "epoch")
      out:add({ agent = agent.name, state = "free" }, #agent.ports.ports - leased)
      out:add({ agent = agent.name, state = "leased" }, leased)
   end
   out:family("gauge", "framegauge_lease_remaining_seconds", "Time after which a lease ends by itself.")
   for _, agent in ipairs(agents) do
      for _, port in ipairs(agent.ports.ports) do
         out:add({ agent = agent.name, port = port.port }, port.epoch and port.remaining_s)
      end
   end
end

local function write_clocks(out, agents)
   out:family("gauge", "framegauge_clock_synchronized", "Whether an agent's clock follows a reference.")
   for _, agent in ipairs(agents) do
      out:add({ agent = agent.name, source = agent.clock.source }, agent.clock.synchronised and 1 or 0)
   end
   out:family("gauge", "framegauge_clock_error_bound_seconds",
      "How far an agent's clock may be from its reference. Only of synchronised clocks.")
   for _, agent in ipairs(agents) do
      local clock = agent.clock
      out:add({ agent = agent.name, source = clock.source }, clock.synchronised and clock.error_ns / 1e9)
   end
end

--- Write what agents answered.
-- @param out   framegauge.web.exposition's writer
-- @param list  of framegauge.fleet.overview, with the steps "ports" and "clock"
function M.write(out, list)
   local counts, there = {}, {}
   for _, agent in ipairs(list) do
      local state = state_of(agent)
      counts[state] = (counts[state] or 0) + 1
      there[#there + 1] = not agent.problem and agent or nil
   end
   out:family("gauge", "framegauge_agents", "Agents of the plan, by whether they answer.")
   for _, state in ipairs(STATES) do
      out:add({ state = state }, counts[state] or 0)
   end
   write_ports(out, there)
   write_clocks(out, there)
end

return M
