-- SPDX-License-Identifier: BSD-3-Clause

--- A search of one's own: the highest load at which 99.9 % of the frames stay within a budget of delay.
--
--    framegauge script scripts-lua/examples/latency-budget.lua
--
-- Any question that a trial answers with yes or no can be searched by halves. Here a frame waits only when
-- the load exceeds the capacity of the reference device, so the answer must be that capacity.
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"

local CAPACITY, BUDGET_NS, RESOLUTION = 650e3, 100e3, 500
local PLAN = ([[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, capacity: %dfps, buffer: 1024, latency: 20us}
]]):format(CAPACITY)

local tester = assert(Tester.open(assert(plan.load_text(PLAN, "built-in plan", {}))))

local function is_within_budget(fps)
   local counts = tester:trial({
      frame_size = 64, fps = fps, duration = 1, directions = { "east->west" },
      learning_wait = 0, drain = 0.1, settle = 0,
   }).directions[1]
   print(("%7d frames/s: 99.9 %% within %.1f us"):format(fps, counts.latency.p999_ns / 1e3))
   return counts.rx == counts.tx and counts.latency.p999_ns <= BUDGET_NS
end

local good, bad = 0, tester:max_fps(64)
while bad - good > RESOLUTION do
   local middle = math.floor((good + bad) / 2)
   if is_within_budget(middle) then
      good = middle
   else
      bad = middle
   end
end
tester:close()
print(("within %.0f us up to %d frames/s"):format(BUDGET_NS / 1e3, good))
if math.abs(good - CAPACITY) > 2 * RESOLUTION then
   error(("the device's capacity is %d frames/s"):format(CAPACITY))
end
