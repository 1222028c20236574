-- SPDX-License-Identifier: BSD-3-Clause

--- junit.xml: the result for a CI server, one test case for each row.
--
-- A case fails when the device fell short of what was asked: an --expect, or a criterion of the plan. It is
-- an error, in JUnit's sense that the testing went wrong and not the tested, when its figure is not the
-- device's: tester-limited or invalid. Skipped is what does not apply to the device, and what an interrupted
-- run never came to. Times are those of the trials, by the tester's clock; rows of one trial share its time.
local expect = require "framegauge.methods.expect"
local show = require "framegauge.text.show"
local tables = require "framegauge.core.tables"
local verdict = require "framegauge.text.verdict"
local views = require "framegauge.report.view"
local xml = require "framegauge.text.xml"

local M = {}

local KINDS = { "failure", "error", "skipped" }

-- Numbers of the trials a row is of; without any the row shares those of its test and frame size.
local function trials_of(result, table_name, row)
   if type(row.trials) == "table" or row.trial then
      return row.trial and { row.trial } or row.trials
   end
   local numbers = {}
   for i, trial in ipairs(result.trials) do
      local same = trial.test == result.plan.test .. "." .. table_name and trial.frame_size == row.frame_size
      numbers[#numbers + 1] = same and i or nil
   end
   return numbers
end

-- Seconds of each row of a table.
local function times_of(result, one)
   local shared, times = {}, {}
   for i, row in ipairs(one.lines) do
      times[i] = trials_of(result, one.name, row)
      for _, number in ipairs(times[i]) do
         shared[number] = (shared[number] or 0) + 1
      end
   end
   for i, numbers in ipairs(times) do
      local seconds = 0
      for _, number in ipairs(numbers) do
         local trial = result.trials[number]
         seconds = seconds + (trial and trial.duration_s / shared[number] or 0)
      end
      times[i] = seconds
   end
   return times
end

local function case_of(result, one, row, i)
   local short, case = expect.short_of(result, row), verdict.case(row)
   if short then
      case = { failure = ("the device fell short of %s%s"):format(short, one.measured and ": "
         .. one.measured(row) or ""),
         type = "expectation" }
   end
   case.name = one.case and one.case(row, i) or show.name(one.record, row)
   return case
end

--- The suites of a result: list of { name =, cases = list of { name =, seconds =, and one of failure =, error
-- =, skipped = (a sentence), with the first two type = } }.
function M.suites(result)
   local view, suites, by_name = views.of(result.plan.test), {}, {}
   local function add(name, case)
      if not by_name[name] then
         by_name[name] = { name = name, cases = {} }
         suites[#suites + 1] = by_name[name]
      end
      table.insert(by_name[name].cases, case)
   end
   for _, one in ipairs(views.tables(result)) do
      local times = not one.inner and times_of(result, one)
      for i, row in ipairs(times and one.lines or {}) do
         local case = case_of(result, one, row, i)
         case.seconds = times[i]
         add(one.suite and (row[one.suite] or one.suite) or one.name, case)
      end
      for _, name in ipairs(result.interrupted and view.missing(result, one.name) or {}) do
         add(one.name, { name = name, seconds = 0, skipped = "the run was interrupted before it" })
      end
   end
   return suites
end

-- The element in a case that did not just pass, and what it is counted as.
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
   local class, cases = "framegauge." .. result.plan.test .. "." .. one.name, {}
   local counts, total = { failure = 0, error = 0, skipped = 0 }, 0
   for i, case in ipairs(one.cases) do
      local content, kind = outcome(case)
      if kind then
         counts[kind] = counts[kind] + 1
      end
      total = total + case.seconds
      cases[i] = { "\n    ", xml.testcase {
         classname = class, name = case.name, time = ("%.3f"):format(case.seconds), content,
      } }
   end
   return { "\n  ", xml.testsuite {
      name = class, tests = #cases, failures = counts.failure, errors = counts.error,
      skipped = counts.skipped, time = ("%.3f"):format(total),
      timestamp = moment.started and moment.started:sub(1, 19), hostname = moment.host, cases, "\n  ",
   } }
end

--- The text of junit.xml.
-- @param result  result.json, read, without nulls
-- @param moment  run.json, read, without nulls; empty when there is none
function M.text(result, moment)
   local suites = tables.map(M.suites(result), function(one) return suite(result, one, moment) end)
   local root = xml.testsuites { name = "framegauge " .. result.plan.name, suites, "\n" }
   return '<?xml version="1.0" encoding="UTF-8"?>\n' .. xml.render(root) .. "\n"
end

return M
