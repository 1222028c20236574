-- SPDX-License-Identifier: BSD-3-Clause

--- junit.xml: the result for a CI server, one test case for each row and each criterion.
--
-- A case fails when the device fell short of a criterion, or of one of the method's own. It is an error,
-- which in JUnit means that the test went wrong and not its object, when its figure is not the device's:
-- tester-limited or invalid. It is skipped when it does not apply to the device, or when an interrupted run
-- did not reach it. Times are the trials', by the tester's clock; rows of one trial share its time.
local cases = require "framegauge.report.cases"
local tables = require "framegauge.core.tables"
local xml = require "framegauge.text.xml"

local M = {}

local KINDS = { "failure", "error", "skipped" }

-- The element in a case that did not just pass, and the kind it is counted as.
local function outcome(case)
   for _, kind in ipairs(KINDS) do
      if case[kind] then
         return kind == "skipped" and xml.skipped { case.skipped }
            or xml[kind] { type = case.type, message = case[kind] }, kind
      end
   end
   return nil
end

local function suite(result, one, moment)
   local class, elements = "framegauge." .. result.plan.test .. "." .. one.name, {}
   local counts, total = { failure = 0, error = 0, skipped = 0 }, 0
   for i, case in ipairs(one.cases) do
      local content, kind = outcome(case)
      if kind then
         counts[kind] = counts[kind] + 1
      end
      total = total + case.seconds
      elements[i] = { "\n    ", xml.testcase {
         classname = class, name = case.name, time = ("%.3f"):format(case.seconds), content,
      } }
   end
   return { "\n  ", xml.testsuite {
      name = class, tests = #elements, failures = counts.failure, errors = counts.error,
      skipped = counts.skipped, time = ("%.3f"):format(total),
      timestamp = moment.started and moment.started:sub(1, 19), hostname = moment.host, elements, "\n  ",
   } }
end

--- The text of junit.xml.
-- @param result  result.json, read, without nulls
-- @param moment  run.json, read, without nulls; empty without run.json
function M.text(result, moment)
   local suites = tables.map(cases.suites(result), function(one) return suite(result, one, moment) end)
   local root = xml.testsuites { name = "framegauge " .. result.plan.name, suites, "\n" }
   return '<?xml version="1.0" encoding="UTF-8"?>\n' .. xml.render(root) .. "\n"
end

return M
