-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544, benchmarking of network interconnect devices: its tests (tests.lua) as a method of plans.
local budget = require "framegauge.methods.rfc2544.budget"
local conformance = require "framegauge.methods.rfc2544.conformance"
local expectations = require "framegauge.methods.rfc2544.expectations"
local estimate = require "framegauge.methods.rfc2544.estimate"
local format = require "framegauge.text.format"
local tests = require "framegauge.methods.rfc2544.tests"

local M = {}

M.expectations, M.conformance = expectations, conformance.of

M.TITLE = "RFC 2544"

--- Its tests, as a person names them.
function M.heading(plan)
   local words = {}
   for i, method in ipairs(tests.of(plan)) do
      words[i] = method.KEY:gsub("_", " ")
   end
   return table.concat(words, ", ")
end

function M.scope(plan)
   return format.plural(#plan.rfc2544.frame_sizes, "frame size")
end

M.parts, M.outlook = estimate.parts, estimate.text

function M.check(plan, bench)
   return tests.check(plan, bench) or budget.problem(plan, bench)
end

function M.run(plan, bench, session, results)
   plan.fitted = budget.of(plan, bench)
   tests.run(plan, bench, session, results, plan.fitted)
end

--- What its test frames are made of: their sizes, and the modifiers.
function M.test_frames(plan)
   return plan.rfc2544.frame_sizes, plan.rfc2544.modifiers
end

return M
