-- SPDX-License-Identifier: BSD-3-Clause

--- How much the delay of a path spreads, and whether the tester sees the whole of it.
--
--    framegauge script scripts-lua/examples/delay-spread.lua
--
-- The reference device adds to every frame a delay that is evenly spread from 0 to 200 us. The script checks
-- the mean, the extremes and the 99th percentile of what was measured against that.
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"

local MEAN = 100e-6
local PLAN = [[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, latency: 0us, jitter: {mean: 100us, distribution: uniform}}
]]

local tester = assert(Tester.open(assert(plan.load_text(PLAN, "built-in plan", {}))))
local delay = tester:trial({
   frame_size = 64, fps = 1000, duration = 20, directions = { "east->west" },
   learning_wait = 0, drain = 0.1, settle = 0,
}).directions[1].latency
tester:close()

local own = 0.512e-6 -- the bits of the frame, on the line to the device
local expected = {
   min_ns = own, mean_ns = own + MEAN, p99_ns = own + 0.99 * 2 * MEAN, max_ns = own + 2 * MEAN,
}
for _, key in ipairs { "min_ns", "mean_ns", "p99_ns", "max_ns" } do
   print(("%-8s %8.2f us, expected %8.2f us"):format(key, delay[key] / 1e3, expected[key] * 1e6))
   if math.abs(delay[key] / 1e9 - expected[key]) > 0.02 * 2 * MEAN then
      error(key .. " differs from the delays that the device adds")
   end
end
