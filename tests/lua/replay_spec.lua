-- SPDX-License-Identifier: BSD-3-Clause

-- Captures replayed through the reference device: what is found must be what the device is told to do.
local C = require "framegauge.core.api".C
local capture = require "framegauge.tester.capture"
local captures = require "framegauge.run.captures"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local pace = require "framegauge.tester.replay.pace"
local pcap = require "framegauge.text.pcap"
local plan = require "framegauge.plan"
local replay = require "framegauge.tester.replay"
local replays = require "replays"
local run = require "framegauge.run"
local scratch = require "scratch"

local FRAMES = 5000
local PLAN = replays.PLAN

-- Frames of many sizes, each different, with 20 us between them.
-- @param content  function(number) -> what stands in the frame; default: its number, twice, so that no wrong
--                 bit makes it another frame
local function recorded(content)
   local path = scratch.path() .. ".pcap"
   local file = assert(pcap.create(path))
   for i = 1, FRAMES do
      local inside = content and content(i) or ("%08d%08d"):format(i, i)
      file:add("\2\0\0\0\0\1\2\0\0\0\0\2\x88\xb5" .. inside .. ("."):rep(38 + i * 7 % 1400), i * 20000)
   end
   assert(file:close())
   return path
end

local with_tester, refused = replays.with_tester, replays.refused

-- Replay once with verification.
local function verified(device, o)
   local result
   o = o or {}
   o.file, o.verify = o.file or recorded(), "west"
   with_tester(device, function(tester)
      local one = replay.open(tester, o)
      result = one:run()
      one:close()
   end)
   assert.is_true(result.done)
   assert.equal(0, result.verified.unchecked)
   return result.verified, result
end

describe("a replay that is verified", function()
   teardown(scratch.remove)

   it("finds nothing where the device does nothing", function()
      local v, result = verified {}
      assert.is_true(v.whole)
      assert.equal(FRAMES, v.same)
      assert.equal(0, result.behind.max_ns)
      assert.equal((FRAMES - 1) * 20000, result.last_ns - result.first_ns)
   end)

   it("finds the frames that the device loses", function()
      local v = verified { loss_every = 10 }
      assert.is_false(v.whole)
      assert.equal(FRAMES / 10, v.lost)
      assert.equal(0, v.reordered + v.duplicates + v.unsolicited)
   end)

   it("finds a loss in bursts, over loops of the same frames", function()
      local v = verified({ loss_every = 1000, loss_run = 300 }, { loops = 3 })
      assert.equal(3 * FRAMES, v.sent)
      assert.equal(3 * FRAMES * 0.3, v.lost)
      assert.equal(0, v.reordered + v.duplicates + v.unsolicited)
   end)

   it("finds the frames that others have passed", function()
      local v = verified { ["reorder.every"] = 50, ["reorder.by"] = 3 }
      assert.equal(0, v.lost + v.duplicates + v.unsolicited)
      assert.equal(FRAMES / 50, v.reordered)
   end)

   it("finds the frames that come twice", function()
      local v = verified { ["duplicate.every"] = 25 }
      assert.equal(0, v.lost + v.reordered + v.unsolicited)
      assert.equal(FRAMES / 25, v.duplicates)
   end)

   it("takes a frame that was changed for lost and foreign", function()
      local v = verified { ["corrupt.every"] = 20 }
      assert.equal(FRAMES / 20, v.lost)
      assert.equal(FRAMES / 20, v.unsolicited)
   end)

   it("counts lost frames right where all are alike", function()
      local v = verified({ loss_every = 10 }, {
         file = recorded(function()
            return "the same"
         end),
      })
      assert.equal(FRAMES / 10, v.lost)
      assert.equal(0, v.duplicates + v.unsolicited)
   end)

   -- the tester itself says the like of frame 2500, before and during the replay
   it("takes what neighbours say for talk, even where the capture has the same", function()
      local path = scratch.path() .. ".pcap"
      local file = assert(pcap.create(path))
      local east = "\2\246\0\0\0\1"
      local learning = ("\255"):rep(6) .. east .. "\8\6\0\1\8\0\6\4\0\1" .. east .. "\198\18\1\2"
         .. ("\0"):rep(6) .. "\198\18\1\2" .. ("\0"):rep(18)
      for i = 1, 100 do
         file:add(i % 10 == 5 and learning
            or "\2\0\0\0\0\1\2\0\0\0\0\2\x88\xb5" .. ("%04d"):format(i) .. ("."):rep(60), i * 20000)
      end
      assert(file:close())
      local v = verified({}, { file = path })
      assert.is_true(v.whole)
      assert.equal(100, v.same)
      assert.is_true(v.talk >= 1)
      v = verified({ ["duplicate.every"] = 10 }, { file = path })
      assert.equal(0, v.lost + v.reordered + v.unsolicited)
   end)

   it("compares what was rewritten", function()
      local v = verified({}, {
         rewrite = { source_mac = "02:00:00:00:00:09", destination_mac = "02:00:00:00:00:0a", vlan = 7 },
      })
      assert.is_true(v.whole)
   end)
end)

