-- SPDX-License-Identifier: BSD-3-Clause

--- Receiving over memif: a second Framegauge sends test frames faster than they can be taken in, and so fills
-- the ring whenever it has room. Here each one goes through signature, tracker and histogram; the peer,
-- testpmd's rxonly, is fed by the same sender and only frees them.
--
-- The two processes agree on what is a test frame of the trial because both number their streams from 0, and
-- on the time because both stamp with the same counter.
local child = require "child"
local job = require "framegauge.core.job"
local tester = require "tester"
local testpmd = require "testpmd"
local uv = require "luv"

local M = { name = "rx", what = "rx, every frame measured, memif" }

local PLAN = [[
test: rfc2544
ports:
  east: {device: "memif:%s", line_rate: 100Gbps}
  west: {device: "vdev:net_null_west,no-rx=1", line_rate: 100Gbps}
rfc2544: {frame_sizes: [64]}
]]
local LEAD_SECONDS = 0.3 -- frames flow before the measurement begins

local function start_feeder(machine, socket, seconds)
   local feeder = child.spawn(uv.exepath(), {
      "script", machine.folder .. "/feeder.lua", socket, tostring(machine.other), tostring(seconds),
   })
   while not feeder.said:find("ready", 1, true) do
      if feeder.exited then
         error("feeder: " .. feeder:last_words(), 0)
      end
      job.sleep(0.01)
   end
   return feeder
end

-- Frames received per second while the trial runs, from one look at its published totals to another.
local function watch(bench, seconds)
   job.sleep(LEAD_SECONDS)
   local frames, begin = bench:snapshot().rx, uv.hrtime()
   job.sleep(seconds)
   return (bench:snapshot().rx - frames) / (uv.hrtime() - begin) * 1e9
end

function M.start(machine)
   local socket = machine.scratch .. "/rx.sock"

   local function fed(measure)
      local feeder = start_feeder(machine, socket, machine.seconds + 10)
      local ok, fps = pcall(measure)
      feeder:close()
      uv.fs_unlink(socket)
      return ok and fps or error(fps, 0)
   end

   local function ours(bench)
      local watcher = job.spawn(watch, bench, machine.seconds)
      -- one frame is sent to the null device, for a stream has to send
      tester.trial(bench, {
         fps = 1, duration = LEAD_SECONDS + machine.seconds + 0.2, directions = { "west->east" },
      })
      return watcher:join()
   end

   local function theirs(peer)
      peer:command("start")
      job.sleep(LEAD_SECONDS)
      return peer:rate("Rx", { 0 }, machine.seconds)
   end

   return {
      ours = function()
         return fed(function()
            return tester.with(tester.open(machine, PLAN:format(socket)), ours)
         end)
      end,
      peers = { {
         name = "testpmd rxonly", aim = 0.6,
         measure = machine.peers and function()
            return fed(function()
               local peer = testpmd.start({ main = machine.main, forwarder = machine.worker },
                  { ("net_memif0,role=client,socket=%s,socket-abstract=no"):format(socket) },
                  { "--forward-mode=rxonly" })
               return tester.with(peer, theirs)
            end)
         end,
      } },
      close = function() end,
   }
end

return M
