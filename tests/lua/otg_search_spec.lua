-- SPDX-License-Identifier: BSD-3-Clause

-- A search for the throughput as scripts make it with the Open Traffic Generator API: for each load another
-- configuration, a start, some time, a stop and a look at the counts. The reference device is the truth.
local job = require "framegauge.core.job"
local Served = require "otg_served"

local CAPACITY, BUFFER = 9000, 32 -- frames per second, frames
local LINE, SIZE, SECONDS, STEPS, TOLERANCE = 100e6, 512, 0.5, 8, 0.01
local LINE_FPS = LINE / ((SIZE + 20) * 8)

describe("a script that searches the throughput by the Open Traffic Generator API", function()
   local served

   setup(function()
      served = Served.open((", capacity: %dfps, buffer: %d"):format(CAPACITY, BUFFER))
   end)
   teardown(function()
      served:close()
   end)

   local function trial(percentage)
      served:must("POST /config", Served.configuration({ Served.flow("f1", {
         size = { fixed = SIZE }, rate = { percentage = percentage },
         duration = { fixed_seconds = { seconds = SECONDS } },
      }) }, { layer1 = { { name = "l", port_names = { "p1", "p2" }, speed = "speed_100_fd_mbps" } } }))
      served:transmit "start"
      job.sleep(SECONDS)
      served:transmit "stop"
      return served:row "f1"
   end

   -- The counts of a trial in which the machine sent what was asked for, which a busy one may not do at once.
   local function complete_trial(percentage)
      local intended, row = percentage / 100 * LINE_FPS * SECONDS, nil
      for _ = 1, 20 do
         row = trial(percentage)
         if row.frames_tx > 0.98 * intended then
            break
         end
      end
      assert.near(intended, row.frames_tx, 0.02 * intended)
      return row
   end

   it("finds the capacity of the device within its resolution", function()
      local low, high = 0, 100
      for _ = 1, STEPS do
         local middle = (low + high) / 2
         local row = complete_trial(middle)
         assert.equal("stopped", row.transmit)
         if row.frames_tx - row.frames_rx > TOLERANCE * row.frames_tx then
            high = middle
         else
            low = middle
         end
      end
      -- what the buffer keeps is not lost, and a part of the rest may be
      local truth, resolution = CAPACITY / LINE_FPS * 100, 100 / 2 ^ STEPS
      local more = (BUFFER / SECONDS / CAPACITY + TOLERANCE + 0.02) * truth
      local least, most = truth - resolution, truth + more
      assert.is_true(low > least and low < most, ("%.2f %%, not %.2f to %.2f"):format(low, least, most))
   end)
end)
