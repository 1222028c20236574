-- SPDX-License-Identifier: BSD-3-Clause

--- The whole way on one lcore: both directions sent, through the wire and the reference device, received,
-- every frame tracked and its latency recorded. The wire's time runs free, so the rate is frames by the
-- clock on the wall.
local tester = require "tester"
local uv = require "luv"

local M = { name = "wire", what = "tx, wire, reference device, rx; every frame measured" }

local PLAN = [[
test: rfc2544
ports:
  east: {device: wire0, ipv4: 198.18.1.2/24, gateway: 198.18.1.1}
  west: {device: wire1, ipv4: 198.19.1.2/24, gateway: 198.19.1.1}
reference_device: {rate: 10Gbps, buffer: 512, latency: 20us, time: free}
rfc2544: {frame_sizes: [64]}
]]
local LINE_10G = 14880952 -- frames of 64 bytes per second on a line of 10 Gb/s

function M.start(machine)
   local guess = 10e6 -- frames per second, to fill the time; after the first run it is known better

   local function run(bench)
      local begin = uv.hrtime()
      local raw = tester.trial(bench, {
         fps = LINE_10G, duration = guess * machine.seconds / (2 * LINE_10G), drain = 0.001,
         directions = { "east->west", "west->east" },
      })
      local seconds, frames = (uv.hrtime() - begin) / 1e9, 0
      for _, direction in ipairs(raw.directions) do
         if direction.rx ~= direction.intended_frames then
            error(("wire: %d of %d frames came through"):format(direction.rx, direction.intended_frames), 0)
         end
         frames = frames + direction.rx
      end
      guess = frames / seconds
      return guess
   end

   return {
      ours = function()
         return tester.with(tester.open(machine, PLAN), run)
      end,
      peers = { { name = "line rate of 10 Gb/s", constant = LINE_10G } },
      close = function() end,
   }
end

return M
