-- SPDX-License-Identifier: BSD-3-Clause

--- One test of RFC 2544 on a made-up tester.
local assert = require "luassert"
local Tester = require "fake_tester"
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
-- @param device   of the made-up tester
-- @param options  keys of rfc2544; default: 64 bytes, one way
-- @return its rows, the tester, the trials
function M.measure(test, group, device, options)
   local plan = fake_plan(options or { frame_sizes = { 64 }, bidirectional = false })
   plan.rfc2544.tests = { test }
   plan.rfc2544[test] = group
   local tester, results = Tester.new(device), {}
   local session = Session.new {
      tester = tester, retries = 0, phases = plan.rfc2544, sink = function() end, say = device.say,
   }
   assert.is_nil(tests.check(plan, tester))
   tests.run(plan, tester, session, results)
   return results[test], tester, session.trials
end

--- What a tester was asked, of one key.
function M.asked_for(tester, key)
   local list = {}
   for i, ask in ipairs(tester.asked) do
      list[i] = ask[key]
   end
   return list
end

return M
