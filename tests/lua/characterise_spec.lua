-- SPDX-License-Identifier: BSD-3-Clause

-- Characterisation: the arithmetic against worked examples, and devices that are known.
local binomial = require "framegauge.core.binomial"
local ethernet = require "framegauge.core.ethernet"
local identify = require "framegauge.methods.characterise.identify"
local json = require "framegauge.text.json"
local learned = require "framegauge.run.learned"
local method = require "framegauge.methods.characterise.method"
local plans = require "framegauge.plan"
local prediction = require "framegauge.methods.characterise.prediction"
local queue = require "framegauge.methods.characterise.queue"
local ranges = require "framegauge.methods.characterise.ranges"
local result_rows = require "framegauge.methods.characterise.result"
local result_schema = require "result_schema"
local scratch = require "scratch"
local tables = require "framegauge.core.tables"
local trials = require "framegauge.methods.characterise.trials"
local truth = require "characterise_truth"
local twin = require "framegauge.methods.characterise.twin"
local uv = require "luv"

local CONFIG = scratch.PROJECT .. "configs/characterise-reference.yaml"

-- Overloads of a device of 1 Gbit/s by the model itself.
local function overloads(device, frame_size, seconds)
   local fps, list = math.floor(1e9 / 8 / (frame_size + 20)), {}
   for i, one in ipairs(seconds) do
      local out = queue.pass(device, frame_size, { { fps = fps, seconds = one } })
      list[i] = { seconds = (out.tx - 1) / fps, rx = out.rx, slack = 0.01 }
   end
   return list
end

local function seen_of(device, sizes)
   local seen = { line_bps = 1e9, sizes = {} }
   for i, frame_size in ipairs(sizes) do
      local service = queue.service(device, frame_size)
      local full = queue.places(device, frame_size) * service * 1e9
      seen.sizes[i] = {
         frame_size = frame_size, overloads = overloads(device, frame_size, { 0.1, 0.2, 0.4 }),
         rest = { min_ns = 5000 + 8 * frame_size, max_ns = 5000 + 8 * frame_size, error_ns = 1 },
         overload_delay_ns = 5000 + 8 * frame_size + full,
      }
   end
   return seen
end

describe("Clopper and Pearson's interval", function()
   it("has the bounds that are published", function()
      local low, high = binomial.interval(0, 1000000)
      assert.equal(0, low)
      assert.equal("2.996e-06", ("%.3e"):format(high))
      low, high = binomial.interval(3, 1000000)
      assert.equal("6.19e-07 8.77e-06", ("%.2e %.2e"):format(low, high))
      low, high = binomial.interval(5, 10) -- as tables have it
      assert.equal("0.1871 0.8129", ("%.4f %.4f"):format(low, high))
   end)

   it("holds the truth as often as it says, and no oftener than it must", function()
      local n, p, held = 50, 0.1, 0
      local weight = (1 - p) ^ n
      for k = 0, n do -- exactly: all outcomes, by their probabilities
         local low, high = binomial.interval(k, n)
         held = held + (low <= p and p <= high and weight or 0)
         weight = weight * (n - k) / (k + 1) * p / (1 - p)
      end
      assert.is_true(held >= 0.95 and held < 0.99, held)
   end)
end)

