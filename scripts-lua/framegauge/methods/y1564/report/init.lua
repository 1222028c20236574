-- SPDX-License-Identifier: BSD-3-Clause

--- Y.1564: services as agreed, the steps of each, the performance of all, and the sheet to sign.
local format = require "framegauge.text.format"
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local notes = require "framegauge.report.notes"
local over_time = require "framegauge.report.chart.over_time"
local profile = require "framegauge.methods.y1564.report.profile"
local result_rows = require "framegauge.methods.y1564.result"
local show = require "framegauge.text.show"
local tables = require "framegauge.report.html.tables"
local verdict = require "framegauge.text.verdict"

local M = {}

-- The performance test over time: rate, loss, delay and its variation of each service, a line for each way.
local TERMS = { "received IR", "FLR", "delay", "FDV" }

-- The series of a row: its stream's in its trial.
local function series_of(result, service, row)
   local trial = result.trials[row.trial or 0]
   for _, direction in ipairs(trial and trial.directions or {}) do
      if direction.direction == ("%s %s green"):format(service.name, row.direction) then
         return direction.series
      end
   end
   return nil
end

-- The charts of all services.
local function of(result)
   local out = {}
   for _, service in ipairs(result.results.y1564.services) do
      local lines = {}
      for i, row in ipairs(service.performance) do
         lines[i] = { name = formatters.direction(row.direction), series = series_of(result, service, row) }
      end
      out[#out + 1] = over_time.of { id = service.name, name = service.name, terms = TERMS, lines = lines }
   end
   return #out > 0 and {
      h.p {
         "Second by second, by the time at which a frame was sent; shaded from the minimum to the maximum where a point stands for several seconds, and of the delay in any case. Delays are those from first bit to first bit, without the frame's own time.",
      },
      out,
   }
end

M.NAME = "Y.1564 service activation"

local TESTS = { "configuration", "performance" }

--- What was tested, in words.
function M.test_names(result)
   return "service " .. table.concat(result.plan.y1564.tests, " and ")
end

local function services(result)
   return result.results.y1564 and result.results.y1564.services or {}
end

-- --- definitions

local WAYS = {
   ["two-ports"] = "one-way", loopback = "round trip", ["two-testers"] = "one-way, between two testers",
}

local FDV = {
   p999 = "99.9th percentile of the delay less its minimum", range = "maximum of the delay less its minimum",
}

local function on_clocks(result)
   local off
   for _, test in ipairs(TESTS) do
      for _, row in ipairs(result_rows.rows(result.results, test)) do
         off = math.max(off or 0, row.clock_error_ns or 0)
      end
   end
   if not result.plan.y1564.delays then
      return "Delays were not measured: the clocks of the two testers were not compared."
   elseif not off then
      return nil
   elseif off == 0 then
      return "Both testers have one clock: they run on one machine."
   end
   return ("Delays are by the clocks of both testers, which were at most %s apart, by what their kernels report of NTP or PTP; every delay is uncertain by that."):format(format.nanoseconds(off))
end

-- What is held against the criteria, in sentences: no delay without its way, no variation without its
-- statistic.
local function definitions(result)
   local o = result.plan.y1564
   local way = WAYS[o.topology]
   return {
      ("FTD: %s, from the first bit in to the last bit out; its %s is held against the criterion."):format(way,
         o.ftd_statistic == "mean" and "mean" or "maximum"),
      ("FDV: %s, %s."):format(way, FDV[o.fdv_statistic]),
      "FLR: frames lost of those sent; frames later than the drain count as lost.",
      "IR: bits of frames with FCS, over the time in which they were sent. ULR: with preamble and gap.",
      notes.calibration(result.calibration),
      o.topology == "loopback" and "Loopback: every figure is of the way to the far end and back. Loss and delay of the two ways add up, and the slower of both bounds the rate: which one it was is not known."
         or o.topology == "two-testers" and on_clocks(result) or nil,
   }
end

function M.notes(result, add)
   for _, sentence in ipairs(definitions(result)) do
      add(sentence)
   end
   for _, service in ipairs(services(result)) do
      add(("Service %s: %s."):format(service.name, verdict.word(service)))
   end
end

--- The terminal's tables: the steps of each service, then the performance of all.
function M.terminal(result)
   local list = {}
   local function add(title, record, rows)
      list[#list + 1] = rows[1] and { title = title, columns = show.columns(record, "terminal", rows),
         rows = rows } or nil
   end
   for _, service in ipairs(services(result)) do
      add("Configuration of " .. service.name, result_rows.STEP, service.configuration)
   end
   add("Performance of all services", result_rows.PERFORMANCE, result_rows.rows(result.results,
      "performance"))
   return list
end

-- --- the page

-- The verdict of some rows in one word; nil of none.
local function word_of(rows)
   local validity, outcome = verdict.worst(rows, "not-applicable")
   return rows[1] and (outcome == "fail" and outcome or verdict.word { validity = validity,
      outcome = outcome })
end

