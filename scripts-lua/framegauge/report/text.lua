-- SPDX-License-Identifier: BSD-3-Clause

--- The result as a person reads it at the end of a run: the tables, then what one must know to believe them.
local bars = require "framegauge.report.bars"
local format = require "framegauge.report.format"
local units = require "framegauge.units"

local M = {}

local count, decimal = format.count, format.decimal

local function or_dash(value, show)
   return value and show(value) or "-"
end

local function fixed(decimals)
   return function(value)
      return decimal(value, decimals)
   end
end

local function mbps(value)
   return decimal(value, value < 10000 and 2 or 1)
end

local function microseconds(ns)
   return decimal(ns / 1000, 2)
end

-- A column: two lines of heading and what it shows of a row. Figures stand right, words (left = true) left.
local THROUGHPUT = {
   { "frame", "size", function(r) return tostring(r.frame_size) end },
   { "", "direction", function(r) return r.direction end, left = true },
   { "theoretical", "fps", function(r) return or_dash(r.theoretical_fps, count) end },
   { "throughput", "fps", function(r) return r.throughput_fps and count(r.throughput_fps) or "no pass" end },
   { "L1", "Mbit/s", function(r) return or_dash(r.mbps_l1, mbps) end },
   { "L2", "Mbit/s", function(r) return or_dash(r.mbps_l2, mbps) end },
   { "of line", "%", function(r) return or_dash(r.percent, fixed(2)) end },
   { "", "trials", function(r) return count(r.trials) end },
   { "", "verdict", function(r) return r.verdict end, left = true, verdict = true },
}

local GOAL = { "", "goal", function(r) return r.goal end, left = true }

-- Where the search had goals, each with its row.
local GOALS = {
   THROUGHPUT[1],
   THROUGHPUT[2],
   GOAL,
   THROUGHPUT[4],
   { "conditional", "fps", function(r) return or_dash(r.conditional_fps, count) end },
   THROUGHPUT[7],
   { "", "result", function(r) return r.regular and "regular" or "irregular" end, left = true },
   THROUGHPUT[8],
   THROUGHPUT[9],
}

local function latency(key)
   return function(r)
      return or_dash(r.latency and r.latency[key], microseconds)
   end
end

local LATENCY = {
   { "frame", "size", function(r) return tostring(r.frame_size) end },
   { "", "direction", function(r) return r.direction end, left = true },
   { "frames", "measured", function(r) return or_dash(r.latency and r.latency.count, count) end },
   { "min", "us", latency "min_ns" },
   { "mean", "us", latency "mean_ns" },
   { "median", "us", latency "p50_ns" },
   { "p99", "us", latency "p99_ns" },
   { "p99.9", "us", latency "p999_ns" },
   { "max", "us", latency "max_ns" },
}

local VERDICT_COLOUR = { valid = "good", ["tester-limited"] = "warning", invalid = "bad" }

