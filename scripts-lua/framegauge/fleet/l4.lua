-- SPDX-License-Identifier: BSD-3-Clause

--- Tests of TCP and UDP whose client is at one agent and whose server is at another one.
--
-- An agent receives its side: a kind of application with numeric arguments only, its port's address and the
-- other side's. It runs its side from the agreed start, and its counts go to the journal like any trial's. No
-- figure uses the clocks of both, so their offset does not matter.
local kinds = require "framegauge.methods.l4.plan.kinds"
local octets = require "framegauge.core.octets"
local policy = require "framegauge.fleet.policy"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.tester.l4.trial"
local user_error = require "framegauge.core.user_error"

local M = {}

-- Keys of an application, and of its TCP, for an agent; any other key is refused.
local APP = {
   test = "string", server = "boolean", address = "string", remote = "string", next_hop = "string",
   port = "number", connections = "number", request = "number", response = "number", datagram = "number",
   datagrams_per_s = "number", timeout = "number", patience = "number", octets = "number", message = "number",
   requests = "number", connections_start = "number", connections_per_s = "number", opens_per_s = "number",
   cycles = "number", hold = "boolean", half_close = "boolean", think = "number", think_max = "number",
   tcp = "table",
}
local SECONDS = { "seconds", "omit", "drain", "learning_wait", "settle", "interval" }
local MAX_CONNECTIONS, MAX_INTERVALS = 4194304, 1e6
local CONGESTION = { newreno = true, cubic = true }

local function told_app(app)
   local out = {}
   for key in pairs(APP) do
      out[key] = app[key]
   end
   out.next_hop = octets.hex(app.next_hop)
   return out
end

--- A trial for agents. @param o  as framegauge.tester.l4.trial takes it
function M.describe(tester, o)
   if o.streams then
      user_error.raise("run", 2, "streams together with connections: not with the ports of agents")
   end
   local sides = tables.map(o.sides, function(side)
      return { at = tester.owners[side.port], app = told_app(side.apps[1]), capacity = side.capacity }
   end)
   local body = { streams = {}, described = {}, first_id = 1, seconds = o.seconds, drain = o.drain or 0,
      learning_wait = o.learning_wait or 0, settle = o.settle or 0, l4 = { sides = sides, mtu = o.mtu,
      seed = o.seed } }
   for _, key in ipairs(SECONDS) do
      body.l4[key] = o[key]
   end
   return body
end

--- The part of it for one agent.
function M.of(l4, name)
   local out = tables.copy(l4)
   out.sides = tables.map(l4.sides, function(side)
      return side.at.agent == name and side or nil
   end)
   return out
end

local function app_problem(app, own, agent)
   for key, value in pairs(app) do
      if APP[key] ~= type(value) then
         return "an application has no " .. tostring(key):sub(1, 40)
      end
   end
   local remote = not app.server and policy.address_problem(app.remote, agent)
   if not kinds.is_for_agents(app.test) then
      return "there is no application " .. tostring(app.test):sub(1, 40) .. " for agents"
   elseif app.address ~= own.ipv4 and app.address ~= own.ipv6 then
      return "its address differs from the port's"
   elseif not app.server and #octets.unhex(app.next_hop) ~= 6 then
      return "a MAC address of a wrong form"
   elseif not CONGESTION[(app.tcp or {}).congestion] then
      return "no congestion control that is known"
   elseif (app.connections or 1) > MAX_CONNECTIONS then
      return ("more than %d connections"):format(MAX_CONNECTIONS)
   end
   return remote or nil
end

--- Why an agent may not run its sides, a sentence; nil when it may.
-- @param l4     of of()
-- @param ports  leased ones, with the addresses of the controller's plan
-- @param agent  group of the agent's file, with its name
function M.problem(l4, ports, agent)
   if agent.limit and l4.sides[1] then
      return "connections send as fast as it goes, and agent.limit is less"
   elseif l4.interval and l4.seconds / l4.interval > MAX_INTERVALS then
      return ("a series of more than %d intervals"):format(MAX_INTERVALS)
   end
   for _, side in ipairs(l4.sides) do
      local own = tables.find(ports, "name", side.at.port)
      if side.at.agent ~= agent.name or not own then
         return ("port %s is not leased"):format(tostring(side.at.port))
      end
      local wrong = (side.capacity or 0) > MAX_CONNECTIONS and "it has too many connections"
         or app_problem(side.app, own, agent)
      if wrong then
         return "an application may not run: " .. wrong
      end
   end
   return nil
end

--- Run the sides of an agent. @param joint  start, armed, look
-- @return { sides =, ports =, lcores = }
function M.run(tester, l4, joint)
   local o = tables.copy(l4)
   o.joint, o.look = joint, joint.look
   o.sides = tables.map(l4.sides, function(side)
      local app = tables.copy(side.app)
      app.next_hop, app.addresses = octets.unhex(app.next_hop), 1
      return { port = tables.index_of(tester.ports, side.at.port), apps = { app }, capacity = side.capacity }
   end)
   local sides, engine = trial.run(tester, o)
   return { sides = sides, ports = engine.ports, lcores = engine.lcores, directions = {} }
end

--- The results of all agents as framegauge.tester.l4.trial gives them. Raises where one has none.
-- @param results  by the agent's name
-- @param raw      the same, joined (framegauge.fleet.join)
function M.join(results, body, raw)
   if raw.invalid then
      user_error.raise("run", 4, "%s", table.concat(raw.invalid, "; "))
   end
   local taken = {}
   local sides = tables.map(body.l4.sides, function(side)
      local name = side.at.agent
      taken[name] = (taken[name] or 0) + 1
      return results[name].sides[taken[name]]
   end)
   return sides, { time = raw.time, duration_s = body.seconds, ports = raw.ports, lcores = raw.lcores }
end

return M
