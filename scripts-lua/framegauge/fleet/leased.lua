-- SPDX-License-Identifier: BSD-3-Clause

--- What an agent does under one lease: it opens the ports, and makes one trial after the other.
--
--    leased -> open -> prepared -> armed -> running -> frozen -> prepared ...
--
-- A trial starts at an agreed time. At its end the agents exchange the numbers of sent frames; the results go
-- to the journal, from which they can be collected repeatedly. Nothing is sent beyond a trial: its streams
-- end by count and time on their lcores.
local Clock = require "framegauge.clock"
local exchange = require "framegauge.fleet.exchange"
local failure = require "framegauge.core.failure"
local ffi = require "ffi"
local format = require "framegauge.text.format"
local job = require "framegauge.core.job"
local l4 = require "framegauge.fleet.l4"
local octets = require "framegauge.core.octets"
local Offsets = require "framegauge.fleet.offsets"
local policy = require "framegauge.fleet.policy"
local recipe = require "framegauge.fleet.recipe"
local share = require "framegauge.fleet.share"
local shared = require "framegauge.fleet.shared"
local tables = require "framegauge.core.tables"
local time = require "framegauge.clock.time"
local uv = require "luv"

local M = { STEPS = { open = true, prepare = true, arm = true, abort = true, renew = true, release = true } }

local Leased = {}
Leased.__index = Leased

local BAD, BUSY = 2, 4
local ETIME = 62
local LOOK_AT_CLOCKS = 0.05 -- seconds; interval of clock messages before the start
local MAX_SLEW = 500e-6 -- by which the kernel slews a clock
local TELLING = { 0, 0.2, 1 } -- seconds between messages about what was sent: one may be lost

function M.new(agent, lease)
   return setmetatable({ agent = agent, lease = lease, state = "leased", sent_by = {} }, Leased)
end

local function refuse(self, why, status)
   return { refused = why, state = self.state, status = status or BUSY }
end

-- Our plan with the leased ports alone, and with the addresses of the controller's plan.
local function plan_for(self, wanted)
   local plan = tables.copy(self.agent.plan)
   plan.ports = tables.map(self.lease.ports, function(name)
      return shared.addressed(tables.find(self.agent.plan.ports, "name", name), wanted[name])
   end)
   return plan
end

local act = {}

function act.open(self, body)
   if self.state ~= "leased" then
      return refuse(self, "the ports are open already")
   elseif not (self.agent.plan.isolated_network or self.agent.permits.trusting) then
      return refuse(self, "the agent's file does not say isolated_network: true, so it sends nothing", BAD)
   end
   local plan = plan_for(self, body.ports or {})
   plan.needs = tables.copy(plan.needs)
   plan.needs.one_lcore_a_port = body.one_lcore_a_port == true
   self.ports = plan.ports
   local tester, err = self.agent.open(plan, { max_frame = body.max_frame })
   if not tester then
      return refuse(self, tostring(err), type(err) == "table" and err.status or BUSY)
   end
   self.tester, self.state = tester, "open"
   local gateways = {}
   for i in ipairs(tester.ports) do
      gateways[i] = shared.gateways(tester, i)
   end
   return { ok = true, body = { ports = tester.ports, gateways = gateways, max_frame = tester.max_frame } }
end

-- Why the reports of memberships may not be sent, a sentence; nil when they may.
local function members_problem(self, members)
   for _, member in ipairs(members or {}) do
      if member.at.agent ~= self.agent.name or not tables.contains(self.lease.ports, member.at.port) then
         return ("port %s is not leased"):format(tostring(member.at.port))
      end
      local wrong = policy.group_problem(octets.unhex(member.group), member.reports or 1, self.agent.permits)
      if wrong then
         return "a group may not be joined: " .. wrong
      end
   end
   return nil
end

