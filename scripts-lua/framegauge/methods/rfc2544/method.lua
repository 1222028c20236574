-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544, benchmarking of network interconnect devices: its tests (tests.lua) as a method of plans.
local budget = require "framegauge.methods.rfc2544.budget"
local conformance = require "framegauge.methods.rfc2544.conformance"
local estimate = require "framegauge.methods.rfc2544.estimate"
local frame_loss = require "framegauge.methods.rfc2544.frame_loss"
local tables = require "framegauge.core.tables"
local tests = require "framegauge.methods.rfc2544.tests"
local throughput = require "framegauge.methods.rfc2544.throughput"
local trial = require "framegauge.trial.result"
local units = require "framegauge.text.units"

local M = {}

M.conformance = conformance.of

--- What criteria can be about: streams other than the plain one, and loads of frame loss.
function M.subjects(plan)
   return { { key = "modifier", values = trial.MODIFIERS },
      { key = "load_percent", words = "loads in percent", values = frame_loss.loads(plan), read = function(text)
         local share = units.parse_ratio(text)
         return share and math.floor(share * 1e8 + 0.5) / 1e6 -- as rows have it
      end } }
end

--- The throughput search covers all directions at once.
function M.directions(plan, name)
   local list, whole = throughput.directions(plan)
   return name == throughput.KEY and { whole } or list
end

M.TITLE = "RFC 2544"

--- Its tests, in words.
function M.heading(plan)
   local words = tables.map(tests.of(plan), function(method) return method.KEY:gsub("_", " ") end)
   return table.concat(words, ", ")
end

M.parts, M.outlook, M.estimate = estimate.parts, estimate.text, estimate.line

function M.check(plan, tester)
   return tests.check(plan, tester) or budget.problem(plan, tester)
end

function M.run(plan, tester, session, results)
   plan.fitted = budget.of(plan, tester)
   tests.run(plan, tester, session, results, plan.fitted)
end

--- What its test frames are made of: their sizes, and the modifiers.
function M.test_frames(plan)
   return plan.rfc2544.frame_sizes, plan.rfc2544.modifiers
end

return M
