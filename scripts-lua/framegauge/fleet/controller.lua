-- SPDX-License-Identifier: BSD-3-Clause

--- The agents of a fleet as a controller sees them: connections, commands, leases.
--
-- A controller keeps no state but the epochs of its leases. It routes between its agents, so that a message
-- of one agent reaches its receivers.
local address = require "framegauge.plan.address"
local bus = require "framegauge.fleet.bus"
local connection = require "framegauge.core.connection"
local failure = require "framegauge.core.failure"
local job = require "framegauge.core.job"
local agent_names = require "framegauge.fleet.names"
local octets = require "framegauge.core.octets"
local plans = require "framegauge.plan"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

--- The number of agents that get expensive requests at the same time.
M.AT_ONCE = 64

local Controller = {}
Controller.__index = Controller

local VERSION = 1
local PATIENCE = 10 -- seconds for an answer, without the work that is asked for
local AGAIN = 1 -- seconds, after which a command without an answer is sent again; then later each time ...
local MOST_TIMES = 4 -- ... up to this many times later
local BUSY = 4
local RETRY_LEAST, RETRY_MOST = 0.2, 1 -- seconds between two tries to get all leases

local function identity()
   return ("%s@%s:%d"):format(os.getenv "USER" or "user", uv.os_gethostname(), uv.os_getpid())
end

local function connect(self, where, names)
   local handle
   local err = job.wait(function(wake)
      handle = connection.connect(address.of_service(where), wake)
   end)
   if err then
      handle:close()
      user_error.raise("run", BUSY, "no agent%s listens on %s (%s); start 'framegauge agent AGENT.yaml' there, and forward its address by 'ssh -L'; or framegauge-bridge, where it is fleet.bus",
         names[1] == plans.UNNAMED and "" or " " .. table.concat(names, ", "), where, err)
   end
   self:attach(names, handle)
end

--- What messages call an agent.
function Controller:name(name)
   return agent_names.agent(name, self.agents)
end

--- Take a connected handle as the link to agents.
function Controller:attach(names, handle)
   self.bus:attach(handle, function(reason)
      for _, name in ipairs(names) do
         self:lose(name, reason)
      end
   end)
end

-- Wake jobs that wait for an agent.
local function wake(self, name)
   if self.resting[name] then
      self.resting[name]()
   end
end

--- An agent is lost: it can no longer be reached.
function Controller:lose(name, reason)
   self.lost[name] = self.lost[name] or reason
   wake(self, name)
end

--- Wait for a time, or until the state of an agent changes.
function Controller:rest(name, seconds)
   if not self.lost[name] then
      local sleeper = {}
      self.resting[name] = function() sleeper.wake() end
      job.rest(sleeper, seconds)
      self.resting[name] = nil
   end
end

--- A controller without connections.
-- @param agents  list of { name =, address = }
-- @param o.run   name of the trials at the agents, without dots; default: a name of its own
-- @param o.by    the user; default: user, host and process
-- @param o.again  seconds after which a command without an answer is sent again
-- @param o.patience  seconds for an answer
function M.new(agents, o)
   return setmetatable({
      bus = bus.new { carries = "fg.v1.sent.>" }, agents = agents, lost = {}, over = {}, resting = {},
      epochs = {},
      by = o.by or identity(), again = o.again or AGAIN, patience = o.patience or PATIENCE,
      run = o.run or "run-" .. octets.hex(uv.random(8)),
   }, Controller)
end

-- Raises when it does not answer to its name.
local function meet(self, name)
   local answer = self:ask(name, "ports", {})
   if not answer.ok or answer.body.name ~= name then
      user_error.raise("run", BUSY, "there is no agent %s on %s: %s",
         name == plans.UNNAMED and "without a name" or name,
         tables.find(self.agents, "name", name).address, tostring(answer.refused))
   end
end

