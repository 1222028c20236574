-- SPDX-License-Identifier: BSD-3-Clause

--- Two results of one test side by side: what has changed, as far as both can tell.
--
-- A figure (framegauge.methods.figures) is compared by the bounds of its uncertainty where both runs have
-- them, and else by its resolution. A change counts only where it is more than both leave open together. A
-- row that no longer passes or is no longer valid is worse, whatever its figures. Figures that are not the
-- device's (tester-limited, invalid) are shown and not judged. Rows that only one run has are named.
local figures = require "framegauge.methods.figures"
local grid = require "framegauge.text.grid"
local json = require "framegauge.text.json"
local report = require "framegauge.report"
local results = require "framegauge.report.result"
local show = require "framegauge.text.show"
local tables = require "framegauge.core.tables"
local uncertainty = require "framegauge.report.uncertainty"
local user_error = require "framegauge.core.user_error"
local verdict = require "framegauge.text.verdict"

local M = {}

local BAD_USAGE = 2

M.BETTER, M.WORSE, M.SAME, M.UNKNOWN, M.CHANGED = "better", "worse", "same", "not judged", "changed"

-- Rows of a table by name. Rows of one name are numbered: none is left out.
local function by_name(one, lines)
   local named, names, times = {}, {}, {}
   for i, line in ipairs(lines) do
      local name = show.whole_name(one, line, i)
      times[name] = (times[name] or 0) + 1
      name = times[name] > 1 and ("%s (%d)"):format(name, times[name]) or name
      named[name], names[i] = line, name
   end
   return named, names
end

local function mark_of(figure, change, open)
   if math.abs(change) <= open then
      return M.SAME
   elseif figure.better == figures.EITHER then
      return M.CHANGED
   end
   return (change > 0) == (figure.better == figures.MORE) and M.BETTER or M.WORSE
end

-- How far apart two figures of the same truth may be: by their bounds on the sides that face each other,
-- where infinite is no bound, or by their resolutions.
local function open_between(figure, old, new, before, after)
   local one, other = uncertainty.of(before, figure.path), uncertainty.of(after, figure.path)
   if not (one and other) then
      return figure.resolution(before, old) + figure.resolution(after, new)
   elseif new >= old then
      return (one.high or math.huge) - old + new - (other.low or -math.huge)
   end
   return old - (one.low or -math.huge) + (other.high or math.huge) - new
end

local function heading_of(figure)
   local row = figure.row
   return row[1] == figure.path and row.col or figure.name:gsub("_", " ")
end

local function line_of(figure, name, before, after)
   local row, old, new = figure.row, figure.of(before), figure.of(after)
   if old == nil and new == nil then
      return nil
   end
   local change = old and new and new - old
   local open = change and open_between(figure, old, new, before, after)
   local resolution = open and open < math.huge and open or nil
   local valid = before.validity == "valid" and after.validity == "valid"
   local function text(value)
      return value and (show.write(row, value))
   end
   local sign = change and (change > 0 and "+" or change < 0 and "-" or "")
   return {
      name = name, figure = figure.path, heading = heading_of(figure),
      unit = select(2, show.write(row, old or new)),
      before = old, after = new, change = change, resolution = resolution,
      change_percent = change and old ~= 0 and change / old * 100 or nil,
      mark = valid and change and mark_of(figure, change, open) or M.UNKNOWN,
      before_text = text(old), after_text = text(new),
      change_text = change and sign .. text(math.abs(change)), resolution_text = text(resolution),
   }
end

-- What became of a verdict; nil where it is the same or nobody gave one.
local function verdict_line(name, before, after)
   local old, new = verdict.word(before), verdict.word(after)
   if old == new or not (old and new) then
      return nil
   end
   local function good(line)
      return line.validity == "valid" and line.outcome ~= "fail"
   end
   local mark = M.CHANGED
   if good(before) ~= good(after) and before.validity ~= "not-applicable"
      and after.validity ~= "not-applicable" then
      mark = good(after) and M.BETTER or M.WORSE
   end
   return { name = name, figure = "verdict", heading = "Verdict", unit = "", mark = mark, before_text = old,
      after_text = new }
end

-- The rows after by the names of those before in their places: two devices between ports of other names.
local function in_places(names, after, new_names)
   local new = {}
   for i, line in ipairs(after) do
      new_names[i] = names[i] or new_names[i]
      new[new_names[i]] = line
   end
   return new, new_names
end

-- Names of a list that are no keys of a table.
local function missing(names, from)
   return tables.map(names, function(name) return not from[name] and name or nil end)
end

