-- SPDX-License-Identifier: BSD-3-Clause

--- A tester made of the ports of several agents, and of ports of its own, for which it is an agent itself. A
-- method uses it like any other tester (framegauge.tester).
--
-- Streams are made here as on one host, and sent to the agents as recipes. All agents start at an agreed
-- time; afterwards each stream's counts come from its sender and its receiver.
local Agent = require "framegauge.fleet.agent"
local clocks = require "framegauge.fleet.clocks"
local Controller = require "framegauge.fleet.controller"
local description = require "framegauge.fleet.description"
local ffi = require "ffi"
local format = require "framegauge.text.format"
local join = require "framegauge.fleet.join"
local job = require "framegauge.core.job"
local l4 = require "framegauge.fleet.l4"
local modifiers = require "framegauge.traffic.modifiers"
local plans = require "framegauge.plan"
local share = require "framegauge.fleet.share"
local shared = require "framegauge.fleet.shared"
local tables = require "framegauge.core.tables"
local Tester = require "framegauge.tester"
local time = require "framegauge.clock.time"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local FleetTester = {}
FleetTester.__index = FleetTester

local BAD, BUSY = 2, 4
local TOGETHER = 10 -- seconds in which ports wait for ports of other agents
local OPENING = 120 -- seconds for an agent to open its ports
local LEAD, ATTEMPTS = 0.5, 5 -- seconds from the order to the start; doubled after each failure
local COLLECTING = 15 -- seconds beyond the end of a trial
local PAUSE, MAX_PAUSE = 0.02, 0.5 -- seconds between two questions for a result
local LOOK = 10 -- the same before it is due

local OWN = plans.OWN -- the agent of our own ports

-- The agent of a port of a plan, and the name of the port there.
local function owner_of(port)
   if port.kind == "agent" then
      return { agent = Agent.UNNAMED, port = Agent.PORT }
   elseif port.kind ~= "fleet" then
      return { agent = OWN, port = port.name }
   end
   local agent, name = port.device:match "^agent:(.-)/(.+)$"
   return { agent = agent, port = name }
end

-- First id of our streams: a lost sender of an earlier run must not be mistaken for one of ours.
local function some_id()
   local high, low = uv.random(2):byte(1, 2)
   return 1 + (256 * high + low) % shared.MAX_IDS
end

--- Names of the ports that each agent has in a plan. @param own  whether the controller's own are among them
function FleetTester.wanted_of(plan, own)
   local wanted = {}
   for _, port in ipairs(plan.ports) do
      local owner = owner_of(port)
      if own or owner.agent ~= OWN then
         wanted[owner.agent] = wanted[owner.agent] or {}
         table.insert(wanted[owner.agent], owner.port)
      end
   end
   return wanted
end

-- Be an agent for our own ports.
function FleetTester:own_ports()
   local plan = tables.copy(self.plan)
   plan.ports = tables.map(plan.ports, function(port)
      return owner_of(port).agent == OWN and port or nil
   end)
   self.own = plan.ports[1] and Agent.new(plan, { name = OWN, bus = self.control.bus })
end

-- Open the ports of an agent; another agent's ports may have to be there first.
function FleetTester:open_at(name, body)
   local ends = uv.hrtime() / 1e9 + TOGETHER
   local answer
   repeat
      answer = self.control:ask(name, "open", body, { patience = OPENING })
      if answer.ok then
         return answer.body
      end
      job.sleep(0.2)
   until answer.status ~= BUSY or uv.hrtime() / 1e9 > ends
   return self.control:must(name, "open", body, { patience = OPENING })
end

