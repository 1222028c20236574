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
--    run(plan, bench, session, results)  measures, and adds to the results as it finds them
--
-- What its results look like is told by the view of that name (framegauge.report.view); its keys in a plan
-- have their rows in framegauge.plan.rows and their rules in framegauge.plan.rules.
local refusal = require "framegauge.refusal"

local M = {}

--- What `test:` may also say, and what is no test but goes on until it is stopped: a command of its own.
M.SERVICES = { relay = true, reflect = true }

--- The method of a plan; raises when it has none.
-- @param plan  a loaded plan (framegauge.plan)
function M.of(plan)
   if M.SERVICES[plan.test] then
      refusal.raise(plan.test, 2, "a plan with test: %s is for 'framegauge %s'", plan.test, plan.test)
   end
   return require("framegauge.method." .. plan.test)
end

return M
