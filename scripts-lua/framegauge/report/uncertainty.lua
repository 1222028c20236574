-- SPDX-License-Identifier: BSD-3-Clause

--- The uncertainty of a result's figures: added to them, and shown.
--
-- A figure whose result row has `uncertainty` gets one where the method can support it, under its key in the
-- object `uncertainty` of its row. Only valid rows have one: a tester-limited figure is a bound itself.
local figures = require "framegauge.methods.common.figures"
local results = require "framegauge.report.result"
local rows = require "framegauge.text.rows"
local show = require "framegauge.text.show"
local tables = require "framegauge.core.tables"
local words = require "framegauge.text.uncertainty"

local M = {}

-- Figures of a record that may have one.
local function of_record(record)
   return tables.map(figures.all(record), function(figure)
      return figure.path and figure.row.uncertainty and figure or nil
   end)
end

-- What the figures of a row may follow from.
local function run_of(plan, found, trials, calibration)
   local run = { plan = plan, results = found, trials = trials, calibration = calibration, trial = {} }
   for _, record in ipairs(trials) do
      run.trial[record.trial], run.time = record, record.time
   end
   return run
end

--- Add the uncertainties of all figures.
-- @param found        results by test; their rows are changed
-- @param trials       records, in their order
-- @param calibration  state of the calibration (framegauge.run.calibration)
function M.add(plan, found, trials, calibration)
   local run = run_of(plan, found, trials, calibration)
   for _, one in ipairs(results.tables(plan.test, found)) do
      for _, line in ipairs(one.lines) do
         local list = {}
         for _, figure in ipairs(of_record(one.record)) do
            if line.validity == "valid" and figure.of(line) ~= nil then
               list[rows.flat_key(figure.path)] = figure.row.uncertainty(line, run) or nil
            end
         end
         line.uncertainty = next(list) and list or nil
      end
   end
end

--- The uncertainty of a figure of a row; nil where it is unknown.
-- @param path  of the figure
function M.of(line, path)
   return line.uncertainty and line.uncertainty[rows.flat_key(path)]
end

--- Visit every figure of a result that may have an uncertainty: visit(row, line, path, name of the line).
function M.each(result, visit)
   for _, one in ipairs(results.tables(result.plan.test, result.results)) do
      for i, line in ipairs(one.lines) do
         local name = show.whole_name(one, line, i)
         for _, figure in ipairs(of_record(one.record)) do
            if figure.of(line) ~= nil then
               visit(figure.row, line, figure.path, name)
            end
         end
      end
   end
end

--- A figure's heading, with its unit, and its text.
function M.written(row, path, value)
   local text, unit = show.write(row, value)
   return (row.col or path) .. (unit ~= "" and ", " .. unit or ""), text
end

--- Notes on the uncertainties, for the reader.
M.TEXT = "The true value lies between these bounds with at least the probability in the column coverage, if the device does not change. A dash: the bound is not known. A figure without a defensible bound, such as a percentile of delays that depend on each other, is not in the table. result.json has the components of each with their sources."

--- Columns of a table of them.
M.COLUMNS = {
   { "", "", function(line) return line.name end, left = true },
   { "Figure", "", function(line) return line.figure end, left = true },
   { "Value", "", function(line) return line.value end },
   { "at least", "", function(line) return line.low end },
   { "at most", "", function(line) return line.high end },
   { "Coverage", "", function(line) return line.coverage end },
   { "by", "", function(line) return line.components end, left = true },
}

--- The lines of a table of all uncertainties of a result.
-- @param names  of the tables of the records whose figures are wanted; nil: all
function M.lines(result, names)
   local list = {}
   M.each(result, function(row, line, path, name)
      local u = M.of(line, path)
      if u and (not names or show.stands_in(row, names)) then
         local figure, value = M.written(row, path, rows.value(line, path))
         list[#list + 1] = {
            name = name, figure = figure, value = value, low = u.low and show.write(row, u.low),
            high = u.high and show.write(row, u.high), coverage = ("%g %%"):format(u.coverage * 100),
            components = words.components_in_words(u),
         }
      end
   end)
   return list
end

return M
