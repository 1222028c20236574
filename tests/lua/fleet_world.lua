-- SPDX-License-Identifier: BSD-3-Clause

--- A played world for the tests of a fleet: agents with their real code over testers that answer from a
-- model, in real time. What was really sent and received is known.
local Agent = require "framegauge.fleet.agent"
local Controller = require "framegauge.fleet.controller"
local ffi = require "ffi"
local job = require "framegauge.core.job"
local loader = require "framegauge.plan"
local scratch = require "scratch"
local tables = require "framegauge.core.tables"
local time = require "framegauge.clock.time"
local uv = require "luv"

local M = {}

--- Each second stream comes out at every agent, too, one frame of it.
M.STRAY_EVERY = 2

-- Two ends of a connection: what one writes the other reads, when the loop comes to it.
function M.connection()
   local function new_end()
      local one = {}
      function one.read_start(_, fn) one.fn = fn end
      function one.is_closing() return one.closed end
      function one.close()
         if not one.closed then
            one.closed = true
            if one.other.fn and not one.other.closed then
               one.other.fn(nil, nil)
            end
         end
      end
      function one.write(_, text)
         local timer = uv.new_timer()
         timer:start(0, 0, function()
            timer:close()
            if one.other.fn and not one.other.closed and not one.closed then
               one.other.fn(nil, text)
            end
         end)
      end
      return one
   end
   local a, b = new_end(), new_end()
   a.other, b.other = b, a
   return a, b
end

-- Streams of others have no place in it: there may be thousands of agents with thousands of them each.
local function planned(tester, i)
   for k, place in ipairs(tester.list.places) do
      if place == i then
         return math.floor(tester.list.own[k - 1].load[0].fps * tester.seconds + 0.5)
      end
   end
end

