-- SPDX-License-Identifier: BSD-3-Clause

--- Commands about jobs.
local follow = require "framegauge.console.follow"
local show = require "framegauge.console.show"

local LONGEST_LINE = 38 -- so that the table fits 80 columns

local WHICH = { name = "job", help = "its number; default: the last one", optional = true, complete = "job" }

local function ports_of(task)
   local names = {}
   for name in pairs(task.ports) do
      names[#names + 1] = name
   end
   table.sort(names)
   return table.concat(names, " ")
end

local function jobs(session)
   local rows = {}
   for i, task in ipairs(session.tester.tasks.list) do
      rows[i] = {
         id = task.id, name = task.name, state = task:state(), ports = ports_of(task), line = task:line(),
      }
   end
   return show.as_table(rows, {
      { "id", "job" }, { "name", "what" }, { "state", "state" }, { "ports", "ports" },
      { "line", "", left = true, format = function(line)
         return #line > LONGEST_LINE and line:sub(1, LONGEST_LINE - 3) .. "..." or line
      end },
   }, "no job yet; 'test rfc2544 background' begins one")
end

return {
   {
      name = "jobs", looks = true, summary = "what runs and what has ended", arguments = {},
      help = "The jobs: tests and traffic, those that run and those that have ended.", run = jobs,
   },
   {
      name = "watch", looks = true, summary = "follow a job; Ctrl-C leaves it alone",
      help = "Show what a job says and where it is, until it ends. Ctrl-C ends the watching, not the job.",
      arguments = { WHICH },
      run = function(session, o)
         follow.watch(session, session.tester.tasks:get(o.job))
      end,
   },
   {
      name = "wait", looks = true, summary = "wait for the end of a job", arguments = { WHICH },
      help = "Wait until a job has ended. Its results come back: 'r = wait(1)'.",
      run = function(session, o)
         return session.tester.tasks:get(o.job):wait()
      end,
   },
   {
      name = "pause", summary = "hold a job before its next trial", arguments = { WHICH },
      help = "Hold a job before its next trial. 'resume' lets it go on.",
      run = function(session, o)
         session.tester.tasks:get(o.job):pause()
      end,
   },
   {
      name = "resume", summary = "let a held job go on", arguments = { WHICH },
      help = "Let a job that was held by 'pause' go on.",
      run = function(session, o)
         session.tester.tasks:get(o.job):resume()
      end,
   },
}
