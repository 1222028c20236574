-- SPDX-License-Identifier: BSD-3-Clause

--- The offset between the clocks of two testers during a trial.
--
-- Each keeps the distance of the common time from its own clock and receives the other one's. The local
-- tester asks every 50 ms while a trial runs. The common time is
--
--    machine   the machine's: both run on it and have one clock
--    common    a source with a bound (framegauge.clock)
--    control   the local tester's clock; the agent's is estimated from the round trip over the control
--              connection. Too rough for delays, but counts fall into the right seconds
local ffi = require "ffi"
local pair = require "framegauge.clock.pair"
local time = require "framegauge.clock.time"
local uv = require "luv"

local ClockOffset = {}
ClockOffset.__index = ClockOffset

local EVERY_MS = 50
local SOURCE_NS = 500e6 -- between two questions to the source of a clock, which take a program
local NOTHING = ffi.cast("int64_t", 0)

--- @param scale  "machine", "common" or "control"
-- @param link    to the other tester (framegauge.tester.remote.link)
-- @param clock   ours (framegauge.clock)
function ClockOffset.new(scale, link, clock)
   local self = setmetatable({
      scale = scale, link = link, clock = clock, ours = NOTHING, theirs = NOTHING, heard = 0,
   }, ClockOffset)
   self:look()
   return self
end

-- Measure our distance again, and now and then ask the source of our clock.
function ClockOffset:look()
   if self.scale ~= "common" then
      return
   end
   self.clock:look()
   self.ours = self.clock:distance()
   local now = uv.hrtime()
   if not self.asking and now - (self.asked or now) >= SOURCE_NS then
      self.asking = true
      self.clock:ask(function()
         self.asking = nil
      end)
      self.asked = now
   end
   self.asked = self.asked or now
end

-- The state of our own clock.
function ClockOffset:state()
   self:look()
   local state = self.clock:state()
   state.op, state.distance = "clock", time.text(self.ours)
   return state
end

--- Ask the other tester (local tester only).
function ClockOffset:ask()
   local sent = self:state()
   sent.asked, sent.yours = sent.raw, self.scale == "control" and time.text(self.theirs) or nil
   self.link:send(sent)
end

-- Without a common clock, the remote clock is assumed to have been read half-way between question and answer;
-- the fastest answer is the best one.
function ClockOffset:estimate(object)
   local heard = time.raw()
   local took = tonumber(heard - time.number(object.asked))
   if not self.quickest or took < self.quickest then
      self.quickest = took
      self.theirs = time.number(object.asked) + ffi.cast("int64_t", took / 2) - time.number(object.raw)
   end
end

--- Receive the state of the other tester's clock.
-- @param here  whether we are the local tester, which asked; otherwise we answer
function ClockOffset:hear(object, here)
   self.heard = self.heard + 1
   if self.scale == "common" then
      object.error_ns = math.max(self.other and self.other.error_ns or 0, object.error_ns)
      self.other = object
      self.lost = self.lost or object.synchronised ~= true and (object.finding or "unknown") or nil
   end
   if self.scale == "control" and here then
      self:estimate(object)
   elseif self.scale == "control" then
      self.ours = time.number(object.yours)
   else
      self.theirs = time.number(object.distance)
   end
   if not here then
      local sent = self:state()
      sent.asked = object.asked
      self.link:send(sent)
   end
end

--- By how much the other tester's clock is ahead of ours, int64 nanoseconds.
function ClockOffset:ahead()
   return (self.scale == "common" and self.clock:distance() or self.ours) - self.theirs
end

--- Forget earlier trials.
function ClockOffset:forget()
   self.clock:forget()
   self.other, self.heard, self.lost = nil, 0, nil
end

--- Begin to ask regularly (local tester only). @return function that ends it
function ClockOffset:watch()
   self:forget()
   local timer = uv.new_timer()
   timer:start(0, EVERY_MS, function() self:ask() end)
   return function() timer:close() end
end

--- Bound of the offset between the clocks since watch(), nanoseconds; nil: unknown.
function ClockOffset:error()
   if self.scale == "control" then
      return nil
   elseif self.scale == "machine" then
      return 0
   end
   local ours = self.clock:state()
   self.lost = self.lost or not ours.synchronised and ours.finding or nil
   return self.other and pair.bound(ours, self.other) or math.huge
end

return ClockOffset
