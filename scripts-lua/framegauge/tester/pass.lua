-- SPDX-License-Identifier: BSD-3-Clause

--- Time of a tester that passes without streams, for protocols that run during the test. The time of the
-- virtual wire passes in trials only, so there it is a trial.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local job = require "framegauge.core.job"
local uv = require "luv"

local C = api.C
local POLL_SECONDS = 0.002

--- Let time of a tester pass. Call it inside a job.
-- @param tester   the open tester
-- @param seconds  at most
-- @param done     function() that ends it by returning true
-- @return what done() returned last
return function(tester, seconds, done)
   if tester.wires and not tester:is_running() then
      -- free time would end before anybody polls: there a trial ends at its own time
      local look = tester.time ~= C.FG_TIME_WIRE_FREE and done or nil
      tester:start(ffi.new("struct fg_trial_config", { drain_ns = api.nanoseconds(seconds),
         silent = true }), nil, true)
      tester:await(look)
      return done()
   end
   local latest = uv.hrtime() + seconds * 1e9
   while not done() and uv.hrtime() < latest do
      job.sleep(POLL_SECONDS)
   end
   return done()
end
