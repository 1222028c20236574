-- SPDX-License-Identifier: BSD-3-Clause

--- A result's content for reports of every form. Tables, CSV files and test cases follow from the rows of the
-- method (framegauge.methods.<name>.result): TABLES, a list of
--
--    name, title, reference   of its CSV file and in headings
--    record                   what its rows are (framegauge.text.rows)
--    rows(results)            the rows
--    lead, case, suite        rows that come first in the CSV; what a row is called as a test case, where
-- that is
--                             not its `id` figures; the name of the suite, or the key of a row that has it
--    passes                   what a passed row has, in words, where the method itself judges
--    measured                 function(row): its result, for a case that fell short of a criterion
--    asked                    a key: a criterion applies to rows that have it only if it names their value
--    inner                    whether it has neither CSV file nor cases
--
-- A method also has a module framegauge.methods.<name>.report; it reads result.json and knows nothing about
-- the measurement:
--
--    NAME                     the title of a report: "RFC 2544 benchmark"
--    tiles(result)            headline figures: list of { label, figure, unit, remark, row = the row of the
--                             figure, whose validity is shown; nil for the method's own statements }
--
-- and, where it replaces a default:
--
--    test_names(result)       which tests there are, in words; default: the `tests` of the plan
--    notes(result, add)       notes that qualify the tables: add(line)
--    terminal(result)         list of { title, columns, rows, bars = text or nil }; default: all tables
--    summary(result)          HTML: the table at the top; default: of each test that has rows the columns
--                             at "summary"
--    sections(result, moment)  HTML: list of { title, reference or nil, body }; default: a section for each
--                             table that has rows, with chart(table, rows) of the report
--    files(result, moment)    further files: list of { name, text }
--    missing(result, name)    for an interrupted run: names of the cases of a table that it did not reach
--    deciding(result)         trials that decided: list of { frame_size =, role =, trial = }
--    evidence(result)         HTML: where its trials are not of frames, why its figures are not the tester's
-- limits
--    trial_columns            HTML: where its trials are not of frames, the columns of a table of them
local core = require "framegauge.core.tables"
local csv = require "framegauge.text.csv"
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local results = require "framegauge.report.result"
local show = require "framegauge.text.show"
local tables = require "framegauge.report.html.tables"

local M = {}

--- The terminal's tables of a result, as its rows have them.
local function terminal(result)
   local list = {}
   for _, one in ipairs(M.tables(result)) do
      list[#list + 1] = #one.lines > 0 and not one.inner and {
         title = one.title, columns = show.columns(one.record, "terminal", one.lines), rows = one.lines,
      } or nil
   end
   return list
end

local function summary(result)
   local list = core.map(M.tables(result), function(one)
      return one.lines[1] and not one.inner and tables.of {
         one.record, "summary", one.lines, caption = one.title, names_test = true, below = tables.reasons,
      } or nil
   end)
   return list[1] and list or h.p { "No test has a result." }
end

-- A section for each test that has rows: its table, and the chart of its report.
local function sections(result)
   local list, chart = {}, M.of(result.plan.test).chart
   for _, one in ipairs(M.tables(result)) do
      list[#list + 1] = one.lines[1] and { one.title, one.reference, {
         tables.of { one.record, "html", one.lines, caption = one.title, names_test = true,
            below = tables.reasons },
         chart and chart(one, one.lines) or nil,
      } } or nil
   end
   return list
end

local function test_names(result)
   return table.concat(core.map(result.plan[result.plan.test].tests, formatters.test), ", ")
end

local function nothing()
   return {}
end

local DEFAULTS = { __index = {
   notes = nothing, test_names = test_names, terminal = terminal, summary = summary, files = nothing,
   missing = nothing, deciding = nothing, sections = sections,
} }

--- The view of a result, or of the plan of one.
-- @param test  name of the method
function M.of(test)
   return setmetatable(require("framegauge.methods." .. test .. ".report"), DEFAULTS)
end

--- Tables of a result, each with its `lines`.
function M.tables(result)
   return results.tables(result.plan.test, result.results)
end

--- CSV files: list of { name, text }.
function M.csv(result)
   local list = {}
   for _, one in ipairs(M.tables(result)) do
      list[#list + 1] = #one.lines > 0 and not one.inner
         and { one.name .. ".csv", csv.rows(one.record, one.lines, one.lead) } or nil
   end
   return list
end

return M
