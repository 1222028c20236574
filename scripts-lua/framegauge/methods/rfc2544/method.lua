-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544, benchmarking of network interconnect devices: its tests (tests.lua) as a method of plans.
local budget = require "framegauge.methods.rfc2544.budget"
local conformance = require "framegauge.methods.rfc2544.conformance"
local estimate = require "framegauge.methods.rfc2544.estimate"
local format = require "framegauge.text.format"
local fields = require "framegauge.methods.rfc2544.result"
local tables = require "framegauge.core.tables"
local tests = require "framegauge.methods.rfc2544.tests"

local M = {}

M.conformance = conformance.of

--- A least throughput, perhaps of one frame size, of the plain stream.
M.expectations = {
   examples = "'throughput>=95%', 'throughput>=800kfps@64' or 'throughput>=95% with 95% confidence'",
   absent_fails = true,
   figures = function() return fields.THROUGHPUT.rows end,
   rows = function(results) return results.throughput or {} end,
   subject = function(plan)
      if not tables.contains(plan.rfc2544.tests, "throughput") then
         return nil, "the plan makes no throughput test"
      end
      return function(row) return not row.modifier end
   end,
   of = function(plan, text)
      local size = tonumber(text)
      if not tables.contains(plan.rfc2544.frame_sizes, size) then
         return nil, ("the plan has no frame size %s"):format(text)
      end
      return function(row) return row.frame_size == size end
   end,
}

M.TITLE = "RFC 2544"

--- Its tests, as a person names them.
function M.heading(plan)
   local words = tables.map(tests.of(plan), function(method) return method.KEY:gsub("_", " ") end)
   return table.concat(words, ", ")
end

function M.scope(plan)
   return format.plural(#plan.rfc2544.frame_sizes, "frame size")
end

M.parts, M.outlook = estimate.parts, estimate.text

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