describe("a replay", function()
   teardown(scratch.remove)

   it("keeps to a rate", function()
      local _, result = verified({}, { rate = "10kfps" })
      assert.equal((FRAMES - 1) * 100000, result.last_ns - result.first_ns)
   end)

   it("ends with its duration", function()
      with_tester({}, function(tester)
         local one = replay.open(tester, { file = recorded(), loops = 0, rate = 1000, duration = "250ms" })
         assert.equal(250, one:run().frames)
         assert.equal(0.25, one:seconds())
         one:close()
      end)
   end)

   it("can be made again on the same tester, with the same result", function()
      with_tester({ loss_every = 7 }, function(tester)
         local one = replay.open(tester, { file = recorded(), verify = "west" })
         local first, second = one:run(), one:run()
         one:close()
         assert.equal(first.verified.lost, second.verified.lost)
         assert.equal(first.last_ns - first.first_ns, second.last_ns - second.first_ns)
      end)
   end)

   it("is kept by a capture beside its verification", function()
      with_tester({ loss_every = 10 }, function(tester)
         local kept = capture.start(tester, {
            port = "west", file = scratch.path() .. ".pcapng", filter = "ether proto 0x88b5",
         })
         local one = replay.open(tester, { file = recorded(), verify = "west" })
         local result = one:run()
         one:close()
         assert.equal(result.verified.same, kept:stop().written)
         local again = replay.open(tester, { file = kept.file })
         assert.equal(result.verified.same, again.facts.frames)
         again:close()
      end)
   end)

   it("takes of a line what leaves from the first frame to the last", function()
      -- of two frames of 64 bytes, 1 ms apart, one leaves in this time
      local seconds, bits = pace.load(C.FG_REPLAY_RECORDED, 2,
         { frames = 2, octets = 128, last_octets = 64, duration_ns = 2e6 })
      assert.near(1e-3, seconds, 1e-12)
      assert.near(84 * 8 / 1e-3, bits, 1e-6)
   end)

   it("refuses what cannot be", function()
      local file = recorded()
      assert.matches("there is no port 'south'; there is east, west", refused { file = file, port = "south" })
      assert.matches("No such file", refused { file = "/nowhere.pcap" })
      assert.matches("file is missing", refused {})
      assert.matches("unknown argument 'sped'; did you mean 'speed'", refused { file = file, sped = 2 })
      assert.matches("no factor above 0", refused { file = file, speed = "0x" })
      assert.matches("exclude each other", refused { file = file, speed = "2x", rate = "1kfps" })
      assert.matches("does not say its layer", refused { file = file, rate = "1Gbps" })
      assert.matches("a line of 1 Gbit/s %(east%)", refused { file = file, rate = "100Mfps" })
      assert.matches("a line of 1 Gbit/s %(east%)", refused { file = file, speed = "5x" })
      assert.matches("need a duration", refused { file = file, loops = 0 })
      assert.matches("is the port that sends", refused { file = file, verify = "east" })
      assert.matches("not two networks of one size",
         refused { file = file, rewrite = { networks = { "10.0.0.0/8=198.18.0.0/16" } } })
      assert.matches("is no VLAN", refused { file = file, rewrite = { vlan = 4095 } })
   end)

   it("refuses a capture that is cut off, before anything is sent", function()
      local path = recorded()
      local text = scratch.read(path)
      local file = assert(io.open(path, "wb"))
      file:write(text:sub(1, -5))
      file:close()
      assert.matches("broken after frame 4999", refused { file = path })
   end)
end)

