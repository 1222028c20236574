-- SPDX-License-Identifier: BSD-3-Clause

--- Does a load balancer spread flows or frames?
--
--    framegauge script scripts-lua/examples/load-balancing.lua
--
-- One that spreads flows keeps each of them in order, for all its frames go the same way; one that spreads
-- frames sends them over ways of unequal length, and they pass each other. So several flows of equal load are
-- sent, and what tells is the order within each, and their shares. The reference device stands for both:
-- with one delay for all frames, and with one of its own for each frame, longer than the time between two of
-- a flow.
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"
local stream_config = require "framegauge.stream_config"

local FLOWS, SECONDS, FPS = 4, 1, 10000
local PLAN = [[
test: traffic
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps%s}
streams:
]]

local function plan_of(device)
   local lines = { PLAN:format(device) }
   for i = 1, FLOWS do
      lines[#lines + 1] = ("  flow%d: {from: east, to: west, rate: %dfps, frame: [ethernet, ipv4, {udp: {source: %d}}]}\n"):format(i, FPS, 1000 + i)
   end
   return assert(plan.load_text(table.concat(lines), "built-in plan", {}))
end

-- Sends all flows, and says what it makes of them.
local function judge(name, device)
   local tester = assert(Tester.open(plan_of(device)))
   local raw = tester:trial {
      streams = stream_config.streams(tester, SECONDS), learning_wait = 0, drain = 0.1, settle = 0,
   }
   tester:close()
   local received, reordered = 0, 0
   for _, counts in ipairs(raw.directions) do
      received = received + counts.rx
   end
   for _, counts in ipairs(raw.directions) do
      print(("%-16s %s: %4.1f %% of the frames, %5d of %d out of order"):format(name, counts.name,
         counts.rx / received * 100, counts.reordered, counts.rx))
      reordered = reordered + counts.reordered
      if math.abs(counts.rx / received - 1 / FLOWS) > 1e-3 then
         error "the flows were sent alike, and should arrive so"
      end
   end
   return reordered > 0 and "frames" or "flows"
end

local alike = judge("one delay", "")
local each = judge("a delay of each", ", jitter: {mean: 300us, reorders: true}")
print(("it spreads %s, and %s"):format(alike, each))
if alike ~= "flows" or each ~= "frames" then
   error "the first device keeps the order of a flow and the second does not"
end
