-- SPDX-License-Identifier: BSD-3-Clause

--- Does a path keep frames in order, and does it copy any?
--
--    framegauge script scripts-lua/examples/order-and-copies.lua
--
-- A load balancer that spreads frames instead of flows lets them pass each other. The reference device holds
-- back every hundredth frame until one more has passed, and then copies every fiftieth; the script checks
-- both counts.
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"

local FRAMES = 20000
local PLAN = [[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, %s}
]]

local function counts_of(path)
   local tester = assert(Tester.open(assert(plan.load_text(PLAN:format(path), "built-in plan", {}))))
   local counts = tester:trial({
      frame_size = 64, fps = 100000, duration = FRAMES / 100000, directions = { "east->west" },
      learning_wait = 0, drain = 0.1, settle = 0,
   }).directions[1]
   tester:close()
   print(("%-36s lost %d, out of order %d, copies %d"):format(path, counts.tx - counts.rx, counts.reordered,
      counts.duplicates))
   return counts
end

local held = counts_of "reorder: {every: 100, by: 1}"
local copied = counts_of "duplicate: {every: 50}"
if held.reordered ~= FRAMES / 100 or held.duplicates ~= 0 or held.rx ~= FRAMES then
   error(("%d frames were held back"):format(FRAMES / 100))
elseif copied.duplicates ~= FRAMES / 50 or copied.rx ~= FRAMES then
   error(("%d frames were copied"):format(FRAMES / 50))
end
