-- SPDX-License-Identifier: BSD-3-Clause

-- What scripts call, on the reference device: it counts what the device does, and refuses what it must.
local Tester = require "framegauge.tester"
local capture = require "framegauge.tester.capture"
local frame = require "framegauge.traffic.frame"
local job = require "framegauge.core.job"
local method = require "framegauge.method"
local plan = require "framegauge.plan"
local port = require "framegauge.tester.port"
local report = require "framegauge.report"
local scratch = require "scratch"
local stats = require "framegauge.trial.stats"
local stream = require "framegauge.trial.stream"

local PLAN = [[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, time: free, loss_every: 100}
]]

local function refused(message, ...)
   local ok, err = pcall(...)
   assert.falsy(ok)
   assert.equal(message, tostring(err))
   assert.equal(2, err.status)
end

local function both(o)
   return {
      { from = "east", to = "west", rate = "100kfps", size = o and o.size },
      { name = "back", from = "west", to = "east", rate = 20000, frame = o and o.frame },
   }
end

describe("a script", function()
   local tester

   setup(function()
      tester = assert(Tester.open(assert(plan.load_text(PLAN, "script")), { max_frame = "1518" }))
   end)
   teardown(function()
      tester:close()
   end)

   it("sends streams and finds what the device lost of each", function()
      local record = stream.send(tester, { duration = "2s", streams = both() })
      local east, back = record.directions[1], record.directions[2]
      assert.same({ "east-west", 200000, 2000 }, { east.direction, east.tx, east.lost })
      assert.same({ "back", 40000, 400 }, { back.direction, back.tx, back.lost })
      assert.equal("valid", record.validity)
      local total = stats.total(record.directions)
      assert.same({ tx = 240000, rx = 237600, lost = 2400, loss_ratio = 0.01 }, total)
   end)

   it("sends mixes of sizes, and frames of its own making", function()
      local made = 0
      local function own(size)
         made = made + 1
         return frame.build(size, { { "ethernet" }, { "ipv4" }, { "udp" } })
      end
      local streams = both { size = "imix", frame = own }
      local record = stream.send(tester, { duration = 1, streams = streams })
      assert.equal(1, made)
      assert.near(100000 * (7 * 64 + 4 * 570 + 1518) / 12, record.directions[1].tx_bytes, 2000)
      assert.equal(20000 * 64, record.directions[2].tx_bytes)
   end)

   it("sends a number of frames", function()
      local streams = { { from = "east", to = "west", rate = 2000, frames = 500 } }
      local record = stream.send(tester, { duration = 1, streams = streams })
      assert.same({ 500, "valid" }, { record.tx, record.validity })
      local running = stream.start(tester, { streams = streams, drain = "100ms" })
      while running:counts().streams[1].tx < 500 do
         job.sleep(0.01)
      end
      running:set_rate("east-west", "10%")
      job.sleep(0.05)
      assert.equal(500, running:finish().streams[1].tx)
   end)

   it("starts, changes and stops streams", function()
      local running = stream.start(tester, { streams = both(), drain = "100ms" })
      running:stop "back"
      running:set_rate("east-west", "10%")
      local before = running:counts()
      repeat
         job.sleep(0.01)
      until running:counts().streams[1].tx > before.streams[1].tx + 1e5
      local rates = stats.rates(before, running:counts())
      running:start "back"
      refused("there is no stream 'bakc'; did you mean 'back'?", running.set_rate, running, "bakc", "1%")
      local counts = running:finish()
      assert.truthy(rates[1].tx_bps_l1 <= 1e9 and rates[1].tx_fps > 0 and rates[1].rx_fps <= rates[1].tx_fps)
      local east = counts.streams[1]
      assert.near(east.tx / 100, east.tx - east.rx, 1) -- learning frames count for the device, too
   end)

   it("begins nothing on ports that are busy", function()
      local running = stream.start(tester, { streams = both() })
      refused("the ports are busy with another trial, or with streams that were started", stream.send, tester,
         { duration = "1s", streams = both() })
      assert.equal(0, running:finish().streams[2].reordered)
   end)

   it("knows no rate where no time has passed", function()
      local one = { name = "a", tx = 5, tx_octets = 320, rx = 5, missing = 0 }
      local look = { seconds = 1, streams = { one } }
      local rates = stats.rates(look, look)[1]
      assert.same({ 0, 0, 0 }, { rates.tx_fps, rates.rx_fps, rates.tx_bps_l1 })
   end)

   it("takes percentiles of long lists", function()
      local list = {}
      for i = 1, 100000 do
         list[i] = i
      end
      assert.equal(99000, stats.percentile(list, 0.99))
   end)

   it("hears what is wrong with an argument, and what was meant", function()
      local streams = both()
      refused("stream.send: unknown argument 'duraton'; did you mean 'duration'?", stream.send, tester,
         { streams = streams, duraton = 1 })
      refused("stream.send: duration is missing", stream.send, tester, { streams = streams })
      refused("stream.start: there is no stream", stream.start, tester, { streams = {} })
      refused("stream.start: streams[1]: unknown argument 'rat'; did you mean 'rate'?", stream.start, tester,
         { streams = { { from = "east", to = "west", rat = "1%" } } })
      refused("there is no port 'eats'; did you mean 'east'?", stream.start, tester,
         { streams = { { from = "eats", to = "west" } } })
      refused("stream.start: there are two streams 'east-west'", stream.start, tester,
         { streams = { { from = "east", to = "west" }, { from = "east", to = "west" } } })
      refused("stream.start: east-west: the tester was opened for frames of at most 1518 bytes", stream.start,
         tester, { streams = { { from = "east", to = "west", size = 1519 } } })
      local half, more = both()[1], both()[1]
      half.rate, more.rate, more.name = "60%", "60%", "more"
      refused("port east: 1.2 Gbit/s L1 would be more than its line carries, 1 Gbit/s", stream.send, tester,
         { duration = 1, streams = { half, more } })
      refused("tester:trial: unknown argument 'frames_size'; did you mean 'frame_size'?", tester.trial,
         tester, { frames_size = 64 })
      refused("tags: count: 10001 is more than 10000", tester.trial, tester, {
         frame_size = 64, fps = 1000, duration = 0.01, directions = { "east->west" },
         tags = { first = 0, every = 0.001, count = 10001 },
      })
      refused("method.run: unknown argument 'quite'; did you mean 'quiet'?", method.run, tester.plan,
         { quite = true })
      local l4 = require("framegauge.methods.l4.script").on(tester)
      refused("l4.tcp_rr.load: unknown argument 'cycels'; did you mean 'cycles'?", l4.tcp_rr,
         { load = { cycels = 1 } })
      refused('l4.tcp_rr: duration: "5" has no unit; expected a time with its unit, such as 60s or 20us',
         l4.tcp_rr, { duration = "5" })
      refused("l4.tcp_rr.tcp: mss: 40 is less than 88", l4.tcp_rr, { tcp = { mss = 40 } })
      refused("no result: /nowhere/result.json: No such file or directory", report.read, "/nowhere")
      refused('"fast" is not a rate; expected frames (900kfps), bits with their layer (5Gbps L1, L2 or L3) or percent of the line (40%)', port.fps, tester, "east", "fast", 64)
      refused('frame.build: layer 2 is "ipv4"; expected a table with the protocol\'s name first, such as { "ipv4", ttl = 64 }', frame.build, 64, { { "ethernet" }, "ipv4" })
      assert.matches("no values", select(2, pcall(frame.build, 64, { { "ethernet" },
         { "ipv4", vary = { source = { list = {}, count = 5 } } } })))
   end)
end)

describe("a closed tester", function()
   teardown(scratch.remove)

   it("refuses whatever needs its ports, from all that is made of it", function()
      local closed = assert(Tester.open(assert(plan.load_text(PLAN, "script")), { max_frame = "1518" }))
      local ended = stream.start(closed, { streams = both() })
      local result = ended:finish()
      assert.equal(result.streams[1].tx, ended:finish().streams[1].tx)
      assert.matches("have ended", select(2, pcall(ended.start, ended, "back")))
      local running = stream.start(closed, { streams = both() })
      local kept = capture.start(closed, { port = "west", file = scratch.path() })
      closed:close()
      closed:close()
      kept:stop()
      kept:flush()
      for _, call in ipairs {
         function() closed:await() end,
         function() port.counts(closed) end,
         function() running:counts() end,
         function() running:finish() end,
         function() running:stop "back" end,
         function() stream.send(closed, { duration = "1s", streams = both() }) end,
         function() capture.start(closed, { port = "west", file = scratch.path() }) end,
         function() require("framegauge.l4").on(closed).tcp_rr { duration = "10ms" } end,
      } do
         assert.equal("the tester is closed", select(2, pcall(call)))
      end
   end)
end)