describe("the model of a device", function()
   it("passes what a worked example says", function()
      local device = { capacity_fps = 734000, buffer_frames = 512, line_bps = 1e9 }
      assert.equal(367512, queue.pass(device, 64, { { fps = 1488095, seconds = 0.5 } }).rx)
      assert.equal(1101512, queue.pass(device, 64, { { fps = 1488095, seconds = 1.5 } }).rx)
   end)

   it("polices by a bucket that is full at first", function()
      local device = { cir_bps = 64e6, cbs_bytes = 6400, line_bps = 1e9 }
      -- 100 frames at once, then 125,000 a second
      assert.near(100 + 12500, queue.pass(device, 64, { { fps = 1e6, seconds = 0.1 } }).rx, 1)
   end)

   it("is found again from its own counts", function()
      local found = identify.direction(seen_of({ capacity_fps = 734000, buffer_frames = 512, line_bps = 1e9 },
         { 64, 72, 80 }))
      assert.equal("frames", found.limit)
      assert.equal("frames", found.buffer_unit)
      assert.is_true(found.capacity.min <= 734000 and found.capacity.max >= 734000)
      assert.is_true(found.capacity.max - found.capacity.min < 10)
      assert.same({ 512, 512 }, { found.buffer_frames.min, found.buffer_frames.max })
      assert.equal("store-and-forward", found.switching)
   end)

   it("with a time for each frame and each byte is not taken for two limits", function()
      local device = { frame_s = 0.9e-6, byte_s = 12e-9, buffer_frames = 64, line_bps = 1e9 }
      local found = identify.direction(seen_of(device, { 64, 256, 512, 1518 }))
      assert.equal("linear", found.limit)
      assert.is_true(found.per_frame.min <= 0.9e-6 and found.per_frame.max >= 0.9e-6)
      assert.is_true(found.per_byte.min <= 12e-9 and found.per_byte.max >= 12e-9)
   end)

   it("of which two sizes explain several asks for the size that tells", function()
      local device = { frame_s = 0.9e-6, byte_s = 12e-9, buffer_frames = 64, line_bps = 1e9 }
      local found = identify.direction(seen_of(device, { 64, 1518 }))
      assert.equal("unclear", found.limit)
      local size = identify.telling_size(found, 1e9, { 64, 1518 }, { 128, 512, 1024 })
      assert.equal("linear", identify.direction(seen_of(device, { 64, size, 1518 })).limit)
   end)

   it("that forwards all of a load below the line's rate has no limit up to that load", function()
      local seen = { line_bps = 1e9, sizes = { { frame_size = 64, overloads = {}, carried_fps = 5e4 } } }
      assert.equal("line", identify.direction(seen).limit)
      seen.below_line = true
      local found = identify.direction(seen)
      assert.same({ "load", 5e4, math.huge }, { found.limit, found.capacity.min, found.capacity.max })
   end)

   it("with memory in cells is found to have cells", function()
      local sizes = { 64, 512, 1518 }
      local seen = { line_bps = 1e9, sizes = {} }
      for i, frame_size in ipairs(sizes) do -- 65,536 bytes in cells of 256
         local places = math.floor(65536 / (math.ceil(frame_size / 256) * 256))
         local one = { capacity_fps = 50000, buffer_frames = places, line_bps = 1e9 }
         seen.sizes[i] = seen_of(one, { frame_size }).sizes[1]
      end
      local found = identify.direction(seen)
      assert.same({ "cells", 256 }, { found.buffer_unit, found.buffer_cell_bytes })
      assert.is_true(found.buffer_bytes.min <= 65536 and found.buffer_bytes.max >= 65536)
   end)

   -- What overloads of a bucket show at three sizes.
   local function seen_of_bucket(device)
      local seen = { line_bps = 1e9, sizes = {} }
      for i, frame_size in ipairs { 64, 512, 1518 } do
         local at_rest, fps = 5000 + 8 * frame_size, math.floor(1e9 / 8 / (frame_size + 20))
         local passed = queue.pass(device, frame_size, { { fps = fps, seconds = 0.4 } })
         seen.sizes[i] = {
            frame_size = frame_size, overloads = overloads(device, frame_size, { 0.1, 0.2, 0.4 }),
            rest = { min_ns = at_rest, max_ns = at_rest, error_ns = 1 },
            overload_delay_ns = at_rest + passed.wait_max_s * 1e9,
         }
      end
      return seen
   end

   local function holds(range, value)
      assert.is_true(range.min <= value and value <= range.max, ("%g is not in %g to %g"):format(value,
         range.min, range.max))
   end

   it("that holds nothing up is a policer", function()
      local found = identify.direction(seen_of_bucket { cir_bps = 100e6, cbs_bytes = 16384, line_bps = 1e9 })
      assert.same({ "policer", "frame" }, { found.limit, found.counted })
      holds(found.cir, 100e6)
      holds(found.cbs, 16384)
   end)

   it("that holds up a part is a shaper, whatever it counts of a frame", function()
      for name, more in pairs { frame = 0, ["without FCS"] = -4, ["layer 1"] = 20 } do
         for _, sizes in ipairs { { 65536, 65536 }, { 15000, 90000 }, { 120000, 20000 } } do
            local found = identify.direction(seen_of_bucket {
               cir_bps = 20e6, cbs_bytes = sizes[1], buffer_bytes = sizes[2], shapes = true, line_bps = 1e9,
               counted_more = more,
            })
            assert.same({ "shaper", name }, { found.limit, found.counted })
            holds(found.cir, 20e6)
            holds(found.cbs, sizes[1])
            holds(found.buffer_bytes, sizes[2])
         end
      end
   end)

   it("that is a plain server of bits is found whatever it counts of a frame", function()
      for name, more in pairs { frame = 0, ["without FCS"] = -4, ["layer 3"] = -18, ["layer 1"] = 20 } do
         local device = { bandwidth_bps = 5e8, buffer_frames = 64, counted_more = more, line_bps = 1e9 }
         local found = identify.direction(seen_of(device, { 64, 512, 1518 }))
         assert.same({ "bits", name }, { found.limit, found.counted })
         holds(found.bandwidth, 5e8)
         device.capacity_fps = 200000 -- then one size tells of bits alone, and others are asked for
         local sizes = { 64, 1518 }
         found = identify.direction(seen_of(device, sizes))
         assert.equal("unclear", found.counted)
         assert.matches("bounds of the bandwidth hold all", found.remarks[#found.remarks])
         holds(found.bandwidth, 5e8)
         for _ = 1, 2 do
            table.insert(sizes, identify.telling_size(found, 1e9, sizes, { 128, 512, 1024 }))
            table.sort(sizes)
            found = identify.direction(seen_of(device, sizes))
         end
         assert.same({ "both", name }, { found.limit, found.counted })
         holds(found.bandwidth, 5e8)
      end
   end)

   it("does not tell what of a frame counts where the rates are not exact enough", function()
      local seen = seen_of_bucket { cir_bps = 20e6, cbs_bytes = 65536, line_bps = 1e9, counted_more = -4 }
      for _, size in ipairs(seen.sizes) do
         for _, one in ipairs(size.overloads) do
            one.slack = 0.05 * one.rx
         end
      end
      local found = identify.direction(seen)
      assert.same({ "policer", "unclear" }, { found.limit, found.counted })
      assert.matches("several ways to count", found.remarks[1])
      holds(found.cir, 20e6)
   end)

   it("is not forced on counts that contradict it", function()
      local seen = seen_of({ capacity_fps = 734000, buffer_frames = 512, line_bps = 1e9 }, { 64 })
      seen.sizes[1].overloads[2].rx = seen.sizes[1].overloads[2].rx + 1000
      local found = identify.direction(seen)
      assert.matches("contradict one rate and one buffer", found.remarks[1])
      assert.same({ "other" }, { found.limit, found.capacity, found.bandwidth, found.buffer_frames })
   end)
end)

describe("a trial that was held out", function()
   -- Predictions of a device of 1000 frames/s with 10 places, from trials of half a second.
   local function predictions(rx, change)
      local c = {
         direction = "a->b", plan = { characterise = { held_out = { 256 }, trial = 2 } }, line_bps = 1e9,
         max_fps = function() return 4000 end,
         make = function(_, _, o)
            local tx = 0
            for _, load in ipairs(o.loads) do
               tx = tx + load.fps * load.seconds
            end
            local record = { trial = 1, validity = "valid", reasons = {},
               directions = { { direction = "a->b", tx = tx, rx = rx } } }
            change(record, record.directions[1])
            return record
         end,
      }
      local row = { direction = "a->b", limit = "frames", buffer_unit = "frames", jitter = "none",
         capacity = { fps = 1000, min_fps = 1000, max_fps = 1000 },
         buffer = { frames = 10, min_frames = 10, max_frames = 10 } }
      local rows = {}
      prediction.make(c, row, rows)
      assert.equal("overload", rows[1].load)
      return rows[1]
   end

   it("proves nothing where the tester fell short", function()
      assert.equal(true, predictions(510, function() end).holds)
      assert.equal(false, predictions(300, function() end).holds)
      local limited = predictions(300, function(record, counts)
         record.validity, record.reasons, counts.tx = "tester-limited", { "late" }, 400
      end)
      assert.is_nil(limited.holds)
      assert.same({ 400, 400 }, { limited.rx_predicted_min, limited.rx_predicted_max }) -- no more is sent
      assert.same({ "tester-limited", { "late" } }, { limited.validity, limited.reasons })
   end)

   it("allows for frames that left late", function()
      local function late(ns)
         return predictions(500, function(_, counts) counts.lag_max_ns = ns end)
      end
      assert.equal(false, late(0).holds)
      assert.equal(true, late(10e6).holds)
   end)
end)

describe("a queue", function()
   -- A size of 50,000 frames/s without loss, whose longest delay under load is 5 ms.
   local function size_seen(mean_ns)
      local c = { direction = "a->b", rests = { tx = 0, lost = 0, loss_bursts = 0 },
         plan = { characterise = { trial = 1, rest = 1, longest = 1 } },
         max_fps = function() return 50000 end }
      function c.make(phase, _, o)
         local l = { min_ns = 4000, mean_ns = 5000, p50_ns = 4500, p99_ns = 8000, max_ns = 9000 }
         if phase == "overload" then
            l.mean_ns, l.max_ns = mean_ns, 5e6
         end
         local n = o.fps * o.seconds
         return { directions = { { direction = "a->b", tx = n, rx = n, lost = 0, loss_ratio = 0,
            loss_bursts = 0, offered_fps = o.fps, latency = l } } }
      end
      return trials.size(c, 64)
   end

   it("is seen by a mean delay that grows with the longest", function()
      assert.is_nil(size_seen(12000).drained)
      assert.is_true(size_seen(2.5e6).drained.rx > 0)
   end)
end)

describe("ranges", function()
   it("leave of two unknowns what all inequalities allow", function()
      local slope, at0 = ranges.line { { x = 1, min = 2, max = 3 }, { x = 3, min = 6, max = 7 } }
      assert.same({ 1.5, 2.5 }, { slope.min, slope.max })
      assert.same({ -0.5, 1.5 }, { at0.min, at0.max })
      assert.is_nil(ranges.line { { x = 0, min = 0, max = 0 }, { x = 1, min = 1, max = 1 },
         { x = 2, min = 3, max = 3 } })
   end)
end)

describe("test: characterise", function()
   teardown(scratch.remove)

   -- numbers of devices drawn: each kind of limit, buffer, switching, losses, jitter, recovery, one with two
   -- ways; 53: jitter hides that it cuts through; 230: it recovers in between where few frames are lost;
   -- 436 and 496: losses before a server that is hardly slower than the line
   for _, number in ipairs { 2, 8, 12, 19, 40, 50, 53, 75, 88, 94, 96, 230, 436, 496 } do
      it(("finds device %d within its bounds"):format(number), function()
         local device = truth.device(number)
         local results = truth.measure(device)
         for _, row in ipairs(results.characterisation) do
            assert.equal("valid", row.validity)
            for _, check in ipairs(truth.checks(device, row)) do
               assert.is_true(check.holds, ("%s of %s: %s, found %s, %s to %s"):format(check.what,
                  device.text,
                  tostring(check.truth), tostring(check.found), tostring(check.low), tostring(check.high)))
            end
         end
         for _, one in ipairs(results.predictions) do
            assert.is_true(one.holds, ("%s: %d bytes, %s"):format(device.text, one.frame_size, one.load))
         end
      end)
   end

   -- with the lengths of a plan that sets none: with two ways, deep buffers and weak overloads, slow devices
   -- whose low loads take long, and losses
   it("takes at most 60 trials and three minutes of load", function()
      for _, text in ipairs {
         "capacity: 9kfps, bandwidth: 6Mbps, buffer: 64KiB, latency: 20us",
         "capacity: 14kfps, bandwidth: 9.5Mbps, buffer: 500000B, reverse: {capacity: 200fps, buffer: 5000}",
         "capacity: 14kfps, bandwidth: 9.5Mbps, buffer: 500000B", "capacity: 20fps, buffer: 2000",
         "bandwidth: 9.6Mbps, buffer: 20000, loss_random: 0.1%",
      } do
         local _, cost = truth.measure({}, "ports: {east: {device: wire0}, west: {device: wire1}}\n"
            .. "test: characterise\nreference_device: {rate: 10Mbps, " .. text .. "}")
         assert.is_true(cost.trials <= 60, ("%s: %d trials"):format(text, cost.trials))
         assert.is_true(cost.seconds <= 180, ("%s: %g s"):format(text, cost.seconds))
      end
      local trials_of_all, seconds = 0, 0
      for _, part in ipairs(method.parts(assert(plans.load(CONFIG)))) do -- of the tester's time, with waits
         trials_of_all, seconds = trials_of_all + part.trials, seconds + part.seconds
      end
      assert.is_true(trials_of_all <= 60 and seconds <= 180, ("%d, %g s"):format(trials_of_all, seconds))
   end)

   it("finds a shaper and predicts its trials", function()
      local results = truth.measure { number = 1, rate = 1e8, text = "{rate: 100Mbps, latency: 20us, profiles: {all: {cir: 20Mbps, cbs: 30000, shaping: 26ms}}}" }
      local row = results.characterisation[1]
      assert.same({ "shaper", "frame" }, { row.limit, row.counted })
      assert.is_true(row.cbs.min_bytes <= 30000 and row.cbs.max_bytes >= 30000)
      assert.is_true(row.buffer_memory.min_bytes <= 65000 and row.buffer_memory.max_bytes >= 65000)
      assert.equal(6, #results.predictions)
      for _, one in ipairs(results.predictions) do
         assert.is_true(one.holds, ("%d bytes, %s"):format(one.frame_size, one.load))
      end
      assert.matches("profiles: {all: {cir: 20000%d+%.%d+bps, cbs: 29%d+, shaping: 26%d+ns}}",
         twin.text(results.characterisation, "shaper", 1e8))
   end)

   local device = "{rate: 1Gbps, capacity: 800kfps, bandwidth: 500Mbps, buffer: 64KiB, latency: 7us, latency_per_byte: 3ns, switching: cut-through, recovery: 40ms, reverse: {capacity: 300kfps, switching: store-and-forward, recovery: 0s, jitter: 20us}}"

   local function run(option, value)
      local folder = scratch.path()
      local output, status = scratch.shell(("'%s' characterise '%s' --quick %s '%s' --out '%s' 2>&1"):format(
         uv.exepath(), CONFIG, option, value, folder))
      assert.equal(0, status, output)
      return folder, json.decode(scratch.read(folder .. "/result.json"))
   end

   it("writes a twin that behaves like the device", function()
      local folder, first = run("--set", "reference_device=" .. device)
      assert.same({ true, "valid\n" }, { result_schema.validate(folder .. "/result.json") })
      local _, second = run("--on", folder .. "/twin.yaml")
      for i, row in ipairs(first.results.characterisation) do
         local again = second.results.characterisation[i]
         for _, key in ipairs { "limit", "buffer_unit", "switching", "jitter", "both_ways" } do
            assert.equal(row[key], again[key], key)
         end
         assert.is_true(again.capacity.min_fps <= row.capacity.fps
            and row.capacity.fps <= again.capacity.max_fps)
      end
      for _, one_of in ipairs(first.results.predictions) do
         assert.is_true(one_of.holds)
      end
      -- what was learned of the slower direction: 300 kfps and 64 KiB, and 500 Mbit/s of larger frames
      local text = "test: rfc2544\nports: {a: {device: wire0}, b: {device: wire1}}"
      local plan = assert(plans.load_text(text, "plan", { sets = { "rfc2544.frame_sizes=[64, 1518]" } }))
      local setting = learned.setting(folder .. "/twin.yaml", plan)
      plan = assert(plans.load_text(text, "plan", { sets = { setting } }))
      assert.same({ 64, 1518 }, tables.field(plan.rfc2544.throughput.learned, "frame_size"))
      assert.near(300e3 + 1024 / 60, plan.rfc2544.throughput.learned[1].load, 20)
      assert.near(500e6 / 8 / 1518 + 43 / 60, plan.rfc2544.throughput.learned[2].load, 5)
      -- the first of several goals counts
      plan = assert(plans.load_text(text, "plan", { sets = { "rfc2544.frame_sizes=[64]",
         "rfc2544.throughput.search=mlr", "rfc2544.throughput.goals=[{name: ndr, final_trial: 2s}, pdr]" } }))
      assert.matches("%[{frame_size: 64, load: 3005%d%d%.", learned.setting(folder .. "/twin.yaml", plan))
   end)

   it("says with what a twin cannot be told", function()
      local text = twin.text({ { direction = "a->b", limit = "linear", buffer_unit = "frames",
         buffer = { frames = 5 }, both_ways = "shared", remarks = {} } }, "my\ndevice", 1e9)
      assert.matches("as my device did", text)
      assert.matches("a%->b: each frame takes a fixed time and one for each byte", text)
      assert.matches("a%->b: it forwards less when the other direction is loaded", text)
      assert.matches("\n  buffer: 5\n", text)
      text = twin.text({ { direction = "a->b", limit = "load", capacity = { min_fps = 50000 },
         validity = "tester-limited", remarks = {} } }, "bridge", 1e10)
      assert.matches("a%->b: the tester fell short in some trials", text)
      assert.matches("a%->b: all of 50000 frames/s came through", text)
   end)

   it("writes bounds as a person reads them", function()
      assert.equal("≥ 7", result_rows.text({ min_frames = 7 }, "frames"))
      assert.equal("512", result_rows.text({ frames = 512, min_frames = 512, max_frames = 512 }, "frames"))
      assert.equal("0, at most 3 ns", result_rows.text({ ns = 0, min_ns = 0, max_ns = 3 }, "ns"))
   end)

   local function errors_of(group)
      local _, list = plans.load_text("test: characterise\nports: {a: {device: wire0}, b: {device: wire1}}\n"
         .. group, "plan")
      return list and tostring(list[1]) or "none"
   end

   it("overloads no more than max allows", function()
      local halved = setmetatable({ max = "50%" }, { __index = truth.device(5) })
      local quarter = (halved.rate == 1e8 and 1 or 0.3) / 4 -- of a trial, seconds
      local predictions = truth.measure(halved).predictions
      for i, seconds in pairs { quarter, [3] = 10 } do
         assert.equal("overload", predictions[i].load)
         assert.near(seconds * ethernet.max_fps(halved.rate, predictions[i].frame_size) / 2,
            predictions[i].tx, 1)
      end
   end)

   it("refuses proof by what it was fitted to", function()
      assert.matches("plan:3:.*held_out%[2%]: 512 is among frame_sizes",
         errors_of "characterise: {held_out: [256, 512]}")
   end)

   it("names the line of a file for --on that is wrong", function()
      local _, list = plans.load_text("test: rfc2544\nports: {a: {device: \"kernel:x\"}, b: {device: \"kernel:y\"}}",
         "plan", { on = { name = "twin.yaml", text = "# so\nreference_device:\n  rate: 3\n" } })
      assert.matches("^twin.yaml:3:9: reference_device.rate", tostring(list[1]))
      _, list = plans.load_text("test: rfc2544\nports: {a: {device: wire0}, b: {device: wire1}}", "plan",
         { on = { name = "twin.yaml", text = "device: 1\n" } })
      assert.matches("twin.yaml: reference_device: missing there", tostring(list[1]))
   end)
end)
