-- SPDX-License-Identifier: BSD-3-Clause

--- The test methods, for scripts: by the name that `test:` has in a plan.
local arguments = require "framegauge.plan.arguments"
local methods = require "framegauge.methods"
local run = require "framegauge.run"

local M = {}

--- The method of a plan (framegauge.methods); raises when it has none.
-- @param plan  a loaded plan (framegauge.plan)
-- @usage method.of(tester.plan).TITLE --> RFC 2544
function M.of(plan)
   return methods.of(plan)
end

--- Names of the methods.
-- @usage method.names()[1] --> rfc2544
function M.names()
   return methods.names()
end

local RUN = {
   { "out", "string", longest = 4096 }, { "expect", "table" }, { "capture", "table" }, { "tester", "table" },
   { "quiet", "boolean" },
}

--- Run a plan by its method, to a folder of results, as `framegauge run` does. Call it inside a job.
-- @param plan       a loaded plan (framegauge.plan)
-- @param o.out      the folder (default: one of its own under framegauge-runs)
-- @param o.expect   list of expectations: "throughput>=90%"
-- @param o.capture  list of "PORT=FILE": what these ports receive
-- @param o.tester   an open tester of the plan, which stays open (default: one of its own)
-- @param o.quiet    say nothing (default: progress and result on the standard output)
-- @return the result (framegauge.report), and the exit status that `framegauge run` would have
-- @usage local result, status = method.run(tester.plan, { tester = tester, out = path, quiet = true })
-- return result.results.throughput[1].throughput_fps, status --> 1,488,095 0
function M.run(plan, o)
   local values = arguments.read("method.run", o or {}, RUN)
   if values.quiet then
      values.screen = { say = function() end }
   end
   local status, result = run.main(plan, values)
   return result, status
end

return M