-- The ports of some agents, in their places in the plan.
function FleetTester:open_ports(names)
   local addresses = {}
   for i, port in ipairs(self.plan.ports) do
      local owner = self.owners[i]
      addresses[owner.agent] = addresses[owner.agent] or {}
      addresses[owner.agent][owner.port] = shared.addresses(port)
   end
   local by_agent = Controller.together(names, function(name)
      return self:open_at(name, { ports = addresses[name], max_frame = self.max_frame,
         one_lcore_a_port = self.plan.needs.one_lcore_a_port or nil })
   end)
   for i, port in ipairs(self.plan.ports) do
      local owner = self.owners[i]
      local opened = by_agent[owner.agent]
      local at = opened and tables.index_of(opened.ports, owner.port)
      if at then
         self.ports[i], self.gateways[i] = opened.ports[at], opened.gateways[at]
         self.ports[i].name, self.ports[i].device = port.name, port.device
         self.ports[i].line_rate = port.line_rate or self.ports[i].line_rate
         self.max_frame = math.min(self.max_frame, opened.max_frame)
      end
   end
end

--- Lease and open the ports of a plan. Call it inside a job.
-- @param o.max_frame  bytes with FCS of the largest frame; default: the method's
-- @param o.lead       seconds from the order to the start
-- @param o.collecting  seconds beyond the end of a trial for its results
-- @param o.control    connected agents (framegauge.fleet.controller); default: the plan's
-- @param o.earlier    of a run that is resumed: what its trials were known by at the agents
-- @return the tester, or nil and an error object
function FleetTester.open(plan, o)
   local self = setmetatable({
      plan = plan, lead = o and o.lead or LEAD, collecting = o and o.collecting or COLLECTING,
      next_id = some_id(), trials = 0, clock = "tsc", clocks = plan.needs.clocks,
      max_frame = o and o.max_frame or tables.max(plan.needs.frame_sizes),
      earlier = o and o.earlier or {}, fresh = true, ports = {}, gateways = {}, missing = {},
   }, FleetTester)
   self.owners = tables.map(plan.ports, owner_of)
   local wanted = FleetTester.wanted_of(plan, true)
   self.names, self.wanted = tables.keys(FleetTester.wanted_of(plan)), wanted
   self.names[#self.names + 1] = wanted[OWN] and OWN -- last: while our own ports work, nobody else is asked
   local ok, err = pcall(function()
      self.control = o and o.control or Controller.connect(tables.map(self.names, function(name)
         return tables.find(plan.fleet.agents, "name", name)
      end))
      self:own_ports()
      self.scale = clocks.scale(self.control, self.names, self.clocks)
      self.control:lease(wanted, { ttl = plan.fleet.ttl, wait = plan.fleet.wait, earlier = self.earlier })
      self:open_ports(self.names)
   end)
   if not ok then
      self:close()
      return nil, err
   end
   return self
end

function FleetTester:close()
   if self.control then
      self:forget()
      self.control:close()
      self.control = nil
   end
   if self.own then
      self.own:close()
      self.own = nil
   end
end

function FleetTester:gateway_mac(i, version)
   return shared.gateway_mac(self.gateways[i], version)
end

FleetTester.max_fps, FleetTester.port_index = Tester.max_fps, Tester.port_index

function FleetTester.can_set_gap()
   return false
end

-- Send an agent a request. One that does not answer, or no longer works for us, is missing from now on.
function FleetTester:ask(name, step, body, o)
   local answer = self.control:ask(name, step, body, o)
   if answer.lost or not answer.ok and answer.state == "free" then
      self.missing[name] = tostring(self.control.over[name] or answer.refused)
   end
   return answer
end

-- Have agents prepare a trial, and compare their clocks: none may be further off than the receivers wait.
-- @return what was read of the clocks by agent; or nil and why a start cannot be agreed
function FleetTester:prepare(body, o, names)
   local readings, places, why = {}, share.places(body), nil
   Controller.together(names, function(name)
      local answer = self:ask(name, "prepare", share.of(body, places[name], name), o)
      if not answer.ok and answer.status ~= BAD then
         self.missing[name] = tostring(answer.refused)
      end
      self.control:judge(name, answer)
      if self.scale ~= "machine" then
         local reading, unknown = clocks.read(self.control, name, body.drain / 2 * 1e9, self.scale)
         readings[name], why = reading, why or unknown
      end
   end)
   return not why and readings or nil, why
end

-- The agreed start: by the clock that all have, in their common time, or in our time.
-- @return nanoseconds; or nil and the reason
function FleetTester:moment(body, lead, readings)
   local at = time.raw() + ffi.cast("int64_t", (lead + body.learning_wait) * 1e9)
   if self.scale == "machine" then
      return at
   end
   local ahead, why = clocks.agree(readings)
   return ahead and at + ahead, why
end

-- Have agents start at one time. @return true; or nil and why not all will
function FleetTester:arm(at, readings, o, names, begun)
   local why
   local armed = Controller.together(names, function(name)
      local reading = readings[name] or {}
      return self:ask(name, "arm", { at = time.text(at), scale = self.scale,
         distance = reading.distance, raw = reading.raw }, o)
   end)
   for name, answer in pairs(armed) do
      why = not answer.ok and ("%s: %s"):format(self.control:name(name), tostring(answer.refused)) or why
      begun[#begun + 1] = answer.ok and name or nil
   end
   return not why or nil, why
end

-- The result of an agent, or why it will have none. It is asked seldom while the trial must still run, and
-- often when it may be over.
function FleetTester:result_of(name, o, over)
   local pause = PAUSE
   while true do
      local left = over - uv.hrtime() / 1e9
      pause = left > 0 and math.min(left + PAUSE, LOOK) or math.min(2 * pause, MAX_PAUSE)
      self.control:rest(name, pause)
      local answer = self:ask(name, "collect", {}, o)
      if answer.ok or answer.lost or answer.state == "free" or uv.hrtime() / 1e9 > over + self.collecting then
         return answer
      end
   end
end

-- The results of all agents, or of those that still answer.
-- @param seconds  until they can be there
function FleetTester:collect(o, names, seconds)
   local over = uv.hrtime() / 1e9 + seconds
   self.collected = o
   return Controller.together(names, function(name)
      local answer = self:result_of(name, o, over)
      return answer.ok and answer.body
         or { agent = name, lost = tostring(self.control.over[name] or answer.refused) }
   end)
end

-- Let the agents drop collected results: only when the results are on our disk, before the next trial begins.
function FleetTester:forget()
   for _, name in ipairs(self.collected and self.names or {}) do
      self.control:tell(name, "forget", {}, self.collected)
   end
   self.collected = nil
end

-- A trial does not begin: all are ready for another one.
function FleetTester:abort(o, names, begun)
   Controller.together(names, function(name)
      self.control:ask(name, "abort", {}, o)
   end)
   self:collect(o, begun, 0)
end

-- One attempt. @return results by agent; or nil and why it did not start
function FleetTester:attempt(body, o, lead, names)
   local begun, at, all = {}, nil, nil
   local ok, readings, why = pcall(self.prepare, self, body, o, names)
   if not ok then
      if self.apart then
         self:abort(o, names, begun)
      end
      error(readings, 0)
   elseif readings then
      at, why = self:moment(body, lead, readings)
   end
   if at then
      all, why = self:arm(at, readings, o, names, begun)
   end
   if not all then
      self:abort(o, names, begun)
      return nil, why
   end
   self.running = { began = uv.hrtime() / 1e9 + lead, duration = body.seconds }
   local results = self:collect(o, names,
      lead + body.learning_wait + body.seconds + body.drain + body.settle)
   self.running = nil
   return results
end

-- Results of a trial that an earlier controller of this run started and did not collect: all agents', or nil.
function FleetTester:kept(o, names)
   local results = {}
   for _, name in ipairs(names) do
      local answer = self.control:ask(name, "collect", {}, o)
      if not answer.ok or answer.body.failed or answer.body.stopped then
         return nil
      end
      results[name] = answer.body
   end
   self.collected = o
   return results
end

-- Only the first trial that is not recorded can have been under way when an earlier controller ended.
function FleetTester:recall(names)
   local first = self.fresh
   self.fresh = false
   for i = first and #self.earlier or 0, 1, -1 do
      for attempt = ATTEMPTS, 1, -1 do
         local results = self:kept({ run = self.earlier[i], trial = self.trials, attempt = attempt }, names)
         if results then
            return results
         end
      end
   end
   return nil
end

-- Have the agents make a trial.
-- @param first  number of its first attempt; default: 1 @return their results
function FleetTester:make(body, names, first)
   local why
   for i = 1, ATTEMPTS do
      local results
      self:forget()
      results, why = self:attempt(body, { trial = self.trials, attempt = (first or 1) + i - 1 },
         self.lead * 2 ^ (i - 1), names)
      if results then
         return results
      end
   end
   user_error.raise("run", 4, "the agents were not ready in time, %s in a row: %s",
      format.plural(ATTEMPTS, "time"), why)
end

-- Where nobody answers, the connection is at fault; the trial may well be good.
local function refuse_silence(results)
   local _, one = next(results)
   for _, result in pairs(results) do
      if not result.lost then
         return
      end
   end
   user_error.raise("run", 4, "no agent has told the result of the trial: %s. Agents keep it for a day, and the run collects it when it is resumed", one.lost)
end

--- From now on a trial needs only the agents of its streams, and a lost agent does not end the run: its ports
-- are absent.
function FleetTester:keep_apart()
   self.apart = true
end

--- By the name of a port, why it cannot be used: its agent is lost.
function FleetTester:absent()
   local out = {}
   for i, owner in ipairs(self.owners) do
      local name = owner.agent
      local why = self.control.lost[name] or self.missing[name]
      out[self.plan.ports[i].name] = why and ("%s was lost: %s"):format(self.control:name(name), why)
   end
   return out
end

--- Have agents that were lost take part again, if they are back.
function FleetTester:rejoin()
   local names = tables.map(self.names, function(name)
      return (self.control.lost[name] or self.missing[name]) and name or nil
   end)
   self.control:reach(names)
   for _, name in ipairs(names) do
      local ok, err = pcall(function()
         self.control:lease_again(name, self.wanted[name], self.plan.fleet.ttl)
         self:open_ports { name }
      end)
      if job.is_interrupt(err) then
         error(err, 0)
      end
      self.missing[name] = not ok and (self.missing[name] or tostring(err)) or nil
   end
end

-- The agents that a trial needs.
function FleetTester:those_of(body)
   local needed = {}
   for _, one in ipairs(body.streams) do
      needed[one.from.agent], needed[one.to.agent] = true, true
   end
   return self.apart and tables.keys(needed) or self.names
end

-- Tell a bridge of the stations behind every port, by a trial of its own before the other one.
-- @return what went wrong, sentences
function FleetTester:announce(o)
   local body = description.of_announcements(self, o)
   return join.problems(self:make(body, self:those_of(body), ATTEMPTS + 1), self.control.agents)
end

--- Run one trial at all agents, see framegauge.tester's trial().
function FleetTester:trial(o)
   self.trials = self.trials + 1
   local body = description.of_trial(self, o)
   local names = self:those_of(body)
   local results, unannounced = self:recall(names), {}
   if not results then
      local stations = o.stations or modifiers.needs_announcement(o.modifier)
      unannounced = stations and self:announce(o) or unannounced
      results = self:make(body, names)
   end
   refuse_silence(results)
   return join.results(results, body, self, unannounced)
end

--- Run the sides of an L4 trial at their agents, see framegauge.tester.l4.trial's run().
function FleetTester:run_l4(o)
   self.trials = self.trials + 1
   local body = l4.describe(self, o)
   local results = self:recall(self.names) or self:make(body, self.names)
   refuse_silence(results)
   return l4.join(results, body, join.results(results, body, self))
end

--- What the trials of this run are known by at the agents: earlier controllers' trials first.
function FleetTester:known_by()
   return tables.joined(self.earlier, { self.control.run })
end

--- Agents count for themselves while a trial runs; only the time is known here.
function FleetTester:snapshot()
   local running = self.running
   if not running then
      return nil
   end
   local elapsed = math.min(running.duration, math.max(0, uv.hrtime() / 1e9 - running.began))
   return { elapsed = elapsed, duration = running.duration, tx = 0, rx = 0, lost = 0 }
end

--- Captures are not possible.
function FleetTester.tap()
   user_error.raise("run", 2, "a run on the ports of agents has no captures; use 'framegauge capture' there")
end

return FleetTester
