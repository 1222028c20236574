-- SPDX-License-Identifier: BSD-3-Clause

--- The link aggregation groups of a configuration: their ports, which of them are in use, and their agents of
-- LACP (framegauge.tester.lacp).
--
-- A LAG stands where a flow has a port. `members` are its ports, `now` those that frames may be distributed
-- over; no port is used as long as fewer than min_links could be.
local lacp = require "framegauge.tester.lacp"
local read = require "framegauge.services.otg.read"
local tables = require "framegauge.core.tables"

local M = {}

local Lag = {}
Lag.__index = Lag

--- Look which ports are in use now: `ready` is how many could be.
function Lag:refresh()
   local ready = tables.map(self.members, function(port)
      local agent = self.agent[port]
      local up = self.link(port.place)
      return up and (not agent or agent:is_distributing()) and port or nil
   end)
   self.ready = #ready
   local now = #ready >= math.max(1, self.min_links) and ready or {}
   if not tables.same(tables.field(now, "name"), tables.field(self.now, "name")) then
      self.now = now -- a list of its own whenever it changes
   end
end

-- The MAC of a member: of the configuration, or the port's.
local function mac_of(ethernet, port, env, path, found)
   return not ethernet.mac and env.port(port.place).mac or found:mac(ethernet.mac, path .. ".ethernet.mac")
end

-- The agent of a member. The standard has no port of number 0: then the place in the LAG counts.
local function agent_of(lag, member, i, mac)
   local port, group = member.lacp or read.default "LagPortLacp", lag.protocol
   local number, interval, timeout = port.actor_port_number, port.lacpdu_periodic_time_interval,
      port.lacpdu_timeout
   return lacp.agent {
      source = mac, system = group.actor_system_id:lower():gsub("-", ":"), key = group.actor_key,
      system_priority = group.actor_system_priority, port = number > 0 and number or i,
      port_priority = port.actor_port_priority, passive = port.actor_activity == "passive",
      interval = interval > 0 and interval or nil, timeout = timeout > 0 and timeout or nil,
      group = lag.group,
   }
end

-- Add one port to a LAG.
local function add_member(lag, member, i, path, c)
   local found, taken = c.found, c.taken
   local port = c.port_named(member.port_name, path .. ".port_name")
   local mac = port and mac_of(member.ethernet, port, c.env, path, found)
   if member.ethernet.vlans[1] then
      found:fault(path .. ".ethernet.vlans", "not supported")
   end
   if port and taken[port] then
      found:fault(path .. ".port_name", "is in %s already", taken[port])
   elseif port and mac then
      taken[port] = path
      lag.members[#lag.members + 1] = port
      local agent = lag.protocol and agent_of(lag, member, i, mac)
      if agent and lag.numbers[agent.actor.port] then
         found:fault(path .. ".lacp.actor_port_number", "%d is the number of %s", agent.actor.port,
            lag.numbers[agent.actor.port])
      elseif agent then
         lag.agent[port], lag.numbers[agent.actor.port] = agent, path
         c.agents[#c.agents + 1] = { name = port.name, port = port.place, agent = agent, lag = lag }
      end
   end
end

-- Bits per second of all ports; nil where one is not known.
local function line_rate_of(members)
   local sum = 0
   for _, port in ipairs(members) do
      sum = sum and port.line_rate and sum + port.line_rate
   end
   return sum
end

local function lag_of(o, path, c)
   local protocol = o.protocol or read.default "LagProtocol"
   local lag = setmetatable({
      name = o.name, path = path, min_links = o.min_links, members = {}, now = {}, ready = 0, agent = {},
      group = {}, numbers = {}, link = c.env.link,
      protocol = protocol.choice == "lacp" and (protocol.lacp or read.default "LagProtocolLacp") or nil,
   }, Lag)
   for i, member in ipairs(o.ports) do
      add_member(lag, member, i, ("%s.ports[%d]"):format(path, i - 1), c)
   end
   if not o.ports[1] then
      c.found:fault(path .. ".ports", "is empty")
   elseif o.min_links > #o.ports then
      c.found:warn(path .. ".min_links", "%d of %d ports: it never is up", o.min_links, #o.ports)
   end
   lag.line_rate = line_rate_of(lag.members)
   return lag
end

--- The LAGs of a configuration that was read.
-- @param env         port(place) -> { mac = }, link(place) -> whether it is up
-- @param port_named  function(name, path) -> a port of the configuration, or nil after a fault
-- @return { list =, by_name = (false where there is a fault in it),
-- agents = list of { name =, port = its place, agent =, lag = } }
function M.read(config, env, port_named, found)
   local c = { env = env, port_named = port_named, found = found, taken = {}, agents = {} }
   local state = { list = {}, by_name = {}, agents = c.agents }
   for i, o in ipairs(config.lags) do
      local path = read.item_path("lags", i, o)
      if found:has(path) then
         state.by_name[o.name or 0] = false
      else
         local lag = lag_of(o, path, c)
         state.list[#state.list + 1], state.by_name[o.name] = lag, lag
      end
   end
   return state
end

--- Names of all that LAGs consist of, and their paths, one after the other.
function M.each_name_below(list, visit)
   for i, o in ipairs(type(list) == "table" and list or {}) do
      for k, member in ipairs(type(o.ports) == "table" and o.ports or {}) do
         if type(member.ethernet) == "table" then
            visit(member.ethernet, ("%s.ports[%d].ethernet"):format(read.item_path("lags", i, o), k - 1))
         end
      end
   end
end

-- What the two kinds of control do to an agent.
local orders = { admin = "admit", member_ports = "let_speak" }

--- Control agents.
-- @param o  StateProtocolLacp that was read
function M.control(state, o, found)
   local order = o[o.choice]
   local agents = found:named_among(state.agents, order.lag_member_names,
      ("protocol.lacp.%s.lag_member_names"):format(o.choice), "port of a LAG with LACP")
   for _, one in ipairs(found.errors[1] and {} or agents) do
      one.agent[orders[o.choice]](one.agent, order.state == "up")
   end
end

return M
