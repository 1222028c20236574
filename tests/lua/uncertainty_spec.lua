-- SPDX-License-Identifier: BSD-3-Clause
local components = require "framegauge.trial.components"
local rfc2544 = require "framegauge.methods.rfc2544.uncertainty"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local truth = require "uncertainty_truth"
local uncertainty = require "framegauge.trial.uncertainty"

local NOTHING_TO_CALIBRATE = { state = "not-needed", frame_sizes = {} }

local PLAN = { rfc2544 = { learning_wait = 2 } }

describe("the uncertainty of a figure", function()
   it("takes Student's factor from the tables of GUM G.2", function()
      for degrees, factor in pairs { [1] = 12.71, [2] = 4.30, [4] = 2.78, [10] = 2.23, [50] = 2.01,
         [math.huge] = 1.96 } do
         assert.near(factor, uncertainty.student(degrees), 0.005)
      end
   end)

   it("combines standard uncertainties by GUM 5.1.2 and expands by Welch and Satterthwaite", function()
      -- stamps 0.5 us rectangular, calibration 0.1 us, five repetitions with s = 0.4 us
      local u = uncertainty.of(20, {
         components.stamp { source = "wire", error_bound_ns = 0.5 },
         { name = "calibration", type = "B", standard = 0.1, source = "" },
         components.repetitions(0.4, 5),
      })
      assert.same({ "normal", 0.95 }, { u.kind, u.coverage })
      assert.near(0.71, u.expanded, 0.005)
      assert.near(2.0, u.k, 0.005)
      assert.near(20 - 0.71, u.low, 0.005)
      -- with two repetitions of the same alone nothing is left to chance but much to Student
      assert.near(12.706, uncertainty.of(0, { components.repetitions(math.sqrt(2), 2) }).k, 0.001)
   end)

   it("adds bounds as they are, and keeps to what a figure can be", function()
      local u = uncertainty.of(0.001, { components.search(0.001, 0.002), false,
         { name = "resolution", type = "B", below = 1, above = 0.5, source = "" } }, { min = 0 })
      assert.same({ "interval", 0, 0.502, 1 }, { u.kind, u.low, u.high, u.coverage })
      assert.is_nil(uncertainty.of(1, { components.search(1, nil) }).high)
   end)

   it("holds the throughput between what the device drained and what failed", function()
      local row = { throughput_fps = 1000, upper_fps = 1010, loss_tolerance_ratio = 0, lower_trial = 1,
         theoretical_fps = 5000, limited_by = "loss" }
      local record = { time = "wire-free", duration_s = 10, latency = { max_ns = 50e6 } }
      local run = { trial = { record }, plan = PLAN }
      local u = rfc2544.throughput(row, run)
      -- what was sent within the last 50 ms of 10 s may be in the buffer still: 5 frames/s, and one frame
      assert.same({ 1000 - 5 - 0.1, 1010, 1 }, { u.low, u.high, u.coverage })
      record.time = "tsc" -- 100 ppm of 1000
      assert.near(1010.1, rfc2544.throughput(row, run).high, 1e-9)
      record.lost = 1
      assert.is_nil(rfc2544.throughput(row, run))
      record.lost, row.loss_tolerance_ratio = 0, 0.01
      assert.is_nil(rfc2544.throughput(row, run))
   end)

   it("knows no bound above where what was there before may have made a load fail", function()
      local row = { throughput_fps = 1000, upper_fps = 1010, loss_tolerance_ratio = 0, lower_trial = 1,
         upper_trial = 2, theoretical_fps = 5000, limited_by = "loss" }
      local passed, failed = { time = "wire-free", duration_s = 10, latency = { max_ns = 0 } }, {}
      local run = { trial = { passed, failed }, plan = PLAN }
      for delay_ns, bound in pairs { [2e9] = 1010, [2.1e9] = false } do
         failed.latency = { max_ns = delay_ns } -- the learning frames had 2 s
         assert.equal(bound or nil, rfc2544.throughput(row, run).high)
      end
   end)

   it("knows no bound above the highest load of the plan, and none is above the line", function()
      local row = { throughput_fps = 1000, loss_tolerance_ratio = 0, lower_trial = 1, theoretical_fps = 5000,
         limited_by = "maximum" }
      local record = { time = "wire-free", duration_s = 10, latency = { max_ns = 0 } }
      local run = { trial = { record }, plan = PLAN }
      assert.is_nil(rfc2544.throughput(row, run).high)
      row.theoretical_fps = 1000
      assert.equal(1000, rfc2544.throughput(row, run).high)
      run.trial[1].latency = nil -- and without delays nobody knows what the device still held
      local u = rfc2544.throughput(row, run)
      assert.same({ 0 }, { u.low })
      assert.is_nil(u.components[2].below)
   end)

   it("gives a share of losses the interval of Clopper and Pearson, and what the device held", function()
      local counts = { tx = 1000000, rx = 999997, lost = 3, loss_bursts = 3, latency = { max_ns = 2000 } }
      local u = components.loss_ratio(3e-6, counts, 1)
      assert.near(0.62e-6, u.low, 0.01e-6)
      assert.near(8.77e-6 + (2 + 1) / 1e6, u.high, 0.01e-6) -- 2 us at 1 Mfps are held, and a frame in service
      counts.rx, counts.lost, counts.loss_bursts, counts.latency.max_ns = 1000000, 0, 0, 900 -- no frame waits
      assert.near(2.996e-6, components.loss_ratio(0, counts, 1).high, 0.001e-6)
      counts.latency.max_ns = 5e6 -- a buffer may have taken in the whole of an overload
      assert.near(0.005, components.loss_ratio(0, counts, 1).high, 5e-6)
   end)

   it("claims nothing where losses come in groups", function()
      local function counts(bursts, series)
         return { tx = 100000, rx = 99000, lost = 1000, loss_bursts = bursts, series = series,
            latency = { max_ns = 0 } }
      end
      -- of 1,000 independent losses of 100,000 frames 990 runs are expected, with a deviation of 3
      assert.is_true(components.is_grouped(counts(100)))
      assert.is_false(components.is_grouped(counts(985)))
      assert.is_false(components.is_grouped(counts(1000)))
      assert.is_nil(components.loss_ratio(0.01, counts(100), 1))
      local even, half = { tx = {}, rx = {} }, { tx = {}, rx = {} }
      for i = 1, 20 do
         even.tx[i], even.rx[i] = 5000, 4950 + i % 3
         half.tx[i], half.rx[i] = 5000, i > 10 and 5000 or 4900 -- all in the first half
      end
      assert.is_false(components.is_grouped(counts(990, even)))
      assert.is_true(components.is_grouped(counts(990, half)))
   end)

   it("claims nothing of a mean delay whose blocks depend on each other", function()
      local function counts(delay)
         local series = { rx = {}, ftd_mean_ns = {} }
         for i = 1, 40 do
            series.rx[i], series.ftd_mean_ns[i] = 100, delay(i)
         end
         return { series = series, latency = { source = "wire", error_bound_ns = 1 } }
      end
      local apart = components.mean_delay(10, counts(function(i) return 10 + i * 7919 % 13 end), "wire-free")
      assert.equal("normal", apart.kind)
      assert.is_nil(components.mean_delay(10, counts(function(i) return 10 + i end), "wire-free"))
   end)

   it("lets a recovering device pass every other frame", function()
      local row = { recovery_mean_ns = 1e6, resolution_ns = 1000, repetitions = 1 }
      local u = rfc2544.recovery(row, { time = "wire-free" })
      assert.same({ 1e6, 1002000, 1 }, { u.low, u.high, u.coverage })
   end)

   it("is not known of a delay with an unknown share of the tester in it", function()
      local row = { frame_size = 64, repetitions = 20, latency_stddev_ns = 10, latency_mean_ns = 900,
         latency_corrected_mean_ns = 500,
         every_frame_latency = { source = "tsc", error_bound_ns = 100 } }
      local run = { trial = {}, time = "tsc", calibration = NOTHING_TO_CALIBRATE }
      assert.near(100 + 0.09, 900 - rfc2544.latency(row, run).low - 2.093 * 10 / math.sqrt(20), 0.01)
      run.calibration = { state = "missing", frame_sizes = {} }
      assert.is_nil(rfc2544.latency(row, run))
      assert.is_nil(rfc2544.latency_corrected(row, run))
      run.calibration = { state = "current", date = "2026-01-31T10:00:00Z", frame_sizes = {
         { frame_size = 64, latency_min_ns = 400, latency_mean_ns = 430 },
      } }
      local u = rfc2544.latency_corrected(row, run)
      -- the poll gap and the tester
      assert.near(100 + 30 + 0.05, 500 - u.low - 2.093 * 10 / math.sqrt(20), 0.01)
      assert.near(0.05, u.high - 500 - 2.093 * 10 / math.sqrt(20), 0.01)
   end)
end)

