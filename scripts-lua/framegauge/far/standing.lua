-- SPDX-License-Identifier: BSD-3-Clause

--- How the clocks of two testers stand to each other while they work together (framegauge.far.clock).
--
-- Either keeps the distance of the common time from its own clock and hears that of the other one. The near
-- tester asks every few hundredths of a second while a trial runs, so that drift between two questions is all
-- that adds to what the clocks are off anyway; how much the distances moved from one to the next is kept, and
-- is part of the bound.
local clock = require "framegauge.far.clock"
local ffi = require "ffi"
local uv = require "luv"

local Standing = {}
Standing.__index = Standing

local EVERY_MS = 50
local RECENT_NS = 1e9 -- between two looks, or their difference says nothing of a trial
local NOTHING = ffi.cast("int64_t", 0)

--- @param scale  "machine", "realtime" or "control"
-- @param link    to the other tester (framegauge.far.link)
function Standing.new(scale, link)
   local self = setmetatable({
      scale = scale, link = link, ours = NOTHING, theirs = NOTHING, heard = 0, step_ns = 0, other_ns = 0,
   }, Standing)
   self:look()
   return self
end

--- Take our distance anew.
function Standing:look()
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

-- What we know of our own clock.
function Standing:said()
   self:look()
   local state = clock.state()
   return {
      op = "clock", distance = clock.text(self.ours), raw = state.raw, synchronised = state.synchronised,
      error_ns = self.scale == "realtime" and state.error_ns + self.uncertain_ns + self.step_ns or 0,
   }
end

--- Ask the other tester; near only.
function Standing:ask()
   local said = self:said()
   said.asked, said.yours = said.raw, self.scale == "control" and clock.text(self.theirs) or nil
   self.link:send(said)
end

-- Where nothing else is known, the far clock's distance is what it said when the question was half answered;
-- the quickest answer is the best.
function Standing:estimate(object)
   local heard = clock.raw()
   local took = tonumber(heard - clock.number(object.asked))
   if not self.quickest or took < self.quickest then
      self.quickest = took
      self.theirs = clock.number(object.asked) + ffi.cast("int64_t", took / 2) - clock.number(object.raw)
   end
end

--- Hear of the other tester's clock.
-- @param near  whether we are the near one: then it answers, else it is to be answered
function Standing:hear(object, near)
   self.heard = self.heard + 1
   self.other_ns = math.max(self.other_ns, tonumber(object.error_ns) or 0)
   self.lost = self.lost or self.scale == "realtime" and object.synchronised ~= true
   if self.scale == "control" and near then
      self:estimate(object)
   elseif self.scale == "control" then
      self.ours = clock.number(object.yours)
   else
      self.theirs = clock.number(object.distance)
   end
   if not near then
      local said = self:said()
      said.asked = object.asked
      self.link:send(said)
   end
end

--- How far the other tester's clock is ahead of ours, int64 nanoseconds.
function Standing:ahead()
   return self.ours - self.theirs
end

--- Forget what was said of earlier trials.
function Standing:forget()
   self.step_ns, self.other_ns, self.heard, self.lost, self.looked = 0, 0, 0, nil, nil
end

--- Begin to keep an eye on both, from nothing; near only. @return what ends it
function Standing:watch()
   self:forget()
   local timer = uv.new_timer()
   timer:start(0, EVERY_MS, function() self:ask() end)
   return function() timer:close() end
end

--- How far the clocks may be apart, nanoseconds, by all that was said since watch(); nil: nobody knows.
function Standing:error()
   if self.scale == "control" then
      return nil
   end
   return self.scale == "machine" and 0 or self:said().error_ns + self.other_ns
end

return Standing
