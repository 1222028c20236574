-- SPDX-License-Identifier: BSD-3-Clause

--- A session at the tester: at its terminal, behind a pipe, or attached.
--
-- A session has its own Lua variables and shares the tester. It executes texts, each as a job on the event
-- loop, and writes results to its output and an error as one line. It never raises.
local commands = require "framegauge.console.commands"
local complete = require "framegauge.console.complete"
local environment = require "framegauge.console.environment"
local evaluate = require "framegauge.console.evaluate"
local job = require "framegauge.core.job"
local show = require "framegauge.console.show"
local user_error = require "framegauge.core.user_error"

local Session = {}
Session.__index = Session

local LONGEST_ERROR = 2000

--- Start a session.
-- @param o.control     control/init.lua
-- @param o.out        function(text): its output
-- @param o.err        function(text): for errors
-- @param o.terminal   console/terminal.lua, or nil
-- @param o.read_only  only commands that show something, and no Lua
-- @param o.attached   other users depend on the tester: its Lua is guarded (console/environment.lua)
function Session.new(o)
   local self = setmetatable({
      control = o.control, out = o.out, err = o.err, terminal = o.terminal, read_only = o.read_only or false,
      attached = o.attached or false,
      commands = commands, rows = commands.by_name, failures = 0,
   }, Session)
   local function say(...)
      local parts = {}
      for i = 1, select("#", ...) do
         parts[i] = tostring((select(i, ...)))
      end
      self.out(table.concat(parts, "\t") .. "\n")
   end
   self.env = environment.new(self.rows, self, { print = say })
   return self
end

local OURS = debug.getinfo(1, "S").source:sub(2) -- named by an error that was raised in a tail call

local function one_line(err)
   local text = tostring(err)
   if text:sub(1, #OURS) == OURS then
      text = text:sub(#OURS + 1):gsub("^:%d+: ", "")
   end
   text = text:gsub("^line:1: ", ""):gsub("^line:(%d+): ", "line %1: "):gsub("^%[string [^%]]*%]:", "")
   text = text:gsub("[%c\127]+", function(c)
      return c:find "\n" and "; " or "?"
   end)
   return #text > LONGEST_ERROR and text:sub(1, LONGEST_ERROR) .. "..." or text
end

--- Show an error in one line; `trace` shows its stack.
function Session:complain(err)
   self.failures = self.failures + 1
   self.trace = type(err) == "table" and rawget(err, "traceback") or nil
   if job.is_interrupt(err) then
      self.err "interrupted\n"
   else
      self.err("error: " .. one_line(err) .. "\n")
   end
end

function Session:show_results(n, ...)
   for i = 1, n do
      local value = (select(i, ...))
      if value ~= nil or n > 1 then
         self.out(show.text(value))
      end
   end
end

local function count(...)
   return select("#", ...), ...
end

-- As a job, which interrupt() ends.
function Session:run(fn)
   if not job.current() then
      return job.run(fn)
   end
   self.running = job.spawn(fn)
   return self.running:join()
end

--- Ctrl-C of an attached session.
function Session:interrupt()
   if self.running then
      self.running:interrupt()
   end
end

-- A read-only session has the commands that show something, and no Lua.
function Session:check_allowed(text)
   local row = evaluate.command_of(self.rows, text)
   if self.read_only and not (row and row.looks) then
      user_error.raise(nil, 2, "this session is read-only; its commands are %s",
         table.concat(commands.looking, ", "))
   end
end

--- Execute a text, and wait for its end.
-- @return "done"; "more" when the text is only the beginning of something; "failed"; or "quit"
function Session:execute(text)
   if not text:find "%S" then
      return "done"
   end
   local ok, result = pcall(function()
      local act, wrong = evaluate.compile(text, self.rows, self, self.env)
      self:check_allowed(text)
      if not act then
         return wrong == "more" and "more" or error(wrong, 0)
      end
      self:run(function()
         self:show_results(count(act()))
      end)
      return self.leaving and "quit" or "done"
   end)
   if not ok then
      local complained = pcall(self.complain, self, result)
      if not complained then
         self.err "error: the error message could not be shown\n"
      end
      return "failed"
   end
   return result
end

--- Complete a text at the cursor (framegauge.console.complete).
-- @return what to insert, and the candidates as a list when there are several
function Session:complete(before)
   local ok, insert, candidates = pcall(complete.at, self, before)
   return ok and insert or "", ok and candidates or {}
end


return Session
