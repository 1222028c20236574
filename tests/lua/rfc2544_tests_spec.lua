-- SPDX-License-Identifier: BSD-3-Clause

--- Five of the tests of RFC 2544 on a made-up bench: what they ask of it, and what they make of what it
-- counts. Against known devices on the real engine they stand in rfc2544_truth_spec.lua.
local Bench = require "fake_bench"
local Session = require "framegauge.method.session"
local back_to_back = require "framegauge.method.rfc2544.back_to_back"
local fake_plan = require "fake_plan"
local methods = require "framegauge.method.rfc2544"
local reset = require "framegauge.method.rfc2544.reset"
local statistics = require "framegauge.statistics"

local function fps(value)
   return { unit = "fps", value = value }
end

local function ratio(value)
   return { unit = "ratio", value = value }
end

-- Measure one test.
-- @param test     its key
-- @param group    keys of its group in the plan
-- @param device   of the made-up bench
-- @param options  keys of rfc2544; default: 64 bytes, one way
-- @return its rows, the bench, the trials
local function measure(test, group, device, options)
   local plan = fake_plan(options or { frame_sizes = { 64 }, bidirectional = false })
   plan.rfc2544.tests = { test }
   plan.rfc2544[test] = group
   local bench, results = Bench.new(device), {}
   local session = Session.new {
      bench = bench, retries = 0, phases = plan.rfc2544, sink = function() end, say = device.say,
   }
   assert.is_nil(methods.check(plan, bench))
   methods.run(plan, bench, session, results)
   return results[test], bench, session.trials
end

local function asked_for(bench, key)
   local list = {}
   for i, ask in ipairs(bench.asked) do
      list[i] = ask[key]
   end
   return list
end

