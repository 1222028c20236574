-- SPDX-License-Identifier: BSD-3-Clause

--- The common time of a tester, and the bound of its error.
--
-- A source (phc.lua, chrony.lua, kernel.lua) says whether its clock is synchronised and how wrong it can be.
-- Nothing is believed that a source does not bound. A state of a source:
--
--    synchronised         whether the rest may be used
--    finding, fix         otherwise: why not, and the command that mends it
--    error_ns, drift_ppm  bound of its error when it was asked, and how fast that grows
--    reference            what its error is measured against, nil: UTC
--    reference_error_ns   bound of that one's own error, nil: unknown
--
-- The source is asked now and then, because that takes a program; the distance of its clock from the clock of
-- the timestamps is measured often. Between two measurements it is extrapolated, and how far the next one
-- was from the extrapolation is part of the bound: so a clock that is stepped shows.
local ffi = require "ffi"
local job = require "framegauge.core.job"
local machine_of_ours = require "framegauge.clock.machine"
local tables = require "framegauge.core.tables"
local time = require "framegauge.clock.time"

local Clock = {}
Clock.__index = Clock

local SOURCES = { require "framegauge.clock.phc", require "framegauge.clock.chrony",
   require "framegauge.clock.kernel" }
local RATE_OVER = 20 -- measurements whose first and last tell the rate
local RECENT_NS = 1e9 -- between two measurements; an older one is no part of a trial
local UNKNOWN_NS = 16e9 -- the error of an unknown clock, as in the kernel
local NO_SOURCE = {
   synchronised = false,
   finding = "the plan takes the time from the control connection (clock.source: control)",
   fix = "set clock.source: auto",
}

--- @param o.source     "auto", "phc", "chrony", "kernel" or "control"
-- @param o.asymmetry  half the difference of the PTP path's delays, at most; seconds, nil: unknown
-- @param o.device     path of the PTP hardware clock, nil: the only one
-- @param o.machine    what is asked (default: framegauge.clock.machine)
function Clock.new(o)
   local self = setmetatable({ options = o, machine = o.machine or machine_of_ours }, Clock)
   self:forget()
   self.chosen, self.now = nil, NO_SOURCE
   return self
end

--- Forget the worst of earlier trials.
function Clock:forget()
   self.points, self.step_ns, self.width_ns, self.worst_ns, self.gap_ns = {}, 0, 0, 0, 0
end

-- The sources that may be taken, best first.
function Clock:candidates()
   local wanted = self.options.source or "auto"
   return tables.map(SOURCES, function(source)
      return (wanted == "auto" or wanted == source.name) and source or nil
   end)
end

--- Ask every source, in turn.
-- @param done  function(list of { source = , state = })
function Clock:ask_all(done)
   local list, left = {}, self:candidates()
   local function next_one()
      local source = table.remove(left, 1)
      if not source then
         return done(list)
      end
      source.ask(self.machine, self.options, function(state)
         state.asked = self.machine.raw()
         list[#list + 1] = { source = source, state = state }
         next_one()
      end)
   end
   next_one()
end

function Clock:take(found)
   if found.source ~= self.chosen then
      self.points = {}
   elseif self.now.asked then
      self.gap_ns = math.max(self.gap_ns, tonumber(found.state.asked - self.now.asked))
   end
   self.chosen, self.now = found.source, found.state
   if found.state.synchronised then
      self.worst_ns = math.max(self.worst_ns, found.state.error_ns)
   end
end

--- Choose the best source that is synchronised; without one the first finding counts. Asynchronous.
-- @param done  function(), called when it is chosen
function Clock:choose(done)
   self:ask_all(function(list)
      local best = list[#list] -- the kernel's is what everybody has
      for i = #list, 1, -1 do
         best = list[i].state.synchronised and list[i] or best
      end
      if best then
         self:take(best)
      end
      self:look()
      done()
   end)
end

--- The same inside a job.
function Clock:open()
   job.wait(function(wake)
      self:choose(wake)
   end)
   return self
end

--- Ask the chosen source again; its state then is part of the bound. Asynchronous.
function Clock:ask(done)
   if not self.chosen then
      return done()
   end
   self.chosen.ask(self.machine, self.options, function(state)
      state.asked = self.machine.raw()
      self:take { source = self.chosen, state = state }
      done()
   end)
end

-- Nanoseconds that the common time gains in a nanosecond of ours.
function Clock:rate()
   local first, last = self.points[1], self.points[#self.points]
   local took = last and tonumber(last.at - first.at) or 0
   return took > 0 and tonumber(last.distance - first.distance) / took or 0
end

--- Measure the distance of the common time from the clock of the timestamps.
function Clock:look()
   if not self.chosen or not self.now.synchronised then
      return
   end
   local distance, width, at = self.chosen.distance(self.machine, self.now)
   if not distance then
      self.now = { synchronised = false, finding = "the clock cannot be read: " .. tostring(width),
         fix = "permit this user to read it" }
      return
   end
   local last = self.points[#self.points]
   if last and tonumber(at - last.at) > RECENT_NS then
      self.points = {}
   elseif self.points[2] then
      self.step_ns = math.max(self.step_ns, math.abs(tonumber(distance - self:distance(at))))
   end
   self.width_ns = math.max(self.width_ns, width)
   table.insert(self.points, { distance = distance, at = at })
   if #self.points > RATE_OVER then
      table.remove(self.points, 1)
   end
end

--- Take the time of another tester as the common time, which no source bounds.
-- @param distance  by how much it is ahead of the clock of the timestamps, int64 nanoseconds
function Clock:follow(distance)
   self.points = { { distance = distance, at = self.machine.raw() } }
   return self
end

--- By how much the common time is ahead of the clock of the timestamps, int64 nanoseconds; 0: unknown.
-- @param at  raw time; default: now
function Clock:distance(at)
   local last = self.points[#self.points]
   if not last then
      return ffi.cast("int64_t", 0)
   end
   local since = tonumber((at or self.machine.raw()) - last.at)
   return last.distance + ffi.cast("int64_t", since * self:rate())
end

--- Bound of the error of distance() since forget(), nanoseconds, against the reference.
function Clock:error()
   local state = self.now
   if not state.synchronised then
      return UNKNOWN_NS
   end
   local since = math.max(self.gap_ns, tonumber(self.machine.raw() - state.asked))
   return math.max(self.worst_ns, state.error_ns) + since * state.drift_ppm / 1e6 + self.width_ns
      + self.step_ns
end

--- What another tester is told, and what a record keeps.
function Clock:state()
   local state = self.now
   return {
      source = self.chosen and self.chosen.name or "control", synchronised = state.synchronised == true,
      error_ns = self:error(), step_ns = self.step_ns, finding = state.finding, fix = state.fix,
      reference = state.reference, reference_error_ns = state.reference_error_ns,
      boot = self.machine.boot(), raw = time.text(self.machine.raw()),
   }
end

return Clock
