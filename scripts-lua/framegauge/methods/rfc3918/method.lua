-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 3918, benchmarking of IP multicast: its tests as a method of plans.
local capacity = require "framegauge.methods.rfc3918.capacity"
local delay = require "framegauge.methods.rfc3918.delay"
local fields = require "framegauge.methods.rfc3918.result"
local format = require "framegauge.text.format"
local latency = require "framegauge.methods.rfc3918.latency"
local outlook = require "framegauge.methods.outlook"
local tables = require "framegauge.core.tables"
local throughput = require "framegauge.methods.rfc3918.throughput"
local trials = require "framegauge.methods.rfc3918.trials"
local units = require "framegauge.text.units"

local M = {}

M.TITLE = "RFC 3918"

--- A figure of all rows that have it, or of those of one frame size or of one test.
M.expectations = {
   examples = "'throughput>=50%', 'groups>=1000@group_capacity' or 'join_delay<=1ms@64'",
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
      local size = tonumber(text)
      if size and not tables.contains(plan.rfc3918.frame_sizes, size) then
         return nil, ("the plan has no frame size %s"):format(text)
      elseif not size and not tables.contains(plan.rfc3918.tests, text) then
         return nil, ("the plan has no test %s"):format(text)
      end
      return function(row) return row.frame_size == size or row.test == text end
   end,
}

local SHORTEST_TRIAL, FEWEST_SIZES, LATENCY_TRIAL = 30, 5, 120

--- By which module each test is made.
local MODULES = {}
for _, module in ipairs { throughput, latency, delay, capacity } do
   for _, key in ipairs(module.KEYS) do
      MODULES[key] = module
   end
end

local function words(key)
   return (key:gsub("_", " "))
end

function M.heading(plan)
   return table.concat(tables.map(plan.rfc3918.tests, words), ", ")
end

function M.scope(plan)
   return ("%s, %s"):format(format.plural(#trials.roles(plan).receivers, "receiver"),
      format.plural(#plan.rfc3918.frame_sizes, "frame size"))
end

--- What keeps the plan from being run on this bench; nil when nothing does.
function M.check(_, bench)
   for _, port in ipairs(bench.ports) do
      if not port.line_rate then
         return ("rfc3918: the line rate of %s is not known; give ports.%s.line_rate"):format(port.name,
            port.name)
      end
   end
   return nil
end

--- What lies ahead, at most.
function M.parts(plan)
   local parts = {}
   for _, key in ipairs(plan.rfc3918.tests) do
      parts = tables.joined(parts, MODULES[key].parts(plan, key))
   end
   return parts
end

local COLUMNS = {
   { "", "test", function(part) return words(part.test:match "[^.]+$") end, left = true },
   { "frame", "size", function(part) return tostring(part.frame_size or "-") end },
   { "trials", "at most", function(part) return format.count(part.trials) end },
   { "time", "at most", function(part) return format.clock(part.seconds) end },
}

--- What `run --dry-run` says.
function M.outlook(plan, _, notes)
   local parts, count, seconds = M.parts(plan), 0, 0
   for _, part in ipairs(parts) do
      count, seconds = count + part.trials, seconds + part.seconds
   end
   local roles = trials.roles(plan)
   return outlook.table(COLUMNS, parts) .. outlook.text({
      ("%s sends; %s by %s%s."):format(roles.source, table.concat(roles.receivers, ", ")
         .. (#roles.receivers == 1
         and " joins" or " join"), trials.version(plan), roles.monitor and "; " .. roles.monitor .. " "
            .. "joins nothing"
         or ""), outlook.waits(plan.rfc3918) .. "; the times include it.",
   }, notes, { "", ("Estimate: at most %s in %s."):format(format.plural(count, "trial"),
      format.clock(seconds)) })
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
   if o.trial < SHORTEST_TRIAL and asks_for(o, "mixed_class", "group_matrix", "aggregated") then
      add("trials of %s: the RFC recommends %d s at least", units.format_time(o.trial), SHORTEST_TRIAL)
   end
   if #o.frame_sizes < FEWEST_SIZES then
      add("fewer than five frame sizes (%d)", #o.frame_sizes)
   end
   if asks_for(o, "latency") and o.latency_trial < LATENCY_TRIAL then
      add("streams of %s for the latency: the RFC has %d s", units.format_time(o.latency_trial),
         LATENCY_TRIAL)
   end
   if asks_for(o, "latency") and (o.latency_load < 1 or not asks_for(o, "aggregated")) then
      add("the latency is not measured at the throughput")
   end
   if asks_for(o, "group_capacity") then
      add("group capacity: found by halving, not by adding a fixed number of groups")
      if not trials.roles(plan).monitor then
         add("group capacity without a port that watches what is flooded")
      end
   end
   return { standard = "RFC 3918", conforms = #notes == 0, notes = notes }
end

--- Measure.
-- @param results  gets the table rfc3918: a list of rows for each test, which fill as it goes
function M.run(plan, bench, session, results)
   results.rfc3918 = {}
   for _, key in ipairs(plan.rfc3918.tests) do
      results.rfc3918[key] = {}
      MODULES[key].run(plan, bench, session, key, results.rfc3918[key], results.rfc3918)
   end
end

return M
