-- SPDX-License-Identifier: BSD-3-Clause

--- The tests of RFC 2544: the six of section 26, and bursty traffic (section 21). Each is a module:
--
--    NAME                             in trials: "rfc2544.latency"
--    KEY                              its group in the plan and its list in the results: "latency"
--    check(plan, tester)              what keeps the plan from being run, a sentence, or nil
--    measure(plan, tester, session, frame_size, rows)
--                                     appends its rows as they are found, so that an interrupted run keeps
-- them
--    frame_sizes(plan)                only for a test that is not made with all sizes of the plan
--
-- Every row has frame_size, direction, verdict and reasons, and modifier where the stream was not the plain
-- one. The tests run in the order of section 26, bursty traffic last, whatever the plan's order, because
-- later ones use results of earlier ones.
local M = {}

--- All of them, in their order.
M.ALL = {
   require "framegauge.methods.rfc2544.throughput",
   require "framegauge.methods.rfc2544.latency",
   require "framegauge.methods.rfc2544.frame_loss",
   require "framegauge.methods.rfc2544.back_to_back",
   require "framegauge.methods.rfc2544.system_recovery",
   require "framegauge.methods.rfc2544.reset",
   require "framegauge.methods.rfc2544.bursty_traffic",
}

--- The tests a plan wants, in the order they are made.
function M.of(plan)
   local wanted, list = {}, {}
   for _, key in ipairs(plan.rfc2544.tests) do
      wanted[key] = true
   end
   for _, method in ipairs(M.ALL) do
      list[#list + 1] = wanted[method.KEY] and method or nil
   end
   return list
end

function M.check(plan, tester)
   for _, method in ipairs(M.of(plan)) do
      local problem = method.check(plan, tester)
      if problem then
         return problem
      end
   end
   return nil
end

-- A list that marks each item appended to it, and passes it on to another list.
local function marking(rows, modifier)
   return setmetatable({}, { __newindex = function(_, _, row)
      row.modifier = modifier
      rows[#rows + 1] = row
   end })
end

--- Make all tests of a plan: with the plain stream, then with each modifier by itself.
-- @param results  a list of rows for each test is added to it as the test begins
-- @param fitted   gives the plan for each test and frame size (budget.lua); nil: always the same plan
function M.run(plan, tester, session, results, fitted)
   local sizes = plan.rfc2544.frame_sizes
   for i = 0, #(plan.rfc2544.modifiers or {}) do
      local modifier = i > 0 and plan.rfc2544.modifiers[i] or nil
      session:modify(modifier, plan.rfc2544.management)
      for _, method in ipairs(M.of(plan)) do
         local rows = results[method.KEY] or {}
         results[method.KEY] = rows
         for _, frame_size in ipairs(method.frame_sizes and method.frame_sizes(plan) or sizes) do
            local plan_now = fitted and fitted:plan_of(session, frame_size) or plan
            session.phases = plan_now.rfc2544
            method.measure(plan_now, tester, session, frame_size,
               modifier and marking(rows, modifier) or rows)
         end
      end
   end
end

return M
