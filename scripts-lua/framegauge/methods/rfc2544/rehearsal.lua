-- SPDX-License-Identifier: BSD-3-Clause

--- The tests without frames: a simulated device in place of a tester (estimate_device.lua).
--
-- The methods' own code runs. So everything a method does (confirmations, steps back, trials shared between
-- tests) is in the rehearsal, and the two cannot diverge.
local device = require "framegauge.methods.rfc2544.estimate_device"
local tests = require "framegauge.methods.rfc2544.tests"
local Session = require "framegauge.trial.session"

local M = {}

--- Make all tests of a plan.
-- @param o        the device (framegauge.methods.rfc2544.estimate_device); nil: the plan's
-- @param fitted   as tests.run takes it
-- @param each     function(seconds, ask): called with each trial and its time with all waits
function M.run(plan, tester, o, fitted, each)
   local made = device.new(plan, tester, o)
   local session = Session.new { retries = 0, phases = plan.rfc2544, sink = function() end }
   function session.measure(_, ask)
      each(session:seconds_of(ask), ask)
      return made:trial {
         frame_size = ask.frame_size, fps = ask.fps, duration = ask.seconds, loads = ask.loads,
         tags = ask.tags, burst = ask.burst, outage = ask.outage, directions = ask.directions,
      }
   end
   tests.run(plan, tester, session, {}, fitted)
end

return M
