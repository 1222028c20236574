-- SPDX-License-Identifier: BSD-3-Clause

--- An action on the device during a trial: by a program of the plan, or by the person at the terminal.
local job = require "framegauge.core.job"
local uv = require "luv"

local M = {}

local POLL_SECONDS = 0.01
local CLOCK_MS = 1 -- how often the trial's clock is read

-- For each command of a plan: how many processes of it are running.
local running = setmetatable({}, { __mode = "k" })

local function count(command, more)
   running[command] = (running[command] or 0) + more
   return running[command]
end

local function spawn(command, state, clock)
   local options = { args = { unpack(command, 2) }, stdio = { nil, 2, 2 } } -- its output goes to stderr
   local handle, message
   handle, message = uv.spawn(command[1], options, function(status, signal)
      state.status, state.signal, state.running, state.ended = status, signal, false, clock()
      count(command, -1)
      handle:close()
   end)
   state.handle, state.running = handle, handle ~= nil
   if handle then
      count(command, 1)
   else
      state.problem = ("the command %s could not be run: %s"):format(command[1], message)
   end
end

-- What the command did, for the record of the trial.
-- @param o  as M.around takes it
local function report(state, o)
   local name = o.command[1]
   -- the clock of a trial that is over stands at 0 again
   if state.crowded then
      state.problem = ("the command %s of an earlier trial was still running"):format(name)
   elseif state.running or state.ended and state.ended < state.began then
      state.problem = ("the command %s was still running when the trial ended"):format(name)
   elseif not state.problem and not state.status then
      state.problem = ("the trial ended before its time to %s came"):format(o.what)
   elseif state.signal and state.signal ~= 0 then
      state.problem = ("the command %s was ended by signal %d"):format(name, state.signal)
   elseif state.status and state.status ~= 0 then
      state.problem = ("the command %s failed with status %d"):format(name, state.status)
   end
   return { by = "command", status = state.status, problem = state.problem, began = state.began,
      ended = state.ended }
end

local function nothing() end

--- Trigger the action while a trial is made.
-- @param o.after    when, in seconds from the start of make()
-- @param o.clock    function() -> seconds; then `after` is by this clock, and the times of the program are
-- @param o.command  program and arguments; nil: prompt the person
-- @param o.command  program and arguments; nil: ask the person
-- @param o.what     what it does, in words: "reset the device"
-- @param o.ask      prompt for the person
-- @param o.say      function(text), shows the person a line
-- @param make       makes the trial
-- @return what make() returned; { by = "command" or "person", status =, problem = a sentence or nil, began =
--         and ended = by the clock }
function M.around(o, make)
   local state, timer, clock = {}, uv.new_timer(), o.clock or nothing
   state.crowded = o.command and count(o.command, 0) > 0 -- the effect of the action may begin now
   local function act()
      state.began = clock()
      if o.command then
         spawn(o.command, state, clock)
      else
         o.say(o.ask)
      end
   end
   if o.clock then
      timer:start(CLOCK_MS, CLOCK_MS, function()
         if clock() >= o.after then
            timer:stop()
            act()
         end
      end)
   else
      timer:start(math.floor(o.after * 1000 + 0.5), 0, act)
   end
   local ok, raw = pcall(make)
   timer:close()
   if state.running and not ok then
      state.handle:kill "sigterm" -- its result is no longer needed
   end
   for _ = 1, 100 do -- a second for a command that is about to end
      if not state.running then
         break
      end
      job.sleep(POLL_SECONDS)
   end
   if not ok then
      if state.running then
         state.handle:kill "sigkill"
      end
      error(raw, 0)
   end
   return raw, o.command and report(state, o) or { by = "person", began = state.began }
end

return M
