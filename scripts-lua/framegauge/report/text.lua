-- SPDX-License-Identifier: BSD-3-Clause

--- The result as a person reads it at the end of a run: the tables, then the notes that qualify them.
local format = require "framegauge.text.format"
local grid = require "framegauge.text.grid"
local methods = require "framegauge.methods"
local outlook = require "framegauge.methods.common.outlook"
local notes = require "framegauge.report.notes"
local show = require "framegauge.text.show"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local uncertainty = require "framegauge.report.uncertainty"
local units = require "framegauge.text.units"
local views = require "framegauge.report.view"

local M = {}

local TIME_BASE = {
   ["wire-free"] = "Measured in wire time, free-running.",
   ["wire-real"] = "Measured in wire time, in step with real time.",
   tsc = "Measured in real time (TSC).",
}

local function time_note(result)
   local last = result.trials[#result.trials]
   return last and (TIME_BASE[last.time] or "Measured in " .. last.time .. " time.")
end

-- Queues are polled one after the other: the order of two frames from different queues is unknown.
local function order_note(result)
   for _, trial in ipairs(result.trials) do
      for _, direction in ipairs(trial.directions or {}) do
         if not direction.reordered then
            return "Order: frames came over several queues of a port, so reordering was not measured."
         end
      end
   end
   return nil
end

local function expectation_notes(result, add, paint)
   for _, expectation in ipairs(result.expectations) do
      local word = expectation.met == nil and "not decided" or expectation.met and "met" or "not met"
      local colour = expectation.met == nil and "warning" or expectation.met and "good" or "bad"
      local seen = tables.joined({ expectation.row }, { expectation.figure }, { expectation.reason })
      add(("Criterion %s: %s%s."):format(expectation.text, paint(word, colour),
         seen[1] and " (" .. table.concat(seen, "; ") .. ")" or ""))
   end
end

local function all_notes(result, view, paint)
   local list = {}
   local function add(text)
      list[#list + 1] = text and text .. "\n" or nil
   end
   add(time_note(result))
   view.notes(result, add)
   add(notes.beyond(result.calibration))
   for _, sentence in ipairs(tables.joined(notes.payload(result.trials), notes.background(result.trials),
      notes.flow_control(result.trials))) do
      add(sentence)
   end
   for _, one in ipairs(views.tables(result)) do
      notes.reasons(one.title, one.lines, function(row)
         return show.case(one, row, row.trial)
      end, add)
   end
   for _, sentence in ipairs(notes.altered(result.trials)) do
      add(paint(sentence, "warning"))
   end
   for _, sentence in ipairs(notes.disorder(result.trials)) do
      add(paint(sentence, "warning"))
   end
   add(order_note(result))
   for _, note in ipairs(result.conformance and result.conformance.notes or {}) do
      add(paint(("not conforming to %s: %s"):format(result.conformance.standard, note), "warning"))
   end
   expectation_notes(result, add, paint)
   if result.interrupted then
      add(paint("interrupted: only what was measured until then is here", "warning"))
   end
   return table.concat(list)
end

local function port_line(port)
   local line = port.line_rate and ", " .. units.format_bits(port.line_rate) or ""
   if port.queues then
      line = (", %d queues"):format(port.queues) .. line
   end
   local parts = { ("%s: %s (%s)%s\n"):format(port.name, port.device, port.mode or port.driver, line) }
   for _, note in ipairs(port.notes or {}) do
      parts[#parts + 1] = "   " .. note .. "\n"
   end
   return table.concat(parts)
end
-- Time that runs free ends whenever the processor is done.
local function end_in_words(plan, seconds)
   local device = plan.reference_device or plan.reference_switch
   if device and device.time == "free" then
      return ""
   end
   return os.date(", until about %Y-%m-%d %H:%M", math.floor(seconds + 0.5))
end

-- Keys of the plan that --quick replaces.
local function replaced(plan)
   local list = tables.map(plan.source and plan.source.replaced or {}, function(one)
      return ("%s is %s instead of %s"):format(one.key, one.is, one.was)
   end)
   return list[1] and "--quick: " .. table.concat(list, "; ") .. "\n"
end

--- The announcement of a run.
-- @param ports  of the tester
-- @param parts  the trials to come (framegauge.methods.rfc2544.estimate)
-- @param now    seconds since 1970
function M.heading(plan, ports, parts, now)
   local method, trials, seconds = methods.of(plan), outlook.trials(parts)
   local lines = { ("%s %s: %s\n"):format(method.TITLE, method.heading(plan), plan.name) }
   for _, port in ipairs(ports) do
      lines[#lines + 1] = port_line(port)
   end
   lines[#lines + 1] = replaced(plan)
   local most, took = parts.most, units.format_time(seconds)
   if most then
      trials = ("%s to %s"):format(trials:match "^(.*) ", format.plural(math.max(stats.sum(parts, "trials"),
         most.trials), "trial"))
      took = ("%s to %s"):format(took, units.format_time(math.max(seconds, most.seconds)))
   end
   lines[#lines + 1] = ("%s, %s and %s of the tester's time%s\n"):format(method.scope(plan), trials, took,
      end_in_words(plan, now + seconds))
   lines[#lines + 1] = most and ("More where the tester or a link fails: such a trial is made again, up to %s.\n"):format(format.plural(most.retries, "time")) or nil
   lines[#lines + 1] = outlook.free_run(plan, parts)
   return table.concat(lines) .. "\n"
end

local MAX_UNCERTAIN = 20 -- lines

-- The uncertainty of the main figures; nil where no figure has one.
local function uncertain(result, paint)
   local lines = uncertainty.lines(result, "terminal")
   local more = #lines - MAX_UNCERTAIN
   return lines[1] and paint("Uncertainty", "bold") .. "\n"
      .. grid.text(uncertainty.COLUMNS, { unpack(lines, 1, MAX_UNCERTAIN) }, paint)
      .. (more > 0 and ("and %d more: result.json has them all.\n"):format(more) or "") or nil
end

--- The tables and notes of a result.
-- @param result  framegauge.report.result
-- @param paint   framegauge.text.ansi
-- @param drawn   whether to draw bar charts as well (framegauge.text.bars)
function M.render(result, paint, drawn)
   local parts, view = {}, views.of(result.plan.test)
   for _, one in ipairs(view.terminal(result)) do
      parts[#parts + 1] = paint(one.title, "bold") .. "\n" .. grid.text(one.columns, one.rows, paint)
      if drawn and one.bars then
         parts[#parts + 1] = paint(one.bars.title, "bold") .. "\n" .. one.bars.text
      end
   end
   parts[#parts + 1] = uncertain(result, paint)
   parts[#parts + 1] = all_notes(result, view, paint)
   return table.concat(parts, "\n")
end

return M