-- Connect to agents and meet them. @param some  go on without those that are not there: they are lost
local function reach(self, agents, some)
   local at, names = {}, tables.field(agents, "name")
   local function attempt(whose, fn, ...)
      local ok, err = pcall(fn, self, ...)
      if not ok and (not some or job.is_interrupt(err)) then
         error(err, 0)
      end
      for _, name in ipairs(ok and {} or whose) do
         self:lose(name, tostring(err))
      end
   end
   for _, one in ipairs(agents) do
      at[one.address] = at[one.address] or {}
      table.insert(at[one.address], one.name)
   end
   for _, where in ipairs(tables.keys(at)) do
      attempt(at[where], connect, where, at[where])
   end
   self.bus:await_wants(tables.map(names, function(name)
      return ("fg.v1.cmd.%s.ports"):format(name)
   end), self.again)
   M.together(names, function(name)
      attempt({ name }, meet, name)
   end)
end

--- Connect to agents, as new() takes them. Call it inside a job; raises when one is not there.
-- @param o.some  go on without those that are not there: they are lost
function M.connect(agents, o)
   o = o or {}
   local self = M.new(agents, o)
   local ok, err = pcall(reach, self, agents, o.some)
   if not ok then
      self:close()
      error(err, 0)
   end
   return self
end