describe("statistics", function()
   it("are those of RFC 2330", function()
      local sample = { -2, 7, -5, 4, 18, 7 }
      assert.equal(4, statistics.percentile(sample, 0.5))
      assert.equal(-2, statistics.percentile(sample, 0.25))
      assert.equal(18, statistics.percentile(sample, 1))
      assert.equal(5.5, statistics.median(sample))
      assert.equal(4, statistics.median { 9, 4, 1 })
   end)

   it("know mean, extremes and spread", function()
      local sample = { 2, 4, 4, 4, 5, 5, 7, 9 }
      assert.same({ 5, 2, 9 }, { statistics.mean(sample), statistics.min(sample), statistics.max(sample) })
      assert.near(math.sqrt(32 / 7), statistics.stddev(sample), 1e-12)
      assert.equal(0, statistics.stddev { 3 })
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
      local rows, bench = measure("latency", group(), {
         rate = 1e9, capacity = 9e5, meddle = tagged { { 20512 }, { 20522 }, { 20532 } },
      })
      assert.same({ first = 60, every = 60, count = 1 }, bench.asked[1].tags)
      assert.same({ 120, 120, 120 }, asked_for(bench, "duration"))
      local row = rows[1]
      assert.same({ "lifo", 3, "valid", 1000, "plan" },
         { row.definition, row.tagged_frames, row.verdict, row.rate_fps, row.rate_source })
      -- 64 octets take 512 ns on a line of 1 Gb/s
      assert.near(20522 - 512, row.latency_ns_mean, 1e-6)
      assert.near(20000, row.latency_ns_min, 1e-6)
      assert.near(20020, row.latency_ns_max, 1e-6)
      assert.near(20512.5 - 512, row.every_frame.mean_ns, 1e-6)
      assert.equal("last bit in to first bit out (LIFO)", row.every_frame.definition)
      assert.equal(360000, row.every_frame.count)
      assert.is_nil(row.typical_latency_ns)
   end)

   it("goes from first bit to first bit where the plan or the line says so", function()
      local device = { rate = 1e9, capacity = 9e5, meddle = tagged { { 20512 }, { 20512 }, { 20512 } } }
      assert.equal(20512, measure("latency", group { definition = "fifo" }, device)[1].latency_ns_mean)
      device.rate = nil
      local row = measure("latency", group(), device)[1]
      assert.same({ "fifo", 20512 }, { row.definition, row.latency_ns_mean })
   end)

   it("may be negative, as RFC 1242 allows for cut-through", function()
      local row = measure("latency", group(), {
         rate = 1e9, capacity = 9e5, meddle = tagged { { 112 }, { 112 }, { 112 } },
      })[1]
      assert.near(-400, row.latency_ns_mean, 1e-6)
   end)

   it("refuses lifo where no line is known", function()
      local plan = fake_plan()
      plan.rfc2544.tests, plan.rfc2544.latency = { "latency" }, group { definition = "lifo" }
      assert.matches("definition cannot be lifo", methods.check(plan, Bench.new { capacity = 1e5 }))
   end)

   it("has the figures of RFC 8219 with 500 tags", function()
      local tags = {}
      for i = 1, 1000 do
         tags[i] = 512 + i
      end
      local row = measure("latency", group { tags = 1000, repetitions = 2 }, {
         rate = 1e9, capacity = 9e5, meddle = tagged(tags),
      })[1]
      assert.near(500.5, row.typical_latency_ns, 1e-6)
      assert.near(999, row.worst_case_latency_ns, 1e-6)
   end)

   it("is invalid when no tagged frame came back", function()
      local row = measure("latency", group(), { rate = 1e9, capacity = 9e5 })[1]
      assert.same({ "invalid", "no tagged frame came back" }, { row.verdict, row.reasons[1] })
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
      assert.same({ "not-applicable", "no load passes without loss" }, { row.verdict, row.reasons[1] })
      row = measure("latency", no_rate, {
         rate = 1e9, capacity = 9e5, tester = 2e5, meddle = tagged { 600 },
      })[1]
      assert.equal("tester-limited", row.verdict)
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
      assert.near(100 - 734e3 / 14880.95, rows[1].loss_percent, 1e-4)
      assert.same({ 1488095 * 60, 734e3 * 60 }, { rows[1].tx, rows[1].rx })
      assert.same({ 0, 0, "valid" }, { rows[7].loss_percent, rows[8].loss_percent, rows[8].verdict })
   end)

   it("takes finer steps, and every load when each loses something", function()
      assert.same({ 100, 97.5, 95 },
         percents(measure("frame_loss", { max = ratio(1), step = 0.025, trial = 1 },
            { rate = 1e9, capacity = 0.98 * 1488095 })))
      assert.equal(10, #measure("frame_loss", GROUP, { rate = 1e9, capacity = 0 }))
   end)

   it("does not take the tester's shortage for absence of loss", function()
      local rows = measure("frame_loss", GROUP, { rate = 1e9, capacity = 9e5, tester = 8e5 })
      assert.same({ "tester-limited", 0 }, { rows[1].verdict, rows[1].loss_percent })
      assert.same({ 100, 90, 80, 70, 60, 50, 40 }, percents(rows))
   end)

   it("has a row for each direction, and goes on while either loses", function()
      local rows = measure("frame_loss", GROUP,
         { rate = 1e9, capacity = { ["east->west"] = 1e6, ["west->east"] = 1e9 } },
         { frame_sizes = { 64 }, bidirectional = true })
      assert.same({ "east->west", "west->east" }, { rows[1].direction, rows[2].direction })
      assert.is_true(rows[1].loss_percent > 0 and rows[2].loss_percent == 0)
      assert.same({ 100, 50 }, { rows[1].load_percent, rows[#rows].load_percent })
   end)

   it("needs a maximum where no line is known, and counts in shares of it", function()
      local plan = fake_plan()
      plan.rfc2544.tests, plan.rfc2544.frame_loss = { "frame_loss" }, GROUP
      assert.matches("frame_loss.max cannot be a share", methods.check(plan, Bench.new { capacity = 1e5 }))
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
      local row, bench = measure("back_to_back", group { rate = fps(9e5) }, buffered(512))
      row = row[1]
      local n = longest(9e5, 512)
      assert.same({ n, n, n, 0 },
         { row.burst_frames_mean, row.burst_frames_min, row.burst_frames_max, row.burst_frames_stddev })
      assert.near(512 / 1488095 * 1e9, row.corrected_buffer_time_ns, 1e9 / 1488095)
      assert.same({ 2, false, "valid" }, { row.repetitions, row.near_limit, row.verdict })
      assert.equal(#bench.asked, row.trials)
   end)

   it("sends at the line's rate and waits until the device can have forwarded everything", function()
      local _, bench = measure("back_to_back", group { rate = fps(9e5) }, buffered(512))
      local ask = bench.asked[1]
      assert.same({ 1488095, 2 }, { ask.fps, ask.duration })
      assert.near(2 + 2 * 1488095 / 9e5 - 2, ask.drain, 1e-9)
   end)

   it("ends within the step", function()
      local row = measure("back_to_back", group { rate = fps(9e5), step = 100 }, buffered(512))[1]
      local n = longest(9e5, 512)
      assert.is_true(row.burst_frames_mean <= n and row.burst_frames_mean > n - 100)
      assert.equal(0, row.burst_frames_mean % 100)
   end)

   it("is not applicable at a throughput of the whole line, and sends nothing then", function()
      local rows, bench = measure("back_to_back", group(), { rate = 1e9, capacity = 1e9 })
      assert.same({ "not-applicable", 0 }, { rows[1].verdict, rows[1].trials })
      assert.matches("no buffer fills", rows[1].reasons[1])
      assert.is_nil(rows[1].burst_frames_mean)
      assert.equal(2, #bench.asked) -- the search for the throughput
   end)

   it("flags a burst near the limit", function()
      local row = measure("back_to_back", group { rate = fps(9e5), limit = 0.0009 }, buffered(512))[1]
      assert.same({ true, "invalid" }, { row.near_limit, row.verdict })
      assert.matches("raise rfc2544.back_to_back.limit", row.reasons[1])
   end)

   it("searches each direction in the bursts of both", function()
      local device = { rate = 1e9, capacity = { ["east->west"] = 9e5, ["west->east"] = 7e5 }, buffer = 100 }
      local rows, bench = measure("back_to_back", group { rate = fps(7e5), repetitions = 1 }, device,
         { frame_sizes = { 64 }, bidirectional = true })
      assert.same({ longest(9e5, 100), longest(7e5, 100) },
         { rows[1].burst_frames_mean, rows[2].burst_frames_mean })
      local seen = {}
      for _, ask in ipairs(bench.asked) do
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
      assert.same({ "valid", longest(9e5, 512) }, { row.verdict, row.burst_frames_mean })
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
      assert.same({ "tester-limited", 600 }, { row.verdict, row.burst_frames_mean })
      assert.matches("was not sent whole", row.reasons[1])
   end)
end)

describe("system recovery", function()
   local GROUP = { overload = 60, watch = 60, repetitions = 2 }

   local function group(o)
      return setmetatable(o or {}, { __index = GROUP })
   end

   -- The last lost frame is due so long after the start, seconds.
   local function lost_until(...)
      local times = { ... }
      return function(raw, ask, n)
         local d = raw.directions[1]
         d.rx, d.last_lost_ns = d.tx - (ask.loads and 10 or 0), (times[n] or times[1]) * 1e9
      end
   end

   it("offers 110 % of the throughput and then half of that", function()
      local rows, bench = measure("system_recovery", group { rate = fps(10000) }, {
         rate = 1e9, capacity = 1e9, meddle = lost_until(60.25, 60.75),
      })
      assert.near(11000, bench.asked[1].loads[1].fps, 1e-6)
      assert.near(5500, bench.asked[1].loads[2].fps, 1e-6)
      assert.near(0.5e9, rows[1].recovery_ns, 1)
      assert.near(0.25e9, rows[1].recovery_ns_min, 1)
      assert.near(0.75e9, rows[1].recovery_ns_max, 1)
      assert.near(1e9 / 5500, rows[1].resolution_ns, 1e-6)
      assert.same({ "valid", 2, 20 }, { rows[1].verdict, rows[1].trials, rows[1].lost })
   end)

   it("offers no more than the line carries", function()
      local _, bench = measure("system_recovery", group { rate = fps(1.4e6) }, {
         rate = 1e9, capacity = 1e9, meddle = lost_until(60.1),
      })
      assert.equal(1488095, bench.asked[1].loads[1].fps)
   end)

   it("is zero when no frame was lost after the overload", function()
      local rows = measure("system_recovery", group { rate = fps(10000) }, {
         rate = 1e9, capacity = 1e9, meddle = lost_until(59.9),
      })
      assert.equal(0, rows[1].recovery_ns)
   end)

   it("says when there is no overload", function()
      local row = measure("system_recovery", group(), { rate = 1e9, capacity = 1e9 })[1]
      assert.equal("not-applicable", row.verdict)
      assert.matches("no overload is possible", row.reasons[1])
      row = measure("system_recovery", group { rate = fps(10000) }, { rate = 1e9, capacity = 1e9 })[1]
      assert.equal("not-applicable", row.verdict)
      assert.matches("it was no overload", row.reasons[1])
   end)

   it("does not call a device recovered that still lost frames at the end", function()
      local row = measure("system_recovery", group { rate = fps(10000) }, {
         rate = 1e9, capacity = 1e9, meddle = lost_until(119.9),
      })[1]
      assert.equal("invalid", row.verdict)
      assert.is_nil(row.recovery_ns)
      assert.matches("raise rfc2544.system_recovery.watch", row.reasons[1])
   end)
end)

describe("reset", function()
   local GROUP = { rate = fps(1488095), after = 15, watch = 60, outage = 1, repetitions = 1 }

   local function with_loss(lost, gap_ns, last_lost_s)
      return function(raw)
         local d = raw.directions[1]
         d.rx, d.longest_gap_ns, d.last_lost_ns = d.tx - lost, gap_ns, (last_lost_s or 16) * 1e9
         raw.ports[2].link_changes = 2
      end
   end

   -- Without a reference device, unless the plan gets one.
   local function reset_row(o, device, options)
      return measure("reset", setmetatable(o, { __index = GROUP }), device, options)
   end

   it("has the figure of RFC 6201's example", function()
      local by_loss, by_stamps = reset.figures({ lost = 1500000, longest_gap_ns = 1.009e9 }, 1488095)
      assert.near(1.008e9, by_loss, 1e4)
      assert.near(1.009e9 - 672, by_stamps, 1)
   end)

   it("runs the command in the middle of the load, and a changing link does not spoil it", function()
      local path = os.tmpname()
      local phases = { frame_sizes = { 64, 1518 }, bidirectional = false, learning_wait = 0.05 }
      local started
      local command = { "sh", "-c", "echo done > " .. path }
      local rows = reset_row({ after = 0.05, watch = 0.2, command = command }, {
         rate = 1e9, capacity = 1e9,
         meddle = function(raw)
            started = os.time()
            require("framegauge.job").sleep(0.3)
            with_loss(1500000, 1.009e9, 0.2)(raw)
         end,
      }, phases)
      local file = assert(io.open(path))
      assert.equal("done\n", file:read "*a")
      file:close()
      os.remove(path)
      assert.is_true(started ~= nil)
      assert.same({ "valid", "command", 0, "reset", 1500000, 64 }, { rows[1].verdict, rows[1].by,
         rows[1].command_status, rows[1].outcome, rows[1].lost, rows[1].frame_size })
      assert.near(1.008e9, rows[1].reset_ns, 1e4)
      assert.equal(1, #rows)
   end)

   local function slow(raw)
      require("framegauge.job").sleep(0.15)
      with_loss(1000, 1e6, 0.05)(raw)
   end

   it("is invalid when the command fails, cannot be run or does not end", function()
      local phases = { frame_sizes = { 64 }, bidirectional = false, learning_wait = 0 }
      for problem, command in pairs {
         ["failed with status 3"] = { "sh", "-c", "exit 3" },
         ["could not be run"] = { "/no/such/program" },
         ["was ended by signal 15"] = { "sh", "-c", "kill $$" },
      } do
         local row = reset_row({ after = 0.05, watch = 1, command = command },
            { rate = 1e9, capacity = 1e9, meddle = slow }, phases)[1]
         assert.equal("invalid", row.verdict)
         assert.matches(problem, row.reasons[1], 1, true)
      end
   end)

   it("tells no loss from a reset, and stray losses from either", function()
      local phases = { frame_sizes = { 64 }, bidirectional = false, learning_wait = 0 }
      local function row(lost, gap_ns, last)
         return reset_row({ after = 0.01, watch = 1, command = { "true" } }, {
            rate = 1e9, capacity = 1e9,
            meddle = function(raw)
               require("framegauge.job").sleep(0.1)
               with_loss(lost, gap_ns, last)(raw)
            end,
         }, phases)[1]
      end
      local none = row(0, 672)
      assert.same({ "no loss", 0, 0, "valid" },
         { none.outcome, none.reset_ns, none.reset_ns_by_timestamps, none.verdict })
      assert.matches("that was no reset", row(3, 700, 0.05).reasons[1])
      assert.matches("still lost when the trial ended", row(3000, 700, 1.005).reasons[1])
   end)

   it("asks the person when there is no command", function()
      local said
      local plan = fake_plan { frame_sizes = { 64 }, bidirectional = false, learning_wait = 0 }
      plan.rfc2544.tests = { "reset" }
      plan.rfc2544.reset = setmetatable({ after = 0.05, watch = 0.2 }, { __index = GROUP })
      local bench = Bench.new {
         rate = 1e9, capacity = 1e9,
         meddle = function(raw)
            require("framegauge.job").sleep(0.15)
            with_loss(1000, 1e6, 0.1)(raw)
         end,
      }
      local rows = {}
      reset.run(plan, bench, Session.new {
         bench = bench, retries = 0, phases = plan.rfc2544, sink = function() end,
         say = function(text)
            said = text
         end,
      }, rows)
      assert.matches("Reset the device", said)
      assert.same({ "person", "valid" }, { rows[1].by, rows[1].verdict })
   end)

   it("has the reference device fail by itself", function()
      local plan = fake_plan { frame_sizes = { 64 }, bidirectional = false }
      plan.reference_device = {}
      plan.rfc2544.reset = GROUP
      local bench = Bench.new { rate = 1e9, capacity = 1e9, meddle = with_loss(1488095, 1.0000007e9) }
      local rows = {}
      reset.run(plan, bench, Session.new {
         bench = bench, retries = 0, phases = plan.rfc2544, sink = function() end,
      }, rows)
      assert.same({ at = 15, seconds = 1 }, bench.asked[1].outage)
      assert.same({ "reference device", "valid" }, { rows[1].by, rows[1].verdict })
      assert.near(1e9, rows[1].reset_ns, 1)
   end)
end)

describe("the tests of a plan", function()
   it("come in the order of the RFC", function()
      local names = {}
      local plan = { rfc2544 = { tests = { "reset", "frame_loss", "throughput" } } }
      for i, method in ipairs(methods.of(plan)) do
         names[i] = method.KEY
      end
      assert.same({ "throughput", "frame_loss", "reset" }, names)
   end)
end)
