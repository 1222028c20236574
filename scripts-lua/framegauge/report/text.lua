-- SPDX-License-Identifier: BSD-3-Clause

--- The result as a person reads it at the end of a run: the tables, then what one must know to believe them.
local bars = require "framegauge.report.bars"
local calibration = require "framegauge.report.calibration"
local columns = require "framegauge.report.columns"
local fields = require "framegauge.report.fields"
local format = require "framegauge.report.format"
local grid = require "framegauge.report.grid"
local stream_types = require "framegauge.report.stream_types"
local units = require "framegauge.units"

local M = {}

local count = format.count

local TIME_BASE = {
   ["wire-free"] = "Measured in wire time, free-running.",
   ["wire-real"] = "Measured in wire time, in step with real time.",
   tsc = "Measured in real time (TSC).",
}

local function time_note(result)
   local last = result.trials[#result.trials]
   return last and (TIME_BASE[last.time] or "Measured in " .. last.time .. " time.")
end

local function direction_note(rows)
   if rows[1] and rows[1].direction == "both" then
      return "Both directions were loaded at once; figures are per direction."
   end
end

-- @param key  where a row has what was measured
local function latency_note(result, rows, key)
   local first
   for _, row in ipairs(rows) do
      first = first or row[key]
   end
   return first and ("Latency: %s, stamped by %s, error at most %s.\n%s"):format(first.definition,
      first.source, format.nanoseconds(first.error_bound_ns), calibration.in_words(result.calibration))
end

local function evidence_note(rows)
   local worst = { late = 0, refused = 0, tester_drops = 0, worst_lag_ns = 0, longest_poll_gap_ns = 0 }
   for _, row in ipairs(rows) do
      for key, value in pairs(row.evidence) do
         worst[key] = math.max(worst[key], value)
      end
   end
   if not rows[1] then
      return nil
   end
   local note = "Tester in the deciding trials: at worst %s late, %s refused, %s dropped, lag %s, gap %s."
   return note:format(count(worst.late), count(worst.refused), count(worst.tester_drops),
      format.nanoseconds(worst.worst_lag_ns), format.nanoseconds(worst.longest_poll_gap_ns))
end

local function irregular_note(rows)
   for _, row in ipairs(rows) do
      if row.regular == false and row.limited_by == "maximum" then
         return "Irregular (RFC 9971): the highest load passed, so nothing bounds the result from above."
      end
   end
   return nil
end

local TITLES = {
   latency = "Latency, ", frame_loss = "Frame loss, ", back_to_back = "Back-to-back, ",
   system_recovery = "System recovery, ", reset = "Reset, ",
}

-- Rows that have the same verdict for the same reason: list of { row = the first, reason =, rows = by size }.
local function by_reason(rows)
   local groups, by_key = {}, {}
   for _, row in ipairs(rows) do
      for _, reason in ipairs(row.reasons) do
         local key = table.concat({ row.verdict, row.goal or "", reason }, "\n")
         if not by_key[key] then
            by_key[key] = { row = row, reason = reason, sizes = {}, rows = {} }
            groups[#groups + 1] = by_key[key]
         end
         local group, size = by_key[key], row.frame_size
         if not group.rows[size] then
            group.rows[size], group.sizes[#group.sizes + 1] = {}, size
         end
         table.insert(group.rows[size], row)
      end
   end
   return groups
end

-- The frame sizes of a group; with the direction where it is about one of them only.
local function sizes_in_words(group, rows)
   local words = {}
   for i, size in ipairs(group.sizes) do
      local all = 0
      for _, row in ipairs(rows) do
         all = all + (row.frame_size == size and row.goal == group.row.goal and 1 or 0)
      end
      words[i] = #group.rows[size] < all and ("%d (%s)"):format(size, group.rows[size][1].direction) or size
   end
   return table.concat(words, ", ")
end

-- Each reason once, with the frame sizes it is about.
local function verdict_notes(test, rows, add)
   for _, group in ipairs(by_reason(rows)) do
      add(("%s%s bytes%s %s %s: %s."):format(TITLES[test] or "", sizes_in_words(group, rows),
         group.row.goal and ", " .. group.row.goal .. "," or "", #group.sizes == 1 and "is" or "are",
         group.row.verdict:gsub("%-a", " a"), group.reason))
   end
end

local function expectation_notes(result, add, paint)
   for _, expectation in ipairs(result.expectations) do
      local word = expectation.met == nil and "not decided" or expectation.met and "met" or "not met"
      local colour = expectation.met == nil and "warning" or expectation.met and "good" or "bad"
      add(("Expected %s: %s."):format(expectation.text, paint(word, colour)))
   end
end

local function notes(result, paint)
   local rows, list = result.results.throughput or {}, {}
   local function add(text)
      if text then
         list[#list + 1] = text .. "\n"
      end
   end
   add(direction_note(rows))
   add(time_note(result))
   if result.results.latency then
      add(latency_note(result, result.results.latency, "every_frame"))
   else
      add(latency_note(result, rows, "latency"))
   end
   add(evidence_note(rows))
   add(irregular_note(rows))
   for _, test in ipairs(fields.TESTS) do
      verdict_notes(test, result.results[test] or {}, add)
   end
   for _, note in ipairs(result.conformance.notes) do
      add(paint("not RFC-conformant: " .. note, "warning"))
   end
   expectation_notes(result, add, paint)
   if result.interrupted then
      add(paint("interrupted: only what was measured until then is here", "warning"))
   end
   return table.concat(list)
end

local function port_line(port)
   local line = port.line_rate and ", " .. units.format_bits(port.line_rate) or ""
   local parts = { ("%s: %s (%s)%s\n"):format(port.name, port.device, port.mode or port.driver, line) }
   for _, note in ipairs(port.notes or {}) do
      parts[#parts + 1] = "   " .. note .. "\n"
   end
   return table.concat(parts)
end

local function tests_in_words(plan)
   local wanted, words = {}, {}
   for _, test in ipairs(plan.rfc2544.tests) do
      wanted[test] = true
   end
   for _, test in ipairs(fields.TESTS) do
      words[#words + 1] = wanted[test] and test:gsub("_", " ") or nil
   end
   return table.concat(words, ", ")
end

-- Time that runs free ends whenever the processor is done.
local function end_in_words(plan, seconds)
   if plan.reference_device and plan.reference_device.time == "free" then
      return ""
   end
   return os.date(", until about %Y-%m-%d %H:%M", math.floor(seconds + 0.5))
end

--- What is about to be done.
-- @param ports  of the bench
-- @param parts  what lies ahead (framegauge.rehearsal)
-- @param now    seconds since 1970
function M.heading(plan, ports, parts, now)
   local lines, trials, seconds = { ("RFC 2544 %s: %s\n"):format(tests_in_words(plan), plan.name) }, 0, 0
   for _, port in ipairs(ports) do
      lines[#lines + 1] = port_line(port)
   end
   for _, part in ipairs(parts) do
      trials, seconds = trials + part.trials, seconds + part.seconds
   end
   lines[#lines + 1] = ("%s, about %s and %s of the bench's time%s\n"):format(
      format.plural(#plan.rfc2544.frame_sizes, "frame size"), format.plural(trials, "trial"),
      units.format_time(seconds), end_in_words(plan, now + seconds))
   return table.concat(lines) .. "\n"
end

--- The tables and notes of a result.
-- @param result  framegauge.report.result
-- @param paint   framegauge.report.paint
-- @param drawn   whether to draw bar charts as well (framegauge.report.bars)
function M.render(result, paint, drawn)
   local parts, charted = {}, {}
   result = stream_types.of(result)
   for _, one in ipairs(columns.of(result.results)) do
      parts[#parts + 1] = paint(one.title, "bold") .. "\n" .. grid.text(one.columns, one.rows, paint)
      if drawn and not charted[one.test] then
         charted[one.test] = true
         local title, chart = bars.of(one.test, result.results[one.test])
         parts[#parts + 1] = title and paint(title, "bold") .. "\n" .. chart
      end
   end
   parts[#parts + 1] = notes(result, paint)
   return table.concat(parts, "\n")
end

return M
