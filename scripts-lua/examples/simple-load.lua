-- SPDX-License-Identifier: BSD-3-Clause

--- A load in both directions for a second, and whether anything was lost.
--
--    framegauge script scripts-lua/examples/simple-load.lua [LOAD%]
--
-- The reference device forwards 900,000 frames a second; the script checks that a load below that passes
-- whole.
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"

local PLAN = [[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, capacity: 900kfps}
]]

local percent = tonumber(arg[1]) or 50
local tester = assert(Tester.open(assert(plan.load_text(PLAN, "built-in plan", {}))))
local raw = tester:trial {
   frame_size = 64, fps = tester:max_fps(64) * percent / 100, duration = 1,
   directions = { "east->west", "west->east" }, learning_wait = 0, drain = 0.1, settle = 0,
}
tester:close()

local lost = 0
for _, counts in ipairs(raw.directions) do
   print(("%s: sent %d, received %d, mean delay %.2f us"):format(counts.name, counts.tx, counts.rx,
      counts.latency.mean_ns / 1e3))
   lost = lost + counts.tx - counts.rx
end
if (lost > 0) ~= (percent > 60.5) then
   error(("at %g %% of the line %d frames were lost"):format(percent, lost))
end
