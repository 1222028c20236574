-- SPDX-License-Identifier: BSD-3-Clause

--- Characterises many devices drawn at random and counts how often the bounds hold:
--
--    build/app/framegauge script tests/lua/characterise_campaign.lua FIRST LAST [switch | policer | jittery]
--
-- The table at the end is for docs/explanation/characterise.md. The status is 1 where a bound that is
-- certain misses, or a characterisation takes more than it may.
package.path = arg[0]:match "^(.-)[^/]*$" .. "?.lua;" .. package.path
local counted = require "characterise_counts"
local job = require "framegauge.core.job"

return job.run(function()
   local first, last = tonumber(arg[1] or 1), tonumber(arg[2] or 20)
   local counts = counted.new(print)
   for number = first, last do
      counted[arg[3] or "device"](counts, number)
   end
   print(("\n%d devices, each in at most %d trials and %.0f s of load\n"):format(counts.devices,
      counts.trials, counts.seconds))
   print(counted.table(counts))
   return counted.is_sound(counts) and 0 or 1
end)
