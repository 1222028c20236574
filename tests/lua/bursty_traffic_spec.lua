-- SPDX-License-Identifier: BSD-3-Clause

--- Bursty traffic (RFC 2544 section 21): the search for the shortest interval, on made-up devices, and bursts
-- on the engine.
local Tester = require "framegauge.tester"
local one_test = require "one_test"
local plans = require "framegauge.plan"
local topology = require "framegauge.traffic.topology"
local trial = require "framegauge.trial"

local measure = one_test.measure

local function group(o)
   return setmetatable(o or {}, { __index = {
      burst_frames = { 16 }, search = "binary", limit = 0.1, resolution = 0.001, trial = 10,
      search_trial = 0.1,
   } })
end

local function key_of(ask)
   return ask.burst.interval_frames .. " " .. ask.duration
end

-- A device that loses a frame of bursts nearer to each other than a number of frame times.
local function needs(interval_frames, o)
   return setmetatable(o or {}, { __index = {
      rate = 1e9, capacity = 1e9, meddle = function(raw, ask)
         if ask.burst.interval_frames < interval_frames then
            raw.directions[1].rx = raw.directions[1].tx - 1
         end
      end,
   } })
end

describe("the search for an interval", function()
   it("ends at the very frame time, and tries no interval twice", function()
      local rows, tester = measure("bursty_traffic", group(), needs(37))
      local row = rows[1]
      assert.same({ 37, 36, "valid", 16 },
         { row.interval_frames, row.interval_failed_frames, row.validity, row.burst_frames })
      assert.near(37 / 1488095 * 1e9, row.interval_ns, 1e-3)
      assert.near(21 / 1488095 * 1e9, row.gap_ns, 1e-3)
      assert.near(16 / 37 * 1488095, row.load_mean_fps, 1e-3)
      local seen = {}
      for _, ask in ipairs(tester.asked) do
         assert.is_nil(seen[key_of(ask)])
         seen[key_of(ask)] = true
      end
      assert.equal(#tester.asked, row.trials)
   end)

   it("asks for whole intervals, so that the load is what it is said to be", function()
      local _, tester = measure("bursty_traffic", group(), needs(37))
      for _, ask in ipairs(tester.asked) do
         local intervals = ask.duration * 1488095 / ask.burst.interval_frames
         assert.near(math.floor(intervals + 0.5), intervals, 1e-6)
         assert.is_true(intervals > 1.5)
         assert.near(16 / ask.burst.interval_frames * 1488095, ask.fps, 1e-6)
      end
   end)

   it("finds no pause where the device carries the line", function()
      local row = measure("bursty_traffic", group(), needs(16))[1]
      assert.same({ 16, 0, 100 }, { row.interval_frames, row.gap_ns, row.load_mean_percent })
      assert.is_nil(row.interval_failed_frames)
   end)

   it("gives up at once where the longest interval is lost", function()
      local row, tester = unpack { measure("bursty_traffic", group(), needs(1e9)) }
      row = row[1]
      assert.is_nil(row.interval_frames)
      assert.same({ 16 + 148809, "valid", {} }, { row.interval_failed_frames, row.validity, row.reasons })
      assert.equal(2, #tester.asked)
   end)

   it("believes the trials of the full length, where the short ones pass", function()
      local device = needs(20)
      device.meddle = function(raw, ask)
         if ask.burst.interval_frames < (ask.duration > 1 and 30 or 20) then
            raw.directions[1].rx = raw.directions[1].tx - 1
         end
      end
      assert.equal(30, measure("bursty_traffic", group(), device)[1].interval_frames)
   end)

   it("looks again where the search verifies loss, and only then", function()
      local failed = {}
      local function once_each(raw, ask)
         local key = key_of(ask)
         if ask.burst.interval_frames < 37 or not failed[key] then
            failed[key] = true
            raw.directions[1].rx = raw.directions[1].tx - 1
         end
      end
      local options = {
         frame_sizes = { 64 }, bidirectional = false, throughput = { loss_verify_trials = 2 },
      }
      local row = measure("bursty_traffic", group { search = "tst009" }, needs(0, { meddle = once_each }),
         options)[1]
      assert.equal(37, row.interval_frames)
   end)

   it("is the tester's where the tester could not send so", function()
      local row = measure("bursty_traffic", group(), needs(16, { meddle = function(raw, ask)
         if ask.burst.interval_frames < 40 then
            raw.directions[1].late = 5
         end
      end }))[1]
      assert.same({ "tester-limited", 40 }, { row.validity, row.interval_frames })
      assert.matches("5 of", row.reasons[1])
   end)

   it("needs the rate of the line", function()
      local tests = require "framegauge.methods.rfc2544.tests"
      local plan = require "fake_plan" { tests = { "bursty_traffic" } }
      assert.matches("line rate of these ports is not known",
         tests.check(plan, { max_fps = function() end }))
   end)
end)

describe("a trial of bursts", function()
   it("has the load that the bursts come to, the pause behind the last one too", function()
      local direction = {
         name = "a->b", intended_frames = 32, tx = 32, rx = 32, tx_duration_ns = (100 + 15) * 1000,
      }
      local record = trial.record({ time = "tsc", directions = { direction }, ports = {} }, {
         fps = 16 / 100 * 1e6, seconds = 200e-6, burst = { frames = 16, interval_frames = 100 },
      })
      assert.near(160e3, record.offered_fps, 1e-6)
      assert.same({ "valid", { frames = 16, interval_frames = 100 } }, { record.validity, record.burst })
   end)

   it("gives each direction of a port one burst after the other", function()
      local turns = topology.turns({ "a->c", "a->d" }, { frames = 16, interval_frames = 100 })
      assert.same({ 0, 16, 200, 0.5 }, { turns[1].first, turns[1].take, turns[1].every, turns[1].share })
      assert.same({ 100, 16, 200 }, { turns[2].first, turns[2].take, turns[2].every })
   end)

   it("is sent by the engine as it was asked for", function()
      local plan = assert(plans.load_text([[
ports:
  a: {device: wire0, ipv4: 198.18.1.2/24, gateway: 198.18.1.1}
  b: {device: wire1, ipv4: 198.19.1.2/24, gateway: 198.19.1.1}
test: rfc2544
reference_device: {capacity: 500kfps, buffer: 40}
rfc2544: {frame_sizes: [64]}
]], "x.yaml"))
      local tester = assert(Tester.open(plan))
      local function lost(frames, interval_frames)
         local raw = tester:trial {
            frame_size = 64, directions = { "a->b" }, fps = 1488095 * frames / interval_frames,
            duration = 100 * interval_frames / 1488095, learning_wait = 0.01, drain = 0.01, settle = 0,
            burst = { frames = frames, interval_frames = interval_frames },
         }
         local direction = raw.directions[1]
         assert.equal(100 * frames, direction.tx)
         -- from the first frame of the first burst to the last frame of the last
         assert.near((99 * interval_frames + frames - 1) / 1488095 * 1e9, direction.tx_duration_ns, 2)
         return direction.tx - direction.rx
      end
      local ok, why = pcall(function()
         assert.equal(0, lost(32, 96)) -- 32 frames take the device 95.2 frame times
         assert.is_true(lost(32, 94) > 0)
         assert.equal(0, lost(60, 1000)) -- 39 of them wait at the most
         assert.is_true(lost(64, 1000) > 0)
      end)
      tester:close()
      assert(ok, why)
   end)
end)
