-- SPDX-License-Identifier: BSD-3-Clause

--- Transmitting 64-byte frames, each with its sequence number and time stamp, to the null device, which drops
-- them: the cost of making frames, without a port's cost.
local job = require "framegauge.core.job"
local tester = require "tester"
local testpmd = require "testpmd"

local M = { name = "tx", what = "tx with sequence and time stamp, null device" }

local PLAN = [[
test: rfc2544
ports:
  east: {device: "vdev:net_null_east,no-rx=1", line_rate: 100Gbps}
  west: {device: "vdev:net_null_west,no-rx=1", line_rate: 100Gbps}
rfc2544: {frame_sizes: [64]}
]]
local BEYOND = 1e9 -- frames per second nobody can make

function M.start(machine)
   local peer = machine.peers and testpmd.start({ main = machine.main, forwarder = machine.worker },
      { "net_null0,no-rx=1" }, { "--txpkts=60" })

   local function send(bench)
      local raw = tester.trial(bench, {
         fps = BEYOND, duration = machine.seconds, directions = { "east->west" },
      })
      local direction = raw.directions[1]
      return direction.tx / direction.tx_duration_ns * 1e9
   end

   local function theirs(mode)
      return function()
         peer:command("set fwd " .. mode)
         peer:command("start")
         job.sleep(0.1)
         local fps = peer:rate("Tx", { 0 }, machine.seconds)
         peer:command("stop")
         return fps
      end
   end

   return {
      ours = function()
         return tester.with(tester.open(machine, PLAN), send)
      end,
      peers = {
         { name = "testpmd txonly", aim = 0.75, measure = peer and theirs("txonly") },
         { name = "testpmd flowgen", aim = 1, measure = peer and theirs("flowgen") },
      },
      close = function()
         return peer and peer:close()
      end,
   }
end

return M
