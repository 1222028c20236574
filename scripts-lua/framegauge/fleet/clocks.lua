-- SPDX-License-Identifier: BSD-3-Clause

--- The clocks of a fleet as its controller sees them: whether they agree, and what the common time is.
--
-- Agents on one machine share the clock of their timestamps, and nothing needs to be compared. Others have a
-- common time each, from a source that bounds its error (framegauge.clock). That bound is not believed alone,
-- because a clock that was stepped keeps it: an agent's common time was read between our question and its
-- answer, so all agents' readings must fit one time of ours. An agent that starts at a wrong time would send
-- after the others have ended, and its frames would seem lost.
local Controller = require "framegauge.fleet.controller"
local ffi = require "ffi"
local format = require "framegauge.text.format"
local time = require "framegauge.clock.time"
local user_error = require "framegauge.core.user_error"

local M = {}

local TRIES = 4 -- questions; the answer that came soonest counts

local function int64(value)
   return ffi.cast("int64_t", value)
end

-- Ask one agent. @return its state, and our raw times before and after; or nil and the reason
local function ask(control, name)
   local asked = time.raw()
   local answer = control:ask(name, "clock", {})
   if not answer.ok then
      return nil, ("agent %s: %s"):format(name, tostring(answer.refused))
   end
   return answer.body, asked, time.raw()
end

local function unsynchronised(name, state)
   return ("agents on several machines need synchronised clocks; on agent %s %s: %s"):format(name,
      tostring(state.finding), tostring(state.fix))
end

--- Whether agents share a clock, or have a common time. Raises when they have neither.
-- @return "machine" or "common"
function M.scale(control, names)
   local states = Controller.together(names, function(name)
      local state, asked, heard = ask(control, name)
      if not state then
         user_error.raise("run", 4, "%s", asked)
      end
      local at = time.number(state.raw)
      state.is_ours = at >= asked and at <= heard
      return state
   end, Controller.AT_ONCE)
   local scale, boot = "machine", states[names[1]].boot
   for _, state in pairs(states) do
      if state.boot == "" or state.boot ~= boot or not state.is_ours then
         scale = "common"
      end
   end
   for _, name in ipairs(scale == "common" and names or {}) do
      if not states[name].synchronised then
         user_error.raise("run", 2, "%s", unsynchronised(name, states[name]))
      end
   end
   return scale
end

--- Read an agent's common time.
-- @param within_ns  how long ago it may have been read
-- @return { distance =, raw = as the agent told them, low =, high = by how much it is ahead of our raw time,
-- at least and at most, int64 nanoseconds }; or nil and why it is not known
function M.read(control, name, within_ns)
   local best, fastest
   for _ = 1, TRIES do
      local state, asked, heard = ask(control, name)
      if not state then
         return nil, asked
      elseif not state.synchronised then
         return nil, unsynchronised(name, state)
      end
      local took = tonumber(heard - asked)
      if not fastest or took < fastest then
         local common, bound = time.number(state.raw) + time.number(state.distance), int64(state.error_ns)
         best, fastest = { name = name, distance = state.distance, raw = state.raw,
            low = common - heard - bound, high = common - asked + bound }, took
      end
      if took <= within_ns then
         return best
      end
   end
   return nil, ("agent %s: its clock was not compared, because it answered after %s ms; %s ms would do")
      :format(name, format.decimal(fastest / 1e6, 0), format.decimal(within_ns / 1e6, 0))
end

--- Whether common times agree.
-- @param readings  by name, as read() returns them
-- @return by how much the common time is ahead of our raw time, int64 nanoseconds; or nil and which do not
function M.agree(readings)
   local latest, earliest -- of all that they leave possible
   for _, one in pairs(readings) do
      latest = (not latest or one.low > latest.low) and one or latest
      earliest = (not earliest or one.high < earliest.high) and one or earliest
   end
   local apart = tonumber(latest.low - earliest.high)
   if apart > 0 then
      return nil, ("the clocks of agents %s and %s are %s ms apart or more, beyond the bounds of their errors"):format(latest.name, earliest.name, format.decimal(apart / 1e6, 3))
   end
   return earliest.high + int64(apart / 2)
end

return M
