-- SPDX-License-Identifier: BSD-3-Clause

--- Two results of one test side by side: what has changed, as far as both can tell.
--
-- A figure is compared where its result row has `within` (framegauge.text.rows): how far from it the truth
-- may be. A change counts only where it is more than both results leave open together; the side on
-- which a figure is expected says whether it is for the better. Figures that are not the device's
-- (tester-limited, invalid) are shown and not judged.
local grid = require "framegauge.text.grid"
local json = require "framegauge.text.json"
local results = require "framegauge.report.result"
local rows = require "framegauge.text.rows"
local show = require "framegauge.text.show"

local M = {}

M.BETTER, M.WORSE, M.SAME, M.UNKNOWN, M.CHANGED = "better", "worse", "same", "not judged", "changed"

-- Rows of a record that are compared.
local function figures_of(record)
   local list = {}
   for _, row in ipairs(record.rows) do
      list[#list + 1] = row.within and row or nil
   end
   return list
end

-- What a row is called: as in junit.xml, behind the name of its suite.
local function name_of(one, line, i)
   local name = one.case and one.case(line, i) or show.name(one.record, line)
   local suite = one.suite and line[one.suite]
   return suite and ("%s, %s"):format(suite, name) or name
end

-- Rows of a table by what they are called. Those of one name are numbered: none is left out.
local function by_name(one, lines)
   local named, names, times = {}, {}, {}
   for i, line in ipairs(lines) do
      local name = name_of(one, line, i)
      times[name] = (times[name] or 0) + 1
      name = times[name] > 1 and ("%s (%d)"):format(name, times[name]) or name
      named[name], names[i] = line, name
   end
   return named, names
end

local function mark_of(row, change, open, valid)
   if not (valid and change and open) then
      return M.UNKNOWN
   elseif math.abs(change) <= open then
      return M.SAME
   end
   local side = row.better or row.expect and row.expect[2]
   if not side then
      return M.CHANGED
   end
   return (change > 0) == (side == ">=") and M.BETTER or M.WORSE
end

-- How far apart two truths may be whose figures agree; nil where one of them does not tell.
local function open_between(row, before, after)
   local old, new = row.within(before), row.within(after)
   return old and new and old + new
end

local function line_of(row, name, before, after)
   local old, new = rows.value(before, row[1]), rows.value(after, row[1])
   if old == nil and new == nil then
      return nil
   end
   local change = old and new and new - old
   local open = change and open_between(row, before, after)
   local valid = before.validity == "valid" and after.validity == "valid"
   local function text(value)
      return value and (show.write(row, value))
   end
   local sign = change and (change > 0 and "+" or change < 0 and "-" or "")
   return {
      name = name, figure = row[1], heading = row.col or row[1]:gsub("_", " "),
      unit = select(2, show.write(row, old or new)),
      before = old, after = new, change = change, resolution = open,
      change_percent = change and old ~= 0 and change / old * 100 or nil,
      mark = mark_of(row, change, open, valid),
      before_text = text(old), after_text = text(new),
      change_text = change and sign .. text(math.abs(change)), resolution_text = text(open),
   }
end

local NOTHING = {}

local function compare_table(one, before, after)
   local lines, figures = {}, figures_of(one.record)
   local old, names = by_name(one, before)
   local new, new_names = by_name(one, after)
   for _, name in ipairs(new_names) do
      names[#names + 1] = not old[name] and name or nil
   end
   for _, name in ipairs(names) do
      for _, figure in ipairs(figures) do
         lines[#lines + 1] = line_of(figure, name, old[name] or NOTHING, new[name] or NOTHING)
      end
   end
   return lines
end

local function is_object(value)
   return type(value) == "table" and (next(value) == nil or type(next(value)) == "string")
end

--- What is different between two values as JSON has them. Lists are compared as a whole.
-- @return list of "path was X and is Y", sorted
function M.differences(before, after)
   local found = {}
   local function compare(path, old, new)
      if is_object(old) and is_object(new) then
         local keys = {}
         for _, side in ipairs { old, new } do
            for key in pairs(side) do
               keys[key] = true
            end
         end
         for key in pairs(keys) do
            compare(path == "" and key or path .. "." .. key, old[key], new[key])
         end
         return
      end
      local function text(value)
         return value == nil and "nothing" or json.encode(value)
      end
      if text(old) ~= text(new) then
         found[#found + 1] = ("%s was %s and is %s"):format(path, text(old), text(new))
      end
   end
   compare("", before, after)
   table.sort(found)
   return found
end

--- Compare two results.
-- @param before, after  as framegauge.report.read() gives them, of the same test
-- @return { differences = of the plans, tables = list of { title, lines = list of { name = of the row, figure
-- = its key, heading, unit, before, after, change, change_percent, resolution = what a change must be more
-- than, mark = M.BETTER ..., and the figures as text } }, worse = how many figures are }
function M.of(before, after)
   local found = { differences = M.differences(before.plan, after.plan), tables = {}, worse = 0 }
   local new = results.tables(after.plan.test, after.results)
   for i, one in ipairs(results.tables(before.plan.test, before.results)) do
      local lines = compare_table(one, one.lines, new[i].lines)
      found.tables[#found.tables + 1] = #lines > 0 and { title = one.title, lines = lines } or nil
      for _, line in ipairs(lines) do
         found.worse = found.worse + (line.mark == M.WORSE and 1 or 0)
      end
   end
   return found
end

local COLUMNS = {
   { "", "", function(line) return line.name end, left = true },
   { "Figure", "", function(line)
      return line.heading .. (line.unit ~= "" and ", " .. line.unit or "")
   end, left = true },
   { "Before", "", function(line) return line.before_text end },
   { "After", "", function(line) return line.after_text end },
   { "Change", "", function(line) return line.change_text end },
   { "", "%", function(line) return line.change_percent and ("%+.2f"):format(line.change_percent) end },
   { "Resolution", "", function(line) return line.resolution_text end },
   { "", "", function(line) return line.mark end, left = true },
}

--- A comparison as text: figures that differ, or cannot be judged.
-- @param all    those too that are the same as far as both runs can tell
-- @param paint  framegauge.text.ansi
function M.text(found, all, paint)
   local parts, count = {}, { [M.SAME] = 0, [M.UNKNOWN] = 0 }
   for _, one in ipairs(found.tables) do
      local lines = {}
      for _, line in ipairs(one.lines) do
         count[line.mark] = (count[line.mark] or 0) + 1
         lines[#lines + 1] = (all or line.mark ~= M.SAME) and line or nil
      end
      parts[#parts + 1] = #lines > 0 and one.title .. "\n" .. grid.text(COLUMNS, lines, paint) or nil
   end
   if #found.differences > 0 then
      parts[#parts + 1] = "The plans differ: " .. table.concat(found.differences, ";\n   ") .. ".\n"
   end
   local ending = "Worse: %d. The same within the resolution of both runs: %d. Not judged: %d.\n"
   parts[#parts + 1] = ending:format(found.worse, count[M.SAME], count[M.UNKNOWN])
   return table.concat(parts, "\n")
end

return M
