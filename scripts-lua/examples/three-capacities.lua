-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544 throughput of three devices in a row, in one table.
--
--    framegauge script scripts-lua/examples/three-capacities.lua
--
-- The plan is the same but for one key; here it is the capacity of the reference device, on a tester it
-- might be the ports. The script checks that every answer is the device's.
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"
local search = require "framegauge.search"

local PLAN = [[
test: rfc2544
ports:
  east: {device: wire0}
  west: {device: wire1}
reference_device: {rate: 1Gbps}
]]
local RESOLUTION = 1000 -- frames per second
local BUFFER = 512 -- frames that the device may still hold when the load ends

--- Highest load without loss from the first port to the second, by halves of one-second trials.
local function throughput(tester)
   local function trial(load, seconds)
      local raw = tester:trial {
         frame_size = 64, fps = load, duration = seconds, directions = { "east->west" },
         learning_wait = 0, drain = 0.1, settle = 0,
      }
      local counts = raw.directions[1]
      return { tx = counts.tx, rx = counts.rx, lost = counts.tx - counts.rx, validity = "valid" }
   end
   return search.get("binary").run({
      trial = trial, min = 0, max = tester:max_fps(64), resolution = RESOLUTION, tolerance = 0,
      search_trial = 1, final_trial = 1, backoff = RESOLUTION, max_trials = 50,
   }).load
end

print("capacity fps   found fps")
for _, capacity in ipairs { 250000, 700000, 1200000 } do
   local loaded, errors = plan.load_text(PLAN, "built-in plan", {
      sets = { ("reference_device.capacity=%dfps"):format(capacity) },
   })
   local tester = assert(Tester.open(assert(loaded, errors and table.concat(errors, "\n"))))
   local found = throughput(tester)
   tester:close()
   print(("%12d %11d"):format(capacity, found))
   if math.abs(found - capacity) > RESOLUTION + BUFFER then
      error(("a device of %d fps was measured as %d fps"):format(capacity, found))
   end
end
