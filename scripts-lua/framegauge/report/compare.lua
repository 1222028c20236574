-- SPDX-License-Identifier: BSD-3-Clause

--- Two results of one test side by side, or several before and several after: what has changed, as far as the
-- runs can show.
--
-- How a figure and a verdict are judged: framegauge.report.change. Figures that are not the device's
-- (tester-limited, invalid) are shown and not judged. Rows that only one side has are named.
local change = require "framegauge.report.change"
local files = require "framegauge.report.files"
local figures = require "framegauge.methods.common.figures"
local grid = require "framegauge.text.grid"
local json = require "framegauge.text.json"
local plan_help = require "framegauge.plan.help"
local report = require "framegauge.report"
local results = require "framegauge.report.result"
local show = require "framegauge.text.show"
local significance = require "framegauge.trial.significance"
local tables = require "framegauge.core.tables"
local uncertainty = require "framegauge.report.uncertainty"
local units = require "framegauge.text.units"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local BAD_USAGE = 2

M.BETTER, M.WORSE, M.SAME = change.BETTER, change.WORSE, change.SAME
M.UNKNOWN, M.CHANGED = change.UNKNOWN, change.CHANGED

--- Rows of a table by name. Rows with the same name are numbered, so that none is left out.
-- @return name -> row, the names in the order of the rows
function M.by_name(one, lines)
   local named, names, times = {}, {}, {}
   for i, line in ipairs(lines) do
      local name = show.whole_name(one, line, i)
      times[name] = (times[name] or 0) + 1
      name = times[name] > 1 and ("%s (%d)"):format(name, times[name]) or name
      named[name], names[i] = line, name
   end
   return named, names
end