local function cells_of(columns, rows)
   local lines, widths = {}, {}
   for i, column in ipairs(columns) do
      widths[i] = math.max(#column[1], #column[2])
   end
   for _, row in ipairs(rows) do
      local line = {}
      for i, column in ipairs(columns) do
         line[i] = column[3](row)
         widths[i] = math.max(widths[i], #line[i])
      end
      lines[#lines + 1] = line
   end
   return lines, widths
end

-- Colour takes no room, so the text is painted after its width was counted.
local function cell(text, width, column, painter)
   local space = (" "):rep(width - #text)
   local painted = painter(text, column)
   return column.left and painted .. space or space .. painted
end

local function rule(widths)
   local dashes = {}
   for i, width in ipairs(widths) do
      dashes[i] = ("-"):rep(width)
   end
   return table.concat(dashes, "  ")
end

local function table_text(columns, rows, paint)
   local lines, widths = cells_of(columns, rows)
   local out = {}
   local function add(cells, painter)
      for i, column in ipairs(columns) do
         cells[i] = cell(cells[i], widths[i], column, painter)
      end
      out[#out + 1] = (table.concat(cells, "  "):gsub("%s+$", ""))
   end
   for heading = 1, 2 do
      local cells = {}
      for i, column in ipairs(columns) do
         cells[i] = column[heading]
      end
      add(cells, function(text)
         return text
      end)
   end
   out[#out + 1] = rule(widths)
   for _, cells in ipairs(lines) do
      add(cells, function(word, column)
         return column.verdict and paint(word, VERDICT_COLOUR[word]) or word
      end)
   end
   return table.concat(out, "\n") .. "\n"
end

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

local function latency_note(rows)
   local first = rows[1] and rows[1].latency
   for _, row in ipairs(rows) do
      first = first or row.latency
   end
   return first and ("Latency: %s, stamped by %s, error at most %s."):format(first.definition, first.source,
      format.nanoseconds(first.error_bound_ns))
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

local function verdict_notes(rows, add)
   for _, row in ipairs(rows) do
      for _, reason in ipairs(row.reasons) do
         local what = row.goal and ("%d bytes, %s,"):format(row.frame_size, row.goal)
            or ("%d bytes"):format(row.frame_size)
         add(("%s is %s: %s."):format(what, row.verdict, reason))
      end
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
   local rows, list = result.results.throughput, {}
   local function add(text)
      if text then
         list[#list + 1] = text .. "\n"
      end
   end
   add(direction_note(rows))
   add(time_note(result))
   add(latency_note(rows))
   add(evidence_note(rows))
   add(irregular_note(rows))
   verdict_notes(rows, add)
   for _, note in ipairs(result.conformance.notes) do
      add(paint("not RFC-conformant: " .. note, "warning"))
   end
   expectation_notes(result, add, paint)
   if result.interrupted then
      add(paint("interrupted: only what was measured until then is here", "warning"))
   end
   return table.concat(list)
end

local function has_latency(rows)
   for _, row in ipairs(rows) do
      if row.latency then
         return true
      end
   end
   return false
end

local function port_line(port)
   local line = port.line_rate and ", " .. units.format_bits(port.line_rate) or ""
   local parts = { ("%s: %s (%s)%s\n"):format(port.name, port.device, port.mode or port.driver, line) }
   for _, note in ipairs(port.notes or {}) do
      parts[#parts + 1] = "   " .. note .. "\n"
   end
   return table.concat(parts)
end

--- What is about to be done.
-- @param ports  of the bench
-- @param parts  what lies ahead (framegauge.method.rfc2544.throughput)
function M.heading(plan, ports, parts)
   local lines, trials, seconds = { ("RFC 2544 throughput: %s\n"):format(plan.name) }, 0, 0
   for _, port in ipairs(ports) do
      lines[#lines + 1] = port_line(port)
   end
   for _, part in ipairs(parts) do
      trials, seconds = trials + part.trials, seconds + part.seconds
   end
   lines[#lines + 1] = ("%s, about %d trials and %s of the bench's time\n"):format(
      format.plural(#parts, "frame size"), trials, units.format_time(seconds))
   return table.concat(lines) .. "\n"
end

-- How full the line was, frame size by frame size.
local function share_chart(rows)
   local lines = {}
   for _, row in ipairs(rows) do
      local direction = row.direction == "both" and "" or "  " .. row.direction
      local goal = row.goal and "  " .. row.goal or ""
      lines[#lines + 1] = row.percent and { ("%5d%s%s"):format(row.frame_size, direction, goal), row.percent }
   end
   return bars.chart(lines)
end

--- The tables and notes of a result.
-- @param result  framegauge.report.result
-- @param paint   framegauge.report.paint
-- @param drawn   whether to draw bar charts as well (framegauge.report.bars)
function M.render(result, paint, drawn)
   local rows = result.results.throughput
   local parts = {}
   if rows[1] then
      local columns = rows[1].goal and GOALS or THROUGHPUT
      parts[#parts + 1] = paint("Throughput", "bold") .. "\n" .. table_text(columns, rows, paint)
      local chart = drawn and share_chart(rows) or ""
      parts[#parts + 1] = chart ~= "" and paint("Share of the line", "bold") .. "\n" .. chart or nil
   end
   if has_latency(rows) then
      local columns = rows[1].goal and { LATENCY[1], LATENCY[2], GOAL, unpack(LATENCY, 3) } or LATENCY
      parts[#parts + 1] = paint("Latency at that load", "bold") .. "\n" .. table_text(columns, rows, paint)
   end
   parts[#parts + 1] = notes(result, paint)
   return table.concat(parts, "\n")
end

return M
