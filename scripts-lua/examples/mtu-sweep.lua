-- SPDX-License-Identifier: BSD-3-Clause

--- The delay of a device by frame size: does it store the frame before it forwards it?
--
--    framegauge script scripts-lua/examples/mtu-sweep.lua
--
-- A device that stores and forwards delays a frame by the time of its bits on the line; one that cuts through
-- does not. The script tells the two apart by the slope, and checks it for both.
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"

local PLAN = [[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
rfc2544: {frame_sizes: [64, 512, 1024, 1518]}
reference_device: {rate: 1Gbps, latency: 5us, switching: %s}
]]

-- Nanoseconds of delay that each further byte costs.
local function slope(switching)
   local tester = assert(Tester.open(assert(plan.load_text(PLAN:format(switching), "built-in plan", {}))))
   local delays = {}
   for _, size in ipairs { 64, 512, 1024, 1518 } do
      delays[size] = tester:trial({
         frame_size = size, fps = 1000, duration = 0.5, directions = { "east->west" },
         learning_wait = 0, drain = 0.1, settle = 0,
      }).directions[1].latency.mean_ns
      print(("%-18s %5d bytes: %.2f us"):format(switching, size, delays[size] / 1e3))
   end
   tester:close()
   return (delays[1518] - delays[64]) / (1518 - 64)
end

local stored, cut = slope "store-and-forward", slope "cut-through"
print(("%.2f and %.2f ns per byte; a byte takes 8 ns on this line"):format(stored, cut))
if math.abs(stored - 8) > 0.1 or math.abs(cut) > 0.1 then
   error "the slopes fit neither way to switch"
end
