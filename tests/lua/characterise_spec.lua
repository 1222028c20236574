-- SPDX-License-Identifier: BSD-3-Clause

-- Characterisation: the arithmetic against worked examples, and devices that are known.
local binomial = require "framegauge.trial.binomial"
local ethernet = require "framegauge.core.ethernet"
local identify = require "framegauge.methods.characterise.identify"
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local queue = require "framegauge.methods.characterise.queue"
local ranges = require "framegauge.methods.characterise.ranges"
local result_rows = require "framegauge.methods.characterise.result"
local result_schema = require "result_schema"
local scratch = require "scratch"
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

   it("that holds nothing up is a policer", function()
      local device = { cir_bps = 100e6, cbs_bytes = 16384, line_bps = 1e9 }
      local seen = { line_bps = 1e9, sizes = {} }
      for i, frame_size in ipairs { 64, 512, 1518 } do
         local at_rest = 5000 + 8 * frame_size
         seen.sizes[i] = {
            frame_size = frame_size, overloads = overloads(device, frame_size, { 0.1, 0.2, 0.4 }),
            rest = { min_ns = at_rest, max_ns = at_rest, error_ns = 1 }, overload_delay_ns = at_rest,
         }
      end
      local found = identify.direction(seen)
      assert.equal("policer", found.limit)
      assert.is_true(found.cir.min <= 100e6 and found.cir.max >= 100e6)
      assert.is_true(found.cbs.min <= 16384 and found.cbs.max >= 16384)
   end)

   it("is not forced on counts that contradict it", function()
      local seen = seen_of({ capacity_fps = 734000, buffer_frames = 512, line_bps = 1e9 }, { 64 })
      seen.sizes[1].overloads[2].rx = seen.sizes[1].overloads[2].rx + 1000
      local found = identify.direction(seen)
      assert.matches("contradict one rate and one buffer", found.remarks[1])
      assert.is_true(found.capacity.max - found.capacity.min > 1000)
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
   -- ways
   for _, number in ipairs { 2, 8, 12, 19, 40, 50, 75, 88, 94, 96 } do
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

   local device = "{rate: 1Gbps, capacity: 800kfps, bandwidth: 500Mbps, buffer: 64KiB, latency: 7us, "
      .. "latency_per_byte: 3ns, switching: cut-through, recovery: 40ms, reverse: {capacity: 300kfps, "
      .. "switching: store-and-forward, recovery: 0s, jitter: 20us}}"

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
   end)

   it("says with what a twin cannot be told", function()
      local text = twin.text({ { direction = "a->b", limit = "linear", buffer_unit = "frames",
         buffer = { frames = 5 }, both_ways = "shared", remarks = {} } }, "my\ndevice", 1e9)
      assert.matches("as my device did", text)
      assert.matches("a%->b: each frame takes a fixed time and one for each byte", text)
      assert.matches("a%->b: it forwards less when the other direction is loaded", text)
      assert.matches("\n  buffer: 5\n", text)
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
      local quarter, seen = (halved.rate == 1e8 and 1 or 0.3) / 4, 0 -- of a trial, seconds
      for _, one in ipairs(truth.measure(halved).predictions) do
         if one.load == "overload" then
            seen = seen + 1
            assert.near(quarter * ethernet.max_fps(halved.rate, one.frame_size) / 2, one.tx, 1)
         end
      end
      assert.is_true(seen > 0)
   end)

   it("refuses proof by what it was fitted to", function()
      assert.matches("plan:3:.*held_out%[2%]: 512 is among frame_sizes",
         errors_of "characterise: {held_out: [256, 512]}")
   end)

   it("names the line of a file for --on that is wrong", function()
      local _, list = plans.load_text("test: rfc2544\nports: {a: {device: \"kernel:x\"}, b: {device: "
         .. "\"kernel:y\"}}",
         "plan", { on = { name = "twin.yaml", text = "# so\nreference_device:\n  rate: 3\n" } })
      assert.matches("^twin.yaml:3:9: reference_device.rate", tostring(list[1]))
      _, list = plans.load_text("test: rfc2544\nports: {a: {device: wire0}, b: {device: wire1}}", "plan",
         { on = { name = "twin.yaml", text = "device: 1\n" } })
      assert.matches("twin.yaml: reference_device: missing there", tostring(list[1]))
   end)
end)
