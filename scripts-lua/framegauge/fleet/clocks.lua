-- SPDX-License-Identifier: BSD-3-Clause

--- The clocks of a fleet as its controller sees them: whether they agree, and what the common time is.
--
-- Agents on one machine share the clock of their timestamps, and need no comparison. Others have a common
-- time each, from a source that bounds its error (framegauge.clock). That bound alone is not trusted, because
-- a stepped clock keeps it: an agent's common time was read between our request and its answer, so all
-- agents' readings must fit one time of ours. An agent that starts at a wrong time would send after the
-- others have ended, and its frames would seem lost.
--
-- Where a plan measures no delays, our time is the common time, and each agent's clock is assumed to be read
-- half-way between request and answer: too rough for delays, but counts fall into the right seconds.
local Controller = require "framegauge.fleet.controller"
local ffi = require "ffi"
local format = require "framegauge.text.format"
local names = require "framegauge.fleet.names"
local pair = require "framegauge.clock.pair"
local tables = require "framegauge.core.tables"
local time = require "framegauge.clock.time"
local user_error = require "framegauge.core.user_error"

local M = {}

local TRIES = 4 -- requests; the fastest answer counts

local function int64(value)
   return ffi.cast("int64_t", value)
end

-- Query one agent. @return its state, and our raw times before and after; or nil and the reason
local function ask(control, name)
   local asked = time.raw()
   local answer = control:ask(name, "clock", {})
   if not answer.ok then
      return nil, ("%s: %s"):format(names.agent(name, control.agents), tostring(answer.refused))
   end
   return answer.body, asked, time.raw()
end

local function unsynchronised(name, state)
   return ("agents on several machines need synchronised clocks; on %s %s: %s"):format(name,
      tostring(state.finding), tostring(state.fix))
end

-- Why two synchronised clocks do not agree well enough, a sentence; nil when they do.
local function pair_problem(one, other, needs)
   local bound, unknown = pair.bound(one, other)
   if not bound then
      return ("one-way delays need synchronised clocks; %s: use one grandmaster"):format(unknown)
   elseif bound > needs.within_ns then
      return ("one-way delays need clocks that agree to %.3f us, %s; they may differ by %.3f us (%s %.3f us by %s, %s %.3f us by %s); 'framegauge doctor --clock' shows what is there"):format(needs.within_ns / 1e3,
         needs.share, bound / 1e3, one.name, one.error_ns / 1e3, one.source, other.name,
         other.error_ns / 1e3, other.source)
   end
   return nil
end

--- Why clocks are no common time, a sentence; nil when they are.
-- @param states  list of states (framegauge.clock), each with what messages call its agent as name
-- @param needs   of the plan's method (framegauge.plan.registry), or nil
function M.problem(states, needs)
   local problem
   for i = 1, #states do
      problem = problem or not states[i].synchronised and unsynchronised(states[i].name, states[i]) or nil
   end
   for i = 1, needs and not problem and #states or 0 do
      for k = i + 1, #states do
         problem = problem or pair_problem(states[i], states[k], needs)
      end
   end
   return problem and needs and ("%s, or %s"):format(problem, needs.otherwise) or problem
end

--- Whether agents share a clock, or have a common time. Raises when they have neither and need one.
-- @param needs  of the plan's method (framegauge.plan.registry), or nil
-- @return "machine", "common", or "control": our time, where there are no delays
function M.scale(control, agents, needs)
   local states = Controller.together(agents, function(name)
      local state, asked, heard = ask(control, name)
      if not state then
         user_error.raise("run", 4, "%s", asked)
      end
      local at, called = time.number(state.raw), names.agent(name, control.agents)
      state.name, state.is_ours = called, at >= asked and at <= heard
      return state
   end, Controller.AT_ONCE)
   local scale, boot = "machine", states[agents[1]].boot
   for _, state in pairs(states) do
      if state.boot == "" or state.boot ~= boot or not state.is_ours then
         scale = "common"
      end
   end
   if scale == "common" and needs and not needs.delays then
      return "control"
   end
   local problem = scale == "common" and M.problem(tables.map(agents, function(name)
      return states[name]
   end), needs)
   if problem then
      user_error.raise("run", 2, "%s", problem)
   end
   return scale
end

-- A reading of a clock, as read() returns it.
local function reading_of(name, state, asked, heard, scale)
   local raw = time.number(state.raw)
   if scale == "control" then
      local between = asked + int64(tonumber(heard - asked) / 2)
      return { name = name, distance = time.text(between - raw), raw = state.raw, low = int64(0),
         high = int64(0) }
   end
   local common, bound = raw + time.number(state.distance), int64(state.error_ns)
   return { name = name, distance = state.distance, raw = state.raw, low = common - heard - bound,
      high = common - asked + bound }
end

--- Read an agent's common time.
-- @param within_ns  how long ago it may have been read
-- @param scale      of scale(): "common" or "control"
-- @return { distance =, raw = as the agent told them, low =, high = by how much it is ahead of our raw time,
-- at least and at most, int64 nanoseconds }; or nil and why it is not known
function M.read(control, name, within_ns, scale)
   local best, fastest
   local called = names.agent(name, control.agents)
   for _ = 1, TRIES do
      local state, asked, heard = ask(control, name)
      if not state then
         return nil, asked
      elseif scale == "common" and not state.synchronised then
         return nil, unsynchronised(called, state)
      end
      local took = tonumber(heard - asked)
      if not fastest or took < fastest then
         best, fastest = reading_of(called, state, asked, heard, scale), took
      end
      if took <= within_ns then
         return best
      end
   end
   return nil, ("%s: its clock was not compared, because it answered after %s ms; %s ms would do")
      :format(called, format.decimal(fastest / 1e6, 0), format.decimal(within_ns / 1e6, 0))
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
      return nil, ("the clocks of %s and %s are %s ms apart or more, beyond the bounds of their errors"):format(latest.name, earliest.name, format.decimal(apart / 1e6, 3))
   end
   return earliest.high + int64(apart / 2)
end

return M