-- A tester that sends what its streams say, and gets of that what the world lets through.
local function played_tester(world, plan)
   local tester = { ports = {}, max_frame = 1518, peers = {} }
   for i, port in ipairs(plan.ports) do
      tester.ports[i] = { name = port.name, device = port.device, mac = "02:00:00:00:00:0" .. i,
         line_rate = 1e9, driver = "played", mode = "played", notes = {} }
   end
   function tester.gateway_mac() return nil end
   function tester.close() tester.closed = true end
   function tester.run(_, o, list, described, seconds)
      tester.sent, tester.list, tester.peers, tester.seconds = {}, list, {}, seconds
      world.described[plan.agent.name] = described
      local start = o.joint.start()
      if world.prepare_fails and world.prepare_fails() then
         error("played: no memory", 0)
      end
      o.joint.armed(start)
      local lasts = ffi.cast("int64_t", (world.lasts or 0.02) * 1e9)
      local ends = math.max(tonumber(time.raw()), tonumber(start)) + tonumber(lasts)
      local stopped
      while tonumber(time.raw()) < ends and not stopped do
         stopped = o.joint.look()
         -- seldom while it is far, because there may be a thousand of us
         job.sleep(math.max(0.002, (ends - tonumber(time.raw())) / 4e9))
      end
      for k, i in ipairs(list.places) do
         tester.sent[i] = not list.own[k - 1].idle
            and planned(tester, i) - (world.short[plan.agent.name] or 0) or 0
         local id = o.joint.first_id + i
         world.sent[id] = (world.sent[id] or 0) + tester.sent[i]
      end
      o.joint.finish()
      local raw = { directions = {}, ports = { { name = tester.ports[1].name } }, lcores = {} }
      raw.members = o.members and { queries = 1, answers = 2, ports = tables.map(o.members, function(one)
         return { port = one.port, joined_ns = one.join * 1e9, left_ns = one.leave * 1e9 }
      end) }
      for _, one in ipairs(described) do
         -- of other agents, too, as the engine has it
         local tx = tester.peers[one.place] or tester.sent[one.place]
         local direction = tables.copy(world.measured or {})
         direction.name, direction.intended_fps, direction.intended_frames, direction.tx = one.name, one.fps,
            tx, tx
         direction.rx = tx - math.floor(tx / world.loss_every)
         direction.tx_duration_ns, direction.negative = math.max(0, tx - 1) / one.fps * 1e9, 0
         raw.directions[#raw.directions + 1] = not one.unmeasured and direction or nil
      end
      return raw
   end
   return tester
end

local engine = {
   streams = function(list) return list end,
   planned = planned,
   sent = function(tester, i) return tester.sent[i] end,
   peer_sent = function(tester, i, frames) tester.peers[i] = frames end,
   starts = function() return { 5 } end,
   strays = function(tester, count)
      local list = {}
      for i = M.STRAY_EVERY, count, M.STRAY_EVERY do
         list[#list + 1] = { i, tester.ports[1].name, 1 }
      end
      return list
   end,
}

--- Names of the agents of plan().
M.AGENTS = { "rack1", "rack2", "rack3" }

--- Where a controller finds agents that are played.
function M.addresses(names)
   return tables.map(names, function(name)
      return { name = name, address = name }
   end)
end

local PLAN = [[
test: %s
fleet: {agents: {rack1: /run/1, rack2: /run/2, rack3: /run/3}, ttl: 2s, wait: %s}
ports:
  a: {device: 'agent:rack1/east', ipv4: 198.18.1.1/24, line_rate: %s}
  b: {device: 'agent:rack2/east', ipv4: 198.18.1.2/24, line_rate: %s}
  c: {device: 'agent:rack3/east', ipv4: 198.18.1.3/24, line_rate: %s}
  d: {device: 'agent:rack1/west', ipv4: 198.18.1.4/24, line_rate: %s}
%s
]]

--- The text of a plan for four ports of three agents.
-- @param o  test (default: traffic), wait (0s), line_rate (1Gbps), more = what else is in it
function M.plan(o)
   local rate = o.line_rate or "1Gbps"
   return PLAN:format(o.test or "traffic", o.wait or "0s", rate, rate, rate, rate, o.more)
end

local FILE = [[
test: agent
isolated_network: %s
ports: {east: {device: 'memif:/run/%s'}, west: {device: 'memif:/run/%s-2'}}
agent: {name: %s, listen: /run/none, state: %s, limit: 100Mbps, sends_to: [198.18.0.0/15, 239.1.1.0/24]}
]]

--- The plan of an agent that is played.
-- @param isolated  default: true
function M.agent_plan(name, folder, isolated)
   return assert(loader.load_text(FILE:format(tostring(isolated ~= false), name, name, name, folder), name))
end

--- Whether no port of a world's agents is leased.
function M.is_free(world)
   for _, agent in pairs(world.agents) do
      for _, row in ipairs(agent:rows()) do
         if row.by then
            return false
         end
      end
   end
   return true
end

--- A world. Its sent has the frames that left by their ids; short may have, by the agent's name, how many
-- fewer leave than are planned; measured may have what else is counted of each stream that is received.
-- @param o.agents  names @param o.isolated  default: true
-- @param o.patience  for what other agents sent, seconds
function M.new(o)
   local world = { agents = {}, sent = {}, short = {}, described = {}, loss_every = 10, now = 1000,
      links = {}, folder = o.folder or scratch.path() }
   function world.start(name)
      local plan = M.agent_plan(name, world.folder, o.isolated)
      world.agents[name] = Agent.new(plan, {
         now = function() return world.now end, engine = engine, patience = o.patience or 0.4,
         open = function(shaped) return played_tester(world, shaped) end,
      })
      return world.agents[name]
   end
   for _, name in ipairs(o.agents) do
      world.start(name)
   end
   --- A controller that is linked to all agents.
   function world.controller(by)
      local self = Controller.new(M.addresses(o.agents), { by = by, run = by, again = 0.05 })
      for _, name in ipairs(o.agents) do
         local here, there = M.connection()
         world.links[name] = there
         world.agents[name].bus:attach(there)
         self:attach({ name }, here)
      end
      return self
   end
   return world
end

return M
