-- SPDX-License-Identifier: BSD-3-Clause

--- Commands about jobs.
local follow = require "framegauge.console.follow"
local show = require "framegauge.console.show"
local tables = require "framegauge.core.tables"

local LONGEST_LINE = 38 -- so that the table fits 80 columns

local WHICH = { name = "job", help = "its number; default: the last one", optional = true, complete = "job" }

local function jobs(session)
   local rows = tables.map(session.tester.tasks.list, function(task)
      return {
         id = task.id, name = task.name, state = task:state(), line = task:line(), progress = task:progress(),
         ports = table.concat(tables.keys(task.ports), " "),
      }
   end)
   return show.as_table(rows, {
      { "id", "job" }, { "name", "what" }, { "state", "state" }, { "ports", "ports" },
      { "line", "", left = true, format = function(line)
         return #line > LONGEST_LINE and line:sub(1, LONGEST_LINE - 3) .. "..." or line
      end },
   }, "no job yet; 'test rfc2544 background' starts one")
end

return {
   {
      name = "jobs", looks = true, summary = "list jobs",
      help = "List the jobs, running and ended: tests, traffic, captures and replays.", run = jobs,
   },
   {
      name = "watch", looks = true, summary = "follow a job; Ctrl-C does not stop it",
      help = "Show the log and the progress of a job until it ends. Ctrl-C ends the following, not the job.",
      arguments = { WHICH },
      run = function(session, o)
         follow.watch(session, session.tester.tasks:get(o.job))
      end,
   },
   {
      name = "wait", looks = true, summary = "wait for the end of a job", arguments = { WHICH },
      help = "Wait until a job has ended, and return its results: 'r = wait(1)'.",
      run = function(session, o)
         return session.tester.tasks:get(o.job):wait()
      end,
   },
   {
      name = "pause", summary = "pause a job before its next trial", arguments = { WHICH },
      help = "Pause a job before its next trial. 'resume' continues it.",
      run = function(session, o)
         session.tester.tasks:get(o.job):pause()
      end,
   },
   {
      name = "resume", summary = "continue a paused job", arguments = { WHICH },
      help = "Continue a job that was paused by 'pause'.",
      run = function(session, o)
         session.tester.tasks:get(o.job):resume()
      end,
   },
}
