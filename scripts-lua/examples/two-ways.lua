-- SPDX-License-Identifier: BSD-3-Clause

--- A device that forwards one way faster than the other: what each way carries, alone and together.
--
--    framegauge script scripts-lua/examples/two-ways.lua
--
-- The reference device is set to 700,000 frames a second one way and 300,000 the other; the script offers a
-- full line and checks the received frames.
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"

local CAPACITY = { ["east->west"] = 700e3, ["west->east"] = 300e3 }
local BUFFER = 64
local PLAN = ([[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, capacity: 700kfps, buffer: %d, reverse: {capacity: 300kfps}}
]]):format(BUFFER)

local tester = assert(Tester.open(assert(plan.load_text(PLAN, "built-in plan", {}))))
for _, directions in ipairs { { "east->west" }, { "west->east" }, { "east->west", "west->east" } } do
   local raw = tester:trial {
      frame_size = 64, fps = tester:max_fps(64), duration = 1, directions = directions,
      learning_wait = 0, drain = 0.1, settle = 0,
   }
   for _, counts in ipairs(raw.directions) do
      print(("%-24s %s: %d frames/s"):format(table.concat(directions, " and "), counts.name, counts.rx))
      if math.abs(counts.rx - CAPACITY[counts.name]) > 0.001 * CAPACITY[counts.name] + 2 * BUFFER then
         error(("%s forwards %d frames a second"):format(counts.name, CAPACITY[counts.name]))
      end
   end
end
tester:close()