-- Why the streams may not be sent, a sentence; nil when they may.
local function streams_problem(self, streams, places)
   local own = {}
   for _, i in ipairs(places) do
      local one = streams[i]
      if one.from.agent == self.agent.name then
         own[#own + 1] = not one.copies_of and one or nil -- that one sends nothing
         if not tables.contains(self.lease.ports, one.from.port) then
            return ("port %s is not leased"):format(tostring(one.from.port))
         end
         for _, frame in ipairs(one.frames) do
            local wrong = policy.frame_problem(recipe.unpack(frame.stack), recipe.unpack(frame.more),
               self.agent.permits)
            if wrong then
               return "a frame may not be sent: " .. wrong
            end
         end
      end
   end
   return policy.rate_problem(own, self.agent.permits)
end

function act.prepare(self, body, command)
   if self.state ~= "open" and self.state ~= "frozen" then
      return refuse(self, "it is not the time to prepare a trial")
   end
   local places
   local ok, problem = pcall(function()
      body, places = share.placed(body, shared.MAX_IDS)
      return streams_problem(self, body.streams, places) or members_problem(self, body.members)
         or body.l4 and l4.problem(body.l4, self.ports, self.agent.permits)
   end)
   if problem then
      return refuse(self, ok and problem or "streams of no form: " .. tostring(problem), BAD)
   end
   local index = function(name)
      return tables.index_of(self.tester.ports, name)
   end
   local made, list = pcall(recipe.list, body.streams, places, index, self.agent.name)
   if not made then
      return refuse(self, "the streams cannot be made: " .. tostring(list), BAD)
   end
   self.trial = { number = command.trial, command = command, body = body, places = places, list = list }
   self.sent_by, self.state = {}, "prepared"
   return { ok = true, body = {} }
end

-- Names of the described streams, and what is counted of them (tester/counts.lua).
local function described(body, list, ours)
   return tables.map(list.places, function(i, k)
      local own = body.described[i] and tables.copy(body.described[i])
      if not own then
         return nil -- announcements
      end
      own.place, own.from, own.to = i, list.own[k - 1].tx_port + 1, list.own[k - 1].rx_port + 1
      own.sent_elsewhere = body.streams[i].from.agent ~= ours
      own.kept = own.over_time ~= nil
      return own
   end)
end

-- Streams that another agent sends to us: each(place, name of the agent, place among the told ones).
local function incoming(self, each)
   for k, i in ipairs(self.trial.places) do
      local one = self.trial.body.streams[i]
      if one.to.agent == self.agent.name and one.from.agent ~= one.to.agent then
         each(i, one.from.agent, k)
      end
   end
end

-- Send a message about a trial to the agents that receive from us.
local function tell(self, trial, body)
   local command, to = trial.command, {}
   for _, i in ipairs(trial.places) do
      local one = trial.body.streams[i]
      if one.from.agent == self.agent.name and one.to.agent ~= self.agent.name then
         to[one.to.agent] = true
      end
   end
   body.run, body.trial, body.attempt = command.run, command.trial, command.attempt
   for name in pairs(to) do
      self.agent.bus:publish(("fg.v1.sent.%s.%s"):format(name, self.agent.name), body)
   end
end

-- While a trial runs: keep the data on our clock and on the senders' clocks up to date.
local function look_at_clocks(self, trial, engine)
   local offsets, now = trial.offsets, uv.hrtime() / 1e9
   if not offsets or now < (trial.next_look or 0) then
      return
   end
   trial.next_look = now + LOOK_AT_CLOCKS
   if self.state == "running" and not offsets.known then
      offsets:begin()
   end
   offsets:look()
   incoming(self, function(i, name)
      local ahead = offsets:ahead(name)
      if ahead then
         engine.peer_clock(self.tester, i, ahead)
      end
   end)
   if now >= (trial.next_told or 0) then
      trial.next_told = now + (offsets.known and Offsets.EVERY or LOOK_AT_CLOCKS)
      tell(self, trial, { clock = offsets:told() })
   end
end

-- The state of the senders' clocks, by the agents' names: { error_ns } or { why }.
local function clocks_of(self, directions)
   local negative, out = {}, {}
   incoming(self, function(i, name)
      negative[name] = (negative[name] or 0) + (directions[i] and directions[i].negative or 0)
   end)
   for name, delays in pairs(negative) do
      local bound, why = self.trial.offsets:verdict(name, delays)
      out[name] = { error_ns = bound, why = why }
   end
   return out
end

-- Frames that left here, by streams.
local function tell_sent(self, engine)
   local trial, frames = self.trial, {}
   for _, i in ipairs(trial.places) do
      local one = trial.body.streams[i]
      if one.from.agent == self.agent.name then
         frames[tostring(one.id)] = engine.sent(self.tester, i)
      end
   end
   job.spawn(function()
      for _, pause in ipairs(TELLING) do
         job.sleep(pause)
         tell(self, trial, { frames = frames })
      end
   end)
end

--- Another agent reports the frames that it sent.
-- @param from  its name, from the subject: on a broker nobody else may use it
function Leased:learn(body, from)
   local command = self.trial and self.trial.command
   if type(body) ~= "table" or not command or body.run ~= command.run or body.trial ~= command.trial
      or body.attempt ~= command.attempt then
      return
   elseif body.clock and self.trial.offsets then
      self.trial.offsets:hear(from, body.clock)
   elseif type(body.frames) == "table" then
      self.sent_by[from] = body.frames
      if self.wake then
         self.wake()
      end
   end
end

-- Agents that send to us, and have not reported their sent frames.
local function silent(self)
   local names = {}
   for _, i in ipairs(self.trial.places) do
      local one = self.trial.body.streams[i]
      local from, ours = one.from.agent, self.agent.name
      if one.to.agent == ours and from ~= ours and not self.sent_by[from] then
         names[from] = true
      end
   end
   return tables.keys(names)
end

-- Wait for the others' reports. A missing one is replaced by the planned number; join.lua compares.
local function await_sent(self, engine)
   local ends = uv.hrtime() / 1e9 + self.agent.patience
   while silent(self)[1] and uv.hrtime() / 1e9 < ends and not self.stopped do
      job.rest(self, 0.1)
   end
   for _, i in ipairs(self.trial.places) do
      local one = self.trial.body.streams[i]
      local frames = self.sent_by[one.from.agent]
      if one.from.agent ~= self.agent.name then
         engine.peer_sent(self.tester, i, not frames and engine.planned(self.tester, i)
            or tonumber(frames[tostring(one.id)]) or 0)
      end
   end
end

-- Memberships as the tester takes them; nil: none.
local function members_of(body)
   return body.members and tables.map(body.members, function(member)
      local out = tables.copy(member)
      out.port, out.group = member.at.port, octets.unhex(member.group)
      out.source = member.source and octets.unhex(member.source)
      return out
   end)
end

-- The joint part of a trial of several testers at this one.
local function joint_of(self, at, armed)
   local trial = self.trial
   return {
      first_id = trial.body.first_id,
      start = function() return ffi.cast("uint64_t", at) end,
      armed = function()
         self.state = "armed"
         armed()
      end,
      look = function()
         self.state = time.raw() >= at and "running" or self.state
         look_at_clocks(self, trial, self.agent.engine)
         return self.stopped
      end,
   }
end

-- Counts of measured streams by their places.
local function by_place(directions, streams)
   local out, k = {}, 0
   for _, one in ipairs(streams) do
      k = k + (one.unmeasured and 0 or 1)
      out[one.place] = not one.unmeasured and directions[k] or nil
   end
   return out
end

-- @return what its streams counted
local function run_streams(self, joint)
   local trial = self.trial
   local body, engine = trial.body, self.agent.engine
   incoming(self, function(_, _, k)
      trial.list.own[k - 1].other_clock = trial.offsets ~= nil
   end)
   local own = described(body, trial.list, self.agent.name)
   function joint.finish()
      tell_sent(self, engine)
      await_sent(self, engine)
   end
   local raw = self.tester:run({
      learning_wait = body.learning_wait, drain = body.drain, settle = body.settle, silent = body.silent,
      patient = body.patient, modifier = body.modifier, management = body.management, tags = body.tags,
      members = members_of(body), joint = joint,
   }, engine.streams(trial.list, body.count), own, body.seconds)
   raw.clocks = trial.offsets and clocks_of(self, by_place(raw.directions, own))
   raw.strays = body.strays and engine.strays(self.tester, body.count) or nil
   exchange.pack_counts(raw)
   raw.starts_ns = engine.starts(self.tester)
   return raw
end

local function run(self, at, armed)
   local of_connections = self.trial.body.l4
   local joint = joint_of(self, at, armed)
   local raw = of_connections and l4.run(self.tester, of_connections, joint) or run_streams(self, joint)
   raw.stopped, raw.agent = self.stopped, self.agent.name
   return raw
end

-- Make the trial; its result, or the reason for its absence, goes to the journal.
local function work(self, at, armed)
   local ok, raw = pcall(run, self, at, armed)
   if not ok then
      raw = { failed = tostring(raw), late = type(raw) == "table" and raw.code == ETIME or nil,
         agent = self.agent.name }
      armed(raw)
   end
   self.agent.journal:write(self.trial.command, raw)
   self.state, self.stopped = "frozen", nil
   if self.when_idle then
      self.when_idle()
   end
end

-- Whether our common time is still what the controller compared with the others', within its error and its
-- possible slew. @return why not, a sentence
local function step_problem(clock, state, body)
   if type(body.raw) ~= "string" or type(body.distance) ~= "string" then
      return "its clock was not compared with the other agents' clocks"
   end
   local since = tonumber(time.number(state.raw) - time.number(body.raw))
   local moved = math.abs(tonumber(clock:distance() - time.number(body.distance)))
   return moved > state.error_ns + since * MAX_SLEW
      and ("its clock was stepped by %s ms"):format(format.decimal(moved / 1e6, 3)) or nil
end

-- The agreed start by our own clock; nil and why it is not known.
local function start_of(self, body)
   local at = time.number(body.at)
   if body.scale == "control" then
      local clock = Clock.new({ source = "control" }):follow(time.number(body.distance))
      self.trial.offsets = Offsets.new(clock)
      return at - clock:distance()
   elseif body.scale ~= "common" then -- all agents are on this machine
      return at
   end
   local clock = Clock.new(self.agent.plan.clock):open()
   local state = clock:state()
   if not state.synchronised then
      return nil, "its clock is not synchronised: " .. tostring(state.finding)
   end
   local stepped = step_problem(clock, state, body)
   self.trial.offsets = Offsets.new(clock)
   return not stepped and at - clock:distance() or nil, stepped
end

function act.arm(self, body)
   if self.state ~= "prepared" then
      return refuse(self, "no trial is prepared")
   end
   local writable, why = self.agent.journal:is_writable()
   if not writable then
      return refuse(self, "the journal cannot be written: " .. tostring(why))
   end
   local at, unknown = start_of(self, body)
   if not at or at <= 0 then -- it goes to the engine without its sign
      return refuse(self, unknown or "the start is over")
   end
   local failed = job.wait(function(wake)
      self.task = job.spawn(work, self, at, wake)
   end)
   if failed then
      self.state = "open"
      return refuse(self, failed.failed)
   end
   return { ok = true, body = {} }
end

function act.abort(self)
   self.stopped = (self.state == "armed" or self.state == "running") and "it was aborted" or nil
   if self.state == "prepared" then
      self.state = "open"
   end
   return { ok = true, body = {} }
end

--- Obey a command of the lease's holder.
function Leased:obey(command)
   return act[command.step](self, command.body, command)
end

--- The lease is over: stop what runs, and give the ports back.
-- @return the job that does so when the trial has ended; nil: it is done
function Leased:close(why)
   self.stopped, self.when_idle = why, nil
   local tester, task = self.tester, self.task
   local function close()
      if tester then
         tester:close()
      end
   end
   if task and not task.done then
      return job.spawn(function()
         failure.finally(close, pcall, task.join, task)
      end)
   end
   close()
   return nil
end

return M
