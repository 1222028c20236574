-- SPDX-License-Identifier: BSD-3-Clause

--- What a method can have measured of its streams, against the device that did it.
local Tester = require "framegauge.tester"
local frame = require "framegauge.traffic.frame"
local measures = require "framegauge.tester.measures"
local octets = require "framegauge.core.octets"
local plans = require "framegauge.plan"

local PLAN = [[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: %s
rfc2544: {frame_sizes: [128]}
]]
local FRAMES, FPS = 20000, 100000

-- A stream of 20000 frames in 200 ms.
local function stream(tester, o)
   local made = frame.rfc2544(128, {
      version = 4, src_mac = octets.mac(tester.ports[1].mac), dst_mac = octets.mac(tester.ports[2].mac),
      src = octets.ipv4 "198.18.1.2", dst = octets.ipv4 "198.19.1.2", vary = {},
   })
   return {
      name = o.name or "one", from = "east", to = o.to or "west", frame = made, measure = o.measure,
      loads = { { fps = FPS, seconds = FRAMES / FPS } },
   }
end

-- A trial of streams. @return what was measured of the first, its counts, the whole
local function measure(device, ...)
   local plan, errors = plans.load_text(PLAN:format(device), "measures.yaml")
   assert(plan, errors and tostring(errors[1]))
   local tester, streams = assert(Tester.open(plan)), {}
   for i, o in ipairs { ... } do
      streams[i] = stream(tester, o)
   end
   local raw = tester:trial { streams = streams, learning_wait = 0, drain = 0.1, settle = 0 }
   tester:close()
   return raw.directions[1].measured, raw.directions[1], raw
end

describe("what is measured of a stream", function()
   it("is nothing where nothing is asked for", function()
      assert.is_nil((measure("{}", {})))
   end)

   it("is without fault on a path without fault", function()
      local m = measure("{latency: 20us}", { measure = { "variation", "payload" } })
      assert.same({ 0, 0, 0, 0, 0 },
         { m.duplicated, m.outage_max_ns, m.outage_by_loss_ns, m.corrupted, m.bit_errors })
      assert.equal(0, m.reordered_ratio)
      assert.is_nil(m.loss_burst_lengths)
      assert.is_nil(m.loss_burst_distances)
      assert.same({ 0, 0, 0, true }, { m.pdv_mean_ns, m.pdv_p999_ns, m.pdv_max_ns, m.pdv_enough_for_p999 })
      assert.same({ FRAMES - 1, 0, 0, 0, 0, 0, 0 }, {
         m.ipdv_count, m.ipdv_unknown, m.ipdv_min_ns, m.ipdv_p50_ns, m.ipdv_mean_ns, m.ipdv_max_ns,
         m.jitter_max_ns,
      })
      assert.is_nil(m.n_reordered)
      assert.is_nil(m.misdirected)
   end)

   it("tells bursts of loss by length and distance, and the outage they are", function()
      local m, counts = measure("{loss_every: 100, loss_run: 5}", { measure = {} })
      assert.equal(FRAMES * 0.95, counts.rx)
      assert.same({ 0, 0, FRAMES / 100 }, m.loss_burst_lengths)
      assert.same({ 0, 0, 0, 0, 0, 0, FRAMES / 100 - 1 }, m.loss_burst_distances)
      assert.equal(5, m.loss_burst_mean_frames)
      assert.near(5e9 / FPS, m.outage_max_ns, 1)
      assert.near(FRAMES * 0.05 * 1e9 / FPS, m.outage_by_loss_ns, 1)
      assert.is_nil(m.ipdv_count)
      assert.is_nil(m.corrupted)
   end)

   it("has an outage only within its error where no frame is lost, in real time, too", function()
      local m, counts = measure("{time: real}", { measure = {} })
      assert.equal(FRAMES, counts.rx)
      assert.equal(counts.latency.error_bound_ns, m.outage_error_ns)
      assert.is_true(m.outage_max_ns <= m.outage_error_ns + 1)
   end)

   it("has reordering in full", function()
      local m = measure("{reorder: {every: 50, by: 4}}", { measure = {} })
      assert.equal(1 / 50, m.reordered_ratio)
      -- an announcement went before, so that the last but one is the last held back: one can pass it
      local late = FRAMES / 50
      local mean = (4 * (late - 1) + 1) / late
      assert.same({ 4, mean, 0 },
         { m.reordering_extent_max_frames, m.reordering_extent_mean_frames,
            m.reordering_extent_unknown_frames })
      assert.same({ 4, mean }, { m.reordering_offset_max_frames, m.reordering_offset_mean_frames })
      assert.same({ 49, 50, 50, 50 },
         { m.reordering_run_mean_frames, m.reordering_gap_min_frames, m.reordering_gap_mean_frames,
            m.reordering_gap_max_frames })
      assert.near(50e9 / FPS, m.reordering_gap_mean_ns, 1)
      assert.same({ late, late - 1, late - 1, 0 },
         { m.n_reordered[1], m.n_reordered[3], m.n_reordered[4], m.n_reordered[5] })
   end)

   it("knows inverted bits and copies", function()
      local m, counts = measure("{corrupt: {every: 40, bits: 2, skip: 42, spare: 18}, duplicate: {every: 8}}",
         { measure = { "payload" } })
      assert.same({ FRAMES / 40, 2 * FRAMES / 40 }, { m.corrupted, m.bit_errors })
      assert.same({ FRAMES / 8, FRAMES / 8 }, { counts.duplicates, m.duplicated })
   end)

   it("has variation of delay in its three forms", function()
      local m, counts = measure("{jitter: {mean: 2us}}", { measure = { "variation" } })
      assert.equal(0, counts.reordered)
      assert.near(2000, m.pdv_mean_ns, 60)
      assert.near(4000, m.pdv_max_ns, 10)
      assert.near(3996, m.pdv_p999_ns, 10)
      assert.near(4000, m.ipdv_max_ns, 100)
      assert.near(-4000, m.ipdv_min_ns, 100)
      assert.near(0, m.ipdv_mean_ns, 1)
      assert.near(4000 / 3, m.ipdv_mean_magnitude_ns, 30)
      assert.near(4000 / 3, m.jitter_ns, 900)
      assert.is_true(m.ipdv_p001_ns < m.ipdv_p50_ns and m.ipdv_p50_ns < m.ipdv_p999_ns)
   end)

   it("says of each stream where else it arrived", function()
      local m, _, raw = measure("{}", { to = "east", measure = {} }, { name = "two", measure = {} })
      assert.same({ west = FRAMES }, m.misdirected)
      assert.is_nil(raw.directions[2].measured.misdirected)
      assert.equal(FRAMES, raw.directions[2].rx)
   end)

   it("is not made up", function()
      assert.error(function() measures.flags { "colour" } end)
   end)
end)

describe("frames of others", function()
   it("are counted by kind", function()
      local _, _, raw = measure("{corrupt: {every: 10, skip: 106}}", { measure = {} })
      local port = raw.ports[2]
      assert.equal(FRAMES / 10, port.foreign_by_kind.ipv4)
      local all = 0
      for _, frames in pairs(port.foreign_by_kind) do
         all = all + frames
      end
      assert.equal(port.unsolicited, all)
   end)
end)
