-- SPDX-License-Identifier: BSD-3-Clause

--- A soak: the same load again and again, with an alarm for every interval that loses a frame.
--
--    framegauge script scripts-lua/examples/soak.lua [INTERVALS]
--
-- A device that loses one frame in 200,000 is lossless in most seconds at 60,000 frames a second. The script
-- counts the alarms and checks that no loss went unnoticed: the device is reset before each trial, so an
-- interval must be longer than its rare event, and the fourth of them is.
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"

local EVERY, FPS = 200000, 60000
local PLAN = ([[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, loss_every: %d}
]]):format(EVERY)

local tester = assert(Tester.open(assert(plan.load_text(PLAN, "built-in plan", {}))))
local alarms, expected = 0, 0
for interval = 1, tonumber(arg[1]) or 6 do
   local counts = tester:trial({
      frame_size = 128, fps = FPS, duration = interval, directions = { "east->west" },
      learning_wait = 0, drain = 0.1, settle = 0,
   }).directions[1]
   local lost = counts.tx - counts.rx
   if lost > 0 then
      alarms = alarms + 1
      print(("ALARM: interval %d lost %d of %d frames"):format(interval, lost, counts.tx))
   end
   expected = expected + (FPS * interval >= EVERY and 1 or 0)
end
tester:close()
print(("%d alarms"):format(alarms))
if alarms ~= expected then
   error(("%d intervals were long enough to lose a frame"):format(expected))
end
