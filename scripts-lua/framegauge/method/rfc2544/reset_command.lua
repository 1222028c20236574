-- SPDX-License-Identifier: BSD-3-Clause

--- Having a real device reset in the middle of a trial: by a command, or by the person at the terminal.
local job = require "framegauge.job"
local uv = require "luv"

local M = {}

local POLL_SECONDS = 0.01

local function spawn(command, state)
   local options = { args = { unpack(command, 2) }, stdio = { nil, 2, 2 } } -- all it says goes to stderr
   local handle, message
   handle, message = uv.spawn(command[1], options, function(status, signal)
      state.status, state.signal, state.running = status, signal, false
      handle:close()
   end)
   state.running = handle ~= nil
   if not handle then
      state.problem = ("the command %s could not be run: %s"):format(command[1], message)
   end
end

-- What the command did, for the record of the trial.
local function report(state, command)
   if state.running then
      state.problem = ("the command %s was still running when the trial ended"):format(command[1])
   elseif not state.problem and not state.status then
      state.problem = "the trial ended before its time to reset the device came"
   elseif state.signal and state.signal ~= 0 then
      state.problem = ("the command %s was ended by signal %d"):format(command[1], state.signal)
   elseif state.status and state.status ~= 0 then
      state.problem = ("the command %s failed with status %d"):format(command[1], state.status)
   end
   return { by = "command", status = state.status, problem = state.problem }
end

--- Have the device reset while a trial is made.
-- @param o.after    seconds from the start of the trial
-- @param o.command  program and arguments; nil: ask the person
-- @param o.say      function(text), shows the person a line
-- @return function(make) that calls make() for the counts of the trial and returns them, with how the reset
--         went as `reset`
function M.around(o)
   return function(make)
      local state, timer = {}, uv.new_timer()
      timer:start(math.floor(o.after * 1000 + 0.5), 0, function()
         if o.command then
            spawn(o.command, state)
         else
            o.say "Reset the device under test now."
         end
      end)
      local ok, raw = pcall(make)
      timer:close()
      if not ok then
         error(raw, 0)
      end
      for _ = 1, 100 do -- a second for a command that is about to end
         if not state.running then
            break
         end
         job.sleep(POLL_SECONDS)
      end
      raw.reset = o.command and report(state, o.command) or { by = "person" }
      return raw
   end
end

return M
