-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge console`: the prompt.
--
-- Lines come from a terminal or from a pipe, and a session executes them. Jobs continue while a line is being
-- typed. At the end they are stopped and keep their results so far.
local evaluate = require "framegauge.console.evaluate"
local job = require "framegauge.core.job"
local load_plan = require "framegauge.cli.load_plan"
local Pipe = require "framegauge.console.pipe"
local Session = require "framegauge.console.session"
local tables = require "framegauge.core.tables"
local Control = require "framegauge.control"
local uv = require "luv"
local watchdog = require "framegauge.console.watchdog"

local M = {}

local SUCCESS, FAILED, INTERRUPTED = 0, 1, 130
local PROMPT, CONTINUATION = "framegauge> ", "        ..> "
local LONGEST_INPUT = 64 * 1024
local TOO_LONG = ("an input is longer than %d KiB; put it into a file and use dofile()"):format(
   LONGEST_INPUT / 1024)

--- Where lines come from.
-- @return an object with read(), and the terminal, nil without one
function M.open_input()
   local Terminal = uv.guess_handle(0) == "tty" and uv.guess_handle(1) == "tty"
      and require "framegauge.console.terminal"
   local terminal = Terminal and Terminal.open() or nil
   return terminal or Pipe.open(), terminal
end

local function write(file)
   return function(text)
      file:write(text)
      file:flush()
   end
end

--- Functions that write results and errors.
function M.outputs(terminal)
   if not terminal then
      return write(io.stdout), write(io.stderr)
   end
   local function out(text)
      terminal:write(text)
   end
   return out, out
end

-- Read and execute, until the end. @return whether it was interrupted
local function read_lines(session, input, terminal)
   local text = ""
   local function complete(before)
      return session:complete(before)
   end
   while not job.terminated do
      local line = input:read(text == "" and PROMPT or CONTINUATION, complete)
      if line == nil then
         if text ~= "" then
            session:execute(text .. "\nend of input")
         end
         return false
      elseif line == false then -- Ctrl-C
         text = ""
         if not terminal then
            return true
         end
      else
         text = text == "" and line or text .. "\n" .. line
         local outcome = "failed"
         if #text > LONGEST_INPUT then
            session:complain(TOO_LONG)
         else
            outcome = session:execute(text)
         end
         if outcome == "quit" then
            return false
         elseif outcome ~= "more" then
            text = ""
         end
      end
   end
   return true
end

--- Read and execute, until the end of the input, `quit`, Ctrl-C outside of a terminal, or SIGTERM.
-- @param session   execute(text) -> "done", "failed", "more" or "quit"; complete(text before the cursor);
--                  complain(message); failures, their number
-- @param input     read(prompt, complete)
-- @param terminal  the terminal, or nil
-- @param at_end    function(): called before the terminal is closed
-- @return exit status
function M.converse(session, input, terminal, at_end)
   local interrupted = read_lines(session, input, terminal)
   at_end()
   if terminal then
      terminal:close()
   end
   return interrupted and INTERRUPTED or not terminal and session.failures > 0 and FAILED or SUCCESS
end

--- The first lines of a session.
function M.welcome(control)
   local ports = tables.map(control.plan.ports, function(port)
      return port.name .. " (" .. port.device .. ")"
   end)
   return ("Framegauge %s: %s.\n%s'help' lists the commands, 'quit' or Ctrl-D leaves.\n"):format(
      require("framegauge.build").version, table.concat(ports, ", "), control.plan.source.hint or "")
end

-- If the ports cannot be opened there is a prompt all the same: the next command that needs them tries again.
local function open_ports(control, session)
   local ok, err = pcall(job.run, function()
      control:tester_for()
   end)
   if not ok then
      session:complain(err)
   end
end

-- Other users can attach. Without a socket there is a prompt all the same.
local function listen(control, session)
   local ok, server = pcall(require("framegauge.console.server").listen, {
      control = control, welcome = M.welcome(control),
   })
   if not ok then
      session:complain(server)
      return nil
   end
   local end_watch = watchdog.start(function()
      return server:count() > 0
   end)
   return function()
      server:close "the console was closed"
      end_watch()
   end
end

--- The plan of the command line, or the console's own. People look at what happens: a device of a plan that
-- does not say otherwise keeps step with the clock, and plan.source.hint says so.
function M.plan(path, options, eal)
   local plan = load_plan(path, setmetatable({ time = "real" }, { __index = options }), eal,
      { text = require "framegauge.console.default_plan", name = "console" })
   local key = plan.source.timed
   plan.source.hint = key and ("The %s keeps step with the clock; --set %s=free: as fast as the processor goes.\n")
      :format(key:match "^(.*)%.time$":gsub("_", " "), key)
   return plan
end

--- A tester on the plan of the command line, or on the console's own.
function M.control(arguments, options, eal)
   local plan = M.plan(arguments[1], options, eal)
   job.guard()
   evaluate.interpret_modules()
   return Control.new(plan)
end

--- The command.
-- @param arguments  the plan, or nothing
-- @return exit status
function M.main(arguments, options, eal)
   local control = M.control(arguments, options, eal)
   local input, terminal = M.open_input()
   local out, err = M.outputs(terminal)
   local session = Session.new { control = control, terminal = terminal, out = out, err = err }
   open_ports(control, session)
   local unlisten = terminal and listen(control, session)
   if terminal then
      session.out(M.welcome(control))
   end
   control:listen(function(text, task)
      if task.watched ~= session then
         session.out(text)
      end
   end)
   return M.converse(session, input, terminal, function()
      if unlisten then
         unlisten()
      end
      job.run(control.close, control)
   end)
end

return M
