-- SPDX-License-Identifier: BSD-3-Clause

--- Latency, frame loss and back-to-back on a made-up tester: what they ask of it, and what they make of what
-- it counts. Against known devices on the real engine all tests stand in rfc2544_truth_spec.lua.
local back_to_back = require "framegauge.methods.rfc2544.back_to_back"
local Tester = require "fake_tester"
local fake_plan = require "fake_plan"
local one = require "one_test"
local stats = require "framegauge.trial.stats"
local tests = require "framegauge.methods.rfc2544.tests"

local asked_for = one.asked_for
local fps = one.fps
local measure = one.measure
local ratio = one.ratio

describe("statistics", function()
   it("are those of RFC 2330", function()
      local sample = { -2, 7, -5, 4, 18, 7 }
      assert.equal(4, stats.percentile(sample, 0.5))
      assert.equal(-2, stats.percentile(sample, 0.25))
      assert.equal(18, stats.percentile(sample, 1))
      assert.equal(5.5, stats.median(sample))
      assert.equal(4, stats.median { 9, 4, 1 })
   end)

   it("know mean, extremes and spread", function()
      local sample = { 2, 4, 4, 4, 5, 5, 7, 9 }
      assert.same({ 5, 2, 9 }, { stats.mean(sample), stats.min(sample), stats.max(sample) })
      assert.near(math.sqrt(32 / 7), stats.stddev(sample), 1e-12)
      assert.equal(0, stats.stddev { 3 })
   end)
end)

