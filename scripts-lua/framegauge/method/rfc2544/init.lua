-- SPDX-License-Identifier: BSD-3-Clause

--- The six tests of RFC 2544 section 26, each a module:
--
--    NAME                             in trials: "rfc2544.latency"
--    KEY                              its group in the plan and its list in the results: "latency"
--    needs(plan)                      frame sizes whose throughput it stands on
--    check(plan, bench)               what keeps the plan from being run, a sentence, or nil
--    parts(plan, bench)               what lies ahead: list of { test =, frame_size =, trials =, seconds = },
--                                     the seconds with all waits, for a device as one would expect it
--    run(plan, bench, session, rows)  measures, and adds its rows to the list as it finds them
--
-- Every row has frame_size, direction, verdict and reasons. They are made in the order of the RFC, whatever
-- the order in the plan, for later ones use what earlier ones found out.
local throughput = require "framegauge.method.rfc2544.throughput"

local M = {}

local METHODS = {
   throughput,
   require "framegauge.method.rfc2544.latency",
   require "framegauge.method.rfc2544.frame_loss",
   require "framegauge.method.rfc2544.back_to_back",
   require "framegauge.method.rfc2544.system_recovery",
   require "framegauge.method.rfc2544.reset",
}

--- The tests a plan wants, in the order they are made.
function M.of(plan)
   local wanted, list = {}, {}
   for _, key in ipairs(plan.rfc2544.tests) do
      wanted[key] = true
   end
   for _, method in ipairs(METHODS) do
      list[#list + 1] = wanted[method.KEY] and method or nil
   end
   return list
end

--- What keeps a plan from being run on a bench; nil when nothing does.
function M.check(plan, bench)
   for _, method in ipairs(M.of(plan)) do
      local problem = method.check(plan, bench)
      if problem then
         return problem
      end
   end
   return nil
end

-- Searches for the throughput that a test has to make by itself, for the plan has no throughput test.
local function searches(plan, bench, method, done)
   local needed, list = {}, {}
   for _, frame_size in ipairs(method.needs(plan)) do
      needed[frame_size] = not done[frame_size]
      done[frame_size] = true
   end
   for _, part in ipairs(throughput.parts(plan, bench)) do
      list[#list + 1] = needed[part.frame_size] and part or nil
   end
   return list
end

--- What lies ahead; see parts() above.
function M.parts(plan, bench)
   local list, done = {}, {}
   local function add(parts)
      for _, part in ipairs(parts) do
         list[#list + 1] = part.trials > 0 and part or nil
      end
   end
   for _, method in ipairs(M.of(plan)) do
      if method ~= throughput then
         add(searches(plan, bench, method, done))
      end
      add(method.parts(plan, bench))
      for _, frame_size in ipairs(method == throughput and plan.rfc2544.frame_sizes or {}) do
         done[frame_size] = true
      end
   end
   return list
end

--- Make all tests of a plan.
-- @param results  a list of rows for each test is added to it as the test begins
function M.run(plan, bench, session, results)
   for _, method in ipairs(M.of(plan)) do
      results[method.KEY] = {}
      method.run(plan, bench, session, results[method.KEY])
   end
end

return M
