-- SPDX-License-Identifier: BSD-3-Clause

--- Measures many devices drawn at random by each method and counts how often uncertainties hold the truth:
--
--    build/app/framegauge script tests/lua/uncertainty_campaign.lua FIRST LAST [METHOD...]
--
-- The table at the end is for docs/explanation/uncertainty.md.
package.path = arg[0]:match "^(.-)[^/]*$" .. "?.lua;" .. package.path
local job = require "framegauge.core.job"
local tables = require "framegauge.core.tables"
local truth = require "uncertainty_truth"

local order, counts = {}, {}

local function count(one, name, seed)
   local sum = counts[one.what]
   if not sum then
      sum = { figures = 0, claimed = 0, held = 0, coverage = 1, width = 0 }
      order[#order + 1], counts[one.what] = one.what, sum
   end
   sum.figures = sum.figures + 1
   if one.u then
      sum.claimed, sum.coverage = sum.claimed + 1, math.min(sum.coverage, one.u.coverage)
      sum.held = sum.held + (truth.holds(one) and 1 or 0)
      if not truth.holds(one) and one.u.coverage == 1 then
         print(("%s %d: %s is %.12g, found %.12g, %.12g to %.12g"):format(name, seed, one.what, one.truth,
            one.value, one.u.low or -math.huge, one.u.high or math.huge))
      end
   end
end

return job.run(function()
   local first, last = tonumber(arg[1] or 1), tonumber(arg[2] or 10)
   local names = arg[3] and { unpack(arg, 3) } or tables.keys(truth.METHODS)
   for _, name in ipairs(names) do
      for seed = first, last do
         for _, one in ipairs(truth.measure(name, seed)) do
            count(one, name, seed)
         end
      end
   end
   print "\n| figure | figures | with uncertainty | coverage claimed | truth within bounds |"
   print "|---|--:|--:|--:|--:|"
   for _, what in ipairs(order) do
      local sum = counts[what]
      print(("| %s | %d | %d | %g %% | %.1f %% |"):format(what, sum.figures, sum.claimed, sum.coverage * 100,
         sum.claimed > 0 and sum.held / sum.claimed * 100 or 0))
   end
   return 0
end)