describe("the rates of a sustain phase", function()
   local samples = { 10, 12, 11, 9, 10, 12, 9, 11, 10, 12, 9, 11 }

   it("are as sure as the means of its samples", function()
      local u = components.mean_rate(10.5, samples, 0.5, "tsc")
      assert.same({ "normal", 0.95 }, { u.kind, u.coverage })
      -- Student's factor for 11 degrees of freedom, one of what is counted, and 100 ppm
      local s = stats.stddev(samples)
      assert.near(2.201 * s / math.sqrt(12) + 0.5 + 1.05e-3, u.high - 10.5, 1e-3)
   end)

   it("have no uncertainty where samples are few or drift", function()
      assert.is_nil(components.mean_rate(10.5, { 10, 11, 10, 11 }, 0.5))
      assert.is_nil(components.mean_rate(6, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 }, 0.5))
   end)

   it("have no upper bound where nothing above was tried", function()
      assert.same({ 5, 7 }, { components.searched(5, 7).low, components.searched(5, 7).high })
      assert.is_nil(components.searched(5).high)
      assert.is_nil(components.searched(nil, 7))
   end)
end)

-- devices of methods that take longer
local FEWER = { rfc2889 = 2, rfc9411 = 2, rfc9693 = 2 }

describe("uncertainties", function()
   -- Bounds that follow from the method hold for each device; of 95 % intervals a few in a hundred may miss.
   for _, name in ipairs(tables.keys(truth.METHODS)) do
      it("hold the truth as often as they claim: " .. name, function()
         local claimed, held, certain = 0, 0, name ~= "grouped_loss"
         for seed = 1, FEWER[name:match "^rfc%d+"] or 4 do
            for _, one in ipairs(truth.measure(name, seed)) do
               local holds = one.u and truth.holds(one)
               assert(not one.u or holds or one.u.coverage < 1, ("%s of device %d: %g"):format(one.what, seed,
                  one.value))
               claimed, held = claimed + (one.u and 1 or 0), held + (holds and 1 or 0)
            end
         end
         assert.equal(certain, claimed > 0)
         assert.is_true(held >= 0.85 * claimed, ("%d of %d"):format(held, claimed))
      end)
   end
end)