--- Connect once more to agents whose connection is lost.
function Controller:reach(names)
   local gone = {}
   for _, name in ipairs(names) do
      gone[#gone + 1] = self.lost[name] and tables.find(self.agents, "name", name) or nil
      self.lost[name] = nil
   end
   reach(self, gone, true)
end

local function command_of(self, name, step, body, o)
   return {
      v = VERSION, run = o.run or self.run, trial = o.trial, attempt = o.attempt, step = step,
      epoch = self.epochs[name], by = self.by, body = body,
   }
end

--- Send an agent a message that needs no answer.
-- @param o  run, trial, attempt
function Controller:tell(name, step, body, o)
   self.bus:publish(("fg.v1.cmd.%s.%s"):format(name, step), command_of(self, name, step, body, o))
end

--- Send an agent a request, without checking the answer.
-- @param o  run (default: ours), trial, attempt, patience
-- @return the answer; of an agent that does not answer, { lost = true, refused = why }
function Controller:ask(name, step, body, o)
   o = o or {}
   local command = command_of(self, name, step, body, o)
   local ends, answer = uv.hrtime() / 1e9 + (o.patience or self.patience), nil
   local again = self.again
   -- a message may be lost: a repetition is harmless, but is more work for a slow agent
   while not answer and not self.lost[name] and uv.hrtime() / 1e9 < ends do
      answer = self.bus:request(("fg.v1.cmd.%s.%s"):format(name, step), command, again)
      again = math.min(2 * again, MOST_TIMES * self.again)
   end
   if answer and answer.refused then
      answer.refused = agent_names.sentence(name, tostring(answer.refused), self.agents)
   end
   return answer or { lost = true, refused = self.lost[name] and "the connection is lost: " .. self.lost[name]
      or "it does not answer" }
end

--- Send an agent a request; a refusal raises.
function Controller:must(name, step, body, o)
   return self:judge(name, self:ask(name, step, body, o))
end

--- What an agent answered; a refusal raises.
function Controller:judge(name, answer)
   if not answer.ok then
      user_error.raise("run", tonumber(answer.status) or BUSY, "%s: %s%s",
         self:name(name), tostring(answer.refused), answer.holder and (" (held by %s)"):format(answer.holder) or "")
   end
   return answer.body
end

--- Call several agents at once, and wait for all of them.
-- @param each     function(name)
-- @param at_once  how many may be asked at the same time; default: all
-- @return its results by name; the first error raises, and no further agent is called
function M.together(names, each, at_once)
   local jobs, out, asked, first = {}, {}, 0, nil
   local function ask_in_turn()
      while asked < #names and not first do
         asked = asked + 1
         local name = names[asked]
         local ok, result = xpcall(each, failure.keep_stack, name)
         out[name], first = result, first or not ok and { result } or nil
      end
   end
   for i = 1, math.min(at_once or #names, #names) do
      jobs[i] = job.spawn(ask_in_turn)
   end
   for _, one in ipairs(jobs) do
      one:join()
   end
   if first then
      error(first[1], 0)
   end
   return out
end

function Controller:release_all()
   M.together(tables.keys(self.epochs), function(name)
      self:ask(name, "release", {}, { patience = 2 })
      self.epochs[name] = nil
   end)
end

-- All or none: the first by name, then the others at once. Of two controllers that want the same agents only
-- one gets the first, so neither holds half.
-- @return true; or the first refusal, and whose it is
function Controller:try_leases(wanted, ttl, step)
   local left, refusal, whose = tables.keys(wanted), nil, nil
   local function lease(name)
      local answer = self:ask(name, step, { ports = wanted[name], ttl = ttl })
      if answer.ok then
         self.epochs[name] = answer.body.epoch
      elseif not refusal then
         refusal, whose = answer, name
      end
   end
   lease(table.remove(left, 1))
   M.together(left, function(name)
      if not refusal then
         lease(name)
      end
   end, M.AT_ONCE)
   if refusal then
      self:release_all()
   end
   return refusal or true, whose
end

-- How long to wait after a refusal, seconds. An earlier controller of our run is gone: its lease ends by
-- itself, or with the trial that it began.
local function patience_with(refusal, o)
   local ours = refusal.run and tables.contains(o.earlier or {}, refusal.run)
   if not refusal.holder then
      return 0
   elseif ours and not refusal.remaining_s then
      return math.huge
   end
   return math.max(o.wait or 0, ours and o.ttl + RETRY_MOST or 0)
end

--- Lease ports of several agents: all or none.
-- @param wanted     names of ports by agent
-- @param o.ttl      seconds
-- @param o.wait     how long ports may be in use by others, seconds
-- @param o.earlier  names of earlier controllers' runs that this one goes on with
-- @param o.take     take them from their present controller
function Controller:lease(wanted, o)
   local began = uv.hrtime() / 1e9
   while true do
      local refusal, name = self:try_leases(wanted, o.ttl, o.take and "take" or "lease")
      if refusal == true then
         break
      elseif uv.hrtime() / 1e9 - began >= patience_with(refusal, o) then
         user_error.raise("run", tonumber(refusal.status) or BUSY, "%s: %s", self:name(name),
            tostring(refusal.refused))
      end
      job.sleep(RETRY_LEAST + math.random() * (RETRY_MOST - RETRY_LEAST))
   end
   self:keep(o.ttl)
end

-- Renew an earlier reservation of an agent's ports for its remaining seconds.
local function restore(self, name, before, since)
   for port, seconds in pairs(before) do
      local left = seconds - (uv.hrtime() / 1e9 - since)
      self:ask(name, "reserve", { ports = { port }, ttl = left >= 1 and left or 0 }, { patience = 2 })
   end
end

--- Have ports of several agents reserved for our user, all or none. Raises when an agent refuses.
-- An agent whose answer is lost may have reserved its ports, so all are asked beforehand what they have.
-- @param wanted   names of ports by agent
-- @param seconds  from now on
function Controller:reserve(wanted, seconds)
   local names, since = tables.keys(wanted), uv.hrtime() / 1e9
   local before = M.together(names, function(name)
      return self:must(name, "reserve", { ports = wanted[name] }).before
   end, M.AT_ONCE)
   for i, name in ipairs(names) do
      local ok, problem = pcall(self.must, self, name, "reserve", { ports = wanted[name], ttl = seconds })
      if not ok then
         for k = 1, i do
            restore(self, names[k], before[names[k]], since)
         end
         error(problem, 0)
      end
   end
end

--- Lease ports of an agent that had lost them, or was lost itself. Raises on a refusal.
function Controller:lease_again(name, ports, ttl)
   self.epochs[name], self.over[name] = nil, nil
   self.epochs[name] = self:must(name, "lease", { ports = ports, ttl = ttl }).epoch
end

-- Renew the leases while this process lives.
function Controller:keep(ttl)
   self.timer = uv.new_timer()
   local every = math.ceil(ttl * 1000 / 3)
   self.timer:start(every, every, function()
      for name, epoch in pairs(self.epochs) do
         self.bus:ask(("fg.v1.cmd.%s.renew"):format(name), {
            v = VERSION, run = self.run, step = "renew", epoch = epoch, by = self.by, body = {},
         }, ttl / 3, function(answer)
            if answer and answer.refused and self.epochs[name] == epoch then
               self.over[name] = answer.refused -- a trial may still run to its end
               wake(self, name)
            end
         end)
      end
   end)
end

--- Give all leases back, and disconnect.
function Controller:close()
   if self.timer then
      self.timer:close()
      self.timer = nil
   end
   if job.current() then
      pcall(self.release_all, self)
   end
   self.bus:close()
end

return M
