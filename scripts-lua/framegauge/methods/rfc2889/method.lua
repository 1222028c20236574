-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889, benchmarking of LAN switching devices: its tests as a method of plans.
local caching = require "framegauge.methods.rfc2889.caching"
local congestion = require "framegauge.methods.rfc2889.congestion"
local errored = require "framegauge.methods.rfc2889.errored"
local fields = require "framegauge.methods.rfc2889.result"
local format = require "framegauge.text.format"
local mesh = require "framegauge.methods.rfc2889.mesh"
local outlook = require "framegauge.methods.outlook"
local pressure = require "framegauge.methods.rfc2889.pressure"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

M.TITLE = "RFC 2889"

--- A figure of all rows that have it, or of those of one frame size or of one test.
M.expectations = {
   examples = "'throughput>=50%', 'throughput>=25%@many_to_one' or 'frmol>=3Mfps@64'",
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
      if size and not tables.contains(plan.rfc2889.frame_sizes, size) then
         return nil, ("the plan has no frame size %s"):format(text)
      elseif not size and not tables.contains(plan.rfc2889.tests, text) then
         return nil, ("the plan has no test %s"):format(text)
      end
      return function(row) return row.frame_size == size or row.test == text end
   end,
}

local SHORTEST_TRIAL, FEWEST_SIZES = 30, 5

--- By which module each test is made.
local MODULES = {}
for _, module in ipairs { mesh, caching, congestion, errored, pressure } do
   for _, key in ipairs(module.KEYS) do
      MODULES[key] = module
   end
end

local function words(key)
   return (key:gsub("_", " "))
end

function M.heading(plan)
   local list = {}
   for i, key in ipairs(plan.rfc2889.tests) do
      list[i] = words(key)
   end
   return table.concat(list, ", ")
end

function M.scope(plan)
   return format.plural(#plan.rfc2889.frame_sizes, "frame size")
end

--- What keeps the plan from being run on this bench; nil when nothing does.
function M.check(_, bench)
   return outlook.unknown_line(bench, "rfc2889")
end

--- What lies ahead, at most.
function M.parts(plan)
   local parts = {}
   for _, key in ipairs(plan.rfc2889.tests) do
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
   local parts, trials, seconds = M.parts(plan), 0, 0
   for _, part in ipairs(parts) do
      trials, seconds = trials + part.trials, seconds + part.seconds
   end
   return outlook.table(COLUMNS, parts) .. outlook.text(
      { outlook.waits(plan.rfc2889) .. "; the times include it." }, notes,
      { "", ("Estimate: at most %s in %s."):format(format.plural(trials, "trial"), format.clock(seconds)) })
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
function M.run(plan, bench, session, results)
   results.rfc2889 = {}
   for _, key in ipairs(plan.rfc2889.tests) do
      results.rfc2889[key] = {}
      MODULES[key].run(plan, bench, session, key, results.rfc2889[key], results.rfc2889)
   end
end

return M
