-- SPDX-License-Identifier: BSD-3-Clause

--- How long traffic is interrupted when a device fails over.
--
--    framegauge script scripts-lua/examples/failover-time.lua
--
-- Frames go out evenly; the longest gap between two arrivals, and the frames lost times their distance, are
-- two measures of the same outage. The reference device is out of order for 50 ms; both must say so.
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"

local OUTAGE, FPS = 0.05, 100000
local PLAN = [[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps}
]]

local tester = assert(Tester.open(assert(plan.load_text(PLAN, "built-in plan", {}))))
local counts = tester:trial({
   frame_size = 64, fps = FPS, duration = 1, directions = { "east->west" },
   outage = { at = 0.4, seconds = OUTAGE }, learning_wait = 0, drain = 0.1, settle = 0,
}).directions[1]
tester:close()

local by_gap, by_loss = counts.gap_max_ns / 1e9, (counts.tx - counts.rx) / FPS
print(("%.2f ms by the longest gap, %.2f ms by %d lost frames"):format(by_gap * 1e3, by_loss * 1e3,
   counts.tx - counts.rx))
for _, found in ipairs { by_gap, by_loss } do
   if math.abs(found - OUTAGE) > 3 / FPS then
      error(("the outage lasted %.2f ms"):format(OUTAGE * 1e3))
   end
end
