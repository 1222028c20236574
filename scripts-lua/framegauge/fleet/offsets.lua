-- SPDX-License-Identifier: BSD-3-Clause

--- The clocks of the agents that send to us, while a trial runs: by how much each is ahead of ours, and with
-- what bound.
--
-- Each agent sends data on its clock to those that receive from it: the offset of the common time from the
-- clock of its stamps, the rate of change, and the error bound. Between two messages the offset is
-- extrapolated. A clock is not trusted if its messages are late, if it was never or is no longer
-- synchronised, or if its delays were negative; then there are no delays, and a reason. The counts do not
-- depend on any of this.
local ffi = require "ffi"
local format = require "framegauge.text.format"
local names = require "framegauge.fleet.names"
local pair = require "framegauge.clock.pair"
local time = require "framegauge.clock.time"
local uv = require "luv"

local M = {}

local Offsets = {}
Offsets.__index = Offsets

--- Seconds between two messages.
M.EVERY = 0.5

local SILENT_NS = 4 * M.EVERY * 1e9 -- after which a clock is not known any more

--- @param clock  ours (framegauge.clock), chosen
function M.new(clock)
   return setmetatable({ clock = clock, others = {}, moved_ns = 0 }, Offsets)
end

--- Measure our clock again. After a long pause it has lost its history; the history here remains.
function Offsets:look()
   local raw, before = self.clock.machine.raw(), self.own
   self.clock:look()
   local distance = self.clock:distance(raw)
   if before then
      local since = tonumber(raw - before.raw)
      self.moved_ns = math.max(self.moved_ns, math.abs(tonumber(distance - before.distance)
         - since * before.rate))
   end
   self.own = { raw = raw, distance = distance, rate = self.clock:rate() }
end

-- Ask the source of our clock, which may take a program.
local function ask(self)
   local now = uv.hrtime() / 1e9
   if not self.asking and now - (self.asked or -math.huge) >= M.EVERY then
      self.asking, self.asked = true, now
      self.clock:ask(function() self.asking = nil end)
   end
end

--- The message about our clock.
function Offsets:told()
   self:look()
   ask(self)
   local state = self.clock:state()
   state.distance, state.rate = time.text(self.clock:distance()), self.clock:rate()
   return state
end

local function is_state(told)
   return type(told) == "table" and type(told.raw) == "string" and type(told.distance) == "string"
      and type(told.rate) == "number" and type(told.error_ns) == "number" and type(told.step_ns) == "number"
end

-- Another agent's expected offset at a common time.
local function expected(one, at)
   return one.distance + ffi.cast("int64_t", tonumber(at - one.at) * one.rate)
end

-- Whether a clock has moved further than its error bound allows without a step.
local function is_stepped(step_ns, error_ns)
   return step_ns > error_ns - step_ns
end

-- The common time now, by our clock.
local function common(self)
   local raw = self.clock.machine.raw()
   return raw + self.clock:distance(raw)
end

--- Another agent's message about its clock.
function Offsets:hear(name, told)
   if not is_state(told) then
      return
   end
   local now, before = common(self), self.others[name]
   local one = before or { error_ns = 0, silent_ns = 0, step_ns = 0, moved_ns = 0 }
   local distance = time.number(told.distance)
   local at = time.number(told.raw) + distance
   if before then
      one.silent_ns = math.max(one.silent_ns, tonumber(now - one.heard))
      one.moved_ns = math.max(one.moved_ns, math.abs(tonumber(distance - expected(one, at))))
   end
   one.heard, one.distance, one.rate, one.at = now, distance, told.rate, at
   one.error_ns, one.step_ns = math.max(one.error_ns, told.error_ns), told.step_ns
   one.state = told
   one.lost = one.lost or told.synchronised ~= true and tostring(told.finding or "unknown") or nil
   self.others[name] = one
end

--- The offset of an agent's stamp clock ahead of ours, int64 nanoseconds; nil: no message of it came.
function Offsets:ahead(name)
   local one = self.others[name]
   if not one then
      return nil
   end
   one.used = true
   return self.clock:distance() - expected(one, common(self))
end

--- Traffic begins: a clock whose ahead() was not asked for by then is not known.
function Offsets:begin()
   self.known = {}
   for name, one in pairs(self.others) do
      self.known[name] = one.used
   end
end

--- The state of a sender's clock at the end.
-- @param negative  of its delays
-- @return bound of what both clocks may be apart, nanoseconds; or nil and why delays are not known
function Offsets:verdict(name, negative)
   local one, ours = self.others[name], self.clock:state()
   if not one or not (self.known or {})[name] then
      return nil, ("the clock of %s was not heard before the start"):format(names.agent(name))
   end
   local silent = math.max(one.silent_ns, tonumber(common(self) - one.heard))
   local lost = not ours.synchronised and tostring(ours.finding) or nil
   if one.lost or lost then
      return nil, ("the clock of %s lost its synchronisation: %s"):format(
         one.lost and names.agent(name) or "the receiver", one.lost or lost)
   elseif silent > SILENT_NS then
      return nil, ("the clock of %s was not heard for %s"):format(names.agent(name),
         format.nanoseconds(silent))
   end
   if is_stepped(one.step_ns, one.error_ns) or is_stepped(ours.step_ns, ours.error_ns) then
      return nil, ("the clock of %s was stepped by %s"):format(
         is_stepped(one.step_ns, one.error_ns) and names.agent(name) or "the receiver",
         format.nanoseconds(math.max(one.step_ns, ours.step_ns)))
   end
   one.state.error_ns = one.error_ns
   local bound, unknown = pair.bound(ours, one.state)
   if not bound then
      return nil, unknown
   elseif negative > 0 then
      return nil, ("%s from %s negative: the clocks differ by more than their sources report"):format(
         format.plural(negative, "delay"), names.agent(name))
   end
   return bound + one.moved_ns + self.moved_ns
end

return M
