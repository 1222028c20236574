-- SPDX-License-Identifier: BSD-3-Clause

--- The tests of RFC 2544: the six of section 26, and bursty traffic (section 21). Each is a module:
--
--    NAME                             in trials: "rfc2544.latency"
--    KEY                              its group in the plan and its list in the results: "latency"
--    check(plan, bench)               what keeps the plan from being run, a sentence, or nil
--    run(plan, bench, session, rows)  measures, and adds its rows to the list as it finds them
--
-- Every row has frame_size, direction, verdict and reasons, and modifier where the stream was not the plain
-- one. They are made in the order of section 26, bursty traffic last, whatever the order in the plan, for
-- later ones use what earlier ones found out.
local conformance = require "framegauge.report.conformance"
local expectations = require "framegauge.method.rfc2544.expectations"
local format = require "framegauge.report.format"

local M = {}

M.expectations = expectations

M.TITLE = "RFC 2544"

M.QUICK = {
   "rfc2544.learning_wait=100ms", "rfc2544.drain=200ms", "rfc2544.settle=0s",
   "rfc2544.throughput.trial=1s", "rfc2544.throughput.search_trial=200ms",
   "rfc2544.latency.trial=400ms", "rfc2544.latency.tag_after=200ms", "rfc2544.latency.repetitions=2",
   "rfc2544.frame_loss.trial=200ms",
   "rfc2544.back_to_back.limit=100ms", "rfc2544.back_to_back.repetitions=2",
   "rfc2544.system_recovery.overload=500ms", "rfc2544.system_recovery.watch=500ms",
   "rfc2544.system_recovery.repetitions=1",
   "rfc2544.reset.after=500ms", "rfc2544.reset.watch=2s", "rfc2544.reset.outage=500ms",
   "rfc2544.bursty_traffic.trial=1s", "rfc2544.bursty_traffic.search_trial=100ms",
   "rfc2544.bursty_traffic.limit=100ms",
}

--- All of them, in their order.
M.ALL = {
   require "framegauge.method.rfc2544.throughput",
   require "framegauge.method.rfc2544.latency",
   require "framegauge.method.rfc2544.frame_loss",
   require "framegauge.method.rfc2544.back_to_back",
   require "framegauge.method.rfc2544.system_recovery",
   require "framegauge.method.rfc2544.reset",
   require "framegauge.method.rfc2544.bursty_traffic",
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

--- Its tests, as a person names them.
function M.heading(plan)
   local words = {}
   for i, method in ipairs(M.of(plan)) do
      words[i] = method.KEY:gsub("_", " ")
   end
   return table.concat(words, ", ")
end

function M.scope(plan)
   return format.plural(#plan.rfc2544.frame_sizes, "frame size")
end

function M.frame_sizes(plan)
   return plan.rfc2544.frame_sizes
end

--- Phases of its trials (section 23), and how often an invalid one is made again.
function M.phases(plan)
   return plan.rfc2544
end

M.conformance = conformance.of

--- What lies ahead; see framegauge.rehearsal, which runs these very tests.
function M.parts(plan, bench)
   return require("framegauge.rehearsal").parts(plan, bench)
end

--- What `run --dry-run` says.
function M.outlook(plan, tester, notes)
   local rows = require("framegauge.rehearsal").outlook(plan, tester)
   return require("framegauge.report.outlook").text(plan, rows, notes)
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

-- A list that marks what is added to it at its end, and passes it on to another.
local function marking(rows, modifier)
   return setmetatable({}, { __newindex = function(_, _, row)
      row.modifier = modifier
      rows[#rows + 1] = row
   end })
end

--- Make all tests of a plan: with the plain stream, then with each modifier by itself.
-- @param results  a list of rows for each test is added to it as the test begins
function M.run(plan, bench, session, results)
   for i = 0, #(plan.rfc2544.modifiers or {}) do
      local modifier = i > 0 and plan.rfc2544.modifiers[i] or nil
      session:modify(modifier)
      for _, method in ipairs(M.of(plan)) do
         results[method.KEY] = results[method.KEY] or {}
         method.run(plan, bench, session, modifier and marking(results[method.KEY], modifier)
            or results[method.KEY])
      end
   end
end

return M
