-- SPDX-License-Identifier: BSD-3-Clause

--- Tests as jobs: a run (run/init.lua) on the ports of a tester, which reports through the job.
local Folder = require "framegauge.report.folder"
local run = require "framegauge.run"
local verdict = require "framegauge.text.verdict"

local M = {}

-- A new folder, also when two runs start in the same second.
local function free_path(name)
   local path = Folder.default_path(name, os.time())
   local candidate, n = path, 1
   while not Folder.is_free(candidate) do
      n = n + 1
      candidate = ("%s-%d"):format(path, n)
   end
   return candidate
end

--- The screen of a run that is a job.
function M.screen_of(task)
   return {
      say = function(_, text)
         task:say(text)
      end,
      event = function(_, event)
         task:report(event)
      end,
      follow = function(_, progress)
         task.look = progress and function()
            return progress:event()
         end
      end,
      hold = function()
         task:checkpoint()
      end,
   }
end

--- The keys of a test, dotted.
-- @param method  its name
function M.keys(method)
   local list, prefix = {}, method .. "."
   for _, key in ipairs(require("framegauge.plan.help").keys()) do
      list[#list + 1] = key:sub(1, #prefix) == prefix and key:sub(#prefix + 1) or nil
   end
   return list
end

--- Start a test, as Tester:test().
-- @param method  its name, as the plan's key `test` has it
-- @param values  keys of the method's group: a table as in a plan, or dotted
-- @param flags   quick, out
-- @return the job
function M.start(control, method, values, flags)
   local plan = control:plan_with(values, method, flags.quick)
   local name = method .. (flags.quick and " quick" or "")
   return control.tasks:start(name, control:port_names(), function(task)
      local out = flags.out or free_path(plan.name)
      task.folder = out
      local status, result = run.main(plan, {
         tester = control:tester_for(plan), out = out,
         screen = M.screen_of(task),
      })
      task.status, task.result = status, result
      return result.results, ("%s; %s"):format(verdict.word(result), out)
   end)
end

return M
