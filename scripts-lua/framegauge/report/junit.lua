-- SPDX-License-Identifier: BSD-3-Clause

--- junit.xml: the result for a CI server, one test case for each row.
--
-- A case fails when the device fell short of an --expect that is about it. It is an error, in JUnit's sense
-- that the testing went wrong and not the tested, when its figure is not the device's: tester-limited or
-- invalid. Skipped is what does not apply to the device, and what an interrupted run never came to. Times are
-- those of the trials, by the bench's clock.
local expect = require "framegauge.expect"
local h = require "framegauge.report.html.element"
local tests = require "framegauge.report.html.tests"

local M = {}

local function name_of(row)
   local direction = row.direction == "both" and "both directions" or tostring(row.direction)
   local which = row.goal and ", goal " .. row.goal
      or row.load_percent and (", %.4g %% load"):format(row.load_percent) or ""
   return ("%s bytes, %s%s"):format(row.frame_size, direction, which)
end

-- Trials serve all rows of their frame size; each row has its share of their time.
local function seconds_of(result, name, row)
   local sum, rows = 0, 0
   for _, trial in ipairs(result.trials) do
      if trial.test == result.plan.test .. "." .. name and trial.frame_size == row.frame_size then
         sum = sum + trial.duration_s
      end
   end
   for _, other in ipairs(result.results[name]) do
      rows = rows + (other.frame_size == row.frame_size and 1 or 0)
   end
   return sum / rows
end

-- The expectations a row fell short of, as one text; nil when there is none.
local function short_of(result, name, row)
   local texts = {}
   for _, one in ipairs(result.expectations) do
      local wanted = expect.parse(one.text, result.plan)
      local about_it = wanted and (wanted.result or "throughput") == name
         and (not wanted.frame_size or wanted.frame_size == row.frame_size)
      if about_it and expect.evaluate(wanted, { row }, true).met == false then
         texts[#texts + 1] = one.text
      end
   end
   return #texts > 0 and table.concat(texts, ", ") or nil
end

local function measured(row)
   return row.throughput_fps and ("%.0f frames/s"):format(math.floor(row.throughput_fps)) or "no load passed"
end

-- What a case holds besides its name: nothing when all is well. @return the element and what to count it as
local function outcome(result, name, row)
   local short = short_of(result, name, row)
   if short then
      local message = ("the device fell short of %s: %s"):format(short, measured(row))
      return h.failure { type = "expectation", message = message }, "failures"
   elseif row.verdict == "not-applicable" then
      return h.skipped { table.concat(row.reasons or {}, "; ") }, "skipped"
   elseif row.verdict ~= "valid" then
      local message = table.concat(row.reasons or {}, "; ")
      return h.error { type = row.verdict, message = row.verdict .. ": " .. message }, "errors"
   end
   return nil
end

-- Frame sizes that a test of an interrupted run has no row for; a reset is made with the smallest only.
local function missing(result, name)
   local there, list = {}, {}
   for _, row in ipairs(result.results[name] or {}) do
      there[row.frame_size] = true
   end
   local sizes = result.interrupted and result.plan.rfc2544.frame_sizes or {}
   for _, size in ipairs(name == "reset" and #sizes > 0 and { math.min(unpack(sizes)) } or sizes) do
      list[#list + 1] = not there[size] and size or nil
   end
   return list
end

-- Whether the plan asks for a test.
local function is_wanted(result, name)
   for _, test in ipairs(result.plan.rfc2544.tests) do
      if test == name then
         return true
      end
   end
   return false
end

local function case(class, name, seconds, content)
   return h.testcase { classname = class, name = name, time = ("%.3f"):format(seconds), content }
end

local function suite(result, name, moment)
   local class, cases = "framegauge." .. result.plan.test .. "." .. name, {}
   local counts, total = { passed = 0, failures = 0, errors = 0, skipped = 0 }, 0
   for _, row in ipairs(result.results[name] or {}) do
      local content, kind = outcome(result, name, row)
      local seconds = seconds_of(result, name, row)
      total = total + seconds
      counts[kind or "passed"] = counts[kind or "passed"] + 1
      cases[#cases + 1] = { "\n    ", case(class, name_of(row), seconds, content) }
   end
   for _, size in ipairs(missing(result, name)) do
      counts.skipped = counts.skipped + 1
      local why = h.skipped { "the run was interrupted before it" }
      cases[#cases + 1] = { "\n    ", case(class, size .. " bytes", 0, why) }
   end
   return { "\n  ", h.testsuite {
      name = class, tests = #cases, failures = counts.failures, errors = counts.errors,
      skipped = counts.skipped, time = ("%.3f"):format(total),
      timestamp = moment.started and moment.started:sub(1, 19), hostname = moment.host, cases, "\n  ",
   } }
end

--- The text of junit.xml.
-- @param result  result.json, read, without nulls
-- @param moment  run.json, read, without nulls; empty when there is none
function M.text(result, moment)
   local suites = {}
   for _, test in ipairs(tests) do
      local present = result.results[test.name] or result.interrupted and is_wanted(result, test.name)
      suites[#suites + 1] = present and suite(result, test.name, moment) or nil
   end
   local root = h.testsuites { name = "framegauge " .. result.plan.name, suites, "\n" }
   return '<?xml version="1.0" encoding="UTF-8"?>\n' .. h.render(root) .. "\n"
end

return M
