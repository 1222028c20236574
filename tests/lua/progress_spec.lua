-- SPDX-License-Identifier: BSD-3-Clause

-- Progress of a run: the events, and what a screen makes of them.
local Progress = require "framegauge.run.progress"
local Screen = require "framegauge.run.screen"
local json = require "framegauge.text.json"
local lines = require "framegauge.text.progress"

local ASK = {
   test = "rfc2544.throughput", phase = "search", frame_size = 64, fps = 744047.5, line_fps = 1488095,
   seconds = 1, number = 1,
}
local RECORD = {
   trial = 1, duration_s = 1, validity = "valid", lost = 0, tx = 1000, loss_ratio = 0, reasons = {},
}

local function record(more)
   return setmetatable(more, { __index = RECORD })
end

-- Progress at a time of the test's own. @return it, and its events
local function progress()
   local self = { time = 0, events = {} }
   self.progress = Progress.new {
      now = function()
         return self.time
      end,
      snapshot = function()
         return self.snapshot
      end,
      event = function(event)
         self.events[#self.events + 1] = event
      end,
      hold = function()
         self.held = (self.held or 0) + 1
      end,
      parts = {
         { test = "rfc2544.throughput", frame_size = 64, trials = 10, seconds = 100 },
         { test = "rfc2544.throughput", frame_size = 128, trials = 10, seconds = 100 },
      },
      waits = 9,
   }
   return self.progress, self
end

describe("progress", function()
   it("is an event when a trial begins and when it ends", function()
      local p, seen = progress()
      assert.is_nil(p:event())
      p:started(ASK)
      seen.time = 1
      p:finished(RECORD)
      local began = {
         test = "rfc2544.throughput", phase = "search", frame_size = 64, trial = 1, of = 10,
         load_fps = 744047.5, load_percent = 50, missing = 0, elapsed_s = 0,
      }
      assert.same(began, seen.events[1])
      began.elapsed_s, began.left_s = 1, 19
      began.ended = { trial = 1, duration_s = 1, validity = "valid", outcome = "no loss" }
      assert.same(began, seen.events[2])
      assert.same({ 2, 1 }, { #seen.events, seen.held })
   end)

   it("can be asked for at any time, and other programs can read it", function()
      local p, seen = progress()
      p:started(ASK)
      seen.time, seen.snapshot = 3, { lost = 7 }
      local event = json.decode(json.encode(p:event()))
      assert.same({ 7, 3 }, { event.missing, event.elapsed_s })
      assert.is_nil(event.own_queue_max_ns)
      local line = "throughput  64 bytes  trial 1 of about 10  50.00 % = 744,047 fps  missing 7  0:03"
      assert.equal(line, lines.line(event))
      seen.snapshot = { lost = 7, own_queue_max_ns = 16450 }
      assert.equal(line:gsub("missing 7", "%0  own queue 16.45 us"), lines.line(p:event()))
   end)

   it("scales the time left by the speed so far", function()
      local p, seen = progress()
      p:started(ASK)
      assert.is_nil(p:event().left_s)
      seen.time = 1
      p:finished(RECORD) -- 10 of 200 planned seconds in one second
      assert.equal(19, p:event().left_s)
      seen.time = 3
      assert.equal(17, p:event().left_s)
      seen.time = 1
      p:started { test = "rfc2544.throughput", frame_size = 128, fps = 1, line_fps = 1 }
      local event = p:event()
      assert.same({ 10, 1, 10 }, { event.left_s, event.trial, event.of }) -- the first part is over
   end)

   it("takes a first trial that no part foresaw as one of the first part", function()
      local p = progress()
      p:started { test = "rfc2544.throughput", frame_size = 99, fps = 1, line_fps = 1 }
      local event = p:event()
      assert.same({ 1, 10 }, { event.trial, event.of })
      p:started(ASK)
      assert.equal(2, p:event().trial)
   end)

   it("of a trial that a run has made before is no event, and costs no time", function()
      local p, seen = progress()
      p:recalled(ASK, RECORD)
      assert.same({}, seen.events)
      assert.equal(1, p:event().trial)
   end)
end)

describe("a screen", function()
   local function screen(width)
      local out = {}
      return Screen.new { width = width, write = function(text)
         out[#out + 1] = text
      end }, out
   end

   it("shows one plain line for each trial without a terminal", function()
      local p, seen = progress()
      local shown, out = screen(nil)
      p:started(ASK)
      p:finished(RECORD)
      p:finished(record { trial = 2, lost = 5, loss_ratio = 0.005 })
      p:finished(record { trial = 3, validity = "tester-limited", reasons = { "a", "b" } })
      for _, event in ipairs(seen.events) do
         shown:event(event)
      end
      assert.equal("throughput  64 bytes  trial 1  50.00 % = 744,047 fps  1 s: no loss\n", out[1])
      assert.matches("1 s: lost 5 of 1,000 (0.50 %)\n", out[2], 1, true)
      assert.matches("1 s: tester-limited: a; b\n", out[3], 1, true)
      assert.equal(3, #out)
   end)

   it("redraws one line, cut to the width, on a terminal", function()
      local p = progress()
      local shown, out = screen(40)
      shown:follow(p)
      shown:redraw()
      assert.same({}, out) -- nothing to show yet
      p:started(ASK)
      shown:redraw()
      assert.equal("\r\27[Kthroughput  64 bytes  trial 1 of about ", out[1])
      shown:say "a note\n"
      shown:follow(nil)
      assert.same({ "\r\27[Ka note\n", "\r\27[K" }, { out[2], out[3] })
   end)
end)
