-- SPDX-License-Identifier: BSD-3-Clause

--- Does a policer let through what it was configured to, and how large a burst?
--
--    framegauge script scripts-lua/examples/policer-check.lua
--
-- The amount that passes at a full line in a time is the burst size and the committed rate times the time.
-- With two trials of different length both can be told apart; the script checks them against the reference
-- device's.
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"

local CIR, CBS, SIZE = 100e6, 64 * 1024, 512
local PLAN = ([[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
rfc2544: {frame_sizes: [512]}
reference_device:
  rate: 1Gbps
  profiles:
    all: {cir: %dbps, cbs: %d}
]]):format(CIR, CBS)

local tester = assert(Tester.open(assert(plan.load_text(PLAN, "built-in plan", {}))))

-- Bits of frames that pass in a time.
local function passed(seconds)
   local counts = tester:trial({
      frame_size = SIZE, fps = tester:max_fps(SIZE), duration = seconds, directions = { "east->west" },
      learning_wait = 0, drain = 0.1, settle = 0,
   }).directions[1]
   return counts.rx * SIZE * 8
end

local short, long = passed(0.5), passed(1.5)
tester:close()
local rate = long - short
local burst = (short - rate * 0.5) / 8
print(("committed rate %.2f Mbit/s L2, burst size %.0f bytes"):format(rate / 1e6, burst))
if math.abs(rate - CIR) > 0.001 * CIR or math.abs(burst - CBS) > 2 * SIZE then
   error(("the policer has %.2f Mbit/s and %d bytes"):format(CIR / 1e6, CBS))
end
