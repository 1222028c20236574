-- SPDX-License-Identifier: BSD-3-Clause

-- Devices drawn at random that a characterisation with all keys at their defaults mistook once: no bound that
-- is certain may be false, and no word. characterise_campaign.lua draws more of each kind.
local delays = require "framegauge.methods.characterise.delays"
local identify = require "framegauge.methods.characterise.identify"
local parameters = require "framegauge.methods.characterise.parameters"
local plans = require "framegauge.plan"
local prediction = require "framegauge.methods.characterise.prediction"
local queue = require "framegauge.methods.characterise.queue"
local truth = require "characterise_truth"
local twin = require "framegauge.methods.characterise.twin"

local function check(device, results)
   for _, row in ipairs(results.characterisation) do
      assert.equal("valid", row.validity)
      for _, one in ipairs(truth.checks(device, row)) do
         assert.is_true(one.holds, ("%s of %s: %s, found %s, %s to %s"):format(one.what, device.text,
            tostring(one.truth), tostring(one.found), tostring(one.low), tostring(one.high)))
      end
   end
   for _, one in ipairs(results.predictions) do
      assert.is_true(one.holds, ("%s: %d bytes, %s"):format(device.text, one.frame_size, one.load))
   end
end

describe("a policer with a large bucket", function()
   for _, number in ipairs { 1, 2, 3, 4, 5, 6 } do
      it(("is found, number %d"):format(number), function()
         local device = truth.policer(number)
         local results = truth.measure(device)
         check(device, results)
         assert.equal("policer", results.characterisation[1].limit)
      end)
   end

   it("is no line where its bucket lasts nearly as long as the longest overload", function()
      -- of 1518 bytes 987 Mbit/s come, and empty it within 0.181 s; 0.18 s is the longest of the others
      local results = truth.measure({}, [[
ports: {east: {device: wire0}, west: {device: wire1}}
test: characterise
reference_device: {rate: 1Gbps, latency: 20us, profiles: {all: {cir: 3Mbps, cbs: 22263000}}}
characterise: {frame_sizes: [1518], held_out: [1024], trial: 200ms, longest: 200ms, rest: 50ms, watch: 50ms,
   bidirectional: false}
]])
      local row = results.characterisation[1]
      assert.same({ "unclear" }, { row.limit, row.capacity, row.bandwidth })
      assert.matches("1518 bytes: only an overload of 200 ms lost frames.*raise characterise.longest",
         row.remarks[1])
      assert.same({}, results.predictions)
   end)
end)

describe("a device with jitter", function()
   -- of each distribution; normal ones with deviations of 0.1 to 0.5 of their mean
   for _, number in ipairs { 6, 11, 22, 25, 39, 50 } do
      it(("has its latency within the bounds, number %d"):format(number), function()
         local device = truth.jittery(number)
         check(device, (truth.measure(device)))
      end)
   end

   -- a uniform one, evenly spread; a normal one; one that falls from its end
   it("has a lower bound only where its delays have an end", function()
      local function end_of(p50, p99, max)
         return select(2, parameters.shortest_error { min_ns = 1000, mean_ns = 2000, p50_ns = p50,
            p99_ns = p99, max_ns = max, error_ns = 1, tx = 10000, lost = 0 })
      end
      assert.same({ true, false, true }, { end_of(2000, 2980, 3000), end_of(2000, 2580, 3000),
         end_of(1690, 5600, 10000) })
   end)
end)

describe("the kind of switching", function()
   -- What is found of delays at rest that grow by some ns with each byte, between lines of 8 ns a byte.
   local function found(growth, jitter_error_ns)
      local out, sizes = { remarks = {} }, {}
      for i, frame_size in ipairs { 64, 512, 1518 } do
         sizes[i] = { frame_size = frame_size, rest = { min_ns = 5000 + growth * frame_size, error_ns = 2,
            jitter_error_ns = jitter_error_ns } }
      end
      delays.add(out, sizes, 1e9)
      return out
   end

   it("is told where the growth of the delay leaves one kind alone", function()
      for _, one in ipairs { { 8, 0, "store-and-forward" }, { 7.9, 0, "cut-through" }, { 12, 0,
         "store-and-forward" }, { 12, 750, "store-and-forward" }, { 0.4, 750, "cut-through" },
         { 8, 750, "unclear" }, { 0.4, 12000, "unclear" } } do
         assert.equal(one[3], found(one[1], one[2]).switching)
      end
   end)

   it("is open where either explains it, and the bounds hold both devices", function()
      local out = found(8, 750)
      assert.matches("grows by 7.%d+ to 8.%d+ ns with each byte, and 8 ns are the line's", out.remarks[1])
      assert.is_true(out.latency_per_byte.min == 0 and out.latency_per_byte.max >= 8)
      assert.is_true(out.latency.min <= 5000 - 14 * 8 and out.latency.max >= 5000)
      local text = twin.text({ { direction = "a->b", switching = out.switching, remarks = {} } }, "it", 1e9)
      assert.matches("whether it stores frames is not told.*\n  switching: cut%-through\n", text)
   end)
end)

