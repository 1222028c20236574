-- SPDX-License-Identifier: BSD-3-Clause

--- One who sits at the tester: at its terminal, behind a pipe, or attached from elsewhere.
--
-- A session has names of its own and shares the tester. It takes texts and does what they mean, each as a job
-- on the event loop, and writes what they give: results to its output, errors as one line. It never raises.
local commands = require "framegauge.console.commands"
local complete = require "framegauge.console.complete"
local environment = require "framegauge.console.environment"
local evaluate = require "framegauge.console.evaluate"
local job = require "framegauge.job"
local refusal = require "framegauge.refusal"
local show = require "framegauge.console.show"

local Session = {}
Session.__index = Session

local LONGEST_ERROR = 2000

--- Start a session.
-- @param o.tester     what it sits at (framegauge.console.tester)
-- @param o.out        function(text): its output
-- @param o.err        function(text): for errors
-- @param o.terminal   width() and whatever else the terminal can (framegauge.console.terminal); nil: there
--                     is none
-- @param o.read_only  it may look and not touch
-- @param o.attached   others sit here too: its Lua is guarded (framegauge.console.guarded)
function Session.new(o)
   local self = setmetatable({
      tester = o.tester, out = o.out, err = o.err, terminal = o.terminal, read_only = o.read_only or false,
      attached = o.attached or false,
      rows = commands.by_name, failures = 0,
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

--- Say an error in one line; `trace` tells the rest.
function Session:complain(err)
   self.failures = self.failures + 1
   self.trace = type(err) == "table" and rawget(err, "traceback") or nil
   if type(err) == "table" and err.interrupted then
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

-- As a job of its own, which interrupt() is for.
function Session:run(fn)
   if not job.current() then
      return job.run(fn)
   end
   self.running = job.spawn(fn)
   return self.running:join()
end

--- Ctrl-C of one who is attached.
function Session:interrupt()
   if self.running then
      self.running:interrupt()
   end
end

-- A session that may only look has the commands that look, and no Lua.
function Session:check_allowed(text)
   local row = evaluate.command_of(self.rows, text)
   if self.read_only and not (row and row.looks) then
      refusal.raise(nil, 2, "this session may look and not touch; it has the commands %s",
         table.concat(commands.looking, ", "))
   end
end

--- Do what a text means, and wait for its end.
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
         self.err "error: one that cannot be told\n"
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
