-- SPDX-License-Identifier: BSD-3-Clause

--- One test of RFC 2544 on a made-up bench.
local assert = require "luassert"
local Bench = require "fake_bench"
local fake_plan = require "fake_plan"
local tests = require "framegauge.methods.rfc2544.tests"
local Session = require "framegauge.trial.session"

local M = {}

--- Rates as a plan has them.
function M.fps(value)
   return { unit = "fps", value = value }
end

function M.ratio(value)
   return { unit = "ratio", value = value }
end

--- Measure one test.
-- @param test     its key
-- @param group    keys of its group in the plan
-- @param device   of the made-up bench
-- @param options  keys of rfc2544; default: 64 bytes, one way
-- @return its rows, the bench, the trials
function M.measure(test, group, device, options)
   local plan = fake_plan(options or { frame_sizes = { 64 }, bidirectional = false })
   plan.rfc2544.tests = { test }
   plan.rfc2544[test] = group
   local bench, results = Bench.new(device), {}
   local session = Session.new {
      bench = bench, retries = 0, phases = plan.rfc2544, sink = function() end, say = device.say,
   }
   assert.is_nil(tests.check(plan, bench))
   tests.run(plan, bench, session, results)
   return results[test], bench, session.trials
end

--- What a bench was asked, of one key.
function M.asked_for(bench, key)
   local list = {}
   for i, ask in ipairs(bench.asked) do
      list[i] = ask[key]
   end
   return list
end

return M
