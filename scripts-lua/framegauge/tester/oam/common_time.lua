-- SPDX-License-Identifier: BSD-3-Clause

--- The time that OAM packets carry: UTC, as this machine knows it, with an error estimate that says how well.
--
-- The senders and reflectors in C have a clock of their own; what they are told here is by how much UTC is
-- ahead of it. Until they are told again both clocks drift apart, which is part of the error. A clock that
-- nothing bounds is told all the same, as one that is not synchronised, so that round trips can be measured
-- with it, and nobody takes it for more.
local Clock = require "framegauge.clock"
local api = require "framegauge.core.api"
local ffi = require "ffi"
local time = require "framegauge.clock.time"
local uv = require "luv"

local C = api.C
local CommonTime = {}
CommonTime.__index = CommonTime

local SOURCE_NS = 5e9 -- between two questions to the source of the clock, which may take a program
local FASTEST = 500e-6 -- by which the kernel lets a clock be steered; until two looks tell the rate
local FIRST_GAP_NS = 200e6 -- between two looks
local ALL = { "chrony", "kernel" } -- sources of UTC, best first

--- Of this machine. Inside a job.
-- @param settings  the plan's clock
-- @param open      function(settings) -> clock; default: framegauge.clock
function CommonTime.open(settings, open)
   local self = setmetatable({ rate = FASTEST, gap_ns = FIRST_GAP_NS }, CommonTime)
   for _, source in ipairs(settings.source == "auto" and ALL or { settings.source }) do
      self.clock = (open or function(o) return Clock.new(o):open() end) { source = source }
      if self.clock:state().synchronised then
         break
      end
   end
   return self
end

--- Of a virtual wire: there is one clock, which is right.
function CommonTime.of_wire()
   return setmetatable({}, CommonTime)
end

function CommonTime:ask()
   local now = uv.hrtime()
   self.asked = self.asked or now
   if not self.asking and now - self.asked >= SOURCE_NS then
      self.asking, self.asked = true, now
      self.clock:ask(function()
         self.asking = nil
      end)
   end
end

-- What two looks tell of the time between.
function CommonTime:note(ahead)
   local now = time.raw()
   local gap = self.looked and tonumber(now - self.looked) or 0
   if gap > 0 then
      self.gap_ns = math.max(self.gap_ns, gap)
      self.rate = math.abs(tonumber(ahead - self.ahead)) / gap
   end
   self.looked, self.ahead = now, ahead
   return ahead
end

--- Measure again. @return by how much UTC is ahead of CLOCK_MONOTONIC_RAW (int64, ns), and the error estimate
function CommonTime:look()
   if not self.clock then
      return ffi.cast("int64_t", 0), C.fg_oam_estimate(0, C.FG_OAM_SYNCHRONISED)
   end
   self:ask()
   self.clock:look()
   if self.clock:state().synchronised then
      return self:note(self.clock:distance()), C.fg_oam_estimate(self:error(), C.FG_OAM_SYNCHRONISED)
   end
   return (time.distance(time.REALTIME)), C.fg_oam_estimate(self:error(), 0)
end

--- Why one-way delays cannot be measured, a sentence with what mends it; nil: they can.
function CommonTime:problem()
   local state = self.clock and self.clock:state()
   if state and not state.synchronised then
      return ("%s: %s"):format(state.finding or "the clock is not synchronised",
         state.fix or "framegauge doctor --clock")
   end
end

--- Bound of our own error, ns.
function CommonTime:error()
   return self.clock and self.clock:error() + self.gap_ns * self.rate or 0
end

return CommonTime
