-- SPDX-License-Identifier: BSD-3-Clause

--- What a device forwards of a full line, at every frame size: is it frames or bits that limit it?
--
--    framegauge script scripts-lua/examples/size-sweep.lua
--
-- The reference device forwards 500,000 frames a second and 600 Mbit/s of frames; the script checks which of
-- the two it met at each size.
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"

local FRAMES, BITS = 500e3, 600e6
local PLAN = ([[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, capacity: %dfps, bandwidth: %dbps, buffer: 64}
]]):format(FRAMES, BITS)

local tester = assert(Tester.open(assert(plan.load_text(PLAN, "built-in plan", {}))))
print("bytes   frames/s   Mbit/s L2   limit")
for _, size in ipairs { 64, 128, 256, 512, 1024, 1280, 1518 } do
   local counts = tester:trial({
      frame_size = size, fps = tester:max_fps(size), duration = 1, directions = { "east->west" },
      learning_wait = 0, drain = 0.1, settle = 0,
   }).directions[1]
   local expected = math.min(FRAMES, BITS / 8 / size, tester:max_fps(size))
   local limit = expected == FRAMES and "frames" or expected < tester:max_fps(size) and "bits" or "line"
   print(("%5d %10d %11.1f   %s"):format(size, counts.rx, counts.rx * size * 8 / 1e6, limit))
   if math.abs(counts.rx - expected) > 0.01 * expected + 65 then -- what the buffer held comes on top
      error(("%d frames were expected, %d were received"):format(expected, counts.rx))
   end
end
tester:close()
