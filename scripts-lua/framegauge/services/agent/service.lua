-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge agent`: a tester controlled by another one (framegauge.tester.remote.link), one at a time.
local Tester = require "framegauge.tester"
local Clock = require "framegauge.clock"
local ClockOffset = require "framegauge.tester.remote.clock_offset"
local connection = require "framegauge.core.connection"
local failure = require "framegauge.core.failure"
local half_trial = require "framegauge.tester.remote.half_trial"
local job = require "framegauge.core.job"
local Link = require "framegauge.tester.remote.link"
local say = require "framegauge.core.say"
local service = require "framegauge.core.service"
local shared = require "framegauge.tester.remote.shared"
local tables = require "framegauge.core.tables"
local time = require "framegauge.clock.time"
local user_error = require "framegauge.core.user_error"

local M = {}

local Agent = {}
Agent.__index = Agent

-- Our port with the addresses of the local tester's plan.
local function plan_for(plan, wanted)
   local copy = tables.copy(plan)
   copy.ports = { shared.addressed(plan.ports[1], wanted) }
   return copy
end

local answer = {}

answer["clock?"] = function(self)
   self.clock = Clock.new(self.plan.clock):open()
   local state = self.clock:state()
   state.op = "clock!"
   self.link:send(state)
end

function answer.hello(self, object)
   if object.version ~= Link.VERSION then
      user_error.raise("agent", 4, "it is a different version of Framegauge")
   end
   local err
   self.offset = ClockOffset.new(object.scale, self.link, self.clock)
   self.tester, err = Tester.open(plan_for(self.plan, object.port), { max_frame = object.max_frame })
   if not self.tester then
      error(err, 0)
   end
   self.ours = object.port.name
   self.link:send { op = "hello", version = Link.VERSION, port = self.tester.ports[1],
      gateways = shared.gateways(self.tester, 1) }
end

function answer.trial(self, object)
   if not self.tester then
      user_error.raise("agent", 4, "a trial before hello")
   end
   self.stopped = false
   self.offset:forget()
   self.link:send { op = "ready" }
   local start = self.link:receive("start", false)
   local raw, missed = half_trial.trial {
      tester = self.tester, link = self.link, offset = self.offset, trial = object.trial, ours = self.ours,
      at = time.number(start.at), stopped = function() return self.stopped end,
   }
   self.link:send { op = "result", raw = raw, missed = missed }
end

-- Answer the local tester until it disconnects.
function Agent:serve()
   while not self.link.lost do
      local ok, err = pcall(function()
         local object = self.link:receive(nil, false)
         local act = answer[object.op]
         if act then
            act(self, object)
         end
      end)
      if job.is_interrupt(err) then
         error(err, 0)
      elseif not ok and not self.stopped and not self.link.lost then
         self.link:send { op = "failed", message = tostring(err), status = type(err) == "table" and err.status
            or 4 }
      end
   end
end

-- Serve one local tester until it disconnects.
local function attend(plan, handle)
   local agent = setmetatable({ plan = plan }, Agent)
   local function stop()
      agent.stopped = true
   end
   agent.link = Link.over(handle, {
      clock = function(object)
         if agent.offset then
            agent.offset:hear(object, false)
         end
      end,
      stop = stop,
   })
   agent.link.on_loss = stop
   say "a local tester has connected"
   failure.finally(function()
      if agent.tester then
         agent.tester:close()
      end
      agent.link:close()
      say "it has disconnected"
   end, agent.serve, agent)
end

--- Serve local testers until interrupted. Call it inside a job.
-- @param plan            a loaded plan with test: agent
-- @param options.seconds  how long; nil: until Ctrl-C
function M.main(plan, options)
   if plan.agent.name then
      return require("framegauge.fleet.agent").main(plan, options)
   end
   local waiting, busy = {}, false
   job.ignore_broken_pipes()
   local listener, err = Link.listen(plan.agent.listen, function(handle)
      if busy or waiting[1] then
         handle:write(connection.line { op = "failed", message = "it serves another tester", status = 4 },
            function() handle:close() end)
      else
         waiting[1] = handle
      end
   end)
   if not listener then
      user_error.raise("agent", 4, "cannot listen on %s (agent.listen): %s", plan.agent.listen, tostring(err))
   end
   say("agent: listening on " .. plan.agent.listen)
   service.notify "READY=1"
   local ends = options.seconds and os.time() + options.seconds
   failure.finally(function()
      service.notify "STOPPING=1"
      listener:close()
   end, function()
      while not (ends and os.time() >= ends) do
         local handle = table.remove(waiting)
         if handle then
            busy = true
            attend(plan, handle)
            busy = false
         else
            job.sleep(0.05)
         end
      end
   end)
end

return M
