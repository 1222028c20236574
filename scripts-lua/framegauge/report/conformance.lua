-- SPDX-License-Identifier: BSD-3-Clause

--- Whether a plan keeps to the letter of RFC 2544, and where not.
local M = {}

local MIN_TRIAL, MIN_WAIT, MIN_SETTLE, MIN_SIZES = 60, 2, 5, 5

local function seconds(value)
   return ("%g s"):format(value)
end

-- One row for each demand: function(options of rfc2544) -> what falls short of it, or nil.
local DEMANDS = {
   function(o)
      if o.throughput.trial < MIN_TRIAL then
         return ("short trials (%s; section 24 asks for %s)"):format(seconds(o.throughput.trial),
            seconds(MIN_TRIAL))
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
      if o.throughput.loss_tolerance > 0 then
         return ("loss tolerated (%g %%; section 26.1 allows none)"):format(o.throughput.loss_tolerance * 100)
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