describe("a capture", function()
   teardown(scratch.remove)

   local function refused_capture(o)
      local why
      with_tester({}, function(tester)
         local ok, err = pcall(capture.start, tester, o)
         assert.is_false(ok)
         why = err
      end)
      return tostring(why), why.status
   end

   it("refuses what cannot be", function()
      local path = scratch.path()
      assert.matches("can't parse filter", refused_capture { port = "west", file = path, filter = "udp upd" })
      assert.matches("there is no port", refused_capture { port = "south", file = path })
      assert.matches("port is missing", refused_capture { file = path })
      assert.matches("before needs a trigger", refused_capture { port = "west", file = path, before = 3 })
      assert.matches("files needs file_size", refused_capture { port = "west", file = path, files = 3 })
      assert.matches("slice: .*not a number of bytes",
         refused_capture { port = "west", file = path, slice = "much" })
      local message, status = refused_capture { port = "west", file = "/nowhere/at/all" }
      assert.matches("cannot be written", message)
      assert.equal(4, status)
   end)

   it("keeps the frames around each loss, and says where it was", function()
      with_tester({ loss_every = 1000 }, function(tester)
         local path = scratch.path() .. ".pcapng"
         local kept = capture.start(tester, {
            port = "west", file = path, trigger = "loss", before = 3, after = 2,
         })
         local lost = 0
         for _ = 1, 2 do -- the numbers begin anew in the second one
            local raw = tester:trial {
               frame_size = 64, fps = 10000, duration = 0.9955, directions = { "east->west", "west->east" },
            }
            lost = lost + raw.directions[1].tx - raw.directions[1].rx
         end
         local counts = kept:stop()
         assert.is_true(lost >= 18)
         assert.equal(lost, counts.triggers)
         assert.equal(5 * lost, counts.written)
         assert.equal(counts.seen, counts.written + counts.filtered)
         local _, marks = scratch.read(path):gsub("trigger: missing before this frame: 1", "")
         assert.equal(lost, marks)
      end)
   end)

   it("begins and ends while a trial runs", function()
      with_tester({}, function(tester)
         local trial = job.spawn(function()
            tester:trial { frame_size = 64, fps = 1e6, duration = 86400, directions = { "east->west" } }
         end)
         local function received()
            local now = tester:snapshot()
            return now and now.rx or 0
         end
         local function await(condition)
            repeat
               job.sleep(0.001)
            until condition()
         end

         await(function()
            return received() > 0
         end)
         local path = scratch.path() .. ".pcap"
         local kept = capture.start(tester, { port = "west", file = path, filter = "udp" })
         await(function()
            return kept:counts().written > 0
         end)
         local counts, known, later = kept:stop(), received(), nil
         await(function() -- what is known may be of a moment before the end
            later = received()
            return later > known
         end)
         trial:interrupt()
         assert.is_false(pcall(trial.join, trial))
         assert.is_true(counts.written > 0 and counts.written < later)
         assert.equal(counts.seen, counts.written + counts.filtered + counts.dropped)
      end)
   end)

   it("is the only one of its port, until it is stopped", function()
      with_tester({}, function(tester)
         local first = capture.start(tester, { port = "west", file = scratch.path() })
         assert.is_false(pcall(capture.start, tester, { port = "west", file = scratch.path() }))
         first:stop()
         assert.equal(0, first:stop().seen)
         capture.start(tester, { port = "west", file = scratch.path() }):stop()
      end)
   end)
end)

describe("a run that is captured", function()
   teardown(scratch.remove)

   local SMALL = {
      "rfc2544.frame_sizes=64", "rfc2544.bidirectional=false", "rfc2544.tests=frame_loss",
      "rfc2544.frame_loss.max=1kfps",
   }

   -- Run the plan. @return its folder
   local function run_it(options)
      local sets = { "reference_device.loss_every=10", unpack(SMALL) }
      local loaded, errors = plan.load_text(PLAN, "built-in plan", { sets = sets, quick = true })
      options.out, options.screen = scratch.path(), { say = function() end }
      job.run(run.main, assert(loaded, errors and tostring(errors[1])), options)
      return options.out
   end

   it("gives the same result, and every frame received", function()
      local file = scratch.path() .. ".pcap"
      local with, without = run_it { capture = { "west=" .. file } }, run_it {}
      assert.equal(scratch.read(without .. "/result.json"), scratch.read(with .. "/result.json"))
      local fact = json.decode(scratch.read(with .. "/run.json")).captures[1]
      assert.equal("west", fact.port)
      assert.equal(0, fact.dropped)
      local received = 0
      for _, trial in ipairs(json.decode(scratch.read(with .. "/result.json")).trials) do
         received = received + trial.rx
      end
      assert.is_true(received > 0)
      assert.is_true(fact.written >= received)
      assert.matches("Captured on west in ", scratch.read(with .. "/report.html"))
   end)

   it("keeps what the plan says, or the option in its place", function()
      local loaded = assert(plan.load_text(PLAN .. [[
capture:
  east: {file: east.pcap, filter: udp, slice: 64}
  west: {file: west.pcapng, trigger: loss, before: 10}
]], "built-in plan", {}))
      local list = captures.read(loaded, { "east=other.pcap" })
      assert.same({ port = "east", file = "other.pcap" }, list[1])
      assert.equal("west.pcapng", list[2].file)
      assert.equal(10, list[2].before)
      assert.is_nil(captures.read(loaded)[1].before)
      assert.equal(64, captures.read(loaded)[1].slice)
   end)

   it("refuses what is no capture of a port", function()
      local loaded = assert(plan.load_text(PLAN, "built-in plan", {}))
      for _, texts in ipairs { { "west" }, { "south=x" }, { "west=a", "west=b" } } do
         local ok, why = pcall(captures.read, loaded, texts)
         assert.is_false(ok)
         assert.equal(2, why.status)
      end
   end)
end)
