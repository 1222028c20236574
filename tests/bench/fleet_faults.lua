-- SPDX-License-Identifier: BSD-3-Clause

--- Simulated trials of a fleet with faults, by hand (docs/explanation/campaigns.md):
--
--    setarch -R framegauge script tests/bench/fleet_faults.lua SEED TRIALS [FAULT...]
--
-- Prints what became of the trials, how often each fault happened, and what was wrong: then it ends with 1.
-- With setarch -R addresses are the same again, and with them most of what a seed gives; not all.
package.path = arg[0]:match "^(.*)/bench/[^/]*$" .. "/lua/?.lua;" .. package.path
local faults = require "fleet_faults"
local scratch = require "scratch"
local tables = require "framegauge.core.tables"

local kinds = { select(3, unpack(arg)) }
local began = os.clock()
local world = faults.play { seed = tonumber(arg[1]), trials = tonumber(arg[2]), kinds = kinds[1] and kinds }
scratch.remove()

local function show(title, counts)
   print(title)
   for _, name in ipairs(tables.keys(counts)) do
      print(("%8d  %s"):format(counts[name], name))
   end
end

print(("%d trials in %d runs, %.0f s of virtual time, %.0f s of processor; longest trial: %.1f s"):format(
   world.trials, world.runs, world.simulated_s, os.clock() - began, world.longest_s))
show("Faults", world.did)
show("Trials", world.counts)
show("Why", world.reasons)
for _, sentence in ipairs(world.wrong) do
   print("WRONG: " .. sentence)
end
return world.wrong[1] and 1 or 0
