-- SPDX-License-Identifier: BSD-3-Clause

--- An agent: the ports of one host, offered to any controller over a bus (framegauge agent), or a
-- controller's own ports in addition to the ports of agents.
--
-- A command is { v =, run =, trial =, attempt =, step =, epoch =, by =, body = } under
-- fg.v1.cmd.NAME.STEP; its answer { ok = true, body = } or { refused = why, holder =, state =, status = }.
-- Its subject follows from (run, trial, attempt, step); the epoch is its authority. So a repeated command
-- gets its first answer again, a command with an old epoch is refused, and one at the wrong time gets the
-- state in the answer.
--
--    lease  renew  release  take  reserve   framegauge.fleet.ledger
--    open                             open the leased ports with these addresses
--    prepare  arm  collect  forget  abort   one trial, in this order (framegauge.fleet.trial)
--    ports  clock  drain              for people
local bus = require "framegauge.fleet.bus"
local Clock = require "framegauge.clock"
local engine = require "framegauge.fleet.engine"
local job = require "framegauge.core.job"
local Journal = require "framegauge.fleet.journal"
local ledger = require "framegauge.fleet.ledger"
local leased = require "framegauge.fleet.leased"
local names = require "framegauge.fleet.names"
local plans = require "framegauge.plan"
local tables = require "framegauge.core.tables"
local time = require "framegauge.clock.time"
local user_error = require "framegauge.core.user_error"

local M = {}

--- Changes when testers would no longer understand each other.
M.VERSION = 1

--- The name of an agent whose file has none, and its port's name: plans have its address instead of both. It
-- trusts all who can reach it, and keeps nothing on the disk.
M.UNNAMED, M.PORT = plans.UNNAMED, names.PORT

local TRUSTING = { raw = true, trusting = true }

local Agent = {}
Agent.__index = Agent

local DEAF_SECONDS = 0.5 -- between two looks
local BOOTTIME = 7
local BAD, BUSY = 2, 4 -- statuses of the program that was refused
local KEPT_ANSWERS = 1000
local PATIENCE = 5 -- seconds for what other agents sent, after the drain

local FIELDS = {
   v = "number", run = "string", trial = "number", attempt = "number", step = "string", epoch = "number",
   by = "string", body = "table",
}
local NEEDED = { "v", "step", "by", "body" }

local function refused(why, more)
   local answer = tables.copy(more or {})
   answer.refused, answer.status = why, answer.status or BAD
   return answer
end

local function done(body)
   return { ok = true, body = body or {} }
end

local function form_problem(command)
   if type(command) ~= "table" then
      return "a command is an object"
   end
   for key, value in pairs(command) do
      if FIELDS[key] ~= type(value) then
         return FIELDS[key] and ("%s is no %s"):format(key, FIELDS[key])
            or ("an unknown field: %s"):format(tostring(key):sub(1, 40))
      end
   end
   for _, key in ipairs(NEEDED) do
      if command[key] == nil then
         return key .. " is missing"
      end
   end
   return nil
end

-- Commands that need no lease, or give one.
local free = {}

function free.ports(self)
   return done { name = self.name, version = M.VERSION, draining = self.draining, ports = self:rows() }
end

function free.clock(self)
   local clock = Clock.new(self.plan.clock):open()
   local state = clock:state()
   state.distance = time.text(clock:distance())
   return done(state)
end

function free.drain(self, command)
   self.draining = command.body.on ~= false
   return done { draining = self.draining }
end

-- Refuse a lease of ports. @param other  the conflicting lease or reservation
-- @param unable  the host cannot; without both this and `other` the command is wrong
local function not_given(self, why, other, unable)
   return refused(why, { holder = other and other.by, run = other and other.run,
      epoch = other and other.epoch, status = (other or unable) and BUSY or BAD,
      remaining_s = other and self.ledger:remaining(other) })
end

function free.lease(self, command, take)
   if self.draining then
      return refused("the agent is draining: it gives no more leases", { status = BUSY })
   end
   local wanted = command.body
   local lease, why, other, unable = self.ledger:lease { ports = wanted.ports, ttl = wanted.ttl,
      by = command.by, run = command.run, take = take }
   if not lease then
      return not_given(self, why, other, unable)
   end
   self.work[lease.epoch] = leased.new(self, lease)
   return done { epoch = lease.epoch }
