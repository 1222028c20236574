-- SPDX-License-Identifier: BSD-3-Clause
local Tester = require "fake_tester"
local fake_plan = require "fake_plan"
local loads = require "framegauge.traffic.loads"
local Session = require "framegauge.trial.session"
local throughput = require "framegauge.methods.rfc2544.throughput"

local function session(tester, plan, kept)
   return Session.new {
      tester = tester, retries = plan.rfc2544.retries, phases = plan.rfc2544,
      sink = function(record)
         kept[#kept + 1] = record
      end,
   }
end

local function measure(device, plan_options)
   local plan, rows, kept = fake_plan(plan_options), {}, {}
   local tester = Tester.new(device)
   local made = session(tester, plan, kept)
   for _, frame_size in ipairs(plan.rfc2544.frame_sizes) do
      throughput.measure(plan, tester, made, frame_size, rows)
   end
   return rows, kept, tester
end

local function fps(value)
   return { unit = "fps", value = value }
end

describe("a load", function()
   it("is a share, frames, or bits of a layer", function()
      assert.equal(500, loads.of_rate({ unit = "ratio", value = 0.5 }, 64, 1000))
      assert.is_nil(loads.of_rate({ unit = "ratio", value = 0.5 }, 64, nil))
      assert.equal(7, loads.of_rate(fps(7), 64, nil))
      assert.equal(1e9 / (8 * 84), loads.of_rate({ unit = "bps", value = 1e9, layer = 1 }, 64, nil))
      assert.equal(1e9 / (8 * 64), loads.of_rate({ unit = "bps", value = 1e9, layer = 2 }, 64, nil))
      assert.equal(1e9 / (8 * 46), loads.of_rate({ unit = "bps", value = 1e9, layer = 3 }, 64, nil))
   end)
end)

describe("a session", function()
   local ask = {
      frame_size = 64, fps = 1000, seconds = 1, directions = { "east->west" }, direction = "east->west",
   }

   it("repeats an invalid trial and keeps every attempt under its own number", function()
      local plan, kept = fake_plan(), {}
      local tester = Tester.new {
         rate = 1e9, capacity = 1e6,
         meddle = function(raw, _, n)
            raw.ports[1].link_changes = n < 3 and 1 or 0
         end,
      }
      local s = session(tester, plan, kept)
      local record = s:trial(ask)
      assert.same({ "valid", 3, 3 }, { record.validity, record.trial, #kept })
      assert.same({ "invalid", 1 }, { kept[1].validity, kept[1].trial })
      assert.same(kept, s.trials)
   end)

   it("gives an invalid trial back when every attempt was", function()
      local plan, kept = fake_plan { retries = 1 }, {}
      local tester = Tester.new {
         rate = 1e9, capacity = 1e6,
         meddle = function(raw)
            raw.directions[1].rx = raw.directions[1].tx + 1
         end,
      }
      assert.equal("invalid", session(tester, plan, kept):trial(ask).validity)
      assert.equal(2, #kept)
   end)

   it("passes the waits of the plan to the tester", function()
      local plan = fake_plan { learning_wait = 0.1, drain = 0.2, settle = 0.3 }
      local tester = Tester.new { rate = 1e9, capacity = 1e6 }
      session(tester, plan, {}):trial(ask)
      local asked = tester.asked[1]
      assert.same({ 0.1, 0.2, 0.3 }, { asked.learning_wait, asked.drain, asked.settle })
   end)
end)

describe("rfc2544.throughput", function()
   it("finds the capacity of the device in every frame size", function()
      local rows = measure { rate = 1e9, capacity = 734e3 }
      assert.equal(3, #rows)
      for i, theoretical in ipairs { 1488095, 234962, 81274 } do
         local row, truth = rows[i], math.min(734e3, theoretical)
         assert.same({ "both", theoretical, "valid" }, { row.direction, row.theoretical_fps, row.validity })
         assert.is_true(row.throughput_fps <= truth and row.throughput_fps >= truth - 1e-3 * theoretical)
         assert.equal(row.throughput_fps / theoretical * 100, row.throughput_percent)
      end
      assert.near(rows[1].throughput_fps * 84 * 8 / 1e6, rows[1].throughput_l1_mbps, 1e-9)
      assert.near(rows[1].throughput_fps * 64 * 8 / 1e6, rows[1].throughput_l2_mbps, 1e-9)
      assert.same({ 12, "loss" }, { rows[1].trials, rows[1].limited_by })
   end)

   it("publishes the line's maximum exactly when it passes", function()
      local rows = measure({ rate = 1e9, capacity = 1e9 }, { throughput = { trial = 1 } })
      for _, row in ipairs(rows) do
         assert.equal(row.theoretical_fps, row.throughput_fps)
         assert.same({ 100, 1, "maximum", "valid" }, { row.throughput_percent, row.trials, row.limited_by,
            row.validity })
         assert.is_nil(row.upper_fps)
      end
   end)

   it("measures one way when the plan says so, from the first port to the second", function()
      local rows, _, tester = measure({ rate = 1e9, capacity = { ["east->west"] = 5e5, ["west->east"] = 1 } },
         { bidirectional = false, frame_sizes = { 64 } })
      assert.same({ "east->west" }, tester.asked[1].directions)
      assert.equal("east->west", rows[1].direction)
      assert.near(5e5, rows[1].throughput_fps, 1489)
   end)

   it("is bounded by the weaker direction when both are loaded", function()
      local rows = measure({ rate = 1e9, capacity = { ["east->west"] = 5e5, ["west->east"] = 3e5 } },
         { frame_sizes = { 64 } })
      assert.near(3e5, rows[1].throughput_fps, 1489)
      assert.is_true(rows[1].throughput_fps <= 3e5)
   end)

   it("points to its deciding trials and carries the latency of the one that passed", function()
      local rows, kept = measure({ rate = 1e9, capacity = 734e3 }, { frame_sizes = { 64 } })
      local row = rows[1]
      assert.same({ 60, "confirm", row.throughput_fps }, {
         kept[row.lower_trial].duration_s, kept[row.lower_trial].phase, kept[row.lower_trial].intended_fps,
      })
      assert.equal(row.upper_fps, kept[row.upper_trial].intended_fps)
      assert.is_true(kept[row.upper_trial].lost > 0)
      assert.equal(kept[row.lower_trial].latency, row.latency)
      assert.same({
         late = 0, refused = 0, tester_drops = 0, lag_max_ns = 300, poll_gap_max_ns = 12000,
      }, row.evidence)
   end)

   it("says tester-limited, and why, when the tester is the bound", function()
      local rows = measure({ rate = 1e9, capacity = 9e5, tester = 2e5 }, { frame_sizes = { 64 } })
      assert.equal("tester-limited", rows[1].validity)
      assert.near(2e5, rows[1].throughput_fps, 1489)
      assert.matches("the tester was late", rows[1].reasons[1])
      assert.is_true(rows[1].evidence.late > 0)
   end)

   it("says invalid when trials stay invalid", function()
      local rows = measure({
         rate = 1e9, capacity = 9e5,
         meddle = function(raw, ask)
            raw.ports[2].link_changes = ask.fps > 1e5 and 1 or 0
         end,
      }, { frame_sizes = { 64 } })
      assert.equal("invalid", rows[1].validity)
      assert.matches("link changed", rows[1].reasons[1])
   end)

   it("reports a device that carries nothing as that", function()
      local rows = measure({ rate = 1e9, capacity = 0 }, { frame_sizes = { 64 } })
      assert.is_nil(rows[1].throughput_fps)
      assert.is_nil(rows[1].throughput_percent)
      assert.equal("valid", rows[1].validity)
      assert.is_true(rows[1].upper_fps <= 1489)
   end)

   it("takes loads in frames and bits, and never more than the line", function()
      local rows, _, tester = measure({ rate = 1e9, capacity = 1e9 },
         { throughput = { trial = 1, max = fps(100e3) }, frame_sizes = { 64, 1518 } })
      assert.same({ 100e3, 81274 }, { rows[1].throughput_fps, rows[2].throughput_fps })
      assert.same({ 100e3, 81274 }, { tester.asked[1].fps, tester.asked[2].fps })
   end)

   it("needs a maximum in frames or bits where the line rate is not known", function()
      local tester = Tester.new { capacity = 3e5 }
      assert.matches("line rate of these ports is not known", throughput.check(fake_plan(), tester))
      local options = { throughput = { max = fps(1e6), trial = 1 }, frame_sizes = { 64 } }
      assert.is_nil(throughput.check(fake_plan(options), tester))
      local rows = measure({ capacity = 3e5 }, options)
      assert.is_nil(rows[1].theoretical_fps)
      assert.is_nil(rows[1].throughput_percent)
      assert.equal(1000, rows[1].resolution_fps)
      assert.near(3e5, rows[1].throughput_fps, 1000)
   end)

   it("gives up at max_trials and says so", function()
      local rows = measure({ rate = 1e9, capacity = 5e5 },
         { frame_sizes = { 64 }, throughput = { max_trials = 3 } })
      assert.same({ "invalid", 3 }, { rows[1].validity, rows[1].trials })
      assert.matches("not done after 3 trials", rows[1].reasons[1])
   end)

   it("takes its search by name, and gives each the parameters it has", function()
      local rows, kept = measure({ rate = 1e9, capacity = 734e3 }, {
         frame_sizes = { 64 }, throughput = { search = "tst009", loss_verify_trials = 3 },
      })
      assert.near(734e3, rows[1].throughput_fps, 1488.1)
      assert.near(0, (rows[1].throughput_fps / 1488.095 + 0.5) % 1 - 0.5, 1e-6) -- a multiple of the step
      assert.same({ 1488095, 1488095, 1488095 },
         { kept[1].intended_fps, kept[2].intended_fps, kept[3].intended_fps })
      assert.is_true(kept[4].intended_fps < 1488095)
      assert.is_nil(rows[1].goal)
      rows, kept = measure({ rate = 1e9, capacity = 734e3 }, {
         frame_sizes = { 64 }, throughput = { search = "tst009", loss_verify_max = 1000 },
      })
      assert.is_true(kept[2].intended_fps < kept[1].intended_fps)
      assert.near(734e3, rows[1].throughput_fps, 1488.1)
   end)

   it("has a row for each goal of MLRsearch", function()
      local function goal(name, loss_ratio)
         return {
            name = name, final_trial = 1, initial_trial = 1, duration_sum = 21, loss_ratio = loss_ratio,
            exceed_ratio = 0.5, width = name == "pdr" and 0.005 or nil,
         }
      end
      local rows, kept = measure({ rate = 1e9, capacity = 734e3 }, {
         frame_sizes = { 64, 1518 },
         throughput = { search = "mlr", goals = { goal("ndr", 0), goal("pdr", 0.005) } },
      })
      assert.equal(4, #rows)
      local ndr, pdr = rows[1], rows[2]
      assert.same({ "ndr", 64, "pdr", 64, "ndr", 1518, "pdr", 1518 }, {
         ndr.goal, ndr.frame_size, pdr.goal, pdr.frame_size, rows[3].goal, rows[3].frame_size, rows[4].goal,
         rows[4].frame_size,
      })
      assert.is_true(ndr.throughput_fps <= 734001 and ndr.upper_fps > 734e3)
      assert.near(0.001, 1 - ndr.throughput_fps / ndr.upper_fps, 1e-9) -- width as the resolution
      assert.near(734e3 / 0.995, pdr.throughput_fps, 0.005 * pdr.upper_fps)
      assert.near(734e3, pdr.conditional_fps, 0.005 * pdr.upper_fps)
      assert.same({ ndr.throughput_fps, ndr.throughput_fps, true },
         { ndr.lower_fps, ndr.conditional_fps, ndr.regular })
      assert.same({ 0, 0.005, 1, 0.005 * pdr.upper_fps },
         { ndr.loss_tolerance_ratio, pdr.loss_tolerance_ratio, pdr.trial_s, pdr.resolution_fps })
      assert.same({ 81274, false, "maximum", "valid" },
         { rows[4].throughput_fps, rows[4].regular, rows[4].limited_by, rows[4].validity })
      assert.equal(#kept, ndr.trials + rows[3].trials)
      assert.equal(ndr.trials, pdr.trials)
      assert.equal(pdr.upper_fps, kept[pdr.upper_trial].intended_fps)
   end)

   it("says when the time for a search was up", function()
      local rows = measure({ rate = 1e9, capacity = 5e5 }, {
         frame_sizes = { 64 }, throughput = { search = "mlr", time_limit = 5 },
      })
      assert.equal("invalid", rows[1].validity)
      assert.matches("not done after 5 trials (rfc2544.throughput.time_limit)", rows[1].reasons[1], 1, true)
   end)
end)
