-- SPDX-License-Identifier: BSD-3-Clause

--- A tester of two parts: our port, and a remote agent's port. A method uses it like any other tester
-- (framegauge.tester), except that it describes the frames of a stream and does not build them, because each
-- part builds its own.
local Tester = require "framegauge.tester"
local Clock = require "framegauge.clock"
local exchange = require "framegauge.tester.remote.exchange"
local failure = require "framegauge.core.failure"
local format = require "framegauge.text.format"
local job = require "framegauge.core.job"
local Link = require "framegauge.tester.remote.link"
local pair = require "framegauge.clock.pair"
local shared = require "framegauge.tester.remote.shared"
local half_trial = require "framegauge.tester.remote.half_trial"
local ClockOffset = require "framegauge.tester.remote.clock_offset"
local tables = require "framegauge.core.tables"
local time = require "framegauge.clock.time"
local user_error = require "framegauge.core.user_error"

local RemoteTester = {}
RemoteTester.__index = RemoteTester

local LEAD = 0.3 -- seconds from the order to the start, without learning; doubled after each failure
local ATTEMPTS = 5
local OPENING = 120 -- seconds for the agent to open its port
local SETTLING = 3 -- answers about its clock before the first trial

-- The plan of one of the ports alone.
local function plan_of(plan, index)
   local copy = tables.copy(plan)
   copy.ports = { plan.ports[index] }
   return copy
end

-- The numbers of our port and of the agent's.
local function ends(plan)
   for i, port in ipairs(plan.ports) do
      if port.kind == "agent" then
         return 3 - i, i
      end
   end
end

function RemoteTester:scale_of(here, there, asked, heard)
   if pair.same(here, there, asked, heard) then
      return "machine"
   end
   return self.plan.y1564.delays and "common" or "control"
end

-- Largest permitted offset of the clocks, nanoseconds: a share of the smallest delay criterion.
local function tolerance(plan)
   local least = math.huge
   for _, service in ipairs(plan.y1564.services) do
      local reverse = service.reverse and service.reverse.acceptance or {}
      least = math.min(least, service.acceptance.ftd, reverse.ftd or math.huge)
   end
   return plan.y1564.clock_error * least * 1e9
end

local function percent(plan)
   return ("%g %%"):format(plan.y1564.clock_error * 100)
end

function RemoteTester:greet()
   local port = self.plan.ports[self.there]
   self.clock = Clock.new(self.plan.clock):open()
   local asked = time.raw()
   self.link:send { op = "clock?" }
   local state = self.link:receive "clock!"
   local here, heard = self.clock:state(), time.raw()
   local scale = self:scale_of(here, state, asked, heard)
   local problem = scale == "common"
      and pair.problem(here, state, tolerance(self.plan), percent(self.plan))
   if problem then
      user_error.raise("run", 2, "%s", problem)
   end
   self.offset = ClockOffset.new(scale, self.link, self.clock)
   return self.link:ask({
      op = "hello", version = Link.VERSION, port = port, scale = scale,
      max_frame = tables.max(self.plan.needs.frame_sizes),
   }, "hello", OPENING)
end

-- Wait until the offset of the remote clock is known.
function RemoteTester:settle_clock()
   local stop = self.offset:watch()
   while self.offset.heard < SETTLING do
      job.sleep(0.01)
      if self.link.lost then
         break
      end
   end
   stop()
end

function RemoteTester:open_local()
   local err
   self.tester, err = Tester.open(plan_of(self.plan, self.here), {
      max_frame = tables.max(self.plan.needs.frame_sizes),
   })
   if not self.tester then
      error(err, 0)
   end
end

-- Both ports in the order of the plan; the agent has described its own.
function RemoteTester:describe(hello)
   local theirs = hello.port
   theirs.name, theirs.notes = self.plan.ports[self.there].name, { "of the remote agent" }
   theirs.line_rate = self.plan.ports[self.there].line_rate or theirs.line_rate
   self.gateways = hello.gateways
   self.ports = {}
   self.ports[self.here], self.ports[self.there] = self.tester.ports[1], theirs
end

