-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge far`: a tester that does what another one says (framegauge.far.link), one at a time.
local Bench = require "framegauge.bench"
local Link = require "framegauge.far.link"
local Standing = require "framegauge.far.standing"
local clock = require "framegauge.far.clock"
local job = require "framegauge.job"
local octets = require "framegauge.octets"
local protocol = require "framegauge.console.protocol"
local refusal = require "framegauge.refusal"
local side = require "framegauge.far.side"

local M = {}

local Agent = {}
Agent.__index = Agent

local ADDRESSES = {
   "ipv4", "prefix4", "gateway4", "ipv6", "prefix6", "gateway6", "gateway_mac", "vlan",
}

-- Our port with the addresses that the near tester's plan gives it.
local function plan_for(plan, wanted)
   local copy, port = {}, {}
   for key, value in pairs(plan) do
      copy[key] = value
   end
   for key, value in pairs(plan.ports[1]) do
      port[key] = value
   end
   for _, key in ipairs(ADDRESSES) do
      port[key] = wanted[key]
   end
   copy.ports, copy.test = { port }, "y1564"
   return copy
end

local answer = {}

answer["clock?"] = function(self)
   local state = clock.state()
   state.op = "clock!"
   self.link:send(state)
end

function answer.hello(self, object)
   if object.version ~= Link.VERSION then
      refusal.raise("far", 4, "it is of another version of Framegauge than the near tester")
   end
   local err
   self.standing = Standing.new(object.scale, self.link)
   self.bench, err = Bench.open(plan_for(self.plan, object.port), { max_frame = object.max_frame })
   if not self.bench then
      error(err, 0)
   end
   self.ours = object.port.name
   local gateways = {}
   for version = 4, 6, 2 do
      local mac = self.bench:gateway_mac(1, version)
      gateways["gateway" .. version] = mac and octets.mac_text(mac) or nil
   end
   self.link:send { op = "hello", version = Link.VERSION, port = self.bench.ports[1], gateways = gateways }
end

function answer.trial(self, object)
   if not self.bench then
      refusal.raise("far", 4, "a trial before hello")
   end
   self.stopped = false
   self.standing:forget()
   self.link:send { op = "ready" }
   local start = self.link:receive("start", false)
   local raw, missed = side.trial {
      bench = self.bench, link = self.link, standing = self.standing, trial = object.trial, ours = self.ours,
      at = clock.number(start.at), stopped = function() return self.stopped end,
   }
   self.link:send { op = "result", raw = raw, missed = missed }
end

-- Do what is asked, until the connection ends.
function Agent:serve()
   while not self.link.lost do
      local ok, err = pcall(function()
         local object = self.link:receive(nil, false)
         local act = answer[object.op]
         if act then
            act(self, object)
         end
      end)
      if not ok and type(err) == "table" and err.interrupted then
         error(err, 0)
      elseif not ok and not self.stopped and not self.link.lost then
         self.link:send { op = "failed", message = tostring(err), status = type(err) == "table" and err.status
            or 4 }
      end
   end
end

local function say(...)
   io.stdout:write(string.format(...), "\n")
   io.stdout:flush()
end

-- One near tester, from its first word to its last.
local function attend(plan, handle, agent)
   agent.link = Link.over(handle, {
      clock = function(object)
         if agent.standing then
            agent.standing:hear(object, false)
         end
      end,
      stop = function()
         agent.stopped = true
      end,
   })
   agent.link.on_loss = function()
      agent.stopped = true
   end
   agent.plan = plan
   say("a near tester is here")
   local ok, err = pcall(agent.serve, agent)
   if agent.bench then
      agent.bench:close()
   end
   agent.link:close()
   say("it is gone")
   if not ok then
      error(err, 0)
   end
end

--- Serve near testers until interrupted. Call it inside a job.
-- @param plan            a loaded plan with test: far
-- @param options.seconds  how long; nil: until Ctrl-C
-- @return exit status
function M.main(plan, options)
   local waiting, busy = {}, false
   job.ignore_broken_pipes()
   local listener, err = Link.listen(plan.far.listen, function(handle)
      if busy or waiting[1] then
         handle:write(protocol.line { op = "failed", message = "another near tester is here", status = 4 },
            function() handle:close() end)
      else
         waiting[1] = handle
      end
   end)
   if not listener then
      refusal.raise("far", 4, "far.listen: %s cannot be listened on: %s", plan.far.listen, tostring(err))
   end
   say("far: listening on %s", plan.far.listen)
   local ends = options.seconds and os.time() + options.seconds
   local ok, why = pcall(function()
      while not (ends and os.time() >= ends) do
         local handle = table.remove(waiting)
         if handle then
            busy = true
            attend(plan, handle, setmetatable({}, Agent))
            busy = false
         else
            job.sleep(0.05)
         end
      end
   end)
   listener:close()
   if not ok and not (type(why) == "table" and why.interrupted) then
      error(why, 0)
   end
   return 0
end

return M
