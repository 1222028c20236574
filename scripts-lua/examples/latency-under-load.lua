-- SPDX-License-Identifier: BSD-3-Clause

--- How the delay of a device grows with its load.
--
--    framegauge script scripts-lua/examples/latency-under-load.lua [PLAN.yaml]
--
-- One trial of a second at each tenth of the line, with the median and the 99.9th percentile of the delay
-- of every frame. Without a plan the reference device is measured; it forwards 800,000 frames a second, so
-- the script knows where the knee must be, and checks that it was found.
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"

local PLAN = [[
test: rfc2544
ports:
  east: {device: wire0}
  west: {device: wire1}
reference_device: {rate: 1Gbps, capacity: 800kfps, buffer: 512, latency: 10us}
]]

local function fail(errors)
   error(table.concat(errors, "\n"), 0)
end

local loaded, errors
if arg[1] then
   loaded, errors = plan.load(arg[1], {})
else
   loaded, errors = plan.load_text(PLAN, "built-in plan", {})
end
if not loaded then
   fail(errors)
end

local tester = assert(Tester.open(loaded))
local line_fps = tester:max_fps(64)
local direction = loaded.ports[1].name .. "->" .. loaded.ports[2].name
local knee

print("load %   frames/s      lost   median us   99.9 % us")
for percent = 10, 100, 10 do
   local fps = math.floor(line_fps * percent / 100)
   local raw = tester:trial {
      frame_size = 64, fps = fps, duration = 1, directions = { direction },
      learning_wait = 0.1, drain = 0.2, settle = 0,
   }
   local counts = raw.directions[1]
   local lost = counts.tx - counts.rx
   print(("%6d %10d %9d %11.2f %11.2f"):format(percent, fps, lost, counts.latency.p50_ns / 1e3,
      counts.latency.p999_ns / 1e3))
   knee = knee or lost > 0 and percent
end
tester:close()

-- 800,000 of 1,488,095 frames a second are 53.8 %
if not arg[1] and knee ~= 60 then
   error("the first loss should be at 60 % of the line, not at " .. tostring(knee))
end
