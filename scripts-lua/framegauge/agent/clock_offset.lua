-- SPDX-License-Identifier: BSD-3-Clause

--- The offset between the clocks of two testers during a trial (agent/clock.lua).
--
-- Each keeps the distance of the common time from its own clock and receives that of the other one. The local
-- tester asks every 50 ms while a trial runs, so only the drift between two questions adds to the error of
-- the clocks. The largest change between two distances is part of the bound.
local clock = require "framegauge.agent.clock"
local ffi = require "ffi"
local uv = require "luv"

local ClockOffset = {}
ClockOffset.__index = ClockOffset

local EVERY_MS = 50
local RECENT_NS = 1e9 -- between two looks, otherwise their difference is not that of a trial
local NOTHING = ffi.cast("int64_t", 0)

--- @param scale  "machine", "realtime" or "control"
-- @param link    to the other tester (framegauge.agent.link)
function ClockOffset.new(scale, link)
   local self = setmetatable({
      scale = scale, link = link, ours = NOTHING, theirs = NOTHING, heard = 0, step_ns = 0, other_ns = 0,
   }, ClockOffset)
   self:look()
   return self
end

--- Measure our distance again.
function ClockOffset:look()
   if self.scale ~= "realtime" then
      return
   end
   local distance, uncertain = clock.distance()
   local before = self.looked
   self.looked = uv.hrtime()
   if before and self.looked - before < RECENT_NS then
      self.step_ns = math.max(self.step_ns, math.abs(tonumber(distance - self.ours)))
   end
   self.ours, self.uncertain_ns = distance, uncertain
end

-- The state of our own clock.
function ClockOffset:state()
   self:look()
   local state = clock.state()
   return {
      op = "clock", distance = clock.text(self.ours), raw = state.raw, synchronised = state.synchronised,
      error_ns = self.scale == "realtime" and state.error_ns + self.uncertain_ns + self.step_ns or 0,
   }
end

--- Ask the other tester (local tester only).
function ClockOffset:ask()
   local sent = self:state()
   sent.asked, sent.yours = sent.raw, self.scale == "control" and clock.text(self.theirs) or nil
   self.link:send(sent)
end

-- Without a common clock, the remote clock is assumed to have been read half-way between question and answer;
-- the fastest answer is the best one.
function ClockOffset:estimate(object)
   local heard = clock.raw()
   local took = tonumber(heard - clock.number(object.asked))
   if not self.quickest or took < self.quickest then
      self.quickest = took
      self.theirs = clock.number(object.asked) + ffi.cast("int64_t", took / 2) - clock.number(object.raw)
   end
end

--- Receive the state of the other tester's clock.
-- @param here  whether we are the local tester, which asked; otherwise we answer
function ClockOffset:hear(object, here)
   self.heard = self.heard + 1
   self.other_ns = math.max(self.other_ns, tonumber(object.error_ns) or 0)
   self.lost = self.lost or self.scale == "realtime" and object.synchronised ~= true
   if self.scale == "control" and here then
      self:estimate(object)
   elseif self.scale == "control" then
      self.ours = clock.number(object.yours)
   else
      self.theirs = clock.number(object.distance)
   end
   if not here then
      local sent = self:state()
      sent.asked = object.asked
      self.link:send(sent)
   end
end

--- By how much the other tester's clock is ahead of ours, int64 nanoseconds.
function ClockOffset:ahead()
   return self.ours - self.theirs
end

--- Forget earlier trials.
function ClockOffset:forget()
   self.step_ns, self.other_ns, self.heard, self.lost, self.looked = 0, 0, 0, nil, nil
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
   end
   return self.scale == "machine" and 0 or self:state().error_ns + self.other_ns
end

return ClockOffset
