-- SPDX-License-Identifier: BSD-3-Clause

--- How long a burst a device takes without loss, at every frame size: a look at its buffer.
--
--    framegauge script scripts-lua/examples/burst-hunt.lua
--
-- Sends bursts at the full rate of the line and doubles them until a frame is lost, then halves the
-- interval. On the reference device the answer is known: while N frames come in at rate L, N C / L leave
-- at capacity C, one is being forwarded, and the others must fit into the buffer B, so N = (B + 1) / (1 -
-- C / L).
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"

local CAPACITY, BUFFER = 400000, 300
local PLAN = ([[
test: rfc2544
ports:
  east: {device: wire0}
  west: {device: wire1}
reference_device: {rate: 1Gbps, capacity: %dfps, buffer: %d}
]]):format(CAPACITY, BUFFER)

local tester = assert(Tester.open(assert(plan.load_text(PLAN, "built-in plan", {}))))

local function lost(frame_size, frames)
   local fps = tester:max_fps(frame_size)
   local counts = tester:trial({
      frame_size = frame_size, fps = fps, duration = frames / fps, directions = { "east->west" },
      learning_wait = 0, drain = 0.1, settle = 0,
   }).directions[1]
   return counts.tx - counts.rx
end

local function longest_burst(frame_size)
   local good, bad = 1, 2
   while lost(frame_size, bad) == 0 do
      good, bad = bad, bad * 2
   end
   while bad - good > 1 do
      local middle = math.floor((good + bad) / 2)
      if lost(frame_size, middle) == 0 then
         good = middle
      else
         bad = middle
      end
   end
   return good
end

print("frame size   longest burst   expected")
for _, frame_size in ipairs { 64, 128, 256 } do
   local found = longest_burst(frame_size)
   local expected = (BUFFER + 1) / (1 - CAPACITY / tester:max_fps(frame_size))
   print(("%10d %15d %10.1f"):format(frame_size, found, expected))
   if math.abs(found - expected) > 0.01 * expected + 2 then
      error(("a burst of %d frames was expected, %d were found"):format(expected, found))
   end
end
tester:close()
