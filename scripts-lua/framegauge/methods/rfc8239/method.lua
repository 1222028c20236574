-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 8239, benchmarking of data centre switches: its tests as a method of plans.
local buffer = require "framegauge.methods.rfc8239.buffer"
local format = require "framegauge.text.format"
local head_of_line = require "framegauge.methods.rfc8239.head_of_line"
local incast = require "framegauge.methods.rfc8239.incast"
local line_rate = require "framegauge.methods.rfc8239.line_rate"
local microburst = require "framegauge.methods.rfc8239.microburst"
local outlook = require "framegauge.methods.outlook"
local stateful_incast = require "framegauge.methods.rfc8239.stateful_incast"
local suite = require "framegauge.methods.suite"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

M.TITLE = "RFC 8239"

local MODULES = {
   line_rate = line_rate, buffer = buffer, microburst = microburst, head_of_line = head_of_line,
      incast = incast, stateful_incast = stateful_incast,
}
local RECOMMENDED_LINE, MOST_LINE = 0.9998, 0.9999

--- What criteria can be about: how the ports of the buffer test are arranged, and its frame size.
function M.subjects(plan)
   local of_buffer = plan.rfc8239.buffer
   return { { key = "procedure", values = of_buffer.procedures },
      { key = "frame_size", values = { of_buffer.frame_size }, read = tonumber } }
end

function M.heading(plan)
   return suite.heading(plan.rfc8239.tests)
end

function M.scope(plan)
   return format.plural(#plan.rfc8239.frame_sizes, "frame size")
end

--- What keeps the plan from being run on this tester; nil when nothing does.
function M.check(_, tester)
   return outlook.unlike_lines(tester, "rfc8239", "bursts and line rate need equal lines")
      or outlook.unknown_line(tester, "rfc8239")
end

--- What lies ahead, where it can be foreseen.
function M.parts(plan, tester)
   local o, parts = plan.rfc8239, {}
   local waits = o.learning_wait + o.drain + o.settle
   for _, key in ipairs(o.tests) do
      for _, part in ipairs(MODULES[key].parts(plan, tester)) do
         part.seconds = part.trials * (part.load_s + waits)
         parts[#parts + 1] = part
      end
   end
   return parts
end

--- What `run --dry-run` says.
function M.outlook(plan, tester, notes)
   return suite.outlook(M.parts(plan, tester), notes, {
      outlook.waits(plan.rfc8239) .. "; the times include it.",
      "A buffer that does not fill makes its trials longer; bursts end where the device loses.",
   })
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
   if tables.contains(o.tests, "incast") and not tables.contains(o.tests, "stateful_incast") then
      notes[#notes + 1] = "incast without TCP senders"
   end
   if o.trial < 1 then
      notes[#notes + 1] = ("trials of %s"):format(units.format_time(o.trial))
   end
   return { standard = "RFC 8239", conforms = #notes == 0, notes = notes }
end

--- Measure.
-- @param results  gets the table rfc8239: a list of rows for each test, which fill as it goes
function M.run(plan, tester, session, results)
   results.rfc8239 = {}
   for _, key in ipairs(plan.rfc8239.tests) do
      results.rfc8239[key] = {}
      MODULES[key].run(plan, tester, session, results.rfc8239[key])
   end
end

return M
