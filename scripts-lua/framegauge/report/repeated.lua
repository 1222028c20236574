-- SPDX-License-Identifier: BSD-3-Clause

--- Common properties of the runs of one plan: the spread of each figure within a run and between runs,
-- whether the runs are repetitions of one thing, and which values are outliers.
--
-- An outlier is left out only where the evidence of its run explains it; else it is kept, and named. With two
-- modes, or a figure that rises or falls, there is no mean.
local components = require "framegauge.trial.components"
local grid = require "framegauge.text.grid"
local json = require "framegauge.text.json"
local rows = require "framegauge.text.rows"
local show = require "framegauge.text.show"
local stationarity = require "framegauge.trial.stationarity"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local uncertainties = require "framegauge.report.uncertainty"
local uncertainty = require "framegauge.trial.uncertainty"
local words = require "framegauge.text.uncertainty"

local M = {}

local list, record = rows.list, rows.record

local APART = record("apart", "a value that lies apart from the others, or is not the device's", {
   { "run", "ordinal", "number of its run" }, { "value", "signed", "the figure" },
   { "kept", "boolean", "whether it counts all the same" },
   { "reason", "text", "what the evidence of its run shows; null: nothing", null = true },
})

local FIGURE = record("repeated_figure", "a figure of all runs", {
   { "row", "text", "which row of the results" }, { "figure", "text", "path of the figure in it" },
   { "runs", list "ordinal", "runs that count" }, { "values", list "signed", "what they found" },
   { "within", "number", "how far the truth may be from the figure of a single run: the median of their expanded uncertainties; null where these are not known", null = true },
   { "stddev", "number", "standard deviation between runs; null of one alone", null = true },
   { "mean", "signed", "their mean; null where there is no one mean", null = true },
   { "uncertainty", words.RECORD, "of the mean", null = true },
   { "verdict", { "stationary", "rising", "falling", "bimodal", "too few runs" }, "whether the runs are repetitions of one thing" },
   { "modes", list(record("mode", "one of two modes", {
      { "runs", "ordinal", "how many runs" }, { "mean", "signed", "their mean" },
   })), "of two modes", optional = true },
   { "apart", list(APART), "values that lie apart" },
})

M.RECORD = record("repeated", "repeat.json", {
   { "name", "text", "of the plan" },
   { "runs", list(record("repeated_run", "a run", {
      { "folder", "text", "its folder" }, { "status", "integer", "its exit status" },
   })), "the runs, in their order" },
   { "finished", "boolean", "whether all of them were made" },
   { "wanted", record("wanted", "what was asked for", {
      { "runs", "ordinal", "how many runs", null = true }, { "seconds", "positive", "the time", null = true },
      { "expect", list "text", "expectations" },
   }), "what was asked for" },
   { "figures", list(FIGURE), "figures whose uncertainty is looked at" },
})

