-- SPDX-License-Identifier: BSD-3-Clause

--- The throughput of a device in three lines, at a few sizes and a mix of them.
--
--    framegauge script scripts-lua/examples/throughput.lua
--
-- Open a plan, search, close. What is not said is as RFC 2544 has it, so that a search of real ports takes
-- minutes; `trial` is the length of the trials that decide. The script checks that each answer is the
-- device's.
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"

local CAPACITY, BUFFER, TRIAL = 50e3, 16, 0.5
local PLAN = ([[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 100Mbps, capacity: %dfps, buffer: %d}
rfc2544: {frame_sizes: [64, 512, imix], bidirectional: false}
]]):format(CAPACITY, BUFFER)

local tester = assert(Tester.open(assert(plan.load_text(PLAN, "built-in plan", {}))))
for _, size in ipairs { 64, 512, "imix" } do
   local row = tester:throughput { frame_size = size, trial = TRIAL, search_trial = "50ms", settle = 0 }
   print(("%4s  %8.1f frames/s  %6.2f %% of the line  %s"):format(size, row.throughput_fps,
      row.throughput_percent, row.validity))
   -- of a mix it forwards small frames in 20 us and others as fast as the line
   local expected = size == "imix" and 12 / (7 / CAPACITY + (4 * 590 + 1538) * 8 / 1e8)
      or math.min(CAPACITY, tester:max_fps(size))
   if math.abs(row.throughput_fps - expected) > 2e-3 * tester:max_fps(size) + BUFFER / TRIAL then
      error(("%.0f frames/s were expected"):format(expected))
   end
end
tester:close()
