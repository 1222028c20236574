-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 8239, benchmarking of data centre switches: its tests as a method of plans.
local buffer = require "framegauge.methods.rfc8239.buffer"
local fields = require "framegauge.methods.rfc8239.result"
local format = require "framegauge.text.format"
local head_of_line = require "framegauge.methods.rfc8239.head_of_line"
local incast = require "framegauge.methods.rfc8239.incast"
local line_rate = require "framegauge.methods.rfc8239.line_rate"
local microburst = require "framegauge.methods.rfc8239.microburst"
local outlook = require "framegauge.methods.outlook"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

M.TITLE = "RFC 8239"

local MODULES = {
   line_rate = line_rate, buffer = buffer, microburst = microburst, head_of_line = head_of_line,
      incast = incast,
}
local RECOMMENDED_LINE, MOST_LINE = 0.9998, 0.9999

--- A figure of all rows that have it, or of those of one frame size or of one test.
M.expectations = {
   examples = "'buffer>=100000@port', 'burst>=500@microburst' or 'loss<=0%@line_rate'",
   figures = function()
      local list = {}
      for _, one in ipairs(fields.TABLES) do
         list = tables.joined(list, one.record.rows)
      end
      return list
   end,
   rows = function(results)
      local list = {}
      for _, one in ipairs(fields.TABLES) do
         list = tables.joined(list, one.rows(results))
      end
      return list
   end,
   subject = function() return function() return true end end,
   of = function(plan, text)
      local size, o = tonumber(text), plan.rfc8239
      if size and not tables.contains(tables.joined(o.frame_sizes, { o.buffer.frame_size }), size) then
         return nil, ("the plan has no frame size %s"):format(text)
      elseif not size and not tables.contains(tables.joined(o.tests, o.buffer.procedures), text) then
         return nil, ("the plan has no test %s"):format(text)
      end
      return function(row) return row.frame_size == size or row.test == text or row.procedure == text end
   end,
}

local function words(key)
   return (key:gsub("_", " "))
end

function M.heading(plan)
   return table.concat(tables.map(plan.rfc8239.tests, words), ", ")
end

function M.scope(plan)
   return format.plural(#plan.rfc8239.frame_sizes, "frame size")
end

--- What keeps the plan from being run on this bench; nil when nothing does.
function M.check(_, bench)
   for _, port in ipairs(bench.ports) do
      if not port.line_rate then
         return ("rfc8239: the line rate of %s is not known; give ports.%s.line_rate"):format(port.name,
            port.name)
      elseif port.line_rate ~= bench.ports[1].line_rate then
         return ("rfc8239: the lines of %s and %s differ: bursts and line rate are of lines alike"):format(
            bench.ports[1].name, port.name)
      end
   end
   return nil
end

--- What lies ahead, where it can be foreseen.
function M.parts(plan)
   local o, parts = plan.rfc8239, {}
   local waits = o.learning_wait + o.drain + o.settle
   for _, key in ipairs(o.tests) do
      for _, part in ipairs(MODULES[key].parts(plan)) do
         part.seconds = part.trials * (part.load_s + waits)
         parts[#parts + 1] = part
      end
   end
   return parts
end

local COLUMNS = {
   { "", "test", function(part) return words(part.test:match "[^.]+$") end, left = true },
   { "frame", "size", function(part) return tostring(part.frame_size or "-") end },
   { "trials", "about", function(part) return format.count(part.trials) end },
   { "time", "about", function(part) return format.clock(part.seconds) end },
}

--- What `run --dry-run` says.
function M.outlook(plan, _, notes)
   local parts, trials, seconds = M.parts(plan), 0, 0
   for _, part in ipairs(parts) do
      trials, seconds = trials + part.trials, seconds + part.seconds
   end
   return outlook.table(COLUMNS, parts) .. outlook.text(
      { outlook.waits(plan.rfc8239) .. "; the times include it.",
         "A buffer that does not fill makes its trials longer; bursts end where the device loses." }, notes,
      { "", ("Estimate: %s in %s."):format(format.plural(trials, "trial"), format.clock(seconds)) })
end

--- Where it departs from the RFC.
function M.conformance(plan)
   local o, notes = plan.rfc8239, {}
   if o.definition ~= "filo" then
      notes[#notes + 1] = "latency is not first bit in to last bit out (FILO)"
   end
   if o.line < RECOMMENDED_LINE then
      notes[#notes + 1] = ("line rate is %.6g %%, not 99.98 %%"):format(o.line * 100)
   elseif o.line > MOST_LINE then
      notes[#notes + 1] = ("line rate is %.6g %%: more than a line whose clock is slow may carry"):format(
         o.line * 100)
   end
   if o.iterations < 2 then
      notes[#notes + 1] = "one iteration says nothing of repeatability"
   end
   if tables.contains(o.tests, "incast") then
      notes[#notes + 1] = "incast without TCP senders"
   end
   if o.trial < 1 then
      notes[#notes + 1] = ("trials of %s"):format(units.format_time(o.trial))
   end
   return { standard = "RFC 8239", conforms = #notes == 0, notes = notes }
end

--- Measure.
-- @param results  gets the table rfc8239: a list of rows for each test, which fill as it goes
function M.run(plan, bench, session, results)
   results.rfc8239 = {}
   for _, key in ipairs(plan.rfc8239.tests) do
      results.rfc8239[key] = {}
      MODULES[key].run(plan, bench, session, results.rfc8239[key])
   end
end

return M
