-- SPDX-License-Identifier: BSD-3-Clause
local flow_control = require "framegauge.trial.flow_control"

-- Bytes that have left of 1,000 frames that a port was given, where the last n of them wait in it.
local function left(n, bytes, cycle)
   local port = { name = "east", rx_pause = 1, paused_ns = 0, tx_waiting = n }
   local direction = { name = "east->west", tx = 1000, rx = 900, tx_bytes = bytes, cycle = cycle }
   return flow_control.left({ directions = { direction }, duration_s = 1 }, { east = port })[1].tx_bytes
end

describe("bytes that a paused port has sent", function()
   it("leave out the frames that wait in it", function()
      assert.equal(970 * 1518, left(30, 1000 * 1518))
   end)

   it("are known to the frame where sizes come in turn", function()
      local cycle, bytes = { 64, 64, 594, 64, 1518, 64, 594 }, { [0] = 0 }
      for n = 1, 1000 do
         bytes[n] = bytes[n - 1] + cycle[(n - 1) % #cycle + 1]
      end
      for n = 0, 30 do
         assert.equal(bytes[1000 - n], left(n, bytes[1000], cycle))
      end
   end)
end)
