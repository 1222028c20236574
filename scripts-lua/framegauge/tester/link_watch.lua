-- SPDX-License-Identifier: BSD-3-Clause

--- Changes of ports' links while a service runs: an emulator, a reflector, a capture, a console.
-- A trial is judged by its counts instead (framegauge.text.verdict).
local ffi = require "ffi"
local verdict = require "framegauge.text.verdict"

local M = {}

local Watch = {}
Watch.__index = Watch

-- A word for the state of a port, and the sentence about it.
local function state_of(handle, name)
   local counters = ffi.new("struct fg_port_counters")
   handle.ops.counters(handle, counters)
   local lost = { name = name, removed = counters.removed and 1, intercepted = counters.intercepted and 1 }
   local reason = verdict.link_reason(lost)
   if reason then
      return counters.removed and "removed" or "intercepted", reason
   elseif handle.ops.link_up(handle) then
      return "up", name .. ": the link is up again"
   end
   return "down", name .. ": the link is down"
end

--- Begin to watch ports that have a link.
-- @param ports    list of { name = }
-- @param handles  list of struct fg_port *, open as long as the watch is used
function M.start(ports, handles)
   local self = setmetatable({ ports = ports, handles = handles, states = {} }, Watch)
   for i in ipairs(ports) do
      self.states[i] = "up"
   end
   return self
end

--- The state of the i-th port now: up, down, removed or intercepted.
function Watch:state(i)
   return (state_of(self.handles[i], self.ports[i].name))
end

--- Poll all of them.
-- @return list of sentences on changes since the last poll
function Watch:look()
   local changed = {}
   for i, port in ipairs(self.ports) do
      local state, sentence = state_of(self.handles[i], port.name)
      changed[#changed + 1] = state ~= self.states[i] and sentence or nil
      self.states[i] = state
      self.removed = self.removed or state == "removed"
   end
   return changed
end

--- A present fault as a sentence, or nil. The peer of a memif may leave; a cable's link must stay up.
function Watch:problem()
   for i, port in ipairs(self.ports) do
      local state, sentence = state_of(self.handles[i], port.name)
      if state ~= "up" and (state ~= "down" or self.handles[i].caps.physical) then
         return sentence
      end
   end
end

return M
