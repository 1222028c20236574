-- SPDX-License-Identifier: BSD-3-Clause

--- The clocks of two testers beside each other: whether they are one, and how far they may differ.
local time = require "framegauge.clock.time"

local M = {}

--- Whether two testers have one clock: they run on one system, and the other's time lies between question and
-- answer.
-- @param here, there   states (framegauge.clock)
-- @param asked, heard  raw times
function M.same(here, there, asked, heard)
   local other = time.number(there.raw)
   return here.boot ~= "" and here.boot == there.boot and other >= asked and other <= heard
end

--- How far two clocks may differ, nanoseconds; nil: unknown, with the reason.
function M.bound(here, there)
   local sum = here.error_ns + there.error_ns
   if here.reference == there.reference then
      return sum
   end
   for _, one in ipairs { here, there } do
      if one.reference and not one.reference_error_ns then
         return nil, ("they follow different references, and grandmaster %s does not tell its accuracy"):format(one.reference)
      end
      sum = sum + (one.reference and one.reference_error_ns or 0)
   end
   return sum
end

local OTHERWISE = "or set y1564.delays: false to measure only rates and loss"

--- Why one-way delays cannot be measured, a sentence; nil when they can.
-- @param here, there  states
-- @param most         largest permitted offset, nanoseconds
-- @param share        of the smallest FTD that this is, as text
function M.problem(here, there, most, share)
   for _, one in ipairs { { "local tester", here }, { "remote agent", there } } do
      if one[2].synchronised ~= true then
         return ("one-way delays need synchronised clocks; on the %s %s: %s, %s"):format(one[1],
            one[2].finding or "nothing is known of the clock", one[2].fix or "framegauge doctor --clock",
            OTHERWISE)
      end
   end
   local bound, unknown = M.bound(here, there)
   if not bound then
      return ("one-way delays need synchronised clocks; %s: use one grandmaster, %s"):format(unknown,
         OTHERWISE)
   elseif bound > most then
      return ("one-way delays need clocks that agree to %.3f us, %s of the smallest FTD; they may differ by %.3f us (local %.3f us by %s, remote %.3f us by %s); 'framegauge doctor --clock' shows what is there, %s"):format(most / 1e3, share, bound / 1e3, here.error_ns / 1e3, here.source,
         there.error_ns / 1e3, there.source, OTHERWISE)
   end
   return nil
end

return M
