-- SPDX-License-Identifier: BSD-3-Clause

-- Counts of streams while they run.
local job = require "framegauge.core.job"
local plans = require "framegauge.plan"
local stream = require "framegauge.trial.stream"
local Tester = require "framegauge.tester"

-- Looks at a stream of 1,000 frames/s against a device, until some are more than `seconds` of the wire's time
-- behind the first that saw a frame. That time stands still while the wire's lcore has no processor, and may
-- be seconds later at the next look; a look lies between two readings of it, so the looks around bound it.
local function looks_at(device, seconds)
   local plan = assert(plans.load_text("test: traffic\nports: {a: {device: wire0}, b: {device: wire1}}\n"
      .. "streams: {s: {from: a, to: b, rate: 1kfps}}\nreference_device: {rate: 10Mbps, " .. device
      .. "}", "p"))
   local tester, looks = assert(Tester.open(plan)), {}
   job.run(function()
      local running = stream.start(tester, { streams = { { from = "a", to = "b", rate = 1000 } } })
      repeat
         job.sleep(0)
         local now = running:counts()
         looks[#looks + 1] = now.streams[1].tx > 0 and now or nil
      until looks[3] and looks[#looks - 1].seconds - looks[2].seconds > seconds
      running:finish()
   end)
   tester:close()
   return looks
end

-- The most frames that a look at a trial took for lost: a second of frames, in real time, through a device.
local function most_lost(device)
   local plan = assert(plans.load_text(([[
test: rfc2544
ports: {a: {device: wire0}, b: {device: wire1}}
reference_device: {time: real, rate: 10Mbps, %s}
]]):format(device), "p"))
   local tester = assert(Tester.open(plan))
   local most, looks = 0, 0
   job.run(function()
      local trial = job.spawn(function()
         tester:trial { frame_size = 64, fps = 1000, duration = 1, drain = 0.2, directions = { "a->b" } }
      end)
      for _ = 1, 1000 do
         job.sleep(0.01)
         local now = tester:snapshot()
         if not now and looks > 0 then
            break
         end
         looks = looks + (now and now.tx > 100 and now.tx < 1000 and 1 or 0)
         most = math.max(most, now and now.lost or 0)
      end
      trial:join()
   end)
   tester:close()
   assert.is_true(looks > 0)
   return most
end

describe("looks at a trial", function()
   it("take no frame for lost that is on its way", function()
      assert.equal(0, most_lost "latency: 100ms")
   end)

   it("show what was lost", function()
      for _, every in ipairs { 2, 10, 20 } do -- of 1,000 frames, and also fewer than a drain has
         local lost = most_lost("loss_every: " .. every)
         assert.is_true(lost > 500 / every and lost <= 1000 / every, lost .. " of every " .. every)
      end
   end)
end)

describe("counts of a stream that runs", function()
   it("have what was sent long ago among the missing, though nothing arrives behind it", function()
      local looks = looks_at("loss_every: 1", 2.5)
      local seen = looks[#looks].streams[1]
      assert.equal(0, seen.rx)
      assert.is_true(seen.missing > 0 and seen.missing <= seen.tx, seen.missing)
   end)

   it("have nothing missing where all arrives, at any look", function()
      local looks = looks_at("latency: 20us", 60)
      assert.is_true(looks[#looks].streams[1].rx > 0)
      for _, look in ipairs(looks) do
         assert.equal(0, look.streams[1].missing)
      end
   end)
end)
