-- SPDX-License-Identifier: BSD-3-Clause

--- What a run is estimated to take and what it takes, in the tester's time.
--
--    framegauge script tests/lua/timed.lua PLAN [PATH=VALUE...]   prints the four figures: seconds and trials
--
-- A process of its own for a real tester, since DPDK binds the process to a CPU, and all that it starts.
local tests = require "framegauge.methods.rfc2544.tests"
local rehearsal = require "framegauge.methods.rfc2544.estimate"
local Session = require "framegauge.trial.session"

local M = {}

-- The tester, keeping account of the time its trials take.
local function timed(tester)
   local time = { seconds = 0, trials = 0 }
   return setmetatable({
      trial = function(_, o)
         local raw = tester:trial(o)
         time.seconds = time.seconds + o.learning_wait + raw.duration_s + o.drain + o.settle
         time.trials = time.trials + 1
         return raw
      end,
   }, { __index = tester }), time
end

--- Run a plan on a tester.
-- @return what was estimated and what was taken: { seconds =, trials = }
function M.run(plan, tester)
   local measured, taken = timed(tester)
   local session = Session.new {
      tester = measured, retries = plan.rfc2544.retries, phases = plan.rfc2544, sink = function() end,
   }
   local estimated = { seconds = 0, trials = 0 }
   for _, part in ipairs(rehearsal.parts(plan, tester)) do
      estimated.seconds, estimated.trials = estimated.seconds + part.seconds, estimated.trials + part.trials
   end
   tests.run(plan, measured, session, {})
   return estimated, taken
end

if ... == "timed" then
   return M
end

local plan = assert(require("framegauge.plan").load(arg[1], { sets = { unpack(arg, 2) } }))
local tester = assert(require("framegauge.tester").open(plan))
local ok, estimated, taken = pcall(M.run, plan, tester)
tester:close()
assert(ok, estimated)
print(estimated.seconds, estimated.trials, taken.seconds, taken.trials)
