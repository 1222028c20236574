-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544 as a job next to the script: watched while it runs, its results taken as tables.
--
--    framegauge script scripts-lua/examples/background-test.lua
--
-- Every result of a job is a plain table; the script checks the throughput against what the reference device
-- was set to, and takes the result folder away again.
local Control = require "framegauge.control"
local job = require "framegauge.job"
local plan = require "framegauge.plan"

local CAPACITY = 800e3
local PLAN = ([[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, capacity: %dfps}
]]):format(CAPACITY)

local folder = os.tmpname()
os.remove(folder)
local control = Control.new(assert(plan.load_text(PLAN, "built-in plan", {})))
local task = control:test("rfc2544", { frame_sizes = { 64, 512 } }, { quick = true, out = folder })
while not task.ended do
   job.sleep(0.5)
   print(task)
end
local results = task:wait()
control:close()
os.execute(("rm -rf '%s'"):format(folder))

for _, row in ipairs(results.throughput) do
   print(("%4d bytes: %d frames/s, %s"):format(row.frame_size, row.throughput_fps, row.validity))
   local expected = math.min(CAPACITY, row.theoretical_fps)
   if math.abs(row.throughput_fps - expected) > 2e-3 * row.theoretical_fps then
      error(("%d frames/s were expected"):format(expected))
   end
end
