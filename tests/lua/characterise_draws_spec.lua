-- SPDX-License-Identifier: BSD-3-Clause

-- Devices drawn at random that a characterisation with all keys at their defaults mistook once: no bound that
-- is certain may be false, and no word. characterise_campaign.lua draws more of each kind.
local identify = require "framegauge.methods.characterise.identify"
local prediction = require "framegauge.methods.characterise.prediction"
local truth = require "characterise_truth"

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

describe("the model of a device", function()
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
