-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge serve`: a tester without a terminal of its own, for those who attach to it.
local Server = require "framegauge.console.server"
local Tester = require "framegauge.console.tester"
local console = require "framegauge.console"
local evaluate = require "framegauge.console.evaluate"
local job = require "framegauge.job"
local watchdog = require "framegauge.console.watchdog"

local M = {}

local BAD_PLAN = 2

local function say(text)
   io.stdout:write(text)
   io.stdout:flush()
end

--- The command. Goes on until SIGINT or SIGTERM.
-- @param arguments  the plan
-- @return exit status
function M.main(arguments, options, eal)
   local plan = console.load_plan(arguments[1], options, eal)
   if not plan then
      return BAD_PLAN
   end
   job.guard()
   evaluate.interpret_modules()
   local tester, stopped = Tester.new(plan), false
   job.run(tester.bench_for, tester)
   local server = Server.listen { tester = tester, path = options.socket, welcome = console.welcome(tester) }
   local end_watch = watchdog.start()
   tester:listen(say)
   say(("%s: on %s; 'framegauge attach %s' opens a prompt\n"):format(plan.name, server.path, server.path))
   job.turn(function()
      return stopped
   end, { interrupt = function()
      stopped = true
   end })
   server:close "it ends"
   end_watch()
   job.run(tester.close, tester)
   return 0
end

return M
