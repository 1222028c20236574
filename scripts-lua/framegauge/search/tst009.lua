-- SPDX-License-Identifier: BSD-3-Clause

--- Binary search with loss verification (ETSI GS NFV-TST 009, 12.3.3; RFC 9004, 6.2).
--
-- Hosts that forward frames in software lose a few now and then for reasons that have nothing to do with the
-- load: an interrupt, a housekeeping job. So a load that lost frames is tried again, up to `max_r` trials in
-- all, and passes when one of them does. Loss beyond `z` frames in one trial is no such accident and decides
-- at once.
--
-- For a loss that strikes a trial with probability q, whatever the load, a load below the capacity fails
-- wrongly with q^max_r.
local bisection = require "framegauge.search.bisection"

local M = {}

M.DEFAULT_MAX_R = 2

-- A trial the tester spoilt proves no loss: while one is among them, a load that never passed is not the
-- device's failure.
local function verify(once, max_r, z)
   local result, record
   for _ = 1, max_r do
      local this, this_record = once()
      if this == "pass" or (this == "loss" and this_record.lost > z) then
         return this, this_record
      elseif not result or this ~= "loss" then
         result, record = this, this_record
      end
   end
   return result, record
end

--- Search; see framegauge.search for the goal and the result, bisection.lua for what else a goal
-- may have.
-- @param goal.max_r  most trials at one load (default 2); what vsperf calls MAX_REPEAT is one less
-- @param goal.z      frames lost in one trial above which none is repeated (default: always repeat)
-- @param goal.step   the step of the offered load; loads are rounded to it
function M.run(goal)
   local max_r, z = goal.max_r or M.DEFAULT_MAX_R, goal.z or math.huge
   assert(max_r >= 1, "a load needs a trial")
   return bisection.run(goal, function(once)
      return verify(once, max_r, z)
   end)
end

return M