-- The rows of all runs of one side by name. Rows of the first run have the places of `given`, if that is
-- there: two devices between ports of other names.
-- @return name -> list of rows, names in the order in which they are first met
local function by_name_of_all(one, runs, given)
   local named, names = {}, {}
   for _, lines in ipairs(runs) do
      local of_run, order = M.by_name(one, lines)
      for i, name in ipairs(order) do
         local called = given and given[i] or name
         if not named[called] then
            named[called], names[#names + 1] = {}, called
         end
         table.insert(named[called], of_run[name])
      end
   end
   return named, names
end

-- Names of a list that are no keys of a table.
local function missing(names, from)
   return tables.map(names, function(name) return not from[name] and name or nil end)
end

local function compare_table(one, before, after)
   local lines, compared = {}, figures.compared(one.record)
   local old, names = by_name_of_all(one, before)
   local new, new_names = by_name_of_all(one, after, one.by_place and names)
   for _, name in ipairs(names) do
      if new[name] then
         lines[#lines + 1] = change.of_verdict(name, old[name], new[name])
         for _, figure in ipairs(compared) do
            lines[#lines + 1] = change.of_figure(figure, name, old[name], new[name],
               #before > 1 or #after > 1)
         end
      end
   end
   return { title = one.title, lines = lines, only_before = missing(names, new),
      only_after = missing(new_names, old) }
end

-- A criterion as a row that passes or fails.
local function row_of(criterion)
   local undecided = criterion.met == nil or criterion.met == json.null
   return { validity = undecided and "invalid" or "valid",
      outcome = criterion.met == true and "pass" or criterion.met == false and "fail" or nil }
end

-- Criteria of all runs by their text.
local function criteria_of(runs)
   local named, names = {}, {}
   for _, result in ipairs(runs) do
      for _, criterion in ipairs(result.expectations or {}) do
         local text = criterion.text
         if not named[text] then
            named[text], names[#names + 1] = {}, text
         end
         if tables.find(result.expectations, "text", text) == criterion then
            table.insert(named[text], row_of(criterion))
         end
      end
   end
   return named, names
end

local function compare_criteria(before, after)
   local lines, old, names = {}, criteria_of(before)
   local new, new_names = criteria_of(after)
   for _, text in ipairs(names) do
      lines[#lines + 1] = new[text] and change.of_verdict(text, old[text], new[text]) or nil
   end
   return { title = "Criteria", lines = lines, only_before = missing(names, new),
      only_after = missing(new_names, old) }
end

-- Values of a plan that are numbers in a base unit, by the type of their key.
local WRITE = { time = units.format_time, bits = units.format_bits }

-- A value of a plan as a person wrote it, as far as that is known.
local function written(path, value)
   local row = type(value) == "number" and plan_help.row(path)
   local write = row and WRITE[row.type]
   return write and write(value) or type(value) == "table" and value.text
      or value == nil and "nothing" or json.encode(value)
end

local function is_object(value)
   return type(value) == "table" and not value.text and (next(value) == nil or type(next(value)) == "string")
end

--- The differences between two values of JSON. Lists are compared as a whole.
-- @return list of "path was X and is Y", sorted
function M.differences(before, after)
   local found = {}
   local function compare(path, old, new)
      if path == "lab.image" then
         return -- of lab.logo
      end
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
      if json.encode(old == nil and json.null or old) ~= json.encode(new == nil and json.null or new) then
         found[#found + 1] = ("%s was %s and is %s"):format(path, written(path, old), written(path, new))
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
      figure = figure.path, heading = change.heading(figure), unit = unit, value = value, text = text,
      low = known.low, high = known.high, valid = line.validity == "valid",
      side = figure.better ~= figures.EITHER and figure.better or nil,
   }
end

--- The figures of a result whose uncertainty may be known, for a history of them.
-- @return list of { title = of the table, name = of the row, with the definition of a latency: of two
-- definitions it is two figures, figure = its key, heading, unit, value, text, low, high = its uncertainty
-- where it is known, valid = whether it is the device's, side = ">=" or "<=" where more or less is better, or
-- nil }
function M.figures(result)
   local list = {}
   for _, one in ipairs(results.tables(result.plan.test, result.results)) do
      local _, names = M.by_name(one, one.lines)
      for i, line in ipairs(one.lines) do
         for _, figure in ipairs(figures.compared(one.record)) do
            local found = figure.row.uncertainty and figure_of(figure, line)
            if found then
               local definition = figures.definition(figure, line)
               found.title = one.title
               found.name = definition and ("%s, %s"):format(names[i], definition) or names[i]
               list[#list + 1] = found
            end
         end
      end
   end
   return list
end

-- Of several runs, judge all figures at once: each chance is adjusted for the number of figures.
local function judge(found)
   local tested = {}
   for _, one in ipairs(found.tables) do
      for _, line in ipairs(one.lines) do
         tested[#tested + 1] = line.chance and line or nil
      end
   end
   local adjusted = significance.holm(tables.field(tested, "chance"))
   for i, line in ipairs(tested) do
      change.adjust(line, adjusted[i])
   end
end

-- The differences between the plans of both sides, and within a side.
local function plans_differ(before, after)
   local function differ(one, other)
      return tables.map(M.differences(one.plan, other.plan), function(text)
         return not text:find "^needs%." and text or nil -- that follows from others
      end)
   end
   local list = differ(before[1], after[1])
   for _, runs in ipairs { before, after } do
      for i = 2, #runs do
         for _, text in ipairs(differ(runs[1], runs[i])) do
            local side = runs == before and "before" or "after"
            list[#list + 1] = ("run %d of those %s: %s"):format(i, side, text)
         end
      end
   end
   return list
end

-- The rows of each run in table i.
local function lines_of(runs, i)
   return tables.map(runs, function(all) return all[i].lines end)
end

local function tables_of(runs)
   return tables.map(runs, function(run) return results.tables(run.plan.test, run.results) end)
end

--- Compare two results, or several with several.
-- @param before, after  a result as framegauge.report.read() gives it, or a list of them; all of one test
-- @return { differences = of the plans, tables = list of { title, lines = list of framegauge.report.change,
-- only_before, only_after = names of rows that one side alone has }, runs = { before =, after = how many } or
-- nil of one each, worse = how many lines are, judged = how many could be judged, interrupted = whether a run
-- was }
function M.of(before, after)
   before, after = before.plan and { before } or before, after.plan and { after } or after
   local found = { differences = plans_differ(before, after), tables = {}, worse = 0, judged = 0,
      interrupted = tables.find(tables.joined(before, after), "interrupted", true) ~= nil,
      runs = (#before > 1 or #after > 1) and { before = #before, after = #after } or nil }
   local old, new = tables_of(before), tables_of(after)
   local all = tables.map(old[1], function(one, i)
      return compare_table(one, lines_of(old, i), lines_of(new, i))
   end)
   all[#all + 1] = compare_criteria(before, after)
   found.tables = tables.map(all, function(one)
      return (one.lines[1] or one.only_before[1] or one.only_after[1]) and one or nil
   end)
   judge(found)
   for _, one in ipairs(found.tables) do
      for _, line in ipairs(one.lines) do
         found.worse = found.worse + (line.mark == M.WORSE and 1 or 0)
         found.judged = found.judged + (line.mark ~= M.UNKNOWN and 1 or 0)
      end
   end
   return found
end

local function refuse(command, ...)
   user_error.raise(command, BAD_USAGE, ...)
end

local function one_test(runs, paths, command)
   for i, result in ipairs(runs) do
      if result.plan.test ~= runs[1].plan.test then
         refuse(command, "%s has results of %s, %s of %s: there is nothing to compare", paths[1], runs[1].plan.test,
            paths[i], result.plan.test)
      end
   end
end

--- The runs in folders: each is a result, or holds several, as `run --repeat` leaves them. All have one test.
-- @param command  command named in an error's hint
-- @return list of results, and of their folders
function M.read(folders, command)
   local paths = {}
   for _, folder in ipairs(folders) do
      local held = not uv.fs_stat(folder .. "/result.json") and files.runs(folder) or {}
      paths = tables.joined(paths, held[1] and held or { folder })
   end
   local runs = tables.map(paths, function(path) return report.read(path, command) end)
   one_test(runs, paths, command)
   return runs, paths
end

--- Compare the results of folders. Raises an error with a status where they cannot be compared.
-- @param before, after  the folder of a result, or one that holds several; or a list of these
-- @return what of() returns, and both sides: list of results, and of their folders
function M.folders(before, after)
   local old, old_paths = M.read(type(before) == "table" and before or { before }, "compare")
   local new, new_paths = M.read(type(after) == "table" and after or { after }, "compare")
   one_test(tables.joined(old, new), tables.joined(old_paths, new_paths), "compare")
   local fewest = math.min(#old, #new)
   if fewest < significance.LEAST and (#old > 1 or #new > 1) then
      refuse("compare", "%d against %d runs: to know their spread, give %d of each at least; or one of each", #old, #new,
         significance.LEAST)
   end
   return M.of(old, new), { results = old, folders = old_paths }, { results = new, folders = new_paths }
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

local function text_of(key)
   return function(line) return line[key] end
end

-- Columns of a table of lines (framegauge.text.show); `several`: with what several runs have in addition.
local COLUMNS = {
   { "", "", text_of "name", left = true },
   { "Figure", "", function(line)
      return line.heading .. (line.unit ~= "" and ", " .. line.unit or "")
   end, left = true },
   { "Before", "", text_of "before_text" },
   { "spread", "s", text_of "before_stddev_text", several = true },
   { "After", "", text_of "after_text" },
   { "spread", "s", text_of "after_stddev_text", several = true },
   { "Change", "", text_of "change_text" },
   { "", "%", function(line) return line.change_percent and ("%+.2f"):format(line.change_percent) end },
   { "Resolution", "", text_of "resolution_text" },
   { "Chance", "", function(line)
      return line.adjusted and (line.adjusted < 0.0001 and "<0.0001" or ("%.4f"):format(line.adjusted))
   end, several = true },
   { "", "", text_of "mark", left = true, kind = "validity" },
}

--- Columns of the tables of a comparison.
function M.columns(found)
   return tables.map(COLUMNS, function(column)
      return (found.runs or not column.several) and column or nil
   end)
end

--- Rows of a table that only one side has, and latencies that are not judged, in sentences.
function M.remarks(found, one)
   local sides = found.runs and { "runs before", "runs after" } or { "first run", "second run" }
   local out = {}
   for i, names in ipairs { one.only_before, one.only_after } do
      out[#out + 1] = names[1] and ("%s, only in the %s: %s."):format(one.title, sides[i],
         table.concat(names, "; ")) or nil
   end
   local named = {} -- words -> rows
   for _, line in ipairs(one.lines) do
      local words = line.definitions
      if words and not tables.contains(named[words] or {}, line.name) then
         named[words] = tables.joined(named[words] or {}, { line.name })
      end
   end
   for _, words in ipairs(tables.keys(named)) do
      out[#out + 1] = ("%s, not judged, because the definition of the latency is not the same (%s): %s."):format(
         one.title, words, table.concat(named[words], "; "))
   end
   return out
end

--- How many figures and verdicts there are of each kind, in words.
function M.counted(found)
   local count = M.counts(found)
   return ("Better: %d. Worse: %d. %s: %d. Changed: %d. Not judged: %d."):format(count[M.BETTER], found.worse,
      found.runs and "Not shown to differ" or "The same within the resolution of both runs", count[M.SAME],
      count[M.CHANGED], count[M.UNKNOWN])
end

--- The method for several runs, a sentence; nil for one against one.
function M.test(found)
   return found.runs and ("%d runs before, %d after. Figures are medians. A change counts where it is more than the resolution and its chance (Welch's test, adjusted by Holm) is at most %g %%."):format(
      found.runs.before, found.runs.after, change.LEVEL * 100) or nil
end

--- Limits of a comparison, a sentence; nil where figures or verdicts of whole runs were judged.
function M.problem(found)
   return found.judged == 0
      and "Nothing could be compared: no row that is valid before and after has a figure."
      or found.interrupted and "A run was interrupted: rows that it did not come to are not compared." or nil
end

--- A comparison as text: figures that differ, or cannot be judged.
-- @param all    also figures without a significant change
-- @param paint  framegauge.text.ansi
function M.text(found, all, paint)
   local parts, columns = {}, M.columns(found)
   for _, one in ipairs(found.tables) do
      local lines = tables.map(one.lines, function(line)
         return (all or line.mark ~= M.SAME) and line or nil
      end)
      parts[#parts + 1] = #lines > 0 and one.title .. "\n" .. grid.text(columns, lines, paint) or nil
      for _, sentence in ipairs(M.remarks(found, one)) do
         parts[#parts + 1] = sentence .. "\n"
      end
   end
   if #found.differences > 0 then
      parts[#parts + 1] = "The plans differ: " .. table.concat(found.differences, ";\n   ") .. ".\n"
   end
   parts[#parts + 1] = found.runs and M.test(found) .. "\n"
   parts[#parts + 1] = M.counted(found) .. "\n"
   local problem = M.problem(found)
   parts[#parts + 1] = problem and problem .. "\n"
   return table.concat(parts, "\n")
end

return M
