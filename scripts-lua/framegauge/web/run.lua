-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge run` while others look on: the run is a job of a tester that is served by HTTP.
local Control = require "framegauge.control"
local Folder = require "framegauge.report.folder"
local job = require "framegauge.core.job"
local run = require "framegauge.run"
local Screen = require "framegauge.run.screen"
local tests = require "framegauge.control.tests"
local web = require "framegauge.web"

local M = {}

-- What the run shows goes to the terminal and to the job.
local function both(screen, of_job)
   return {
      width = screen.width, hold = of_job.hold,
      say = function(_, text)
         screen:say(text)
         of_job:say(text)
      end,
      event = function(_, event)
         screen:event(event)
         of_job:event(event)
      end,
      follow = function(_, progress)
         screen:follow(progress)
         of_job:follow(progress)
      end,
   }
end

local function start(control, plan, options, screen)
   return control.tasks:start(plan.test, control:port_names(), function(task)
      options.screen = both(screen, tests.screen_of(task))
      options.tester = not run.has_agents(plan) and control:tester_for(plan) or nil
      options.out = options.out or not options.earlier and Folder.default_path(plan.name, os.time()) or nil
      task.folder = options.out or options.earlier.folder.path
      task.status, task.result = run.main(plan, options)
      return task.result.results
   end)
end

--- As framegauge.run's main, with what the options metrics and web ask for.
-- @return exit status
function M.main(plan, options)
   local control, screen = Control.new(plan), Screen.new()
   local served = web.open(control, options, function(text)
      screen:say(text)
   end)
   local task, interrupted = start(control, plan, options, screen), { count = 0 }
   function interrupted:interrupt()
      self.count = self.count + 1
      task:stop()
   end
   job.turn(function()
      return task.ended
   end, interrupted)
   served:close()
   job.run(control.close, control)
   if task.error then
      error(task.error, 0)
   end
   return task.status or 130
end

return M
