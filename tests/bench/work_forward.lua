-- SPDX-License-Identifier: BSD-3-Clause

--- Both directions through a forwarder, dpdk-testpmd in io mode between two memif ports: one lcore sends and
-- receives on both ports, another forwards.
--
-- What counts are the frames that return per second while more are offered than it takes. The highest load
-- without any loss would say more about the scheduler of a shared machine than about either program: a ring
-- of 1024 frames overflows in the tenth of a millisecond that some other process gets the forwarder's core.
-- The peer is testpmd's flowgen in place of Framegauge: it, too, sends on both ports and takes in the frames
-- that return, though without a look.
local job = require "framegauge.core.job"
local tester = require "tester"
local testpmd = require "testpmd"

local M = { name = "forward", what = "tx and rx both ways through testpmd io over memif" }

local PLAN = [[
test: rfc2544
ports:
  east: {device: "memif:%s/east.sock", line_rate: 100Gbps}
  west: {device: "memif:%s/west.sock", line_rate: 100Gbps}
rfc2544: {frame_sizes: [64]}
]]
local BEYOND = 100e6

function M.start(machine)
   if not machine.peers then
      return nil, "needs dpdk-testpmd to forward"
   end
   local folder = machine.scratch
   local function devices(role)
      return {
         ("net_memif0,role=%s,socket=%s/east.sock,socket-abstract=no"):format(role, folder),
         ("net_memif1,role=%s,socket=%s/west.sock,socket-abstract=no"):format(role, folder),
      }
   end
   local forwarder = testpmd.start({ main = machine.main, forwarder = machine.other }, devices("server"), {})

   -- the forwarder rests before the other side goes: pulled from under it, a memif's rings can trap its lcore
   local function forward(other, measure)
      forwarder:command("start")
      local fps = measure(other)
      forwarder:command("stop")
      return fps
   end

   local function ours(bench)
      local raw, fps = tester.trial(bench, {
         fps = BEYOND, duration = machine.seconds, directions = { "east->west", "west->east" },
      }), 0
      for _, direction in ipairs(raw.directions) do
         fps = fps + direction.rx / direction.tx_duration_ns * 1e9
      end
      return fps
   end

   local function theirs(peer)
      peer:command("start")
      job.sleep(0.1)
      return peer:rate("Rx", { 0, 1 }, machine.seconds)
   end

   return {
      ours = function()
         return tester.with(tester.open(machine, PLAN:format(folder, folder)), forward, ours)
      end,
      peers = { {
         name = "testpmd flowgen",
         measure = function()
            local peer = testpmd.start({ main = machine.main, forwarder = machine.worker }, devices("client"),
               { "--forward-mode=flowgen", "--txpkts=60" })
            return tester.with(peer, forward, theirs)
         end,
      } },
      close = function()
         forwarder:close()
      end,
   }
end

return M
