-- SPDX-License-Identifier: BSD-3-Clause

--- A mix of frame sizes: the rate each stream gets, and what it loses.
--
--    framegauge script scripts-lua/examples/imix.lua [PERCENT]
--
-- An IMIX each way, PERCENT of the line (default: 50), through a reference device that loses every 200th
-- frame one way. The script checks the measured rate of both streams, in bits, and their loss.
local Tester = require "framegauge.tester"
local line = require "framegauge.line"
local plan = require "framegauge.plan"
local stream_config = require "framegauge.stream_config"

local SECONDS, EVERY = 1, 200
local percent = tonumber(arg[1]) or 50
local PLAN = ([[
test: traffic
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, loss_every: %d, reverse: {loss_every: 0}}
streams:
  there: {from: east, to: west, size: imix, rate: %g%%}
  back: {from: west, to: east, size: imix, rate: %g%%}
]]):format(EVERY, percent, percent)

local tester = assert(Tester.open(assert(plan.load_text(PLAN, "built-in plan", {}))))
local streams = stream_config.streams(tester, SECONDS)
local raw = tester:trial { streams = streams, learning_wait = 0, drain = 0.1, settle = 0 }
tester:close()

local expected_loss = { there = 1 / EVERY, back = 0 }
for i, counts in ipairs(raw.directions) do
   local bps = line.l1_bps(counts.tx / SECONDS, streams[i].frame_size)
   local loss = 1 - counts.rx / counts.tx
   print(("%-6s %7.2f Mbit/s L1, %6d frames of %.1f bytes in the mean, %.3f %% lost"):format(counts.name,
      bps / 1e6, counts.tx, streams[i].frame_size, loss * 100))
   if math.abs(bps / 1e9 - percent / 100) > 1e-3 then
      error(("%g %% of the line were wanted"):format(percent))
   elseif math.abs(loss - expected_loss[counts.name]) > 1e-4 then
      error(("the device loses %.3f %% of them"):format(expected_loss[counts.name] * 100))
   end
end