-- The values of each figure, in the order in which they are first met.
local function gather(results)
   local order, by_key = {}, {}
   for number, result in ipairs(results) do
      uncertainties.each(result, function(row, line, path, name)
         local key = name .. "\n" .. path
         local one = by_key[key]
         if not one then
            one = { row = row, name = name, path = path, all = {} }
            by_key[key], order[#order + 1] = one, one
         end
         one.all[#one.all + 1] = { run = number, value = rows.value(line, path), line = line,
            u = uncertainties.of(line, path) }
      end)
   end
   return order
end

-- Possible explanations of a value, from the tester or the port: the maximum over the trials of a run.
local EVIDENCE = {
   { "poll_gap_max_ns", "gap between polls" }, { "lag_max_ns", "lag of a frame" }, { "late", "late frames" },
   { "refused", "refused frames" }, { "tester_drops", "frames dropped by the tester" },
   { "misdirected", "misdirected frames" }, { "unsolicited", "unsolicited frames" },
}

-- A value above this multiple of the other runs' median is an explanation.
local FAR_MORE = 3

local function greatest(result, key)
   local most = 0
   for _, trial in ipairs(result.trials) do
      most = math.max(most, trial[key] or 0)
   end
   return most
end

-- Why a run may differ from all others: a sentence, or nil.
local function explanation(results, number)
   for _, one in ipairs(EVIDENCE) do
      local here, others = greatest(results[number], one[1]), 0
      for i, result in ipairs(results) do
         others = i ~= number and math.max(others, greatest(result, one[1])) or others
      end
      if here > FAR_MORE * others and here > 0 then
         local text = one[1]:match "_ns$" and "%s up to %.0f ns, at most %.0f ns in all others"
            or "%s: %d in a trial, at most %d in all others"
         return text:format(one[2], here, others)
      end
   end
end

local function half_widths(kept)
   return tables.map(kept, function(one) return one.u and one.u.expanded or nil end)
end

local function values_of(items)
   return tables.field(items, "value")
end

-- Values that are not the device's do not count, nor do outliers that the evidence explains.
local function sift(one, results)
   local valid, apart, kept = {}, {}, {}
   for _, item in ipairs(one.all) do
      if item.line.validity == "valid" then
         valid[#valid + 1] = item
      else
         local why = table.concat(item.line.reasons or {}, "; ")
         apart[#apart + 1] = { run = item.run, value = item.value, kept = false,
            reason = ("%s: %s"):format(item.line.validity, why) }
      end
   end
   local open = 2 * stats.max { 0, unpack(half_widths(valid)) }
   local left_out = {}
   for _, place in ipairs(stationarity.outliers(values_of(valid), open)) do
      local item = valid[place]
      local why = explanation(results, item.run)
      left_out[item] = why ~= nil
      apart[#apart + 1] = { run = item.run, value = item.value, kept = not why, reason = why }
   end
   for _, item in ipairs(valid) do
      kept[#kept + 1] = not left_out[item] and item or nil
   end
   return kept, apart, open
end

-- The mean of repetitions: its uncertainty is their scatter and the uncertainty that all have in common.
local function mean_of(figure, kept)
   local below, above = 0, 0
   for _, one in ipairs(kept) do
      below = below + (one.u and one.u.low and one.value - one.u.low or math.huge)
      above = above + (one.u and one.u.high and one.u.high - one.value or math.huge)
   end
   local between = components.repetitions(figure.stddev, #kept)
   if not between then
      return nil
   end
   between.name = "between_runs"
   return uncertainty.of(figure.mean, {
      between,
      components.resolution(below / #kept, above / #kept, "mean of the uncertainties of single runs"),
   })
end

local function figure_of(one, results)
   local kept, apart, open = sift(one, results)
   local values, widths = values_of(kept), half_widths(kept)
   local figure = {
      row = one.name, figure = one.path, values = values, apart = apart, runs = {}, source = one.row,
      within = #widths == #kept and widths[1] and stats.median(widths) or nil, verdict = "too few runs",
   }
   for i, item in ipairs(kept) do
      figure.runs[i] = item.run
   end
   local low, high = stationarity.modes(values, open)
   local trend = stationarity.trend(values, open)
   figure.stddev = values[2] and stats.stddev(values)
   if low then
      figure.verdict = "bimodal"
      figure.modes = { { runs = #low, mean = stats.mean(low) }, { runs = #high, mean = stats.mean(high) } }
   elseif trend then
      figure.verdict = trend
   elseif values[1] then
      figure.verdict = stationarity.is_enough(values) and "stationary" or "too few runs"
      figure.mean = stats.mean(values)
      figure.uncertainty = mean_of(figure, kept)
   end
   return figure
end

--- The figures of several results of one plan, as framegauge.report.read() gives them.
function M.figures(results)
   return tables.map(gather(results), function(one) return figure_of(one, results) end)
end

--- The text of repeat.json.
function M.json(repeated)
   return json.encode(rows.published(repeated, M.RECORD), { pretty = true }) .. "\n"
end

local function write(figure, value)
   return value and (show.write(figure.source, value)) or nil
end

local function modes_in_words(figure)
   if not figure.modes then
      return figure.verdict
   end
   local low, high = unpack(figure.modes)
   return ("bimodal: %s (%d runs), %s (%d)"):format(write(figure, low.mean), low.runs,
      write(figure, high.mean), high.runs)
end

--- The notes below the table.
M.TEXT = "within: how far the truth may be from the figure of a single run, the median of their uncertainties. between: standard deviation between runs. The bounds hold for the mean. stationary: neither a trend (test of Mann and Kendall, 5 %, five runs or more) nor two modes (the widest space between neighbours, 1 %, eight runs or more) is shown. Where one is, there is no mean."

--- Columns of a table of the figures.
M.COLUMNS = {
   { "", "", function(f) return f.row end, left = true },
   { "Figure", "", function(f) return (uncertainties.written(f.source, f.figure, f.values[1] or 0)) end,
      left = true },
   { "Runs", "", function(f) return tostring(#f.runs) end },
   { "Mean", "", function(f) return write(f, f.mean) end },
   { "within", "a run, ±", function(f) return write(f, f.within) end },
   { "between", "runs, s", function(f) return write(f, f.stddev) end },
   { "at least", "", function(f) return f.uncertainty and write(f, f.uncertainty.low) end },
   { "at most", "", function(f) return f.uncertainty and write(f, f.uncertainty.high) end },
   { "Verdict", "", modes_in_words, left = true },
}

--- The outliers, in sentences.
function M.remarks(figures)
   local sentences = {}
   for _, figure in ipairs(figures) do
      for _, one in ipairs(figure.apart) do
         sentences[#sentences + 1] = ("%s, %s: run %d (%s) %s: %s."):format(figure.row,
            uncertainties.written(figure.source, figure.figure, one.value), one.run, write(figure, one.value),
            one.kept and "lies apart and is kept" or "is left out",
            one.reason or "its evidence is like the others'")
      end
   end
   return sentences
end

--- The figures as text. @param paint  framegauge.text.ansi
function M.text(figures, paint)
   local remarks = M.remarks(figures)
   return paint("All runs", "bold") .. "\n" .. grid.text(M.COLUMNS, figures, paint)
      .. (remarks[1] and "\n" .. table.concat(remarks, "\n") .. "\n" or "")
end

return M
