-- SPDX-License-Identifier: BSD-3-Clause

--- The table at the top: one line for each frame size and direction, with the main figures of every test.
local tables = require "framegauge.report.html.tables"
local tests = require "framegauge.report.html.tests"
local words = require "framegauge.report.html.words"

local M = {}

local WORSE = { valid = 1, ["tester-limited"] = 2, invalid = 3 }

-- Rows of all tests that are about the same frames: { frame_size, direction, verdict, [test] = row }.
local function lines_of(result)
   local lines, by_key = {}, {}
   for _, test in ipairs(tests) do
      for _, row in ipairs(result.results[test.name] or {}) do
         local key = row.frame_size .. " " .. tostring(row.direction)
         local line = by_key[key]
         if not line then
            line = { frame_size = row.frame_size, direction = row.direction, verdict = "valid" }
            by_key[key], lines[#lines + 1] = line, line
         end
         line[test.name] = line[test.name] or row
         line.verdict = WORSE[row.verdict] > WORSE[line.verdict] and row.verdict or line.verdict
      end
   end
   return lines
end

local function columns_of(result)
   local columns = {
      { "Frame", "bytes", words.field "frame_size" },
      { "Direction", "", words.field("direction", words.direction), left = true },
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
      caption = "The device by frame size", columns = columns_of(result), rows = lines_of(result),
   }
end

return M
