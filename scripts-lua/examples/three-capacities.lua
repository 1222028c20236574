-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544 throughput of three devices in a row, in one table.
--
--    framegauge script scripts-lua/examples/three-capacities.lua
--
-- The plan is the same but for one key; here it is the capacity of the reference device, on a tester it
-- might be the ports. The script checks that every answer is the device's.
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"

local PLAN = [[
test: rfc2544
ports:
  east: {device: wire0}
  west: {device: wire1}
reference_device: {rate: 1Gbps}
]]
local RESOLUTION = 1000 -- frames per second
local BUFFER = 512 -- frames that the device may still hold when the load ends

print("capacity fps   found fps")
for _, capacity in ipairs { 250000, 700000, 1200000 } do
   local loaded, errors = plan.load_text(PLAN, "built-in plan", {
      sets = { ("reference_device.capacity=%dfps"):format(capacity) },
   })
   local tester = assert(Tester.open(assert(loaded, errors and table.concat(errors, "\n"))))
   local found = tester:throughput({
      frame_size = 64, directions = { "east->west" }, trial = "1s", resolution = RESOLUTION .. "fps",
   }).throughput_fps
   tester:close()
   print(("%12d %11d"):format(capacity, found))
   if math.abs(found - capacity) > RESOLUTION + BUFFER then
      error(("a device of %d fps was measured as %d fps"):format(capacity, found))
   end
end