describe("the model of a device", function()
   it("may lose all frames after one that found the buffer full, for so long as it recovers", function()
      local device = { capacity_fps = 1000, buffer_frames = 9, line_bps = 1e9, recovery_s = 0.1 }
      -- at 1100 frames/s the buffer is full after 91 ms
      assert.near(5 * 110, queue.pass(device, 64, { { fps = 1100, seconds = 1 } }).rx, 15)
      device.recovery_s = nil
      assert.near(1009, queue.pass(device, 64, { { fps = 1100, seconds = 1 } }).rx, 1)
   end)

   it("has no bounds where it is refused", function()
      local results = truth.measure({}, [[
ports: {east: {device: wire0}, west: {device: wire1}}
test: characterise
reference_device: {rate: 10Mbps, latency: 20us, bandwidth: 7742kbps, buffer: 7533B, recovery: 56ms}
characterise: {bidirectional: false, learning_wait: 1ms, settle: 0}
]])
      local row = results.characterisation[1]
      assert.equal("other", row.limit)
      for _, key in ipairs { "capacity", "bandwidth", "buffer", "buffer_memory", "counted", "recovery" } do
         assert.is_nil(row[key], key)
      end
      assert.matches("1518 bytes: overloads of different length contradict", table.concat(row.remarks))
      assert.same({}, results.predictions)
   end)

   it("has a verdict for a direction that was measured when the run is interrupted", function()
      local first
      local results = truth.measure({}, [[
ports: {east: {device: wire0}, west: {device: wire1}}
test: characterise
reference_device: {rate: 10Mbps, latency: 20us}
characterise: {frame_sizes: [64], held_out: [128], trial: 20ms, longest: 20ms, rest: 20ms, watch: 20ms,
   learning_wait: 1ms, settle: 0}
]], function(record)
         first = first or record.direction
         assert(record.direction == first, "interrupted")
      end)
      assert.equal(1, #results.characterisation)
      assert.equal("valid", results.characterisation[1].validity)
   end)

   it("is no line where one overload lost frames, whatever others carried", function()
      local seen = { line_bps = 1e9, sizes = {
         { frame_size = 64, overloads = {}, carried_fps = 1488095 },
         { frame_size = 1518, overloads = { { seconds = 1, rx = 70000, slack = 0.01 } } },
      } }
      local found = identify.direction(seen)
      assert.same({ "unclear" }, { found.limit, found.capacity, found.bandwidth })
   end)

   it("is held against an overload as long as any that it was fitted to", function()
      local c = {
         direction = "a->b", plan = { characterise = { held_out = { 256, 1024 }, trial = 1 } },
         line_bps = 1e7, longest = 4, max_fps = function() return 1000 end,
      }
      function c.make(_, _, o)
         local tx = 0
         for _, load in ipairs(o.loads) do
            tx = tx + load.fps * load.seconds
         end
         return { trial = 1, validity = "valid", reasons = {},
            directions = { { direction = "a->b", tx = tx, rx = tx } } }
      end
      local rows = {}
      prediction.make(c, { direction = "a->b", limit = "line", jitter = "none" }, rows)
      assert.same({ 250, 4000 }, { rows[1].tx, rows[3].tx })
      assert.same({ "overload", 1024, "overload" }, { rows[1].load, rows[3].frame_size, rows[3].load })
   end)
end)

describe("a plan of a characterisation", function()
   local function load(group)
      local plan, errors = plans.load_text("ports: {a: {device: wire0}, b: {device: wire1}}\n"
         .. "test: characterise\ncharacterise: " .. group, "plan")
      return plan and plan.characterise, errors and tostring(errors[1])
   end

   it("holds out sizes that frame_sizes does not have where it names none", function()
      assert.same({ 256, 1024 }, load("{frame_sizes: [64, 1518]}").held_out)
      assert.same({ 768, 1024 }, load("{frame_sizes: [64, 256, 1518]}").held_out)
      assert.same({ 72, 80 }, load("{frame_sizes: [256, 384, 768, 1024]}").held_out)
      assert.matches("held_out%[1%]: 256 is among frame_sizes", select(2,
         load "{frame_sizes: [64, 256], held_out: [256]}"))
   end)

   it("overloads with no more than the line", function()
      assert.matches('characterise.max: "150%%" is out of range', select(2, load "{max: 150%}"))
   end)
end)
