-- SPDX-License-Identifier: BSD-3-Clause

--- Test methods as jobs: a run (framegauge.run) on the tester's ports, watched through the job.
local Folder = require "framegauge.report.folder"
local run = require "framegauge.run"

local M = {}

-- A folder nobody has taken, also when two runs begin in one second.
local function free_path(name)
   local path = Folder.default_path(name, os.time())
   local candidate, n = path, 1
   while not Folder.is_free(candidate) do
      n = n + 1
      candidate = ("%s-%d"):format(path, n)
   end
   return candidate
end

-- The session's watcher: the progress, and the place where a job may be held up.
local function watcher(task, progress)
   task.progress = progress
   return {
      started = function(_, ask)
         task:checkpoint()
         progress:started(ask)
      end,
      finished = function(_, record)
         progress:finished(record)
      end,
      recalled = function(_, ask, record)
         progress:recalled(ask, record)
      end,
   }
end

--- Keys that a test can be given, dotted.
-- @param method  its name
function M.keys(method)
   local list, prefix = {}, method .. "."
   for _, key in ipairs(require("framegauge.plan.help").keys()) do
      list[#list + 1] = key:sub(1, #prefix) == prefix and key:sub(#prefix + 1) or nil
   end
   return list
end

--- Begin a test on the tester's ports.
-- @param method  its name, as the plan's key `test` has it
-- @param values  keys of the method's group: a table as in a plan, or dotted
-- @param flags   quick, out
-- @return the job
function M.start(tester, method, values, flags)
   local plan = tester:plan_with(values, method, flags.quick)
   local name = method .. (flags.quick and " quick" or "")
   return tester.tasks:start(name, tester:port_names(), function(task)
      local out = flags.out or free_path(plan.name)
      local status, result = run.main(plan, {
         bench = tester:bench_for(plan), out = out,
         screen = {
            say = function(text)
               task:say(text)
            end,
            watch = function(progress)
               return watcher(task, progress)
            end,
         },
      })
      task.folder, task.status = out, status
      return result.results, ("%s; %s"):format(result.verdict, out)
   end)
end

return M
