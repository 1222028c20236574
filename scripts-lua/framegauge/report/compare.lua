-- SPDX-License-Identifier: BSD-3-Clause

--- Two results of one test side by side: what has changed, as far as both can tell.
--
-- A figure is compared where its result row has `uncertainty` (framegauge.text.rows). A change counts only
-- where it is more than the uncertainties of both together; the side on which a figure is expected says
-- whether it is for the better. Figures that are not the device's (tester-limited, invalid) and those of
-- unknown uncertainty are shown and not judged.
local grid = require "framegauge.text.grid"
local json = require "framegauge.text.json"
local report = require "framegauge.report"
local results = require "framegauge.report.result"
local rows = require "framegauge.text.rows"
local show = require "framegauge.text.show"
local uncertainty = require "framegauge.report.uncertainty"
local user_error = require "framegauge.core.user_error"

local M = {}

local BAD_USAGE = 2

M.BETTER, M.WORSE, M.SAME, M.UNKNOWN, M.CHANGED = "better", "worse", "same", "not judged", "changed"

-- Rows of a record that are compared.
local function figures_of(record)
   local list = {}
   for _, row in ipairs(record.rows) do
      list[#list + 1] = row.uncertainty and row or nil
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

local function side_of(row)
   return row.better or row.expect and row.expect[2]
end

local function mark_of(row, change, open, valid)
   if not (valid and change and open) then
      return M.UNKNOWN
   elseif math.abs(change) <= open then
      return M.SAME
   end
   local side = side_of(row)
   if not side then
      return M.CHANGED
   end
   return (change > 0) == (side == ">=") and M.BETTER or M.WORSE
end

-- How far apart two figures of the same truth may be, on the sides that face each other; infinite where one
-- of them has no bound there, and nil where the uncertainty of one is not known.
local function open_between(path, old, new, before, after)
   local one, other = uncertainty.of(before, path), uncertainty.of(after, path)
   if not (one and other) then
      return nil
   elseif new >= old then
      return (one.high or math.huge) - old + new - (other.low or -math.huge)
   end
   return old - (one.low or -math.huge) + (other.high or math.huge) - new
end

local function line_of(row, name, before, after)
   local old, new = rows.value(before, row[1]), rows.value(after, row[1])
   if old == nil and new == nil then
      return nil
   end
   local change = old and new and new - old
   local open = change and open_between(row[1], old, new, before, after)
   local resolution = open and open < math.huge and open or nil
   local valid = before.validity == "valid" and after.validity == "valid"
   local function text(value)
      return value and (show.write(row, value))
   end
   local sign = change and (change > 0 and "+" or change < 0 and "-" or "")
   return {
      name = name, figure = row[1], heading = row.col or row[1]:gsub("_", " "),
      unit = select(2, show.write(row, old or new)),
      before = old, after = new, change = change, resolution = resolution,
      change_percent = change and old ~= 0 and change / old * 100 or nil,
      mark = mark_of(row, change, open, valid),
      before_text = text(old), after_text = text(new),
      change_text = change and sign .. text(math.abs(change)), resolution_text = text(resolution),
   }
end

local NOTHING = {}

-- The rows after by the names of those before in their places: two devices between ports of other names.
local function in_places(names, after, new_names)
   local new = {}
   for i, line in ipairs(after) do
      new_names[i] = names[i] or new_names[i]
      new[new_names[i]] = line
   end
   return new, new_names
end

local function compare_table(one, before, after)
   local lines, figures = {}, figures_of(one.record)
   local old, names = by_name(one, before)
   local new, new_names = by_name(one, after)
   if one.by_place then
      new, new_names = in_places(names, after, new_names)
   end
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

-- A figure of a row, or nil where it is not known.
local function figure_of(row, line)
   local value = rows.value(line, row[1])
   if value == nil then
      return nil
   end
   local text, unit = show.write(row, value)
   local known = uncertainty.of(line, row[1]) or NOTHING
   return {
      figure = row[1], heading = row.col or row[1]:gsub("_", " "), unit = unit, value = value, text = text,
      low = known.low, high = known.high, valid = line.validity == "valid", side = side_of(row),
   }
end

--- The figures of a result that can be compared with those of another run.
-- @return list of { title = of the table, name = of the row, figure = its key, heading, unit, value, text,
-- low, high = its uncertainty where it is known, valid = whether it is the device's, side = ">=" or "<="
-- where more or less is better, or nil }
function M.figures(result)
   local list = {}
   for _, one in ipairs(results.tables(result.plan.test, result.results)) do
      local _, names = by_name(one, one.lines)
      for i, line in ipairs(one.lines) do
         for _, row in ipairs(figures_of(one.record)) do
            local figure = figure_of(row, line)
            if figure then
               figure.title, figure.name = one.title, names[i]
               list[#list + 1] = figure
            end
         end
      end
   end
   return list
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

--- Compare the results of two folders. Raises an error with a status where they cannot be compared.
-- @return what of() returns, and both results
function M.folders(before, after)
   local old, new = report.read(before), report.read(after)
   if old.plan.test ~= new.plan.test then
      user_error.raise("compare", BAD_USAGE, "%s has results of %s, %s of %s: there is nothing to compare",
         before, old.plan.test, after, new.plan.test)
   end
   return M.of(old, new), old, new
end

--- How many figures have each mark.
function M.counts(found)
   local count = { [M.BETTER] = 0, [M.WORSE] = 0, [M.SAME] = 0, [M.UNKNOWN] = 0, [M.CHANGED] = 0 }
   for _, one in ipairs(found.tables) do
      for _, line in ipairs(one.lines) do
         count[line.mark] = count[line.mark] + 1
      end
   end
   return count
end

--- Columns of a table of lines (framegauge.text.show).
M.COLUMNS = {
   { "", "", function(line) return line.name end, left = true },
   { "Figure", "", function(line)
      return line.heading .. (line.unit ~= "" and ", " .. line.unit or "")
   end, left = true },
   { "Before", "", function(line) return line.before_text end },
   { "After", "", function(line) return line.after_text end },
   { "Change", "", function(line) return line.change_text end },
   { "", "%", function(line) return line.change_percent and ("%+.2f"):format(line.change_percent) end },
   { "Resolution", "", function(line) return line.resolution_text end },
   { "", "", function(line) return line.mark end, left = true, kind = "validity" },
}

--- A comparison as text: figures that differ, or cannot be judged.
-- @param all    those too that are the same as far as both runs can tell
-- @param paint  framegauge.text.ansi
function M.text(found, all, paint)
   local parts, count = {}, M.counts(found)
   for _, one in ipairs(found.tables) do
      local lines = {}
      for _, line in ipairs(one.lines) do
         lines[#lines + 1] = (all or line.mark ~= M.SAME) and line or nil
      end
      parts[#parts + 1] = #lines > 0 and one.title .. "\n" .. grid.text(M.COLUMNS, lines, paint) or nil
   end
   if #found.differences > 0 then
      parts[#parts + 1] = "The plans differ: " .. table.concat(found.differences, ";\n   ") .. ".\n"
   end
   local ending = "Worse: %d. The same within the resolution of both runs: %d. Not judged: %d.\n"
   parts[#parts + 1] = ending:format(found.worse, count[M.SAME], count[M.UNKNOWN])
   return table.concat(parts, "\n")
end

return M
