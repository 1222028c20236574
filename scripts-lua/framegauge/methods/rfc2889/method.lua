-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889, benchmarking of LAN switching devices: its tests as a method of plans.
local caching = require "framegauge.methods.rfc2889.caching"
local congestion = require "framegauge.methods.rfc2889.congestion"
local errored = require "framegauge.methods.rfc2889.errored"
local format = require "framegauge.text.format"
local mesh = require "framegauge.methods.rfc2889.mesh"
local outlook = require "framegauge.methods.outlook"
local pressure = require "framegauge.methods.rfc2889.pressure"
local suite = require "framegauge.methods.suite"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

M.TITLE = "RFC 2889"

local SHORTEST_TRIAL, FEWEST_SIZES = 30, 5

--- By which module each test is made.
local MODULES = suite.modules { mesh, caching, congestion, errored, pressure }

function M.heading(plan)
   return suite.heading(plan.rfc2889.tests)
end

function M.scope(plan)
   return format.plural(#plan.rfc2889.frame_sizes, "frame size")
end

--- What keeps the plan from being run on this tester; nil when nothing does.
function M.check(plan, tester)
   return outlook.unknown_line(tester, "rfc2889")
      or tables.contains(plan.rfc2889.tests, "congestion_control") and outlook.unlike_lines(tester,
         "rfc2889.congestion_control", "the test offers an egress one and a half times its line, which needs "
            .. "equal lines") or nil
end

--- What lies ahead: of a reference switch what follows from its keys, of any other device at most.
function M.parts(plan, tester)
   local parts = {}
   for _, key in ipairs(plan.rfc2889.tests) do
      parts = tables.joined(parts, MODULES[key].parts(plan, key, tester))
   end
   return outlook.bounded(parts, plan.reference_switch and outlook.ABOUT or outlook.AT_MOST)
end

--- What `run --dry-run` says.
function M.outlook(plan, tester, notes)
   return suite.outlook(M.parts(plan, tester), notes,
      { outlook.waits(plan.rfc2889) .. "; the times include it." })
end

--- Where it departs from the RFC.
function M.conformance(plan)
   local o, notes = plan.rfc2889, {}
   if o.trial < SHORTEST_TRIAL then
      notes[#notes + 1] = ("trials of %s: the RFC recommends %d s"):format(units.format_time(o.trial),
         SHORTEST_TRIAL)
   end
   if #o.frame_sizes < FEWEST_SIZES then
      notes[#notes + 1] = ("fewer than five frame sizes (%d)"):format(#o.frame_sizes)
   end
   if o.max < 1 then
      notes[#notes + 1] = ("the maximum offered load is %.4g %% of the line"):format(o.max * 100)
   end
   return { standard = "RFC 2889", conforms = #notes == 0, notes = notes }
end

--- Measure.
-- @param results  gets the table rfc2889: a list of rows for each test, which fill as it goes
function M.run(plan, tester, session, results)
   results.rfc2889 = {}
   for _, key in ipairs(plan.rfc2889.tests) do
      results.rfc2889[key] = {}
      MODULES[key].run(plan, tester, session, key, results.rfc2889[key], results.rfc2889)
   end
end

return M