describe("latency", function()
   local GROUP = { trial = 120, tag_after = 60, tags = 1, repetitions = 3, rate = fps(1000) }

   local function group(o)
      return setmetatable(o or {}, { __index = GROUP })
   end

   -- Tagged frames whose delays come from a list for each trial, or from one for all.
   local function tagged(delays)
      return function(raw, _, n)
         raw.directions[1].tags_ns = type(delays[1]) == "table" and delays[n] or delays
      end
   end

   it("tags a frame of each stream and publishes the mean", function()
      local rows, tester = measure("latency", group(), {
         rate = 1e9, capacity = 9e5, meddle = tagged { { 20512 }, { 20522 }, { 20532 } },
      })
      assert.same({ first = 60, every = 60, count = 1 }, tester.asked[1].tags)
      assert.same({ 120, 120, 120 }, asked_for(tester, "duration"))
      local row = rows[1]
      assert.same({ "lifo", 3, "valid", 1000, "plan" },
         { row.definition, row.tagged_frames, row.validity, row.rate_fps, row.rate_source })
      -- 64 bytes take 512 ns on a line of 1 Gb/s
      assert.near(20522 - 512, row.latency_mean_ns, 1e-6)
      assert.near(20000, row.latency_min_ns, 1e-6)
      assert.near(20020, row.latency_max_ns, 1e-6)
      assert.near(20512.5 - 512, row.every_frame_latency.mean_ns, 1e-6)
      assert.equal("last bit in to first bit out (LIFO)", row.every_frame_latency.definition)
      assert.equal(360000, row.every_frame_latency.count)
      assert.is_nil(row.latency_typical_ns)
   end)

   it("goes from first bit to first bit where the plan or the line says so", function()
      local device = { rate = 1e9, capacity = 9e5, meddle = tagged { { 20512 }, { 20512 }, { 20512 } } }
      assert.equal(20512, measure("latency", group { definition = "fifo" }, device)[1].latency_mean_ns)
      device.rate = nil
      local row = measure("latency", group(), device)[1]
      assert.same({ "fifo", 20512 }, { row.definition, row.latency_mean_ns })
   end)

   it("takes nothing off for a line whose rate the plan alone declares, unless it asks for that", function()
      local device = { rate = 1e9, declared = true, capacity = 9e5,
         meddle = tagged { { 300 }, { 300 }, { 300 } } }
      local row = measure("latency", group(), device)[1]
      assert.same({ "fifo", 300 }, { row.definition, row.latency_mean_ns })
      row = measure("latency", group { definition = "lifo" }, device)[1]
      assert.near(300 - 512, row.latency_mean_ns, 1e-6)
   end)

   -- RFC 1242, 3.8; 64 bytes take 512 ns
   it("goes from first bit to first bit through a device that cuts through", function()
      local function of(...)
         local tags = tagged { { 112 }, { 112 }, { 112 } }
         return measure("latency", group(...), { rate = 1e9, capacity = 9e5, meddle = function(raw, ...)
            tags(raw, ...)
            raw.directions[1].latency.min_ns = 112
         end })[1]
      end
      local row = of()
      assert.same({ "fifo", 112, "valid" }, { row.definition, row.latency_mean_ns, row.validity })
      assert.matches("frames of 64 bytes left.*the latency of every frame size is from first bit", row.reasons[1])
      row = of { definition = "lifo" }
      assert.near(-400, row.latency_mean_ns, 1e-6)
      assert.matches("take rfc2544.latency.definition: fifo", row.reasons[1])
      row = of { definition = "fifo" }
      assert.same({ 112, {} }, { row.latency_mean_ns, row.reasons })
   end)

   -- 512 bytes take 4.096 us, of a device of 2 us they alone leave before they are in
   it("has one definition for all frame sizes of a run", function()
      local function of(definition, sizes)
         local asked = 0
         return measure("latency", group { definition = definition, repetitions = 1 },
            { rate = 1e9, capacity = 9e5, meddle = function(raw)
               asked = asked + 1
               raw.directions[1].tags_ns = { 2000 + asked }
               raw.directions[1].latency.min_ns = 2000
            end }, { frame_sizes = sizes or { 64, 512, 128 }, bidirectional = false })
      end
      local rows, fifo = of(), of "fifo"
      for i, row in ipairs(rows) do
         assert.same({ "fifo", "valid", 1 }, { row.definition, row.validity, #row.reasons })
         assert.matches("^frames of 512 bytes left before", row.reasons[1])
         row.reasons = {}
         assert.same(fifo[i], row)
      end
      for i, row in ipairs(of(nil, { 64, 128 })) do
         assert.same(of("lifo", { 64, 128 })[i], row)
         assert.same({ "lifo", {} }, { row.definition, row.reasons })
      end
   end)

   it("refuses lifo where no line is known", function()
      local plan = fake_plan()
      plan.rfc2544.tests, plan.rfc2544.latency = { "latency" }, group { definition = "lifo" }
      assert.matches("definition cannot be lifo", tests.check(plan, Tester.new { capacity = 1e5 }))
   end)

   it("has the figures of RFC 8219 with 500 tags", function()
      local tags = {}
      for i = 1, 1000 do
         tags[i] = 512 + i
      end
      local row = measure("latency", group { tags = 1000, repetitions = 2 }, {
         rate = 1e9, capacity = 9e5, meddle = tagged(tags),
      })[1]
      assert.near(500.5, row.latency_typical_ns, 1e-6)
      assert.near(999, row.latency_worst_case_ns, 1e-6)
   end)

   it("is invalid when no tagged frame came back", function()
      local row = measure("latency", group(), { rate = 1e9, capacity = 9e5 })[1]
      assert.same({ "invalid", "no tagged frame came back" }, { row.validity, row.reasons[1] })
   end)

   it("is the tester's where frames left close together", function()
      local function with(off_schedule)
         return measure("latency", group(), {
            rate = 1e9, capacity = 9e5,
            meddle = function(raw)
               raw.directions[1].tags_ns, raw.directions[1].off_schedule = { 600 }, off_schedule
            end,
         })[1]
      end
      assert.equal("valid", with(120).validity)
      assert.same({ "tester-limited", "121 of 120,000 frames left off schedule, close together: their delay is not the load's" }, { with(121).validity, with(121).reasons[1] })
   end)

   it("is measured at the throughput, which it searches for when nobody did", function()
      local rows, _, trials = measure("latency", setmetatable({ rate = false }, { __index = GROUP }), {
         rate = 1e9, capacity = 734e3,
         meddle = function(raw, ask)
            raw.directions[1].tags_ns = ask.tags and { 20512 } or nil
         end,
      })
      assert.near(734e3, rows[1].rate_fps, 1489)
      assert.same({ "throughput", "rfc2544.throughput", "rfc2544.latency" },
         { rows[1].rate_source, trials[1].test, trials[#trials].test })
      assert.equal(3, rows[1].trials)
   end)

   it("is not applicable where nothing passes, and the tester's where that is the bound", function()
      local no_rate = setmetatable({ rate = false }, { __index = GROUP })
      local row = measure("latency", no_rate, { rate = 1e9, capacity = 0 })[1]
      assert.same({ "not-applicable", "no load passes without loss" }, { row.validity, row.reasons[1] })
      row = measure("latency", no_rate, {
         rate = 1e9, capacity = 9e5, tester = 2e5, meddle = tagged { 600 },
      })[1]
      assert.equal("tester-limited", row.validity)
   end)
end)

describe("frame loss", function()
   local GROUP = { max = ratio(1), step = 0.1, trial = 60 }

   local function percents(rows)
      local list = {}
      for i, row in ipairs(rows) do
         list[i] = row.load_percent
      end
      return list
   end

   it("goes down from the line until two loads in a row lost nothing", function()
      local rows = measure("frame_loss", GROUP, { rate = 1e9, capacity = 734e3 })
      assert.same({ 100, 90, 80, 70, 60, 50, 40, 30 }, percents(rows))
      assert.near(100 - 734e3 / 14880.95, 100 * rows[1].loss_ratio, 1e-4)
      assert.same({ 1488095 * 60, 734e3 * 60 }, { rows[1].tx, rows[1].rx })
      assert.same({ 0, 0, "valid" }, { 100 * rows[7].loss_ratio, 100 * rows[8].loss_ratio, rows[8].validity })
   end)

   it("needs two loads in a row without loss, not two in all", function()
      local rows = measure("frame_loss", GROUP, { rate = 1e9, capacity = 734e3, meddle = function(raw, _, n)
         raw.directions[1].rx = raw.directions[1].rx - (n == 8 and 1 or 0) -- at 30 %
      end })
      assert.same({ 100, 90, 80, 70, 60, 50, 40, 30, 20, 10 }, percents(rows))
      assert.same({ 0, 1, 0, 0 }, { rows[7].lost, rows[8].lost, rows[9].lost, rows[10].lost })
   end)

   it("takes finer steps, and every load when each loses something", function()
      assert.same({ 100, 97.5, 95 },
         percents(measure("frame_loss", { max = ratio(1), step = 0.025, trial = 1 },
            { rate = 1e9, capacity = 0.98 * 1488095 })))
      assert.equal(10, #measure("frame_loss", GROUP, { rate = 1e9, capacity = 0 }))
   end)

   it("does not take the tester's shortage for absence of loss", function()
      local rows = measure("frame_loss", GROUP, { rate = 1e9, capacity = 9e5, tester = 8e5 })
      assert.same({ "tester-limited", 0 }, { rows[1].validity, 100 * rows[1].loss_ratio })
      assert.same({ 100, 90, 80, 70, 60, 50, 40 }, percents(rows))
   end)

   it("has a row for each direction, and goes on while either loses", function()
      local rows = measure("frame_loss", GROUP,
         { rate = 1e9, capacity = { ["east->west"] = 1e6, ["west->east"] = 1e9 } },
         { frame_sizes = { 64 }, bidirectional = true })
      assert.same({ "east->west", "west->east" }, { rows[1].direction, rows[2].direction })
      assert.is_true(100 * rows[1].loss_ratio > 0 and 100 * rows[2].loss_ratio == 0)
      assert.same({ 100, 50 }, { rows[1].load_percent, rows[#rows].load_percent })
   end)

   it("needs a maximum where no line is known, and counts in shares of it", function()
      local plan = fake_plan()
      plan.rfc2544.tests, plan.rfc2544.frame_loss = { "frame_loss" }, GROUP
      assert.matches("frame_loss.max cannot be a share", tests.check(plan, Tester.new { capacity = 1e5 }))
      local rows = measure("frame_loss", { max = fps(1e5), step = 0.1, trial = 1 }, { capacity = 1e5 })
      assert.same({ 100, 90 }, percents(rows))
   end)
end)

describe("back-to-back", function()
   local GROUP = { search = "binary", limit = 2, step = 1, repetitions = 2 }

   local function group(o)
      return setmetatable(o or {}, { __index = GROUP })
   end

   it("corrects the buffer time as RFC 9004 does", function()
      local implied, corrected = back_to_back.buffer_time(26000, 14880952, 14500000)
      assert.near(1.7472e6, implied, 50)
      assert.near(44.73e3, corrected, 5)
   end)

   -- A burst loses the frames that neither left while it came in nor had room.
   local function buffered(frames)
      return { rate = 1e9, capacity = 9e5, buffer = frames }
   end

   -- The longest burst of such a device, by trying.
   local function longest(capacity, buffer)
      local n = 0
      while n + 1 <= math.floor(capacity * (n + 1) / 1488095 + 0.5) + buffer do
         n = n + 1
      end
      return n
   end

   it("finds the longest burst to the frame, and repeats the search", function()
      local row, tester = measure("back_to_back", group { rate = fps(9e5) }, buffered(512))
      row = row[1]
      local n = longest(9e5, 512)
      assert.same({ n, n, n, 0 },
         { row.burst_mean_frames, row.burst_min_frames, row.burst_max_frames, row.burst_stddev_frames })
      assert.near(512 / 1488095 * 1e9, row.buffer_time_corrected_ns, 1e9 / 1488095)
      assert.same({ 2, false, "valid" }, { row.repetitions, row.near_limit, row.validity })
      assert.equal(#tester.asked, row.trials)
   end)

   it("sends at the line's rate and waits until the device can have forwarded everything", function()
      local _, tester = measure("back_to_back", group { rate = fps(9e5) }, buffered(512))
      local ask = tester.asked[1]
      assert.same({ 1488095, 2 }, { ask.fps, ask.duration })
      assert.near(2 + 2 * 1488095 / 9e5 - 2, ask.drain, 1e-9)
   end)

   it("ends within the step", function()
      local row = measure("back_to_back", group { rate = fps(9e5), step = 100 }, buffered(512))[1]
      local n = longest(9e5, 512)
      assert.is_true(row.burst_mean_frames <= n and row.burst_mean_frames > n - 100)
      assert.equal(0, row.burst_mean_frames % 100)
   end)

   it("is not applicable at a throughput of the whole line, and sends nothing then", function()
      local rows, tester = measure("back_to_back", group(), { rate = 1e9, capacity = 1e9 })
      assert.same({ "not-applicable", 0 }, { rows[1].validity, rows[1].trials })
      assert.matches("no buffer fills", rows[1].reasons[1])
      assert.is_nil(rows[1].burst_mean_frames)
      assert.equal(2, #tester.asked) -- the search for the throughput
   end)

   it("flags a burst near the limit", function()
      local row = measure("back_to_back", group { rate = fps(9e5), limit = 0.0009 }, buffered(512))[1]
      assert.same({ true, "invalid" }, { row.near_limit, row.validity })
      assert.matches("raise rfc2544.back_to_back.limit", row.reasons[1])
   end)

   it("searches each direction in the bursts of both", function()
      local device = { rate = 1e9, capacity = { ["east->west"] = 9e5, ["west->east"] = 7e5 }, buffer = 100 }
      local rows, tester = measure("back_to_back", group { rate = fps(7e5), repetitions = 1 }, device,
         { frame_sizes = { 64 }, bidirectional = true })
      assert.same({ longest(9e5, 100), longest(7e5, 100) },
         { rows[1].burst_mean_frames, rows[2].burst_mean_frames })
      local seen = {}
      for _, ask in ipairs(tester.asked) do
         assert.equal(2, #ask.directions)
         assert.is_nil(seen[ask.duration]) -- no burst twice
         seen[ask.duration] = true
      end
   end)

   it("sends a burst again that the tester spoilt", function()
      local row = measure("back_to_back", group { rate = fps(9e5), repetitions = 1 }, {
         rate = 1e9, capacity = 9e5, buffer = 512,
         meddle = function(raw, _, n)
            if n % 3 == 0 then
               local d = raw.directions[1]
               d.late, d.tx, d.rx = 1, d.tx - 1, math.min(d.rx, d.tx - 1)
            end
         end,
      })[1]
      assert.same({ "valid", longest(9e5, 512) }, { row.validity, row.burst_mean_frames })
   end)

   it("lets no frame be later than changes the answer by half of one", function()
      local _, tester = measure("back_to_back", group { rate = fps(9e5), repetitions = 1 }, {
         rate = 1e9, capacity = 9e5, buffer = 512,
      })
      for _, ask in ipairs(tester.asked) do
         assert.equal(math.max(10e-6, 0.01 * ask.duration), ask.max_lag)
      end
      _, tester = measure("back_to_back", group { rate = fps(1000), repetitions = 1, limit = 0.01 }, {
         rate = 1e9, capacity = 1000, buffer = 20,
      })
      assert.equal(0.5 / 1000, tester.asked[1].max_lag)
   end)

   it("does not count a burst that was not sent whole", function()
      local row = measure("back_to_back", group { rate = fps(9e5), repetitions = 1 }, {
         rate = 1e9, capacity = 9e5, buffer = 512,
         meddle = function(raw)
            local d = raw.directions[1]
            if d.tx > 600 then
               d.tx, d.rx, d.unsent = d.tx - 1, math.min(d.rx, d.tx - 1), 1
               d.tx_duration_ns = (d.tx - 1) * 1e9 / 1488095
            end
         end,
      })[1]
      assert.same({ "tester-limited", 600 }, { row.validity, row.burst_mean_frames })
      assert.matches("was not sent whole", row.reasons[1])
   end)
end)
