-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 3918, benchmarking of IP multicast: its tests as a method of plans.
local capacity = require "framegauge.methods.rfc3918.capacity"
local delay = require "framegauge.methods.rfc3918.delay"
local format = require "framegauge.text.format"
local latency = require "framegauge.methods.rfc3918.latency"
local outlook = require "framegauge.methods.outlook"
local suite = require "framegauge.methods.suite"
local tables = require "framegauge.core.tables"
local throughput = require "framegauge.methods.rfc3918.throughput"
local trials = require "framegauge.methods.rfc3918.trials"
local units = require "framegauge.text.units"

local M = {}

M.TITLE = "RFC 3918"

local SHORTEST_TRIAL, FEWEST_SIZES, LATENCY_TRIAL = 30, 5, 120

--- By which module each test is made.
local MODULES = suite.modules { throughput, latency, delay, capacity }

function M.heading(plan)
   return suite.heading(plan.rfc3918.tests)
end

function M.scope(plan)
   return ("%s, %s"):format(format.plural(#trials.roles(plan).receivers, "receiver"),
      format.plural(#plan.rfc3918.frame_sizes, "frame size"))
end

--- What keeps the plan from being run on this tester; nil when nothing does.
function M.check(_, tester)
   return outlook.unknown_line(tester, "rfc3918")
end

--- What lies ahead, at most.
function M.parts(plan, tester)
   local parts = {}
   for _, key in ipairs(plan.rfc3918.tests) do
      parts = tables.joined(parts, MODULES[key].parts(plan, key, tester))
   end
   return outlook.bounded(parts, outlook.AT_MOST)
end

--- What `run --dry-run` says.
function M.outlook(plan, tester, notes)
   local roles = trials.roles(plan)
   local join = #roles.receivers == 1 and " joins" or " join"
   return suite.outlook(M.parts(plan, tester), notes, {
      ("%s sends; %s by %s%s%s."):format(roles.source, table.concat(roles.receivers, ", ") .. join,
         trials.version(plan), roles.monitor and "; " .. roles.monitor .. " joins nothing" or "",
         roles.burden[1] and "; " .. table.concat(roles.burden, ", ") .. " burden the device" or ""),
      outlook.waits(plan.rfc3918) .. "; the times include it.",
   })
end

local function asks_for(o, ...)
   for _, key in ipairs { ... } do
      if tables.contains(o.tests, key) then
         return true
      end
   end
   return false
end

--- Where it departs from the RFC.
function M.conformance(plan)
   local o, notes = plan.rfc3918, {}
   local function add(...)
      notes[#notes + 1] = string.format(...)
   end
   if o.trial < SHORTEST_TRIAL and asks_for(o, unpack(throughput.KEYS)) then
      add("trials of %s: the RFC recommends %d s at least", units.format_time(o.trial), SHORTEST_TRIAL)
   end
   if #o.frame_sizes < FEWEST_SIZES then
      add("fewer than five frame sizes (%d)", #o.frame_sizes)
   end
   local of_latency = asks_for(o, "latency", "burdened_latency")
   if of_latency and o.latency_trial < LATENCY_TRIAL then
      add("streams of %s for the latency: the RFC has %d s", units.format_time(o.latency_trial),
         LATENCY_TRIAL)
   end
   if of_latency and (o.latency_load < 1 or not asks_for(o, "aggregated")) then
      add("the latency is not measured at the throughput")
   end
   if asks_for(o, "group_capacity") then
      if o.capacity_search ~= "step" then
         add("group capacity: found by halving, not by adding a fixed number of groups")
      end
      if not trials.roles(plan).monitor then
         add("group capacity without a port that watches what is flooded")
      end
   end
   return { standard = "RFC 3918", conforms = #notes == 0, notes = notes }
end

--- Measure.
-- @param results  gets the table rfc3918: a list of rows for each test, which fill as it goes
function M.run(plan, tester, session, results)
   results.rfc3918 = {}
   for _, key in ipairs(plan.rfc3918.tests) do
      results.rfc3918[key] = {}
      MODULES[key].run(plan, tester, session, key, results.rfc3918[key], results.rfc3918)
   end
end

return M
