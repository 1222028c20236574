-- SPDX-License-Identifier: BSD-3-Clause

--- The table at the top: one line for each frame size and direction, with the main figures of every test.
local tables = require "framegauge.report.html.tables"
local tests = require "framegauge.report.html.tests"
local words = require "framegauge.report.html.words"

local M = {}

local WORSE = { ["not-applicable"] = 1, valid = 1, ["tester-limited"] = 2, invalid = 3 }

local function rows_of(result)
   local list = {}
   for _, test in ipairs(tests) do
      for _, row in ipairs(result.results[test.name] or {}) do
         list[#list + 1] = { test = test.name, row = row }
      end
   end
   return list
end

-- One line for each frame size, direction and goal. What was measured both ways at once stands in every line
-- of its size, unless there is nothing else.
local function lines_of(rows)
   local lines, by_key, single = {}, {}, {}
   for _, one in ipairs(rows) do
      single[one.row.frame_size] = single[one.row.frame_size] or one.row.direction ~= "both"
   end
   for _, one in ipairs(rows) do
      local row = one.row
      local key = ("%s %s %s"):format(row.frame_size, row.direction, row.goal or "")
      if not by_key[key] and not (row.direction == "both" and single[row.frame_size]) then
         by_key[key] = {
            frame_size = row.frame_size, direction = row.direction, goal = row.goal, verdict = "valid",
         }
         lines[#lines + 1] = by_key[key]
      end
   end
   table.sort(lines, function(a, b)
      if a.frame_size ~= b.frame_size then
         return a.frame_size < b.frame_size
      end
      return a.direction .. (a.goal or "") < b.direction .. (b.goal or "")
   end)
   return lines
end

local function is_about(row, line)
   return row.frame_size == line.frame_size and (row.direction == line.direction or row.direction == "both")
      and (row.goal == line.goal or not line.goal)
end

-- The same with the rows in them: { frame_size, direction, goal, verdict, [test] = its first row }.
local function filled(result)
   local rows = rows_of(result)
   local lines = lines_of(rows)
   for _, line in ipairs(lines) do
      for _, one in ipairs(rows) do
         if is_about(one.row, line) then
            line[one.test] = line[one.test] or one.row
            line.verdict = WORSE[one.row.verdict] > WORSE[line.verdict] and one.row.verdict or line.verdict
         end
      end
   end
   return lines
end

local function columns_of(result)
   local columns = {
      { "Frame", "bytes", words.field "frame_size" },
      { "Direction", "", words.field("direction", words.direction), left = true },
      { "Goal", "", words.field "goal", left = true, optional = true },
   }
   for _, test in ipairs(tests) do
      for _, column in ipairs(result.results[test.name] and test.summary or {}) do
         columns[#columns + 1] = { column[1], column[2], left = column.left, function(line)
            return line[test.name] and column[3](line[test.name], line)
         end }
      end
   end
   columns[#columns + 1] = { "Verdict", "", words.field("verdict", words.verdict), left = true }
   return columns
end

--- The table.
function M.build(result)
   return tables.build {
      caption = "The device by frame size", columns = columns_of(result), rows = filled(result),
   }
end

return M
