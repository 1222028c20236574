-- SPDX-License-Identifier: BSD-3-Clause

--- A flow by the Open Traffic Generator API: configure, start, wait for its end, and look at the counts.
--
--    framegauge script scripts-lua/examples/otg-flow.lua [URL LOCATION LOCATION]
--
-- With a URL the flow goes between two ports of that server, ours or another one. Without it the script has a
-- server of its own, with a reference device that loses every tenth frame.
local client = require "framegauge.otg.client"
local job = require "framegauge.job"
local plan = require "framegauge.plan"
local server = require "framegauge.otg.server"

local PLAN = [[
test: otg
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {time: real, rate: 1Gbps, loss_every: 10}
otg: {listen: ["http://127.0.0.1:0"], drain: 50ms}
]]

local CONFIG = {
   ports = { { name = "p1", location = arg[2] or "east" }, { name = "p2", location = arg[3] or "west" } },
   flows = { {
      name = "f1", tx_rx = { port = { tx_name = "p1", rx_names = { "p2" } } },
      packet = {
         { ethernet = { src = { value = "02:00:00:00:00:01" }, dst = { value = "02:00:00:00:00:02" } } },
         { ipv4 = { src = { value = "198.18.1.2" }, dst = { value = "198.19.1.2" } } },
         { udp = { dst_port = { increment = { start = 6000, count = 10 } } } },
      },
      size = { fixed = 128 }, rate = { pps = 2000 }, metrics = { enable = true },
      duration = { fixed_packets = { packets = 1000 } },
   } },
}

local function drive(url)
   local api = client.new(url)
   api:set_config(CONFIG)
   api:transmit "start"
   local row = api:await({ "f1" }, 60).f1
   api:close()
   print(("sent %d, received %d, loss %g %%"):format(row.frames_tx, row.frames_rx, row.loss))
   return row
end

job.run(function()
   if arg[1] then
      return drive(arg[1])
   end
   local own = server.open(assert(plan.load_text(PLAN, "built-in plan", {})))
   local row = drive(own.urls[1])
   own:close()
   assert(row.frames_tx == 1000 and row.frames_rx == 900, "the device lost another share")
end)
