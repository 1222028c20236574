-- SPDX-License-Identifier: BSD-3-Clause

--- A figure or a verdict of one row before and after: the change.
--
-- A figure (methods.common.figures) of one run on each side is judged by the bounds of its uncertainty where
-- both runs have them, else by its resolution: a change counts where it exceeds both uncertainties together.
-- Several runs on each side have a median and a spread: a change of the median counts where it exceeds the
-- resolution, and where the spread does not explain it (framegauge.trial.significance). A row that passed or
-- was valid in all earlier runs, and in no later run, is worse, whatever its figures.
local figures = require "framegauge.methods.common.figures"
local show = require "framegauge.text.show"
local significance = require "framegauge.trial.significance"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local uncertainty = require "framegauge.report.uncertainty"
local verdict = require "framegauge.text.verdict"

local M = {}

M.BETTER, M.WORSE, M.SAME, M.UNKNOWN, M.CHANGED = "better", "worse", "same", "not judged", "changed"

--- The greatest chance that any of all changes is a false alarm.
M.LEVEL = 0.05

function M.heading(figure)
   local row = figure.row
   return row[1] == figure.path and row.col or figure.name:gsub("_", " ")
end

-- A figure in the runs of one side. If any value is the device's, values that are not are left out.
local function side_of(figure, lines, are_several)
   local valid = tables.map(lines, function(line) return line.validity == "valid" and line or nil end)
   local counted = valid[1] and valid or lines
   local values = tables.map(counted, figure.of)
   if not values[1] then
      return nil
   end
   local least = are_several and significance.LEAST or 1
   return { values = values, value = stats.median(values), lines = counted, stddev = stats.stddev(values),
      counts = valid[1] ~= nil and #values >= least }
end

-- How far the true value may be from a figure, in the direction of the other side: the maximum of all runs.
local function open_on(figure, side, above, bounded)
   return stats.max(tables.map(side.lines, function(line)
      local value = figure.of(line)
      local known = bounded and uncertainty.of(line, figure.path)
      if value == nil then
         return nil
      elseif not known then
         return figure.resolution(line, value)
      end
      return above and (known.high or math.huge) - value or not above and value - (known.low or -math.huge)
   end))
end

local function open_between(figure, old, new)
   local bounded = true
   for _, line in ipairs(tables.joined(old.lines, new.lines)) do
      bounded = bounded and (figure.of(line) == nil or uncertainty.of(line, figure.path) ~= nil)
   end
   local up = new.value >= old.value
   return open_on(figure, old, up, bounded) + open_on(figure, new, not up, bounded)
end

local function mark_of(figure, change, open)
   if math.abs(change) <= open then
      return M.SAME
   elseif figure.better == figures.EITHER then
      return M.CHANGED
   end
   return (change > 0) == (figure.better == figures.MORE) and M.BETTER or M.WORSE
end

-- The latency definitions of both sides, in words, where they differ; nil where they are equal.
local function definitions_of(figure, old, new)
   local words = {}
   for i, side in ipairs { old, new } do
      for _, line in ipairs(side.lines) do
         words[i] = words[i] or {}
         local word = figure.of(line) ~= nil and (figures.definition(figure, line) or "not known")
         if word and not tables.contains(words[i], word) then
            table.insert(words[i], word)
         end
      end
   end
   local one = #words[1] == 1 and #words[2] == 1 and words[1][1] == words[2][1]
   return not one and ("%s before, %s after"):format(table.concat(words[1], " and "),
      table.concat(words[2], " and ")) or nil
end

-- The additional values of several runs on each side.
local function several(line, old, new, text)
   line.before_values, line.after_values = old and old.values, new and new.values
   line.before_stddev, line.after_stddev = old and old.stddev, new and new.stddev
   line.before_stddev_text, line.after_stddev_text = text(line.before_stddev), text(line.after_stddev)
   line.chance = line.mark ~= M.UNKNOWN and significance.welch(old.values, new.values) or nil
end

--- A figure of a row.
-- @param name           of the row
-- @param before, after  lists of this row in the runs of each side
-- @param are_several    whether a side has several runs
-- @return { name =, figure = its key, heading, unit, before, after, change, change_percent, resolution = what
-- a change must be more than, mark = M.BETTER ..., definitions = in words where they are not one and nothing
-- is judged, and the figures as text }; of several runs before_values,
-- after_values, before_stddev, after_stddev, chance = of such a change where nothing has changed; nil where
-- no run has the figure
function M.of_figure(figure, name, before, after, are_several)
   local row = figure.row
   local old, new = side_of(figure, before, are_several), side_of(figure, after, are_several)
   if not (old or new) then
      return nil
   end
   local definitions = old and new and definitions_of(figure, old, new) or nil
   local change = old and new and not definitions and new.value - old.value or nil
   local open = change and open_between(figure, old, new)
   local resolution = open and open < math.huge and open or nil
   local function text(value)
      return value and (show.write(row, value))
   end
   local sign = change and (change > 0 and "+" or change < 0 and "-" or "")
   local line = {
      name = name, figure = figure.path, heading = M.heading(figure),
      unit = select(2, show.write(row, (old or new).value)),
      before = old and old.value, after = new and new.value, change = change, resolution = resolution,
      definitions = definitions,
      change_percent = change and old.value ~= 0 and change / old.value * 100 or nil,
      mark = change and old.counts and new.counts and mark_of(figure, change, open) or M.UNKNOWN,
      before_text = text(old and old.value), after_text = text(new and new.value),
      change_text = change and sign .. text(math.abs(change)), resolution_text = text(resolution),
   }
   if are_several then
      several(line, old, new, text)
   end
   return line
end

--- Adjust the chance of a line for all figures that were judged together.
function M.adjust(line, adjusted)
   line.adjusted = adjusted
   line.mark = adjusted <= M.LEVEL and line.mark or M.SAME
end

local function is_good(line)
   return line.validity == "valid" and line.outcome ~= "fail"
end

-- The words of a side, each once, with the number of its runs where there are several; nil where nobody gave
-- any. What all are: true = good, false = bad, nil = some of each; and whether any does not apply.
local function words_of(lines)
   local words, times, good, excused = {}, {}, 0, false
   for _, line in ipairs(lines) do
      local word = verdict.word(line)
      if word and not times[word] then
         times[word], words[#words + 1] = 0, word
      end
      times[word or ""] = (times[word or ""] or 0) + 1
      good, excused = good + (is_good(line) and 1 or 0), excused or line.validity == "not-applicable"
   end
   local text = #lines == 1 and words[1] or words[1] and table.concat(tables.map(words, function(word)
      return ("%s (%d)"):format(word, times[word])
   end), ", ")
   local all
   if good == #lines or good == 0 then
      all = good > 0
   end
   return { text = text, words = table.concat(words, " "), all = all, excused = excused }
end

--- The change of a row's verdict; nil without a change or a verdict.
function M.of_verdict(name, before, after)
   local old, new = words_of(before), words_of(after)
   if not (old.text and new.text) or old.words == new.words and old.all == new.all and old.all ~= nil
      or old.text == new.text then
      return nil
   end
   local mark = M.CHANGED
   if old.all ~= nil and new.all ~= nil and old.all ~= new.all and not old.excused and not new.excused then
      mark = new.all and M.BETTER or M.WORSE
   end
   return { name = name, figure = "verdict", heading = "Verdict", unit = "", mark = mark,
      before_text = old.text, after_text = new.text }
end

return M
