-- SPDX-License-Identifier: BSD-3-Clause

--- The commands that run test methods, and those about jobs.
local follow = require "framegauge.console.follow"
local methods = require "framegauge.methods"
local show = require "framegauge.console.show"
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"
local tests = require "framegauge.control.tests"
local user_error = require "framegauge.core.user_error"

local function begin(session, method, values, flags)
   local known = methods.names()
   if tables.contains(known, method) then
      return tests.start(session.control, method, values, flags)
   end
   user_error.raise("test", 2, "there is no test '%s'%s; the tests are %s", tostring(method),
      suggest.hint(tostring(method), known), table.concat(known, ", "))
end

-- test.rfc2544 { quick = true, frame_sizes = { 64 } } -> the job, which runs in the background
local function members(session)
   local list = {}
   for _, method in ipairs(methods.names()) do
      list[method] = function(o)
         local values, flags = {}, {}
         for key, value in pairs(o or {}) do
            if key == "quick" or key == "out" then
               flags[key] = value
            else
               values[key] = value
            end
         end
         return begin(session, method, values, flags)
      end
   end
   return list
end

local LONGEST_LINE = 38 -- so that the table fits 80 columns

local WHICH = { "job", "its number; default: the last one", optional = true, complete = "job" }

local function jobs(session)
   local rows = tables.map(session.control.tasks.list, function(task)
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
   { "test", "run a test",
      "Run a test on the ports of the plan: in the foreground with its progress (Ctrl-C stops it; it keeps its results so far), or in the background. Keys are the keys of the method's group in a plan. In Lua, job = test.rfc2544 {...} starts a test in the background and returns the job.",
      arguments = {
         { "method", table.concat(methods.names(), ", "), complete = "test" },
         { "quick", "trials of about a second; the report says so", flag = true },
         { "background", "do not wait; 'jobs' and 'watch' show the job", flag = true },
         { "out", "the result folder", named = true },
      },
      examples = {
         "test rfc2544 quick", "test rfc2544 quick frame_sizes=64,1518 throughput.resolution=1%",
         "job = test.rfc2544 {quick = true, frame_sizes = {64}}", "job:wait().throughput[1].throughput_fps",
      },
      keys = function(_, words)
         return tests.keys(words:match "%S+" or "")
      end,
      group = function(words)
         return words:match "%S+" .. "."
      end,
      members = members,
      run = function(session, o)
         local task = begin(session, o.method, o.keys, o)
         if o.background then
            return task
         end
         follow.foreground(session, task)
      end,
   },
   { "jobs", "list jobs",
      "List the jobs, running and ended: tests, traffic, captures and replays.",
      looks = true, run = jobs },
   { "watch", "follow a job; Ctrl-C does not stop it",
      "Show the log and the progress of a job until it ends. Ctrl-C ends the following, not the job.",
      looks = true, arguments = { WHICH },
      run = function(session, o)
         follow.watch(session, session.control.tasks:get(o.job))
      end,
   },
   { "wait", "wait for the end of a job",
      "Wait until a job has ended, and return its results: 'r = wait(1)'.",
      looks = true, arguments = { WHICH },
      run = function(session, o)
         return session.control.tasks:get(o.job):wait()
      end,
   },
   { "pause", "pause a job before its next trial",
      "Pause a job before its next trial. 'resume' continues it.",
      arguments = { WHICH },
      run = function(session, o)
         session.control.tasks:get(o.job):pause()
      end,
   },
   { "resume", "continue a paused job",
      "Continue a job that was paused by 'pause'.",
      arguments = { WHICH },
      run = function(session, o)
         session.control.tasks:get(o.job):resume()
      end,
   },
}
