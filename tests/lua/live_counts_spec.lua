-- SPDX-License-Identifier: BSD-3-Clause

-- Counts of streams while they run.
local job = require "framegauge.core.job"
local plans = require "framegauge.plan"
local stream = require "framegauge.trial.stream"
local Tester = require "framegauge.tester"

-- Frames sent, received and missing of a stream against a device, in the middle of its time.
local function counts(device)
   local plan = assert(plans.load_text("test: traffic\nports: {a: {device: wire0}, b: {device: wire1}}\n"
      .. "streams: {s: {from: a, to: b, rate: 1kfps}}\nreference_device: {rate: 10Mbps, " .. device
      .. "}", "p"))
   local tester, seen = assert(Tester.open(plan)), {}
   job.run(function()
      local running = stream.start(tester, { streams = { { from = "a", to = "b", rate = 1000 } } })
      local late = 0
      repeat -- in the wire's time, which is free: at each look it may be seconds later
         job.sleep(0.01)
         local now = running:counts()
         seen, late = now.streams[1], late + (now.seconds > 3 and 1 or 0)
      until late > 2 -- what was sent until the first of these looks is long ago
      running:finish()
   end)
   tester:close()
   return seen
end

describe("counts of a stream that runs", function()
   it("have what was sent long ago among the missing, though nothing arrives behind it", function()
      local seen = counts "loss_every: 1"
      assert.equal(0, seen.rx)
      assert.is_true(seen.missing > 0 and seen.missing <= seen.tx, seen.missing)
   end)

   it("have nothing missing where all arrives", function()
      local seen = counts "latency: 20us"
      assert.is_true(seen.rx > 0)
      assert.equal(0, seen.missing)
   end)
end)
