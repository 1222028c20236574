-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889, 5.5: congestion control, held against reference switches of every organisation of queues.
local congestion = require "framegauge.methods.rfc2889.congestion"
local method = require "framegauge.methods.rfc2889.method"
local notes = require "framegauge.report.notes"
local plans = require "framegauge.plan"
local runs = require "rfc2889_runs"

local LINE, SECONDS = 1e9 / 672, 0.05
local N = math.floor(LINE * SECONDS + 0.5)

local KEYS = "tests: [congestion_control], frame_sizes: [64], trial: 50ms, congestion_control: {longest: %s, uneven: %s}"

local function measure(switch, longest, uneven, ports, trial)
   local results, session = runs.run(ports or 4, switch, KEYS:format(longest or "50ms", uneven or "false")
      :gsub("trial: 50ms", "trial: " .. (trial or "50ms")))
   return results.congestion_control[1], session, results.congestion_control
end

describe("flow control in tests that do not look for it", function()
   it("is the reason where a load was not offered, and a figure of its own", function()
      local results, session = runs.run(3, "rate: 100Mbps, buffer: 4000, flow_control: pause",
         "tests: [many_to_one], frame_sizes: [64], trial: 100ms, search_trial: 100ms, step: 50%")
      local row = results.many_to_one[1]
      assert.equal("tester-limited", row.validity)
      for _, reason in ipairs(row.reasons) do
         assert.truthy(reason:find("because the device paused port p[23] %d+ times?, for [%d.]+ ms in all"),
            reason)
      end
      -- two ports share a line, so that each has to wait for half of the time, and longer where it waits last
      local of_trial = 0
      for _, pause in ipairs(session.trials[#session.trials].pauses) do
         of_trial = of_trial + pause.waited_ns
      end
      assert.equal(of_trial, row.paused_ns)
      assert.is_true(of_trial > 0.5 * 0.12e9 and of_trial < 2 * 0.12e9, of_trial)
      assert.is_true(row.pause_received > 1)
      assert.is_nil(runs.run(3, "rate: 100Mbps, buffer: 20", "tests: [many_to_one], frame_sizes: [64], trial: 20ms, search_trial: 20ms, step: 50%").many_to_one[1].paused_ns)
   end)

   -- the switch takes what its port out carries until the trial has ended, and what it holds then: all other
   -- frames wait in the tester's ports, and are neither offered nor lost
   it("leaves what waits in the tester's ports out of the offered load", function()
      for _, one in ipairs { { 100, 64, 0.5 }, { 100, 1518, 0.5 }, { 1000, 64, 0.2 } } do
         local mbps, size, seconds = unpack(one)
         local line, xoff = mbps * 1e6 / 8 / (size + 20), 16 * 1518
         local results, session = runs.run(4, ("rate: %dMbps, buffer: 4000, flow_control: pause, xoff: %d, xon: %d"):format(mbps, xoff, xoff / 2),
            ("tests: [many_to_one], frame_sizes: [%d], trial: %gs, search_trial: %gs, step: 50%%"):format(size, seconds, seconds))
         local row, held = results.many_to_one[1], 3 * (xoff / size + 3)
         local last = session.trials[#session.trials]
         assert.is_true(last.pauses[1].unsent_frames > 0)
         assert.is_true(row.mol_fps >= line * 0.999 and row.mol_fps <= line + held / seconds, row.mol_fps)
         assert.is_true(row.frmol_fps <= line * 1.00001 and row.frmol_fps >= line * 0.99, row.frmol_fps)
         assert.is_true(last.lost <= held, last.lost)
         assert.is_true(row.throughput_fps <= (line * (1 + 1e-3) + held / seconds) / 3, row.throughput_fps)
         assert.is_true(row.throughput_fps >= (line - row.resolution_fps * 3) / 3, row.throughput_fps)
      end
   end)

   it("lets a port that is never told to go on pause for its quanta, each 512 bits", function()
      local row = runs.run(3, "rate: 100Mbps, buffer: 4000, flow_control: pause, xoff: 6400, xon: 0, pause_quanta: 50",
         "tests: [many_to_one], frame_sizes: [64], trial: 100ms, search_trial: 100ms, step: 50%").many_to_one[1]
      -- less what is left of the last ones at the end of the trial
      assert.near(50 * 512 / 100e6 * 1e9, row.paused_ns / row.pause_received, 5e3)
   end)

   it("is said once for each port", function()
      assert.same({
         "Flow control: the device paused port a in 2 trials; longest in trial 3: 4 times, and frames waited 2.0 ms in all.",
         "Flow control: the device paused port b in 1 trial; longest in trial 3: 1 time, and frames waited 0.5 ms in all.",
      }, notes.flow_control {
         { trial = 1, pauses = { { port = "a", times = 9, waited_ns = 1e6 } } }, { trial = 2 },
         { trial = 3, pauses = { { port = "a", times = 4, waited_ns = 2e6 },
            { port = "b", times = 1, waited_ns = 5e5 } } },
      })
   end)
end)

describe("a switch whose table is full", function()
   local TABLE = "rate: 100Mbps, buffer: 16, mac_table: {size: %d, ageing: 20s, learning_rate: 2kfps, learning_queue: 10}"
   local ADDRESSES = "trial: 20ms, search_trial: 20ms, frame_sizes: [512], tests: [%s], address_table: {max: 40, ageing: 20s, order: [sequential]}, congestion_control: {longest: 20ms}"

   it("is not measured so, whatever the order of the tests", function()
      local results = runs.run(4, TABLE:format(30), ADDRESSES:format "address_caching, congestion_control")
      assert.equal(29, results.address_caching[1].addresses)
      assert.same({ "valid", "none" },
         { results.congestion_control[1].validity, results.congestion_control[1].conclusion })
   end)

   it("makes what is measured of congestion invalid", function()
      local row = runs.run(4, TABLE:format(1), ADDRESSES:format "congestion_control").congestion_control[1]
      assert.equal("invalid", row.validity)
      assert.matches("up to %d+ frames of a trial came out at ports that they were not for",
         table.concat(row.reasons, "; "))
   end)
end)

describe("congestion control by RFC 2889", function()
   it("takes ports in blocks of four", function()
      local ports = {}
      for i = 1, 8 do
         ports[i] = { name = tostring(i) }
      end
      assert.same({ { split = "1", single = "2", uncongested = "3", congested = "4" },
         { split = "5", single = "6", uncongested = "7", congested = "8" } }, congestion.blocks(ports))
      assert.truthy(runs.wrong(6, "", KEYS:format("1s", "false")):find(
         "congestion_control with 6 ports", 1, true))
      local _, _, rows = measure("", "50ms", "false", 8)
      assert.same({ "p1", "p5", "none", "none" }, { rows[1].split, rows[2].split, rows[1].conclusion,
         rows[2].conclusion })
   end)

   -- C receives N + Q + 1 of 1.5 N
   it("finds that output queues lose for the congested port only, and how many they hold", function()
      local row, session = measure "buffer: 512"
      assert.same({ 0, "none", false, false, "valid", 2 }, { row.uncongested_loss_ratio, row.conclusion,
         row.head_of_line_blocking, row.back_pressure, row.validity, #session.trials })
      assert.near(512, row.buffer_estimate_frames, 2)
      assert.near((0.5 * N - 513) / (1.5 * N), row.congested_loss_ratio, 2 / N)
      assert.near(LINE / 2, row.uncongested_fps, 2 / SECONDS)
      assert.equal(N, row.tx_frames)
   end)

   -- the trial of the RFC: 446,400 frames of each source, in half a second
   it("counts to the frame in a trial of 30 s", function()
      local row = measure("rate: 10Mbps, buffer: 512", "30s", "false", 4, "30s")
      local n = 30 * 14880
      assert.same({ n, 0, 7440, "none" }, { row.tx_frames, row.uncongested_loss_ratio,
         math.floor(row.uncongested_fps), row.conclusion })
      assert.near(512, row.buffer_estimate_frames, 2)
      assert.near((0.5 * n - 513 - 30 * (1e7 / 672 - 14880)) / (1.5 * n), row.congested_loss_ratio, 2 / n)
   end)

   it("cannot tell input queues with a fair arbitration from output queues, but with uneven loads", function()
      local row = measure("queues: input, buffer: 64", "50ms", "true")
      assert.same({ 0, "none" }, { row.uncongested_loss_ratio, row.conclusion })
      assert.near(1 / 3, row.congested_loss_ratio, 65 * 3 / N)
      -- of the two shares that the split source has of the congested line, it gets three quarters
      assert.near(0.25, row.uneven_loss_ratio, 0.06)
      assert.equal(0, measure("buffer: 64", "50ms", "true").uneven_loss_ratio)
   end)

   -- the split source gets a third of the congested line, and sends as much to the other: a third is lost
   -- once its queue is full, after 3 Q frame times
   it("finds head of line blocking where the oldest frame is served", function()
      local row = measure "queues: input, arbitration: oldest, buffer: 64"
      assert.same({ "head-of-line-blocking", true, false }, { row.conclusion, row.head_of_line_blocking,
         row.back_pressure })
      assert.is_true(row.uncongested_loss_ratio <= 1 / 3)
      assert.is_true(row.uncongested_loss_ratio >= 1 / 3 * (1 - (3 * 64 + 6) / N), row.uncongested_loss_ratio)
      assert.near(LINE / 3, row.uncongested_fps, (64 + 3) / SECONDS)
      assert.is_nil(row.buffer_estimate_frames)
   end)

   -- only what fits into the queue before it blocks, and what leaves when the other source has ended
   it("finds that a source is shut out where another one has priority", function()
      local row = measure "queues: input, arbitration: priority, buffer: 64"
      assert.equal("head-of-line-blocking", row.conclusion)
      assert.is_true(row.uncongested_loss_ratio >= 1 - (64 + 4) / (N / 2), row.uncongested_loss_ratio)
   end)

   it("finds back pressure where sources are told to pause", function()
      local row = measure "flow_control: pause, buffer: 4096"
      assert.same({ "back-pressure", true, 0, 0, true }, { row.conclusion, row.back_pressure,
         row.congested_loss_ratio, row.uncongested_loss_ratio, row.honoured_pause })
      assert.is_true(row.pause_received > 0)
      -- the split source gets all that it sends and the other one the rest of the line, until the split
      -- source has sent all: so it takes half as long again. What waits in the switch is sent before
      assert.equal(0, row.split_paused_ns)
      assert.near(LINE, row.split_oload_fps, 1 / SECONDS)
      assert.near(LINE / 1.5, row.single_oload_fps, LINE / 1.5 * (49152 / 64 + 200) / N)
      assert.near(LINE, row.congested_fps, LINE * (49152 / 64 + 200) / N)
      assert.equal("valid", row.validity)
   end)

   -- the congested line carries all that both sources send in half as long again, and the ports have a drain
   -- of 20 ms: the trial is made again with a longer one
   it("waits until all frames of sources that had to pause have left", function()
      for _, size in ipairs { 128, 512 } do
         local results, session = runs.run(4, ("rate: 100Mbps, buffer: 2000, flow_control: pause, xoff: %d, xon: %d"):format(20 * size, 10 * size),
            ("tests: [congestion_control], frame_sizes: [%d], trial: 2s, congestion_control: {longest: 2s, uneven: true}"):format(size))
         local row = results.congestion_control[1]
         assert.same({ "back-pressure", true, 0, 0, "valid" }, { row.conclusion, row.back_pressure,
            row.congested_loss_ratio, row.uncongested_loss_ratio, row.validity })
         local again = {}
         for _, record in ipairs(session.trials) do
            local unsent = 0
            for _, pause in ipairs(record.pauses or {}) do
               unsent = unsent + pause.unsent_frames
            end
            again[record.phase] = (again[record.phase] or 0) + 1
            assert.equal(unsent == 0, record.validity == "valid")
         end
         assert.same({ control = 1, measure = 2, uneven = 2 }, again)
      end
   end)

   it("fills a large buffer by longer trials, and says when that was not enough", function()
      local row = measure("buffer: 15000", "10s", "false", 4, "20ms")
      assert.same({ "none", 0.08, 2 + 1 }, { row.conclusion, row.trial_s, row.trials })
      assert.near(15000, row.buffer_estimate_frames, 2)
      row = measure("buffer: 15000", "60ms", "false", 4, "20ms")
      assert.same({ "absorbed", 0.02, false }, { row.conclusion, row.trial_s, row.back_pressure })
   end)

   it("judges no queues where the engine is slower than the line of the split source", function()
      local row = measure "capacity: 1Mfps, buffer: 16"
      assert.same({ "input-limited", "valid", 3 }, { row.conclusion, row.validity, row.trials })
      assert.is_nil(row.head_of_line_blocking)
      assert.truthy(row.reasons[1]:find("the split source alone lost", 1, true))
   end)

   -- of 2349 frames a second each (512 bytes at 10 Mbit/s) an engine of 4008 carries one source and not both;
   -- the lower port is served first, so that with the ports in reverse order the split source loses
   it("tells an engine that is slower than both sources from a queue's head", function()
      for _, order in ipairs { { 0, 1, 2, 3 }, { 3, 2, 1, 0 } } do
         local plan = runs.plan_of(4, "rate: 10Mbps, capacity: 4008fps, buffer: 16",
            "tests: [congestion_control], frame_sizes: [512], trial: 1s, congestion_control: {longest: 1s}")
         for i, wire in ipairs(order) do
            plan = plan:gsub(("p%d: {device: wire%%d}"):format(i), ("p%d: {device: wire%d}"):format(i, wire))
         end
         local results, session = runs.measure(assert(plans.load_text(plan, "x.yaml")))
         local row = results.congestion_control[1]
         assert.same({ "engine-limited", "valid", 3 }, { row.conclusion, row.validity, #session.trials })
         assert.is_nil(row.head_of_line_blocking)
         assert.truthy(row.reasons[1]:find("the switch does not forward as fast as both send", 1, true))
         assert.equal(0, session.trials[2].lost)
      end
   end)

   it("needs equal lines", function()
      local function why(tests)
         return method.check({ rfc2889 = { tests = tests } }, { ports = { { name = "a", line_rate = 1e9 },
            { name = "b", line_rate = 1e9 }, { name = "c", line_rate = 1e9 },
            { name = "d", line_rate = 1e10 } } })
      end
      assert.equal("rfc2889.congestion_control: the lines of a (1 Gbit/s) and d (10 Gbit/s) differ: the test offers an egress one and a half times its line, which needs equal lines",
         why { "fully_meshed", "congestion_control" })
      assert.is_nil(why { "fully_meshed", "forward_pressure" })
   end)
end)
