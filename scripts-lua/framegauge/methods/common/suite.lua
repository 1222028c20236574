-- SPDX-License-Identifier: BSD-3-Clause

--- Methods that are several tests with rows of frame sizes, such as RFC 2889, 3918 and 8239: all that these
-- have in common. A method's own files hold only what differs.
local format = require "framegauge.text.format"
local outlook = require "framegauge.methods.common.outlook"
local rows = require "framegauge.text.rows"
local show = require "framegauge.text.show"
local tables = require "framegauge.core.tables"
local verdict = require "framegauge.text.verdict"

local M = {}

M.words = show.words

--- Rows of results that tests of several methods have.
M.TEST = { "test", "text", "the test", col = "Test", id = M.words }
M.FRAME_SIZE = { "frame_size", "ordinal", "bytes with FCS", col = "Frame", unit = "bytes", id = "%s bytes" }

--- Where a plan departs from its standard.
-- @param find  function(note); note(departs, format, ...) adds a note where `departs` is true
function M.conformance(standard, find)
   local notes = {}
   find(function(departs, ...)
      notes[#notes + 1] = departs and string.format(...) or nil
   end)
   return { standard = standard, conforms = #notes == 0, notes = notes }
end

--- Tables and records of results that are a list of rows for each test.
-- @param key    of the method
-- @param title  of the method
-- @param tests  list of { key, record, title, reference, passes = or nil } (report/view.lua)
-- @return TABLES and RESULTS of the method's result.lua
function M.results(key, title, tests)
   local of_tests = tables.map(tests, function(one)
      return { one[1], rows.list(one[2]), "rows of the test", optional = true }
   end)
   return tables.map(tests, function(one)
      return { name = one[1], record = one[2], title = one[3], reference = one[4], passes = one.passes,
         rows = function(results) return results[key] and results[key][one[1]] or {} end }
   end), rows.record(key .. "_results", "results of " .. title, {
      { key, rows.record(key, "the tests that were run", of_tests), "a list for each test", optional = true },
   })
end

--- Validity and reasons of several trials together. A frame that also comes out at a wrong port takes the
-- place of another one there, so a trial with such frames did not have the intended load.
-- @return validity, reasons, and how many there were in a trial at most
function M.unflooded(records)
   local validity, reasons = verdict.merge(records)
   local flood = 0
   for _, record in ipairs(records) do
      flood = math.max(flood, record.misdirected)
   end
   if flood > 0 then
      validity = "invalid"
      reasons[#reasons + 1] = ("up to %d frames of a trial came out at ports that they were not for: the switch did not know their address"):format(flood)
   end
   return validity, reasons, flood
end

--- What `run --dry-run` says.
-- @param parts  framegauge.methods.common.outlook
-- @param lines  further lines, including the waits
function M.outlook(parts, notes, lines)
   local bound = parts.bound or outlook.ABOUT
   return outlook.table({
      { "", "test", function(part) return M.words(part.test:match "[^.]+$") end, left = true },
      { "frame", "size", function(part) return tostring(part.frame_size or "-") end },
      { "trials", bound, function(part) return format.count(part.trials) end },
      { "time", bound, function(part) return format.clock(part.seconds) end },
   }, parts) .. outlook.text(lines, notes)
end

-- The module that makes each test.
local function by_test(modules)
   local of = {}
   for _, module in ipairs(modules) do
      for _, key in ipairs(module.KEYS or { module.NAME:match "[^.]+$" }) do
         of[key] = module
      end
   end
   return of
end

--- A method of plans (framegauge.methods) whose tests are modules. Each module has
--
--    KEYS                      its tests; or, of one test, NAME, as trials have it: "rfc8239.incast"
--    parts(plan, key, tester)  the trials that a test will make
--    run(plan, tester, session, key, rows, results)
--                              adds the rows of a test as it finds them; results: all rows of the method
--
-- @param o.key, o.title      of the method
-- @param o.modules           list
-- @param o.last              one of them, whose tests are made behind all others; or nil
-- @param o.bound(plan)       how sure the parts are (framegauge.methods.common.outlook); or nil
-- @param o.lines(plan, waits)  what --dry-run prints behind the table, where that is more than the waits
function M.method(o)
   local key, of, method = o.key, by_test(o.modules), { TITLE = o.title }
   local function in_order(plan)
      local others, last = {}, {}
      for _, test in ipairs(plan[key].tests) do
         table.insert(of[test] == o.last and last or others, test)
      end
      return tables.joined(others, last)
   end
   function method.check(_, tester)
      return outlook.unknown_line(tester, key)
   end
   function method.parts(plan, tester)
      local parts = {}
      for _, test in ipairs(in_order(plan)) do
         parts = tables.joined(parts, of[test].parts(plan, test, tester))
      end
      return outlook.bounded(parts, o.bound and o.bound(plan))
   end
   function method.outlook(plan, tester, notes)
      local waits = outlook.waits(plan[key]) .. "; the times include it."
      return M.outlook(method.parts(plan, tester), notes, o.lines and o.lines(plan, waits) or { waits })
   end
   function method.run(plan, tester, session, results)
      local found = {}
      results[key] = found
      for _, test in ipairs(in_order(plan)) do
         found[test] = {}
         of[test].run(plan, tester, session, test, found[test], found)
      end
   end
   return method
end

return M
