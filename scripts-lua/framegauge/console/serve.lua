-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge serve`: a tester without a terminal of its own, for attached sessions.
local console = require "framegauge.console"
local job = require "framegauge.core.job"
local print_nowait = require "framegauge.core.print_nowait"
local Server = require "framegauge.console.server"
local service = require "framegauge.core.service"
local shell = require "framegauge.core.shell"
local watchdog = require "framegauge.console.watchdog"

local M = {}

--- The command. Goes on until SIGINT or SIGTERM.
-- @param arguments  the plan
-- @return exit status
function M.main(arguments, options, eal)
   local control, stopped = console.control(arguments, options, eal), false
   local web = require("framegauge.web").open(control, options, print_nowait)
   job.run(control.tester_for, control)
   local welcome = console.welcome(control)
   local server = Server.listen { control = control, path = options.socket, welcome = welcome }
   local end_watch = watchdog.start()
   control:listen(print_nowait)
   print_nowait(("%s%s: on %s; to open a prompt: framegauge attach %s\n"):format(control.plan.source.hint or "",
      control.plan.name, server.path, shell.word(server.path)))
   service.notify "READY=1"
   job.turn(function()
      return stopped or job.terminated -- before this turn, too
   end, { interrupt = function()
      stopped = true
   end })
   service.notify "STOPPING=1"
   server:close "the tester was stopped"
   web:close()
   end_watch()
   job.run(control.close, control)
   return 0
end

return M