end

function free.reserve(self, command)
   local wanted = command.body
   local before, why, other = self.ledger:reserve { ports = wanted.ports, ttl = wanted.ttl, by = command.by }
   return before and done { before = before } or not_given(self, why, other)
end

-- The old lease ends only when the new lease is certain.
function free.take(self, command)
   return free.lease(self, command, function(lease, port)
      self:finish(lease, ("%s took port %s"):format(command.by, port))
   end)
end

-- A kept result is also sent to a controller that takes up another controller's run.
function free.collect(self, command)
   local result = self.journal:read(command)
   if not result then
      return refused("there is no result of this trial",
         { state = self:state_of(command.epoch), status = BUSY })
   end
   return done(result)
end

function free.forget(self, command)
   self.journal:forget(command)
   return done()
end

function Agent:state_of(epoch)
   local work = self.work[epoch]
   return work and work.state or "free"
end

function Agent:rows()
   local rows = self.ledger:rows()
   for i, row in ipairs(rows) do
      row.device = self.plan.ports[i].device
      row.state = row.epoch and self:state_of(row.epoch) or row.by and "reserved" or "free"
      local work = row.epoch and self.work[row.epoch]
      row.trial = work and work.trial and work.trial.number
   end
   return rows
end

local function close_work(self, work, why)
   self.closing = tables.map(self.closing, function(one) return not one.done and one or nil end)
   table.insert(self.closing, work:close(why))
end

-- A lease ends, and all work under it.
function Agent:finish(lease, why)
   self.ledger:release(lease)
   local work = self.work[lease.epoch]
   self.work[lease.epoch] = nil
   if work then
      close_work(self, work, why)
   end
end

-- The answer to a command under a lease.
function Agent:under_lease(command)
   local lease = self.ledger:of_epoch(command.epoch)
   if not lease then
      local newest = self.ledger:rows()
      local holder = tables.find(newest, "epoch", self.ledger.epoch)
      return refused(("the lease with epoch %s is over"):format(tostring(command.epoch)),
         { holder = holder and holder.by, epoch = self.ledger.epoch, state = "free", status = BUSY })
   elseif command.step == "renew" then
      self.ledger:renew(lease)
      return done()
   elseif command.step == "release" then
      self:finish(lease, "it was released")
      return done()
   end
   return self.work[lease.epoch]:obey(command)
end

local function key_of(command)
   return table.concat({ command.run or "", command.trial or 0, command.attempt or 0, command.step,
      command.epoch or 0, command.by }, "\0")
end

-- Steps whose repetition gets the first answer; the others may change, or change nothing.
local KEPT = { lease = true, open = true, prepare = true, arm = true }

function Agent:remember(key, command, answer)
   self.answers[key] = { body = command.body, answer = answer }
   table.insert(self.order, key)
   if #self.order > KEPT_ANSWERS then
      self.answers[table.remove(self.order, 1)] = nil
   end
end

function Agent:obey(command)
   local problem = form_problem(command)
   if problem then
      return refused(problem)
   elseif command.v ~= M.VERSION then
      return refused(("the agent speaks version %d, not %s"):format(M.VERSION, tostring(command.v)))
   elseif not free[command.step] and not leased.STEPS[command.step] then
      return refused(("there is no step '%s'"):format(command.step:sub(1, 40)))
   end
   local key = key_of(command)
   local before = KEPT[command.step] and command.run and self.answers[key]
   if before and self.ledger:of_epoch(command.epoch or before.answer.body.epoch) then
      return tables.same(before.body, command.body) and before.answer
         or refused "the same step was asked for with another body"
   end
   local answer = free[command.step] and free[command.step](self, command) or self:under_lease(command)
   if answer.ok and KEPT[command.step] and command.run then
      self:remember(key, command, answer)
   end
   return answer
end

