-- SPDX-License-Identifier: BSD-3-Clause

--- Runs of one test side by side: every figure of every row, with a column for each run. Nothing is judged;
-- framegauge.report.compare judges changes.
local change = require "framegauge.report.change"
local compare = require "framegauge.report.compare"
local figures = require "framegauge.methods.common.figures"
local grid = require "framegauge.text.grid"
local results = require "framegauge.report.result"
local show = require "framegauge.text.show"
local tables = require "framegauge.core.tables"
local verdict = require "framegauge.text.verdict"

local M = {}

-- The rows of table i of all runs by name: name -> { number of the run -> row }, names in their order.
local function rows_of(runs, i)
   local named, names, first = {}, {}, nil
   for number, all in ipairs(runs) do
      local of_run, order = compare.by_name(all[i], all[i].lines)
      first = first or order
      for place, name in ipairs(order) do
         local called = all[i].by_place and first[place] or name
         if not named[called] then
            named[called], names[#names + 1] = {}, called
         end
         named[called][number] = of_run[name]
      end
   end
   return named, names
end

-- The values of one figure in all runs; nil where no run has the figure.
local function line_of(name, heading, runs, of_row, text)
   local line, is_any = { name = name, heading = heading, unit = "" }, false
   for number, row in pairs(runs) do
      local value = of_row(row)
      if value ~= nil then
         line[number], line.unit = text(value, row)
         is_any = true
      end
   end
   return is_any and line or nil
end

local function itself(value) return value, "" end

--- The figures of several results of one test.
-- @return list of { title, lines = list of { name = of the row, heading, unit, [number of the run] = text } }
function M.tables(list)
   local runs = tables.map(list, function(run) return results.tables(run.plan.test, run.results) end)
   return tables.map(runs[1], function(one, i)
      local lines, named, names = {}, rows_of(runs, i)
      for _, name in ipairs(names) do
         for _, figure in ipairs(figures.compared(one.record)) do
            local function text(value, row)
               return show.write_of(row, figure.row, value)
            end
            lines[#lines + 1] = line_of(name, change.heading(figure), named[name], figure.of, text)
         end
         lines[#lines + 1] = line_of(name, "Verdict", named[name], verdict.word, itself)
      end
      return lines[1] and { title = one.title, lines = lines } or nil
   end)
end

--- Names of the runs: the last part of the folder's path, or the path where two names are equal.
function M.names(folders)
   local last, is_there = {}, {}
   for i, path in ipairs(folders) do
      last[i] = path:match "([^/]+)/*$" or path
      if is_there[last[i]] then
         return folders
      end
      is_there[last[i]] = true
   end
   return last
end

--- Columns of a table of lines.
-- @param names  of the runs
function M.columns(names)
   local columns = {
      { "", "", function(line) return line.name end, left = true },
      { "Figure", "", function(line)
         return line.heading .. (line.unit ~= "" and ", " .. line.unit or "")
      end, left = true },
   }
   for number, name in ipairs(names) do
      columns[#columns + 1] = { name, "", function(line) return line[number] end }
   end
   return columns
end

--- The differences between the first run's plan and the others', a sentence; nil without any.
function M.differences(list)
   local keys = {}
   for _, run in ipairs(list) do
      for _, text in ipairs(compare.differences(list[1].plan, run.plan)) do
         local key = text:match "^%S+"
         keys[#keys + 1] = not key:find "^needs%." and not tables.contains(keys, key) and key or nil
      end
   end
   table.sort(keys)
   return keys[1] and "The plans differ: " .. table.concat(keys, ", ") .. "." or nil
end

--- The figures as text.
-- @param paint  framegauge.text.ansi
function M.text(list, folders, paint)
   local columns, differences = M.columns(M.names(folders)), M.differences(list)
   return table.concat(tables.map(M.tables(list), function(one)
      return paint(one.title, "bold") .. "\n" .. grid.text(columns, one.lines, paint)
   end), "\n") .. (differences and "\n" .. differences .. "\n" or "")
end

return M
