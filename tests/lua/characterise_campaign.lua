-- SPDX-License-Identifier: BSD-3-Clause

--- Characterises many devices drawn at random and counts how often the bounds hold:
--
--    build/app/framegauge script tests/lua/characterise_campaign.lua FIRST LAST
--
-- A parameter is told if the row has it, with bounds on both sides or words that are not "unclear" or
-- "other"; it holds if the truth is within. The table at the end is that of docs/explanation/characterise.md.
package.path = arg[0]:match "^(.-)[^/]*$" .. "?.lua;" .. package.path
local job = require "framegauge.core.job"
local truth = require "characterise_truth"

local ORDER = {
   "limit", "capacity", "bandwidth", "cir", "cbs", "buffer_unit", "buffer", "switching", "latency",
   "latency_per_byte", "loss", "recovery", "predictions",
}
local VAGUE = { unclear = true, other = true }

local counts, trials = {}, 0

local function add(what, told, holds)
   local one = counts[what] or { n = 0, told = 0, missed = 0 }
   counts[what], one.n = one, one.n + 1
   one.told, one.missed = one.told + (told and 1 or 0), one.missed + (told and not holds and 1 or 0)
end

local function judge(device, results)
   for _, row in ipairs(results.characterisation) do
      trials = math.max(trials, row.trials)
      for _, check in ipairs(truth.checks(device, row)) do
         local told = not VAGUE[check.found] and (check.found ~= nil or check.low ~= nil)
         add(check.what, told, check.holds)
         if told and not check.holds then
            print(("device %d: %s is %s, found %s, %s to %s"):format(device.number, check.what,
               tostring(check.truth), tostring(check.found), tostring(check.low), tostring(check.high)))
         end
      end
   end
   for _, one in ipairs(results.predictions) do
      add("predictions", true, one.holds)
      if not one.holds then
         print(("device %d: %d bytes, %s: %d frames, predicted %d to %d"):format(device.number,
            one.frame_size,
            one.load, one.rx, one.rx_predicted_min, one.rx_predicted_max))
      end
   end
end

return job.run(function()
   local first, last = tonumber(arg[1] or 1), tonumber(arg[2] or 20)
   for number = first, last do
      local device = truth.device(number)
      judge(device, truth.measure(device))
   end
   print(("\n%d devices, at most %d trials of a direction\n"):format(last - first + 1, trials))
   print "| parameter | told | not told | truth within bounds | outside |\n|---|--:|--:|--:|--:|"
   for _, what in ipairs(ORDER) do
      local one = counts[what] or { n = 0, told = 0, missed = 0 }
      print(("| %s | %d | %d | %d | %d |"):format(what, one.told, one.n - one.told, one.told - one.missed,
         one.missed))
   end
   return 0
end)
