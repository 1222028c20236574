-- SPDX-License-Identifier: BSD-3-Clause

--- The test methods, by the name that `test:` has in a plan. Each is a module framegauge.methods.<name>:
--
--    TITLE                             its name: "RFC 2544"
--    heading(plan)                     which of its tests, in words; default: its `tests`
--    scope(plan)                       how much of it, in words; default: the number of its `frame_sizes`
--    check(plan, tester)               what keeps the plan from being run, a sentence; default: nothing does
--    parts(plan, tester)               the trials to come: list of { test =, frame_size =, trials =,
--                                      seconds = }, and how sure that is (outlook.bounded)
--    outlook(plan, tester, notes)      the text of --dry-run: every trial that can be foreseen
--    estimate(plan, tester)            the last line of --dry-run, of a method that can say more than its
--                                      parts; a method may have none
--    conformance(plan)                 { standard =, conforms = whether the plan keeps to it,
--                                      notes = where not }; a method without a standard has none
--    files(plan, tester)               what the folder of a run has from its start in addition to what all
--                                      have: list of { name, text }; a method may have none
--    subjects(plan)                    what criteria can be about beyond tests, frame sizes and directions
--                                      (framegauge.methods.common.criteria); a method may have none
--    directions(plan, table)           directions that rows of a table of its results have; without it: from
--                                      each port to each other
--    run(plan, tester, session, results)  measures, and adds to the results as it finds them
--
-- What its results look like is in its report (framegauge.report.view); its keys in a plan and what it needs
-- of the tester are in its plan (framegauge.plan.registry).
local format = require "framegauge.text.format"
local registry = require "framegauge.plan.registry"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"

local M = {}

local DEFAULTS = { __index = {
   heading = function(plan) return (table.concat(plan[plan.test].tests, ", "):gsub("_", " ")) end,
   scope = function(plan) return format.plural(#plan[plan.test].frame_sizes, "frame size") end,
   check = function() return nil end,
} }

--- The method of a plan; raises when it has none.
-- @param plan  a loaded plan (framegauge.plan)
function M.of(plan)
   if registry.of(plan.test).service then
      user_error.raise(plan.test, 2, "a plan with test: %s is for 'framegauge %s'", plan.test, plan.test)
   end
   return setmetatable(require("framegauge.methods." .. plan.test .. ".method"), DEFAULTS)
end

--- Names of the methods.
function M.names()
   return tables.map(registry.ALL, function(method)
      return not method.service and method.name or nil
   end)
end

return M
