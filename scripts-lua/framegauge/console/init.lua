-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge console`: the prompt.
--
-- Lines come from a terminal or from a pipe, and a session does what they mean. What goes on beside it (jobs)
-- goes on while a line is being typed. At the end, jobs are stopped with what they have.
local Pipe = require "framegauge.console.pipe"
local Session = require "framegauge.console.session"
local Tester = require "framegauge.console.tester"
local evaluate = require "framegauge.console.evaluate"
local job = require "framegauge.job"
local plans = require "framegauge.plan"
local uv = require "luv"
local watchdog = require "framegauge.console.watchdog"

local M = {}

local SUCCESS, FAILED, BAD_PLAN, INTERRUPTED = 0, 1, 2, 130
local PROMPT, CONTINUATION = "framegauge> ", "        ..> "
local LONGEST_INPUT = 64 * 1024
local TOO_LONG = ("an input of more than %d KiB is not read; put it into a file, for dofile()"):format(
   LONGEST_INPUT / 1024)

--- The plan of the command line, or the console's own.
-- @return the plan; nil after its errors have been written to stderr
function M.load_plan(path, options, eal)
   local plan, errors
   options = { sets = options.set, quick = options.quick, eal = eal }
   if path then
      plan, errors = plans.load(path, options)
   else
      plan, errors = plans.load_text(require "framegauge.console.default_plan", "console", options)
   end
   for _, err in ipairs(errors or {}) do
      io.stderr:write(tostring(err), "\n")
   end
   return plan
end

--- Where lines come from.
-- @return an object with read(), and the terminal, nil when there is none
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

--- Read and do, until the end.
-- @param input       read(prompt, complete)
-- @param execute     function(text) -> "done", "failed", "more" or "quit"
-- @param complete    function(text before the cursor)
-- @param interrupted function(): Ctrl-C was pressed at the prompt
-- @param complain    function(message): of an input that is too long to be done
-- @return "quit", "end" (of the input), or "interrupted" (SIGTERM does that, too)
function M.converse(input, execute, complete, interrupted, complain)
   local text = ""
   while not job.terminated do
      local line = input:read(text == "" and PROMPT or CONTINUATION, complete)
      if line == nil then
         return text == "" and "end" or execute(text .. "\nend of input") and "end"
      elseif line == false then
         text = ""
         if interrupted() then
            return "interrupted"
         end
      else
         text = text == "" and line or text .. "\n" .. line
         local outcome = "failed"
         if #text > LONGEST_INPUT then
            complain(TOO_LONG)
         else
            outcome = execute(text)
         end
         if outcome == "quit" then
            return "quit"
         elseif outcome ~= "more" then
            text = ""
         end
      end
   end
   return "interrupted"
end

--- What one reads who comes.
function M.welcome(tester)
   local version = require("framegauge.build").version
   local ports = {}
   for i, port in ipairs(tester.plan.ports) do
      ports[i] = port.name .. " (" .. port.device .. ")"
   end
   return ("Framegauge %s: %s.\n'help' tells what can be typed, 'quit' or Ctrl-D leaves.\n"):format(version,
      table.concat(ports, ", "))
end

local function new_session(tester, terminal)
   local out = terminal and function(text)
      terminal:write(text)
   end or write(io.stdout)
   return Session.new {
      tester = tester, terminal = terminal, out = out, err = terminal and out or write(io.stderr),
   }
end

-- Ports that cannot be opened are no reason to have no prompt: the next command that needs them tries again.
local function open_ports(tester, session)
   local ok, err = pcall(job.run, function()
      tester:bench_for()
   end)
   if not ok then
      session:complain(err)
   end
end

-- Others may attach while somebody sits here. Where no socket can be made there is a prompt all the same.
local function listen(tester, session)
   local ok, server = pcall(require("framegauge.console.server").listen, {
      tester = tester, welcome = M.welcome(tester),
   })
   if not ok then
      session:complain(server)
      return nil
   end
   local end_watch = watchdog.start(function()
      return server:count() > 0
   end)
   return function()
      server:close "the console was left"
      end_watch()
   end
end

--- The command.
-- @param arguments  the plan, or nothing
-- @return exit status
function M.main(arguments, options, eal)
   local plan = M.load_plan(arguments[1], options, eal)
   if not plan then
      return BAD_PLAN
   end
   job.guard()
   evaluate.interpret_modules()
   local tester = Tester.new(plan)
   local input, terminal = M.open_input()
   local session = new_session(tester, terminal)
   open_ports(tester, session)
   local unlisten = terminal and listen(tester, session)
   if terminal then
      session.out(M.welcome(tester))
   end
   tester:listen(function(text, task)
      if task.watched ~= session then
         session.out(text)
      end
   end)
   local how = M.converse(input, function(text)
      return session:execute(text)
   end, function(before)
      return session:complete(before)
   end, function()
      return not terminal
   end, function(message)
      session:complain(message)
   end)
   if unlisten then
      unlisten()
   end
   job.run(tester.close, tester)
   if terminal then
      terminal:close()
      return how == "interrupted" and INTERRUPTED or SUCCESS
   end
   return how == "interrupted" and INTERRUPTED or session.failures > 0 and FAILED or SUCCESS
end

return M