local function compare_table(one, before, after)
   local lines, compared = {}, figures.compared(one.record)
   local old, names = by_name(one, before)
   local new, new_names = by_name(one, after)
   if one.by_place then
      new, new_names = in_places(names, after, new_names)
   end
   for _, name in ipairs(names) do
      if new[name] then
         lines[#lines + 1] = verdict_line(name, old[name], new[name])
         for _, figure in ipairs(compared) do
            lines[#lines + 1] = line_of(figure, name, old[name], new[name])
         end
      end
   end
   return { title = one.title, lines = lines, only_before = missing(names, new),
      only_after = missing(new_names, old) }
end

-- Criteria by their text, as rows that pass or fail.
local function texts(result)
   return tables.field(result.expectations or {}, "text")
end

-- The texts of a list that another has not.
local function without(list, other)
   return tables.map(list, function(text) return not tables.contains(other, text) and text or nil end)
end

local function compare_criteria(before, after)
   local lines = {}
   local function row(criterion)
      return { validity = criterion.met == nil and "invalid" or criterion.met == json.null and "invalid"
         or "valid", outcome = criterion.met == true and "pass" or criterion.met == false and "fail" or nil }
   end
   for _, old in ipairs(before.expectations or {}) do
      local new = tables.find(after.expectations or {}, "text", old.text)
      lines[#lines + 1] = new and verdict_line(old.text, row(old), row(new))
   end
   local old, new = texts(before), texts(after)
   return { title = "Criteria", lines = lines, only_before = without(old, new),
      only_after = without(new, old) }
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
local function figure_of(figure, line)
   local value = figure.of(line)
   if value == nil then
      return nil
   end
   local text, unit = show.write(figure.row, value)
   local known = uncertainty.of(line, figure.path) or {}
   return {
      figure = figure.path, heading = heading_of(figure), unit = unit, value = value, text = text,
      low = known.low, high = known.high, valid = line.validity == "valid",
      side = figure.better ~= figures.EITHER and figure.better or nil,
   }
end

--- The figures of a result whose uncertainty may be known, for a history of them.
-- @return list of { title = of the table, name = of the row, figure = its key, heading, unit, value, text,
-- low, high = its uncertainty where it is known, valid = whether it is the device's, side = ">=" or "<="
-- where more or less is better, or nil }
function M.figures(result)
   local list = {}
   for _, one in ipairs(results.tables(result.plan.test, result.results)) do
      local _, names = by_name(one, one.lines)
      for i, line in ipairs(one.lines) do
         for _, figure in ipairs(figures.compared(one.record)) do
            local found = figure.row.uncertainty and figure_of(figure, line)
            if found then
               found.title, found.name = one.title, names[i]
               list[#list + 1] = found
            end
         end
      end
   end
   return list
end

--- Compare two results.
-- @param before, after  as framegauge.report.read() gives them, of the same test
-- @return { differences = of the plans, tables = list of { title, lines = list of { name = of the row, figure
-- = its key or "verdict", heading, unit, before, after, change, change_percent, resolution = what a change
-- must be more than, mark = M.BETTER ..., and the figures as text }, only_before, only_after = names of rows
-- that one run alone has }, worse = how many lines are, judged = how many could be judged }
function M.of(before, after)
   local found = { differences = M.differences(before.plan, after.plan), tables = {}, worse = 0, judged = 0 }
   local function add(one)
      local any = one.lines[1] or one.only_before[1] or one.only_after[1]
      found.tables[#found.tables + 1] = any and one or nil
      for _, line in ipairs(one.lines) do
         found.worse = found.worse + (line.mark == M.WORSE and 1 or 0)
         found.judged = found.judged + (line.mark ~= M.UNKNOWN and 1 or 0)
      end
   end
   local new = results.tables(after.plan.test, after.results)
   for i, one in ipairs(results.tables(before.plan.test, before.results)) do
      add(compare_table(one, one.lines, new[i].lines))
   end
   add(compare_criteria(before, after))
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

local function only(parts, one, names, run)
   if names[1] then
      parts[#parts + 1] = ("%s, only in the %s run: %s.\n"):format(one.title, run, table.concat(names, "; "))
   end
end

--- What a comparison could not do, a sentence; nil where at least one figure or verdict was judged.
function M.problem(found)
   return found.judged == 0 and "Nothing could be compared: no row that is valid in both runs has a figure."
      or nil
end

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
      only(parts, one, one.only_before, "first")
      only(parts, one, one.only_after, "second")
   end
   if #found.differences > 0 then
      parts[#parts + 1] = "The plans differ: " .. table.concat(found.differences, ";\n   ") .. ".\n"
   end
   local ending = "Worse: %d. The same within the resolution of both runs: %d. Not judged: %d.\n"
   parts[#parts + 1] = ending:format(found.worse, count[M.SAME], count[M.UNKNOWN])
   local problem = M.problem(found)
   parts[#parts + 1] = problem and problem .. "\n"
   return table.concat(parts, "\n")
end

return M
