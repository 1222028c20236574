-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544: its tests as sections of the page, and what else a report has besides the tables of its rows.
local bars = require "framegauge.text.bars"
local core = require "framegauge.core.tables"
local format = require "framegauge.text.format"
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local mixes = require "framegauge.core.mixes"
local notes = require "framegauge.report.notes"
local result_rows = require "framegauge.methods.rfc2544.result"
local sections = require "framegauge.methods.rfc2544.report.sections"
local show = require "framegauge.text.show"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.report.html.tables"
local verdict = require "framegauge.text.verdict"

local M = {}

M.NAME = "RFC 2544 benchmark"

-- Tests that were made: list of { test (framegauge.methods.rfc2544.result), its rows }.
local function made(result)
   local list = {}
   for _, one in ipairs(result_rows.TABLES) do
      local rows = one.rows(result.results)
      list[#list + 1] = rows[1] and { one, rows } or nil
   end
   return list
end

function M.test_names(result)
   local names = core.map(made(result), function(one) return one[1].title:lower() end)
   return table.concat(names, ", ")
end

function M.tiles(result)
   local out = {}
   for _, one in ipairs(made(result)) do
      local section = sections[one[1].name]
      out[#out + 1] = section.headline(one[2]) or nil
      out[#out + 1] = section.second and section.second(one[2]) or nil
   end
   return out
end

-- --- the table at the top: one line for each frame size and direction, with the main figures of every test

-- What was measured both ways at once stands in every line of its size, unless there is nothing else.
local function is_about(row, line)
   return row.frame_size == line.frame_size and row.modifier == line.modifier and (row.goal == line.goal
      or not line.goal)
      and (row.direction == line.direction or row.direction == "both")
end

local function lines_of(all)
   local lines, by_key, single = {}, {}, {}
   for _, row in ipairs(all) do
      single[row.frame_size] = single[row.frame_size] or row.direction ~= "both"
   end
   for _, row in ipairs(all) do
      local key = ("%s %s %s %s"):format(row.frame_size, row.direction, row.modifier or "", row.goal or "")
      if not by_key[key] and not (row.direction == "both" and single[row.frame_size]) then
         by_key[key] = {
            frame_size = row.frame_size, direction = row.direction, modifier = row.modifier, goal = row.goal,
            rows = {},
         }
         lines[#lines + 1] = by_key[key]
      end
   end
   table.sort(lines, function(a, b)
      if a.frame_size ~= b.frame_size then
         return mixes.before(a.frame_size, b.frame_size)
      end
      return formatters.stream(a) .. (a.goal or "") < formatters.stream(b) .. (b.goal or "")
   end)
   return lines
end

-- Of lines that stand for several rows.
local VERDICT = {
   "Verdict", "", function(line) return (verdict.worst(line.rows)) end, kind = "validity", left = true,
}

local HEADS = { Frame = true, Direction = true, Stream = true, Goal = true }

local function is_head(column)
   return HEADS[column[1]]
end

function M.summary(result)
   local all, columns, tests = {}, {}, made(result)
   for _, one in ipairs(tests) do
      for _, row in ipairs(one[2]) do
         all[#all + 1] = setmetatable({ test = one[1].name }, { __index = row })
      end
   end
   local lines = lines_of(all)
   for _, line in ipairs(lines) do
      for _, row in ipairs(all) do
         if is_about(row, line) then
            line[row.test] = line[row.test] or row
            table.insert(line.rows, row)
         end
      end
   end
   for i, one in ipairs(tests) do
      for _, column in ipairs(show.columns(one[1].record, "summary", one[2])) do
         local read = column[3]
         if is_head(column) then
            columns[#columns + 1] = i == 1 and column or nil
         elseif column.kind ~= "validity" and not column.id then
            columns[#columns + 1] = setmetatable({ [3] = function(line)
               return line[one[1].name] and read(line[one[1].name])
            end }, { __index = column })
         end
      end
   end
   columns[#columns + 1] = VERDICT
   return tables.build { caption = "The device by frame size", columns = columns, rows = lines }
end

-- --- sections

local function latency_text(result, rows)
   return { h.p { notes.calibration(result.calibration) }, formatters.reasons(rows),
      sections.spread(result_rows.LATENCY, rows, "every_frame_latency", "of every frame") }
end

function M.sections(result)
   local out, has_latency = {}, result.results.latency and #result.results.latency > 0
   for _, one in ipairs(made(result)) do
      local test, rows = unpack(one)
      local section = sections[test.name]
      out[#out + 1] = { test.title, test.reference, {
         h.p { section.text(rows[1]) }, section.charts and section.charts(rows),
         test.name ~= "frame_loss" and tables.of { test.record, "html", rows, caption = test.title .. " by frame size" },
         test.name == "latency" and latency_text(result, rows) or formatters.reasons(rows),
      } }
      local spread = test.name == "throughput" and not has_latency and sections.at_throughput(test.record,
         rows, result)
      out[#out + 1] = spread and { "Latency at the throughput", nil, spread } or nil
   end
   return out
end

--- Which trials decided: of each throughput the one that passed and the one above it that failed.
function M.deciding(result)
   local list = {}
   for _, row in ipairs(result.results.throughput or {}) do
      for _, role in ipairs { { "lower_trial", "passed" }, { "upper_trial", "failed" } } do
         local trial = result.trials[row[role[1]] or 0]
         list[#list + 1] = trial and { role = role[2], trial = trial } or nil
      end
   end
   return list
end

-- --- the terminal

local MAX_LOADS = 10

-- One line for each frame size and direction, one column for each load.
local function loss_lines(rows)
   local groups = formatters.grouped(rows, function(row) return row.frame_size .. formatters.stream(row) end)
   local loads = formatters.sizes(rows, "load_percent")
   table.sort(loads, function(a, b) return a > b end)
   local columns, lines = {}, {}
   for _, column in ipairs(show.columns(result_rows.FRAME_LOSS, "terminal", rows)) do
      columns[#columns + 1] = is_head(column) and column or nil
   end
   for i, group in ipairs(groups) do
      lines[i] = setmetatable({ rows = group.rows }, { __index = group.rows[1] })
   end
   for i = 1, math.min(#loads, MAX_LOADS) do
      columns[#columns + 1] = { i == 1 and "Load" or "", ("%g %%"):format(loads[i]), function(line)
         for _, row in ipairs(line.rows) do
            if row.load_percent == loads[i] then
               return (row.validity == "valid" and "%s"
                  or "(%s)"):format(format.decimal(row.loss_ratio * 100, 2))
            end
         end
      end }
   end
   columns[#columns + 1] = { "N", "frames sent", function(line)
      local sent = core.field(line.rows, "tx")
      local least, most = stats.min(sent), stats.max(sent)
      return least == most and format.count(most) or format.count(least) .. " to " .. format.count(most)
   end }
   columns[#columns + 1] = VERDICT
   return columns, lines
end

-- Bars of a test: how full the line was, or what was lost at each load where anything was.
local function bars_of(test, rows)
   local lines = {}
   if test.name == "throughput" then
      for _, row in ipairs(rows) do
         lines[#lines + 1] = row.throughput_percent and { show.name(test.record, row),
            row.throughput_percent } or nil
      end
   elseif test.name == "frame_loss" then
      for _, group in ipairs(formatters.grouped(rows, function(row) return row.frame_size
         .. formatters.stream(row) end)) do
         for _, row in ipairs(stats.max(core.field(group.rows, "lost")) > 0 and group.rows or {}) do
            lines[#lines + 1] = { show.name(test.record, row), row.loss_ratio * 100 }
         end
      end
   end
   return lines[1] and {
      title = test.name == "throughput" and "Share of the line" or "Frames lost", text = bars.chart(lines),
   }
end

function M.terminal(result)
   local list = {}
   for i, one in ipairs(made(result)) do
      local test, rows = unpack(one)
      local columns, lines = show.columns(test.record, "terminal", rows), rows
      if test.name == "frame_loss" then
         columns, lines = loss_lines(rows)
      end
      list[#list + 1] = { title = test.title .. (test.name == "frame_loss" and ", % of the frames sent (in brackets: not the device's)" or ""),
         columns = columns, rows = lines, bars = bars_of(test,
         rows) }
      local timed = {}
      for _, row in ipairs(i == 1 and test.name == "throughput" and not result.results.latency and rows
         or {}) do
         timed[#timed + 1] = row.latency and row or nil
      end
      list[#list + 1] = timed[1] and {
         title = "Latency at that load", columns = show.columns(test.record, "latency", timed), rows = timed,
      } or nil
   end
   return list
end

local function evidence_note(rows)
   local worst = { late = 0, refused = 0, tester_drops = 0, lag_max_ns = 0, poll_gap_max_ns = 0 }
   for _, row in ipairs(rows) do
      for key, value in pairs(row.evidence) do
         worst[key] = math.max(worst[key], value)
      end
   end
   local note = "Tester in the deciding trials: at worst %s late, %s refused, %s dropped, lag %s, gap %s."
   return rows[1] and note:format(format.count(worst.late), format.count(worst.refused),
      format.count(worst.tester_drops),
      format.nanoseconds(worst.lag_max_ns), format.nanoseconds(worst.poll_gap_max_ns))
end

function M.notes(result, add)
   local rows = result.results.throughput or {}
   add(rows[1] and rows[1].direction == "both" and "Both directions were loaded at once; figures are per direction." or nil)
   local defined = notes.latencies(result.results.latency or rows)
   for _, sentence in ipairs(defined) do
      add(sentence)
   end
   add(defined[1] and notes.calibration(result.calibration))
   add(evidence_note(rows))
   for _, row in ipairs(rows) do
      if row.regular == false and row.limited_by == "maximum" then
         add "Irregular (RFC 9971): the highest load passed, so nothing bounds the result from above."
         break
      end
   end
end

--- Frame sizes that a test of an interrupted run has no row for; a reset is made with the smallest only.
function M.missing(result, name)
   local there, list, o = {}, {}, result.plan.rfc2544
   for _, row in ipairs(result.results[name] or {}) do
      there[row.frame_size] = true
   end
   for _, test in ipairs(o.tests) do
      for _, size in ipairs(test ~= name and {} or name == "reset" and { mixes.first(o.frame_sizes) }
         or o.frame_sizes) do
         list[#list + 1] = not there[size] and mixes.text(size) or nil
      end
   end
   return list
end

return M
