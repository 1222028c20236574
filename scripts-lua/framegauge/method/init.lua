-- SPDX-License-Identifier: BSD-3-Clause

--- The test methods, by the name that `test:` has in a plan. Each is a module framegauge.method.<name>:
--
--    TITLE                             what it is called: "RFC 2544"
--    QUICK                             settings of --quick: list of "path=value"
--    heading(plan)                     which of its tests, in words: "throughput, latency"
--    scope(plan)                       how much of it, in words: "7 frame sizes"
--    frame_sizes(plan)                 octets with FCS of all frames that may be sent
--    phases(plan)                      learning_wait, drain, settle (seconds) and retries of its trials
--    check(plan, bench)                what keeps the plan from being run, a sentence, or nil
--    parts(plan, bench)                what lies ahead: list of { test =, frame_size =, trials =, seconds = }
--    outlook(plan, tester, notes)      the text of --dry-run: every trial that can be foreseen
--    conformance(plan)                 { <name> = whether it keeps to the standard, notes = where not }
--    expectations                      what --expect can be about (framegauge.expect), or nil
--    run(plan, bench, session, results)  measures, and adds to the results as it finds them
--
-- What its results look like is told by the view of that name (framegauge.report.view); its keys in a plan
-- have their rows in framegauge.plan.rows and their rules in framegauge.plan.rules.
local refusal = require "framegauge.refusal"

local M = {}

--- What `test:` may also say, and what is no test but goes on until it is stopped: a command of its own.
M.SERVICES = { relay = true, reflect = true, far = true, iperf3 = true }

--- The method of a plan; raises when it has none.
-- @param plan  a loaded plan (framegauge.plan)
-- @usage method.of(tester.plan).TITLE --> RFC 2544
function M.of(plan)
   if M.SERVICES[plan.test] then
      refusal.raise(plan.test, 2, "a plan with test: %s is for 'framegauge %s'", plan.test, plan.test)
   end
   return require("framegauge.method." .. plan.test)
end

--- Names of the methods.
-- @usage method.names()[1] --> rfc2544
function M.names()
   local names = {}
   for _, row in ipairs(require("framegauge.plan.rows").fields) do
      for _, name in ipairs(row.key == "test" and row.values or {}) do
         names[#names + 1] = not M.SERVICES[name] and name or nil
      end
   end
   return names
end

local RUN = {
   { key = "out", type = "string", longest = 4096 }, { key = "expect", type = "table" },
   { key = "capture", type = "table" }, { key = "bench", type = "table" },
   { key = "quiet", type = "boolean" },
}

--- Run a plan by its method, to a folder of results, as `framegauge run` does. Call it inside a job.
-- @param plan       a loaded plan (framegauge.plan)
-- @param o.out      the folder (default: one of its own under framegauge-runs)
-- @param o.expect   list of expectations: "throughput>=90%"
-- @param o.capture  list of "PORT=FILE": what these ports receive
-- @param o.bench    an open bench of the plan, which stays open (default: one of its own)
-- @param o.quiet    say nothing (default: progress and result on the standard output)
-- @return the result (framegauge.report), and the exit status that `framegauge run` would have
-- @usage local result, status = method.run(tester.plan, { bench = tester, out = path, quiet = true })
-- return result.results.throughput[1].throughput_fps, status --> 1,488,095 0
function M.run(plan, o)
   local values = require("framegauge.arguments").read("method.run", o or {}, RUN)
   if values.quiet then
      values.screen = { say = function() end }
   end
   local status, result = require("framegauge.run").main(plan, values)
   return result, status
end

return M
