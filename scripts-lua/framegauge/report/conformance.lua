-- SPDX-License-Identifier: BSD-3-Clause

--- Whether a plan keeps to the letter of RFC 2544, and where not.
local M = {}

local MIN_TRIAL, MIN_WAIT, MIN_SETTLE, MIN_SIZES = 60, 2, 5, 5

local function seconds(value)
   return ("%g s"):format(value)
end

-- What the searches aim at: one goal each, but for MLRsearch.
local function goals_of(o)
   local t = o.throughput
   if t.goals then
      return t.goals
   end
   local trials = t.search == "tst009" and t.loss_verify_trials or 1
   return { { final_trial = t.trial, loss_ratio = t.loss_tolerance, exceed_ratio = 1 - 1 / trials } }
end

-- The least or greatest that any goal has of something: function(a, b) says which.
local function extreme(o, key, choose)
   local value
   for _, goal in ipairs(goals_of(o)) do
      value = value and choose(value, goal[key]) or goal[key]
   end
   return value
end

-- One row for each demand: function(options of rfc2544) -> what falls short of it, or nil.
local DEMANDS = {
   function(o)
      local trial = extreme(o, "final_trial", math.min)
      if trial < MIN_TRIAL then
         return ("short trials (%s; section 24 asks for %s)"):format(seconds(trial), seconds(MIN_TRIAL))
      end
   end,
   function(o)
      if o.learning_wait < MIN_WAIT or o.drain < MIN_WAIT or o.settle < MIN_SETTLE then
         return ("short waits (%s, %s, %s; section 23 asks for %s, %s, %s)"):format(seconds(o.learning_wait),
            seconds(o.drain), seconds(o.settle), seconds(MIN_WAIT), seconds(MIN_WAIT), seconds(MIN_SETTLE))
      end
   end,
   function(o)
      if #o.frame_sizes < MIN_SIZES then
         return ("fewer than five frame sizes (%d; section 9)"):format(#o.frame_sizes)
      end
   end,
   function(o)
      local loss = extreme(o, "loss_ratio", math.max)
      if loss > 0 then
         return ("loss tolerated (%g %%; section 26.1 allows none)"):format(loss * 100)
      end
   end,
   function(o)
      if extreme(o, "exceed_ratio", math.max) > 0 then
         return "trials with loss repeated (section 26.1 has the load lowered)"
      end
   end,
}

--- Compare a plan with RFC 2544.
-- @return { rfc2544 = whether it keeps to all of it, notes = list of what does not }
function M.of(plan)
   local notes = {}
   for _, demand in ipairs(DEMANDS) do
      notes[#notes + 1] = demand(plan.rfc2544)
   end
   return { rfc2544 = #notes == 0, notes = notes }
end

return M
