-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544: a list of rows for each test, by frame size and direction.
local bars = require "framegauge.report.bars"
local cases = require "framegauge.report.cases"
local columns = require "framegauge.report.columns"
local csv = require "framegauge.report.csv"
local evidence = require "framegauge.report.html.deciding"
local fields = require "framegauge.report.fields"
local html = require "framegauge.report.html.test_sections"
local notes = require "framegauge.report.notes"
local stream_types = require "framegauge.report.stream_types"
local summary = require "framegauge.report.html.summary"

local M = {}

M.NAME = "RFC 2544 benchmark"
M.STANDARD = "RFC 2544"
M.NOT_CONFORMING = "not RFC-conformant"
M.ORDER = fields.ORDER

--- Every row of every test.
function M.rows(results)
   local list = {}
   for _, test in ipairs(fields.TESTS) do
      for _, row in ipairs(results[test] or {}) do
         list[#list + 1] = row
      end
   end
   return list
end

M.published = fields.published
M.shown = stream_types.of
M.notes = notes.of
M.suites = cases.suites
M.summary = summary.build
M.sections = html.sections
M.tiles = html.tiles
M.test_names = html.names
M.deciding = evidence.of

--- A file for each test.
function M.csv(result)
   local list = {}
   for _, test in ipairs(fields.TESTS) do
      local rows = result.results[test]
      list[#list + 1] = rows and { test .. ".csv", csv.text(fields.columns(test, rows), rows) } or nil
   end
   return list
end

--- The tables of all tests; the first of each has its chart.
function M.tables(result)
   local list, charted = columns.of(result.results), {}
   for _, one in ipairs(list) do
      if not charted[one.test] then
         charted[one.test] = true
         local title, text = bars.of(one.test, result.results[one.test])
         one.bars = title and { title = title, text = text }
      end
   end
   return list
end

return M