-- One line for each service and direction.
local function lines_of(result)
   local list = {}
   for _, service in ipairs(services(result)) do
      local by_direction = {}
      for _, test in ipairs(TESTS) do
         for _, row in ipairs(service[test]) do
            local line = by_direction[row.direction]
            if not line then
               line = { name = service.name, direction = row.direction, configuration = {}, performance = {},
                  failed = {} }
               by_direction[row.direction], list[#list + 1] = line, line
            end
            table.insert(line[test], row)
            local what = row.step or "performance"
            if row.outcome == "fail" and not line.failed[what] then
               line.failed[what] = true
               table.insert(line.failed, what .. " (" .. table.concat(row.failed, ", ") .. ")")
            end
         end
      end
   end
   return list
end

local function word(test)
   return function(line) return word_of(line[test]) end
end

local SUMMARY = {
   { "Service", "", function(line) return line.name end, left = true },
   { "Direction", "", function(line) return line.direction end, left = true, kind = "direction" },
   { "Configuration", "", word "configuration", left = true, kind = "validity" },
   { "Performance", "", word "performance", left = true, kind = "validity" },
   { "Failed", "", function(line) return line.failed[1] and table.concat(line.failed, "; ") end,
      left = true },
}

function M.summary(result)
   return tables.build { caption = "The services", columns = SUMMARY, rows = lines_of(result) }
end

function M.tiles(result)
   local all, good, steps, passed = 0, 0, 0, 0
   for _, service in ipairs(services(result)) do
      all, good = all + 1, good + (verdict.word(service) == "pass" and 1 or 0)
      for _, row in ipairs(service.configuration) do
         steps = steps + (row.validity ~= "not-applicable" and 1 or 0)
         passed = passed + (row.outcome == "pass" and 1 or 0)
      end
   end
   return {
      { "Services accepted", ("%d of %d"):format(good, all), "" },
      steps > 0 and { "Configuration steps passed", ("%d of %d"):format(passed, steps), "" } or nil,
   }
end

-- A step of two colours has a line for each below it.
local function with_colours(rows)
   local list = {}
   for _, row in ipairs(rows) do
      list[#list + 1] = row
      for _, colour in ipairs(row.yellow and { "green", "yellow" } or {}) do
         list[#list + 1] = setmetatable({ title = colour .. " frames", direction = row.direction },
            { __index = row[colour] })
      end
   end
   return list
end

-- "PCP 5, DEI 0, DSCP 0 (12 frames)": how the frames of a colour arrived that were remarked.
local function marks_of(colour, figures)
   local list = {}
   for _, marked in ipairs(figures and figures.remarked > 0 and figures.marks or {}) do
      local parts = {}
      for _, key in ipairs { "pcp", "dei", "dscp" } do
         parts[#parts + 1] = marked[key] and ("%s %d"):format(key:upper(), marked[key]) or nil
      end
      list[#list + 1] = ("%s (%s)"):format(#parts > 0 and table.concat(parts, ", ") or "no mark",
         formatters.plural(marked.frames, "frame"))
   end
   return #list > 0 and ("%s frames arrived with %s"):format(colour, table.concat(list, "; ")) or nil
end

local function below(row)
   local list, inferred = { tables.reasons(row) }, row.burst and row.burst.inferred
   list[#list + 1] = inferred and ("bucket inferred from the loss: %s to %s bytes"):format(
      formatters.count(inferred.min_bytes), formatters.count(inferred.max_bytes)) or nil
   list[#list + 1] = marks_of("green", row.step and row.green or not row.step and row.service and row)
   list[#list + 1] = marks_of("yellow", row.step and row.yellow)
   return #list > 0 and table.concat(list, "; ") or nil
end

local function configuration(service)
   local out = {}
   for i, group in ipairs(formatters.grouped(service.configuration, "direction")) do
      out[i] = tables.of {
         result_rows.STEP, "html", with_colours(group.rows), below = below, class = "compact",
         caption = ("%s, %s"):format(service.name, formatters.direction(group.name)),
      }
   end
   return out
end

local function performance(result)
   local rows = result_rows.rows(result.results, "performance")
   if not rows[1] then
      return nil
   end
   local columns = show.columns(result_rows.PERFORMANCE, "html performance", rows)
   return {
      tables.build { caption = "All services at once, at CIR", columns = columns, rows = rows, below = below,
         class = "compact" },
      of(result),
   }
end

--- The sections: list of { title, reference, body }.
function M.sections(result, moment)
   local items = {}
   for i, sentence in ipairs(definitions(result)) do
      items[i] = h.li { sentence }
   end
   local list = { { "Service definition", nil, { profile.table(result), h.ul { items } } } }
   for _, service in ipairs(services(result)) do
      list[#list + 1] = #service.configuration > 0 and {
         "Configuration test: " .. service.name, "each step alone, other services silent",
         configuration(service),
      } or nil
   end
   local shown = performance(result)
   list[#list + 1] = shown and { "Performance test", "all services at once", shown } or nil
   list[#list + 1] = { "Acceptance", nil, profile.sheet(result, moment, M.summary(result)) }
   return list
end

return M
