-- SPDX-License-Identifier: BSD-3-Clause

-- When the frames of a capture leave, and at which rate: by their times, which may be odd, or by ours.
local pace = require "framegauge.tester.replay.pace"
local replays = require "replays"
local scratch = require "scratch"
local uv = require "luv"

local MS = 1000000

-- The command, on the reference device. @return what it says, its exit status
local function command(file, options)
   local plan = scratch.path() .. ".yaml"
   scratch.write(plan, replays.PLAN)
   return scratch.shell(("'%s' replay '%s' '%s' %s 2>&1"):format(uv.exepath(), plan, file, options or ""))
end

describe("the rate of a replay", function()
   teardown(scratch.remove)

   it("counts the frames between the first departure and the last, in bits too", function()
      -- two frames of 1518 bytes, 13 us apart: 1538 bytes of line in 13 us
      local result = replays.run { file = replays.write(replays.frames(1518, { 0, 13000 })) }
      assert.equal(1518, result.last_octets)
      local fps, l2, l1 = pace.rates(result, (result.last_ns - result.first_ns) / 1e9)
      assert.near(1 / 13e-6, fps, 1)
      assert.near(1518 * 8 / 13e-6, l2, 1)
      assert.near(1538 * 8 / 13e-6, l1, 1)
      assert.is_nil((pace.rates({ frames = 1, octets = 64, last_octets = 64 }, 0)))
   end)

   it("is said by the command so that it fits the line", function()
      local output = command(replays.write(replays.frames(1518, { 0, MS, 2 * MS })), "--rate 100%")
      assert.matches("81.27 kfps, 987 Mbit/s L2", output, 1, true)
   end)

   it("is that of all frames but the last where frames differ in size", function()
      -- a long frame behind a short one is no load of the line in between
      local frames = replays.frames(64, { 0 })
      frames[2] = replays.frames(1518, { 0, 1000 })[2]
      assert.equal(2, replays.run { file = replays.write(frames) }.frames)
   end)

   it("is that of all loops where there are several", function()
      local frames = replays.frames(64, { 0 })
      frames[2] = replays.frames(1518, { 0, 1000 })[2]
      assert.matches("this takes 6.488 Gbit/s L1 of a line of 1 Gbit/s",
         replays.refused { file = replays.write(frames), loops = 2 })
   end)

   it("may be as low as one likes, by frames, by bits and by speed", function()
      local file = replays.write(replays.frames(64, { 0, MS }))
      local function span(o)
         o.file = file
         local result = replays.run(o)
         assert.equal(2, result.frames)
         return result.last_ns - result.first_ns
      end
      assert.near(3600e9, span { rate = "0.00027777777778fps" }, 100)
      assert.near(1e9, span { rate = "1fps" }, 1)
      assert.near(672 / 1e-2 * 1e9, span { rate = "0.01bps L1" }, 100)
      assert.near(86400e9, span { speed = 1e6 / 86400e9 }, 1e3)
      -- the second one is due long after the clock has ended
      assert.equal(1, replays.run({ file = file, rate = 1e-30, duration = "1s" }).frames)
   end)

   it("is refused where the whole would take longer than the clock counts", function()
      local file = replays.write(replays.frames(64, { 0, MS }))
      assert.matches("this takes 4800 h 0 min, and 100 days is the longest; give a duration",
         replays.refused { file = file, rate = 1 / (100 * 86400) })
      file = replays.write(replays.frames(64, { 0, 2 ^ 31 * 1e9, 0 }))
      assert.matches("100 days is the longest; give a duration or a rate %(nothing recorded for 596523 h 14 min before frame 2%)", replays.refused { file = file })
   end)

   it("is asked for where a loop would have no duration", function()
      local file = replays.write(replays.frames(64, { MS }))
      for _, o in ipairs { { loops = 2 }, { loops = 0, duration = "1s" } } do
         o.file = file
         assert.matches("has no duration.*give a rate %(%-%-rate%)", replays.refused(o))
      end
      assert.equal(3, replays.run({ file = file, loops = 3, rate = "1kfps" }).frames)
   end)
end)

-- 10 frames 100 ms apart, from a time in ms on.
local function ten(from)
   local times = {}
   for i = 1, 10 do
      times[i] = (from + (i - 1) * 100) * MS
   end
   return times
end

local function joined(a, b)
   for _, ns in ipairs(b) do
      a[#a + 1] = ns
   end
   return replays.write(replays.frames(64, a))
end

describe("times of a capture that are odd", function()
   teardown(scratch.remove)

   it("go on at the recorded distance where another recording begins", function()
      local result, facts = replays.run { file = joined(ten(86400e3), ten(0)) }
      assert.equal(1900 * MS, result.last_ns - result.first_ns)
      assert.equal(1900 * MS, facts.duration_ns)
      assert.equal(1, facts.times_anew)
   end)

   it("do not take one wrong time far ahead for the usual distance", function()
      local _, facts = replays.run {
         file = replays.write(replays.frames(64, { 0, MS, 65536e9, 2 * MS, 3 * MS })), rate = "1kfps",
      }
      assert.equal(65536 * 1000 * MS + 2 * MS, facts.duration_ns)
      assert.equal(65536 * 1000 * MS - MS, facts.gap_max_ns)
      assert.equal(3, facts.gap_frame)
   end)

   it("are named by the command", function()
      local odd = replays.write(replays.frames(64, { 0, 7200e9, 2 * MS, MS, 3 * MS }))
      local output = command(odd, "--rate 1kfps")
      assert.matches("2 frames with a time before the time of an earlier frame\n", output, 1, true)
      assert.matches("the clock goes back by 128 ms or more 1 time;", output, 1, true)
      assert.matches("nothing recorded for 2 h 0 min before frame 2\n", output, 1, true)
      output = command(joined(ten(0), ten(1000)), "--rate 1kfps")
      assert.is_nil(output:match "an earlier frame" or output:match "nothing recorded")
   end)
end)