-- Callers that wait for the answer to a step that is under way.
function Agent:waiting_for(command)
   if not KEPT[type(command) == "table" and command.step] or form_problem(command) then
      return {}
   end
   local key = key_of(command)
   self.doing[key] = self.doing[key] or { key = key }
   return self.doing[key]
end

-- Answer a command in a job of its own, because some wait.
function Agent:hear(command, subject, answer)
   if type(command) == "table" and command.step ~= subject:match "[^.]+$" then
      command = "a step that differs from its subject's"
   end
   local waiting = self:waiting_for(command)
   waiting[#waiting + 1] = answer or function() end
   if waiting[2] then
      return
   end
   job.spawn(function()
      local ok, result = pcall(self.obey, self, command)
      if not ok then
         result = refused(tostring(result), { status = type(result) == "table" and result.status or BUSY })
      end
      self.refusals = self.refusals + (result.refused and 1 or 0)
      if waiting.key then
         self.doing[waiting.key] = nil
      end
      for _, tell in ipairs(waiting) do
         tell(result)
      end
   end)
end

-- The plan of an agent without a name: its port has a name that is known.
local function unnamed(plan)
   local copy = tables.copy(plan)
   copy.ports = { tables.copy(plan.ports[1]) }
   copy.ports[1].name = M.PORT
   return copy
end

--- Make an agent of a plan with test: agent, or of the own ports of a controller's plan.
-- @param o.name, o.bus  of the agent of a controller's own ports: its name, and the controller's bus
-- @param o.now    function() -> seconds; default: CLOCK_BOOTTIME
-- @param o.patience  seconds for what other agents sent
-- @param o.open, o.engine  open its ports and ask their engine (default: framegauge.tester's open, and
--                          framegauge.fleet.engine)
function M.new(plan, o)
   o = o or {}
   local named = plan.agent and plan.agent.name and plan.agent
   local self = setmetatable({
      plan = (named or o.name) and plan or unnamed(plan),
      name = o.name or named and named.name or M.UNNAMED, permits = named or TRUSTING, closing = {},
      work = {}, answers = {}, order = {}, doing = {}, refusals = 0, bus = o.bus or bus.new(),
      open = o.open or require("framegauge.tester").open, engine = o.engine or engine,
      patience = o.patience or PATIENCE,
   }, Agent)
   local folder, problem
   if named then
      folder, problem = Journal.folder(named.state)
   end
   if not problem then
      self.journal = Journal.new(folder, self.name)
      self.ledger, problem = ledger.open {
         path = folder and folder .. "/" .. self.name .. ".epoch",
         ports = tables.field(self.plan.ports, "name"),
         now = o.now or function() return tonumber(time.read(BOOTTIME)) / 1e9 end,
      }
   end
   if problem then
      user_error.raise("agent", BUSY, "agent.state: %s", problem)
   end
   self.bus:serve("fg.v1.cmd." .. self.name .. ".*", function(command, subject, answer, link)
      if not (o.bus and link) then -- a controller's own ports obey nobody else
         self:hear(command, subject, answer)
      end
   end)
   self.bus:serve("fg.v1.sent." .. self.name .. ".*", function(body, subject)
      for _, work in pairs(self.work) do
         work:learn(body, subject:match "[^.]+$")
      end
   end)
   return self
end

--- End expired work. Call it often: between calls no command is received either.
function Agent:look()
   local now = self.ledger.now()
   if self.looked and now - self.looked > DEAF_SECONDS then
      self.ledger:extend(now - self.looked)
   end
   self.looked = now
   for _, lease in ipairs(self.ledger:expire()) do
      local work = self.work[lease.epoch]
      if work and work.state == "running" then
         self.ledger:orphan(lease) -- it ends by its own schedule
         work.when_idle = function()
            self:finish(lease, "its lease was over")
         end
      else
         self:finish(lease, "its lease was over")
      end
   end
end

--- End all work; inside a job, wait until the ports are closed.
function Agent:close()
   for _, work in pairs(self.work) do
      close_work(self, work, "the agent ends")
   end
   for _, closing in ipairs(job.current() and self.closing or {}) do
      closing:join()
   end
   self.bus:close()
end

return M
