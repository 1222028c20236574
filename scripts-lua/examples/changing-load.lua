-- SPDX-License-Identifier: BSD-3-Clause

--- Streams that are started, changed and stopped while they run, as by hand from the console.
--
--    framegauge script scripts-lua/examples/changing-load.lua
--
-- Two streams share the line; one is stopped in the middle and goes on. The script checks that no frame is
-- lost on the way, whatever is changed.
local Control = require "framegauge.control"
local job = require "framegauge.job"
local plan = require "framegauge.plan"

local PLAN = [[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, time: real}
streams:
  voice: {from: east, to: west, size: 218, rate: 10Mbps L2}
  bulk: {from: east, to: west, size: 1518, rate: 30%}
]]

local control = Control.new(assert(plan.load_text(PLAN, "built-in plan", {})))
local traffic = control.traffic

local function run_for(seconds, what)
   job.sleep(seconds)
   for i, stream in ipairs(traffic.list) do
      print(("%-20s %-6s %8.2f Mbit/s L1"):format(what, stream.name, traffic.history:stream(i).tx_bps / 1e6))
   end
end

traffic:start()
while not (traffic.history and traffic.history.port_rates) do
   job.sleep(0.05)
end
run_for(1.2, "both")
traffic:set_rate("bulk", "60%")
run_for(1.2, "bulk at 60 %")
traffic:stop "bulk"
run_for(1.2, "bulk stopped")
traffic:start "bulk"
run_for(1.2, "bulk goes on")
traffic:stop()
control:close()

for _, counts in ipairs(traffic.final.streams) do
   print(("%s: sent %d, received %d"):format(counts.name, counts.tx, counts.rx))
   if counts.tx == 0 or counts.tx ~= counts.rx then
      error "frames were lost although the line has room"
   end
end
