-- SPDX-License-Identifier: BSD-3-Clause

--- The commands that run test methods.
local follow = require "framegauge.console.follow"
local refusal = require "framegauge.refusal"
local nearest = require "framegauge.nearest"
local tests = require "framegauge.console.tests"

local function begin(session, method, values, flags)
   local known = session.tester.methods()
   for _, name in ipairs(known) do
      if name == method then
         return tests.start(session.tester, method, values, flags)
      end
   end
   refusal.raise("test", 2, "there is no test '%s'%s; there is %s", tostring(method),
      nearest.hint(tostring(method), known), table.concat(known, ", "))
end

-- test.rfc2544 { quick = true, frame_sizes = { 64 } } -> the job, which runs in the background
local function members(session)
   local list = {}
   for _, method in ipairs(session.tester.methods()) do
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

return {
   {
      name = "test", summary = "run a test by its method",
      help = "Run a test of the plan's ports by a method: in the foreground with its progress (Ctrl-C stops\n"
         .. "it with what it has), or in the background. Keys are those of the method's group in a plan. In\n"
         .. "Lua, job = test.rfc2544 {...} begins one in the background and gives the job.",
      arguments = {
         { name = "method", help = "the method: rfc2544", complete = "test" },
         { name = "quick", flag = true, help = "trials of about a second; the report is marked so" },
         { name = "background", flag = true, help = "give the prompt back; 'jobs' and 'watch' show it" },
         { name = "out", named = true, help = "the result folder" },
      },
      examples = {
         "test rfc2544 quick", "test rfc2544 quick frame_sizes=64,1518 throughput.resolution=1%",
         "job = test.rfc2544 {quick = true, frame_sizes = {64}}", "job:wait().throughput[1].throughput_fps",
      },
      keys = function(_, words)
         return tests.keys(words:match "%S+" or "")
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
}
