-- SPDX-License-Identifier: BSD-3-Clause

--- The streams of a mesh, round by round: the flows of each pair, both ways.
local ethernet = require "framegauge.core.ethernet"
local mesh = require "framegauge.fleet.mesh"
local stack = require "framegauge.traffic.stack"
local tables = require "framegauge.core.tables"

local M = {}

--- The ports of a plan as members of a mesh, with the sites of their agents.
function M.members(plan)
   return tables.map(plan.ports, function(port)
      local agent = tables.find(plan.fleet.agents, "name", port.device:match "^agent:(.-)/" or "")
      return { name = port.name, site = agent and agent.site }
   end)
end

-- One after the other: a round has both ways of its pairs.
local function in_rounds(plan)
   return tables.map(mesh.rounds(M.members(plan), plan.mesh.uplink_pairs), function(round)
      local flows = {}
      for _, pair in ipairs(round) do
         flows[#flows + 1] = { from = pair[1].name, to = pair[2].name }
         flows[#flows + 1] = { from = pair[2].name, to = pair[1].name }
      end
      return flows
   end)
end

local function at_once(plan)
   local flows = {}
   for _, from in ipairs(plan.ports) do
      for _, to in ipairs(plan.ports) do
         flows[#flows + 1] = from ~= to and { from = from.name, to = to.name } or nil
      end
   end
   return { flows }
end

--- The rounds of a plan. @return list of lists of { from =, to =, round = its number }, names of ports
function M.of(plan)
   local rounds = plan.mesh.class == "light" and at_once(plan) or in_rounds(plan)
   for i, flows in ipairs(rounds) do
      for _, flow in ipairs(flows) do
         flow.round = i
      end
   end
   return rounds
end

--- The least possible number of rounds.
function M.lower_bound(plan)
   return plan.mesh.class == "light" and 1 or mesh.lower_bound(M.members(plan), plan.mesh.uplink_pairs)
end

--- Frames per second of the slower line of a flow, and the plan's share of it.
function M.fps(plan, tester, flow)
   local o, from, to = plan.mesh, tables.find(tester.ports, "name", flow.from),
      tables.find(tester.ports, "name", flow.to)
   local whole = ethernet.max_fps(math.min(from.line_rate, to.line_rate), o.frame_size)
   return whole, o.load * whole / (o.class == "light" and #plan.ports - 1 or 1)
end

--- The streams of a trial. Streams that leave the same port are spread over time.
-- @param flows  list of { from =, to =, load = frames per second }
function M.streams(plan, tester, flows)
   local macs, leaving, seen = stack.known(tester), {}, {}
   for _, flow in ipairs(flows) do
      leaving[flow.from] = (leaving[flow.from] or 0) + 1
   end
   return tables.map(flows, function(flow)
      local name = flow.from .. "->" .. flow.to
      local before = seen[flow.from] or 0
      seen[flow.from] = before + 1
      return {
         name = name, from = flow.from, to = flow.to, measure = {}, phase = before / leaving[flow.from],
         frame = stack.template(plan.ports, { name = name, from = flow.from, to = flow.to }, macs,
            plan.mesh.frame_size),
         loads = { { fps = flow.load, mean_fps = flow.load, seconds = plan.mesh.trial } },
      }
   end)
end

return M