--- Connect to the agent of a plan and open both ports. Fails when the clocks do not agree.
-- @return the tester, or nil and an error object
function RemoteTester.open(plan)
   local self = setmetatable({ plan = plan, next_id = 1 }, RemoteTester)
   self.here, self.there = ends(plan)
   local ok, err = pcall(function()
      self.link = Link.connect(plan.ports[self.there].device:match "^agent:(.*)$", {
         clock = function(object)
            self.offset:hear(object, true)
         end,
      })
      local hello = self:greet()
      if hello.version ~= Link.VERSION then
         user_error.raise("run", 4, "the agent is a different version of Framegauge")
      end
      self:open_local()
      self:describe(hello)
      self:settle_clock()
   end)
   if not ok then
      self:close()
      return nil, err
   end
   return self
end

function RemoteTester:close()
   if self.link then
      self.link:close()
   end
   if self.tester then
      self.tester:close()
   end
end

function RemoteTester:gateway_mac(i, version)
   if i == self.here then
      return self.tester:gateway_mac(1, version)
   end
   return shared.gateway_mac(self.gateways, version)
end

RemoteTester.max_fps, RemoteTester.port_index = Tester.max_fps, Tester.port_index

--- The description of a frame, for both parts.
function RemoteTester.template(size, stack)
   return { size = size, stack = stack }
end

-- What is wrong with the clocks: list of sentences.
-- @param off       bound of their offset, ns
-- @param negative  number of negative delays
function RemoteTester:doubts(off, negative)
   local list = {}
   list[1] = self.offset.lost and "a clock lost its synchronisation: " .. self.offset.lost or nil
   if off > tolerance(self.plan) then
      list[#list + 1] = ("the clocks of the two testers may differ by %s, more than %s of the smallest FTD"):format(format.nanoseconds(off), percent(self.plan))
   end
   if negative > 0 then
      list[#list + 1] = ("%s negative: the clocks of the two testers differ by more than their sources report"):format(format.plural(negative, "delay"))
   end
   return list
end

-- One-way delays are as exact as the clocks.
function RemoteTester:judge_clocks(raw)
   local off, negative = self.offset:error(), 0
   for _, direction in ipairs(raw.directions) do
      local latency = direction.latency
      negative = negative + direction.negative
      if not off then
         direction.latency = nil
      elseif latency then
         latency.clock_error_ns = off
         latency.error_bound_ns = latency.error_bound_ns + off
      end
   end
   raw.invalid = off and self:doubts(off, negative) or nil
   return raw
end

-- Run a trial that starts after some seconds, without learning.
-- @return its counts, or nil and a sentence: one part was not ready in time
function RemoteTester:attempt(trial, ours, lead)
   self.link:ask({ op = "trial", trial = trial }, "ready")
   local at = half_trial.moment(self.offset, lead + trial.learning_wait)
   self.link:send { op = "start", at = time.text(at) }
   local here, missed = half_trial.trial {
      tester = self.tester, link = self.link, offset = self.offset, trial = trial, ours = ours, at = at,
      stopped = function() return self.link:has_failed() end,
   }
   local there = self.link:receive "result"
   if not here then
      return nil, missed
   end
   there.raw.ports[1].name = self.plan.ports[self.there].name
   return self:judge_clocks(exchange.join(trial.streams, ours, here, there.raw))
end

--- Run one trial in both parts, see Tester:trial; only with o.streams. If a busy host is not ready at the
-- start, a later start is tried.
function RemoteTester:trial(o)
   local ours = self.plan.ports[self.here].name
   local trial = {
      first_id = shared.take_ids(self, #o.streams), streams = exchange.pack_streams(o.streams),
      learning_wait = o.learning_wait, drain = o.drain, settle = o.settle,
   }
   local watching = self.offset:watch()
   return failure.finally(function(succeeded)
      watching()
      if not succeeded then
         self.link:send { op = "stop" }
      end
   end, function()
      local reason
      for i = 1, ATTEMPTS do
         local raw, missed = self:attempt(trial, ours, LEAD * 2 ^ (i - 1))
         if raw then
            return raw
         end
         reason = missed
      end
      user_error.raise("run", 4, "the two testers were not ready in time, %d times in a row: %s", ATTEMPTS,
         reason)
   end)
end

function RemoteTester:snapshot()
   return self.tester:snapshot()
end

--- Captures are not possible.
function RemoteTester.tap()
   user_error.raise("run", 2, "a run of two testers has no captures; use 'framegauge capture' on either host")
end

return RemoteTester
