-- SPDX-License-Identifier: BSD-3-Clause

--- Headline figures of a method with several tests (methods/common/suite): one for each test that was run.
local core = require "framegauge.core.tables"
local formatters = require "framegauge.report.html.formatters"
local notation = require "framegauge.text.rows"
local show = require "framegauge.text.show"

local M = {}

-- The subject of a row without its test, which is the tile's title; nil without any other subject.
local function subject(record, row)
   local test, name = row.test and formatters.test(row.test), show.name(record, row)
   if name == test then
      return nil
   end
   return test and name:sub(1, #test + 2) == test .. ", " and name:sub(#test + 3) or name
end

-- The number of rows that passed, and the number of rows with a verdict.
local function passed(one, rows)
   local failed, n, of = core.find(rows, "outcome", "fail"), formatters.passed(rows)
   return of > 0 and { one.title, ("%d of %d"):format(n, of), "passed",
      failed and "failed: " .. subject(one.record, failed) or nil, row = failed or rows[1] } or nil
end

-- The worst row by a figure, or the one with the largest.
local function worst(one, rows, figure)
   local key, side, unit = unpack(figure)
   local row = side == "largest" and formatters.largest(rows, key) or side ~= "largest"
      and formatters.worst(rows, key, side) or nil
   return row and { one.title, formatters.tile(row, key, function(value)
      return (show.write(core.find(one.record.rows, 1, key) or notation.at(one.record, key), value))
   end), notation.value(row, key) and unit or "", subject(one.record, row), row = row } or nil
end

--- The tiles, in the order of the tests.
-- @param tables   TABLES of the method's result.lua
-- @param figures  by name of a table: { key, "<=" or ">=" (which way is better) or "largest", unit }, or
--                 "passed"
function M.of(tables, results, figures)
   local list = {}
   for _, one in ipairs(tables) do
      local rows, figure = one.rows(results), figures[one.name]
      if rows[1] and figure then
         list[#list + 1] = figure == "passed" and passed(one, rows) or figure ~= "passed"
            and worst(one, rows, figure) or nil
      end
   end
   return list
end

return M
