-- SPDX-License-Identifier: BSD-3-Clause

--- The protocols of links, such as LLDP, behind the ports of a tester: agents that exchange frames with the
-- device at the other end, during the test.
--
-- A tester has one set of agents, which a new set replaces. They are idle until started, and stay active from
-- trial to trial, on real ports also between trials. Their clock is real time even on the virtual wire, whose
-- time passes in trials only: there frames arrive with the next action that lets time pass.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local job = require "framegauge.core.job"
local Live = require "framegauge.tester.live"
local pass = require "framegauge.tester.pass"
local uv = require "luv"

local C = api.C
local TURN_SECONDS = 0.05
local ROOM = 1514 -- FG_LINK_OCTETS

local Link = {}
Link.__index = Link

--- The clock of agents, seconds.
-- @usage link.clock() > 0 --> true
function Link.clock()
   return uv.hrtime() / 1e9
end

local function open(tester, port, types)
   local err, array = api.error(), ffi.new("uint16_t[?]", #types, types)
   api.check(C.fg_engine_link_open(tester.engine, port - 1, array, #types, err), err)
end

--- Put agents behind the ports of a tester, in place of the present ones. No trial may be running.
-- @param tester  the open tester
-- @param agents  list of { port = its number, agent = such as framegauge.lldp's }; a port may have
--                several. An agent has an `ethertype`, and the methods start(now, up), turn(now, up), which
--                is called some times in a second, stop(now), hear(frame, now): the first three return a list
--                of frames to be sent; up: whether the link is
-- @usage local two = link.new(tester, {
--    { port = 1, agent = lldp.agent { source = "02:00:00:00:01:01", name = "left" } },
--    { port = 2, agent = lldp.agent { source = "02:00:00:00:01:02", name = "right" } },
-- })
-- two:start()
-- two:pass(0.2, function() return #two:agent(2):neighbours() == 1 end)
-- two:close()
-- return two:agent(2):neighbours()[1].port.text --> left
function Link.new(tester, agents)
   local self = setmetatable({ tester = tester, agents = agents, ports = {}, buffer = ffi.new("uint8_t[?]",
      ROOM) }, Link)
   for port = 1, #tester.ports do
      local types, seen = {}, {}
      for _, one in ipairs(agents) do
         if one.port == port and not seen[one.agent.ethertype] then
            seen[one.agent.ethertype], types[#types + 1] = true, one.agent.ethertype
         end
      end
      open(tester, port, types)
      self.ports[#self.ports + 1] = types[1] and port or nil
   end
   return self
end

--- An agent by its place in the list.
-- @usage local one = link.new(tester, { { port = 1, agent = lldp.agent { source = "02:00:00:00:01:01" } } })
-- return one:agent(1).counts.frames_tx --> 0
function Link:agent(i)
   return self.agents[i].agent
end

local function send(self, port, frames)
   for _, frame in ipairs(frames) do
      C.fg_engine_link_send(self.tester.engine, port - 1, frame, #frame)
   end
end

-- Pass a port's received frames to its agents; without a time, drop them.
local function receive(self, port, now)
   local length = tonumber(C.fg_engine_link_receive(self.tester.engine, port - 1, self.buffer))
   while length > 0 do
      local frame = ffi.string(self.buffer, length)
      local kind = frame:byte(13) * 256 + frame:byte(14)
      for _, one in ipairs(self.agents) do
         if now and one.port == port and one.agent.ethertype == kind then
            one.agent:hear(frame, now)
         end
      end
      length = tonumber(C.fg_engine_link_receive(self.tester.engine, port - 1, self.buffer))
   end
end

-- One step of all of them.
local function turn(self)
   local now = Link.clock()
   for _, port in ipairs(self.ports) do
      receive(self, port, now)
   end
   for _, one in ipairs(self.agents) do
      send(self, one.port, one.agent:turn(now, Live.port(self.tester, one.port).link))
   end
end

--- Does a frame wait until time of the virtual wire passes?
-- @usage local one = link.new(tester, { { port = 1, agent = lldp.agent { source = "02:00:00:00:01:01" } } })
-- return one:waits() --> false
function Link:waits()
   if self.tester.wires and not self.tester:is_running() then
      for _, port in ipairs(self.ports) do
         if C.fg_engine_link_waits(self.tester.engine, port - 1) then
            return true
         end
      end
   end
   return false
end

--- Start the agents.
-- @param on_waiting  function() that is called, inside a job, when a frame waits for the time of the virtual
--                    wire; by default the frame waits until other actions let time pass
-- @usage local one = link.new(tester, { { port = 1, agent = lldp.agent { source = "02:00:00:00:01:01" } } })
-- one:start()
-- one:close()
-- return one:agent(1).counts.frames_tx --> 1
function Link:start(on_waiting)
   if self.running then
      return
   end
   self.running = {}
   local running, now = self.running, Link.clock()
   for _, port in ipairs(self.ports) do
      receive(self, port) -- frames that arrived while they were idle are old
   end
   for _, one in ipairs(self.agents) do
      send(self, one.port, one.agent:start(now, Live.port(self.tester, one.port).link))
   end
   job.spawn(function()
      while self.ports[1] and self.running == running do
         job.rest(self, TURN_SECONDS)
         if self.running == running then
            turn(self)
         end
         if self.running == running and on_waiting and self:waits() then
            on_waiting()
         end
      end
   end)
end

--- Stop the agents, after their last frames.
-- @usage local one = link.new(tester, { { port = 1, agent = lldp.agent { source = "02:00:00:00:01:01" } } })
-- one:start()
-- one:stop()
-- return one:agent(1).counts.frames_tx --> 2
function Link:stop()
   if self.running then
      local now = Link.clock()
      for _, one in ipairs(self.agents) do
         send(self, one.port, one.agent:stop(now))
      end
      self:close()
   end
end

--- Stop the agents without further frames.
-- @usage local one = link.new(tester, { { port = 1, agent = lldp.agent { source = "02:00:00:00:01:01" } } })
-- one:start()
-- one:close()
function Link:close()
   self.running = nil
   if self.wake then
      self.wake()
   end
end

--- Let time of the tester pass, with the agents active. Call it inside a job.
-- @param seconds  at most
-- @param done     function() that ends it by returning true
-- @return what done() returned last
-- @usage local one = link.new(tester, { { port = 1, agent = lldp.agent { source = "02:00:00:00:01:01" } } })
-- return one:pass(0.01, function() return true end) --> true
function Link:pass(seconds, done)
   return pass(self.tester, seconds, function()
      if self.running then
         turn(self)
      end
      return done()
   end)
end

return Link
