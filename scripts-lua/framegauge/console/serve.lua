-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge serve`: a tester without a terminal of its own, for attached sessions.
local console = require "framegauge.console"
local job = require "framegauge.core.job"
local Server = require "framegauge.console.server"
local watchdog = require "framegauge.console.watchdog"

local M = {}

--- The command. Goes on until SIGINT or SIGTERM.
-- @param arguments  the plan
-- @return exit status
function M.main(arguments, options, eal)
   local tester, stopped = console.tester(arguments, options, eal), false
   local say = console.outputs()
   job.run(tester.bench_for, tester)
   local server = Server.listen { tester = tester, path = options.socket, welcome = console.welcome(tester) }
   local end_watch = watchdog.start()
   tester:listen(say)
   say(("%s: on %s; 'framegauge attach %s' opens a prompt\n"):format(tester.plan.name, server.path,
      server.path))
   job.turn(function()
      return stopped
   end, { interrupt = function()
      stopped = true
   end })
   server:close "the tester was stopped"
   end_watch()
   job.run(tester.close, tester)
   return 0
end

return M
