-- SPDX-License-Identifier: BSD-3-Clause

--- Y.1564: services, each with its steps and its performance.
local columns = require "framegauge.report.y1564.columns"
local csv = require "framegauge.report.csv"
local expect = require "framegauge.expect"
local fields = require "framegauge.report.y1564.fields"
local html = require "framegauge.report.y1564.html"
local outcome = require "framegauge.report.outcome"
local words = require "framegauge.report.y1564.words"

local M = {}

M.NAME = "Y.1564 service activation"
M.STANDARD = "ITU-T Y.1564"
M.NOT_CONFORMING = "not all of Y.1564"
M.ORDER = fields.ORDER

M.published = fields.published
M.tables = columns.of
M.summary = html.summary
M.sections = html.sections
M.tiles = html.tiles

--- Every step and every performance.
function M.rows(results)
   local list = {}
   for i, one in ipairs(fields.rows(results)) do
      list[i] = one.row
   end
   return list
end

--- What was tested, in words.
function M.test_names(result)
   return "service " .. table.concat(result.plan.y1564.tests, " and ")
end

local function with_failed(list)
   for _, one in ipairs(list) do
      one.failed = table.concat(one.row.failed, " ")
   end
   return list
end

--- A file for each test.
function M.csv(result)
   local list = {}
   for test, names in pairs { configuration = fields.CONFIGURATION, performance = fields.PERFORMANCE } do
      local rows = with_failed(fields.rows(result.results, test))
      list[#list + 1] = #rows > 0 and { test .. ".csv", csv.text(names, rows) } or nil
   end
   return list
end

--- What one must know to believe the tables.
function M.notes(result, add)
   for _, sentence in ipairs(words.definitions(result)) do
      add(sentence)
   end
   for _, one in ipairs(fields.rows(result.results)) do
      local what = one.row.step and one.row.step .. " " .. one.row.name or "performance"
      for _, reason in ipairs(one.row.reasons) do
         add(("%s, %s, %s: %s: %s."):format(one.service, one.row.direction, what, one.row.verdict, reason))
      end
   end
   for _, service in ipairs(result.results.y1564.services) do
      add(("Service %s: %s."):format(service.name, service.verdict))
   end
end

--- A suite for each service.
function M.suites(result)
   local suites, by_name = {}, {}
   for i, service in ipairs(result.results.y1564.services) do
      suites[i] = { name = service.name, cases = {} }
      by_name[service.name] = suites[i].cases
   end
   for _, one in ipairs(fields.rows(result.results)) do
      local row, case, short = one.row, outcome(one.row), expect.short_of(result, one)
      if short then
         case = { failure = "the service fell short of " .. short, type = "expectation" }
      end
      local trial = result.trials[row.trial or 0]
      case.name = ("%s, %s"):format(row.step and row.step .. " " .. row.name or "performance", row.direction)
      case.seconds = trial and trial.duration_s or 0
      table.insert(by_name[one.service], case)
   end
   return suites
end

return M
