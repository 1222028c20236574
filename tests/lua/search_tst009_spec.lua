-- SPDX-License-Identifier: BSD-3-Clause
local devices = require "devices"
local search = require "framegauge.search"
local tst009 = search.get "tst009"

local device, loads = devices.device, devices.loads

local function traced(goal)
   return devices.traced(tst009, goal)
end

-- A device that is honest but for the trials named: by number, what becomes of them.
local function meddled(honest, changes)
   local n = 0
   return function(load, seconds)
      n = n + 1
      local record = honest(load, seconds)
      for key, value in pairs(changes[n] or {}) do
         record[key] = value
      end
      return record
   end
end

describe("binary search with loss verification", function()
   it("takes the nine trials of binary search when every loss is large", function()
      local _, trace = traced { device = device { capacity = 73.4 }, max_r = 2, z = 1000 }
      assert.same({ 100, 50, 75, 62.5, 68.75, 71.875, 73.4375, 73.4375, 72.65625, 73.046875 }, loads(trace))
      assert.equal(375, trace[7].record.lost) -- not more than z, so it was tried again
      local result
      result, trace = traced { device = device { capacity = 73.4 }, max_r = 2, z = 300 }
      assert.same({ 100, 50, 75, 62.5, 68.75, 71.875, 73.4375, 72.65625, 73.046875 }, loads(trace))
      assert.same({ 73.046875, 73.4375, 9, "loss" },
         { result.load, result.upper, result.trials, result.limited_by })
   end)

   it("tries a transient loss again and is not misled", function()
      local result, trace = traced {
         device = meddled(device { capacity = 73.4 }, { [6] = { lost = 12 } }), max_r = 2, z = 300,
      }
      assert.same({ 100, 50, 75, 62.5, 68.75, 71.875, 71.875, 73.4375, 72.65625, 73.046875 }, loads(trace))
      assert.equal(73.046875, result.load)
      assert.equal(10, result.trials)
   end)

   it("is binary search when a load gets one trial", function()
      local result = traced {
         device = meddled(device { capacity = 73.4 }, { [6] = { lost = 12 } }), max_r = 1,
      }
      assert.same({ 71.484375, 71.875 }, { result.load, result.upper })
   end)

   it("gives a load up after max_r trials, or at once when one lost more than z", function()
      for _, case in ipairs { { 3, nil, 3 }, { 3, 1e9, 3 }, { 3, 10, 1 }, { 1, nil, 1 } } do
         local _, trace = traced { device = device { capacity = 50 }, max_r = case[1], z = case[2] }
         local at_max = 0
         for _, step in ipairs(trace) do
            at_max = at_max + (step.load == 100 and 1 or 0)
         end
         assert.equal(case[3], at_max)
      end
   end)

   it("counts loss beyond the tolerance only", function()
      local result = traced { device = device { capacity = 50 }, tolerance = 0.1, resolution = 0.1 }
      assert.near(50 / 0.9, result.load, 0.1)
   end)

   it("verifies the confirmation too", function()
      local honest, losses = device { capacity = 73.4 }, 0
      local result, trace = traced {
         final_trial = 60, z = 300,
         device = function(load, seconds)
            local record = honest(load, seconds)
            if seconds == 60 and losses == 0 then
               losses, record.lost = 1, 12
            end
            return record
         end,
      }
      assert.equal(73.046875, result.load)
      assert.same({ 60, 60 }, { trace[#trace - 1].seconds, trace[#trace].seconds })
      assert.equal(trace[#trace].record, result.lower_trial)
   end)

   it("rounds its loads to the step, but keeps the ends", function()
      for _, capacity in ipairs { 3.3, 41.7, 73.4, 99.9 } do
         local result, trace = traced {
            device = device { capacity = capacity }, min = 0.2, max = 100.1, resolution = 0.5, step = 0.5,
         }
         for i, step in ipairs(trace) do
            assert.is_true(i == 1 or step.load == 0.2 or step.load == 100.1 or step.load % 0.5 == 0)
         end
         assert.equal(math.floor(capacity / 0.5) * 0.5, result.load)
         assert.is_true(result.upper - result.load <= 0.5)
      end
   end)

   it("steps back to a step", function()
      local result = traced {
         device = device { capacity = 60, buffer = 2 * devices.FRAMES_PER_UNIT },
         resolution = 0.5, step = 0.5, final_trial = 60, backoff = 0.7,
      }
      assert.equal(0, result.load % 0.5)
      assert.is_true(result.load <= 60 + 2 / 60)
   end)

   it("does not charge the device with a trial the tester spoilt", function()
      local spoilt = { validity = "tester-limited" }
      local result = traced {
         device = meddled(device { capacity = 100 }, { [1] = { lost = 5 }, [2] = spoilt, [3] = spoilt }),
         resolution = 50, max_r = 2,
      }
      -- 100 lost, then the tester failed twice: the load is tested again at the end, and passes
      assert.equal(100, result.load)
      result = traced {
         device = function(load, seconds)
            local record = device { capacity = 100 }(load, seconds)
            record.validity = load > 60 and "tester-limited" or "valid"
            return record
         end,
      }
      assert.equal("tester", result.limited_by)
      assert.equal("tester-limited", result.upper_trial.validity)
   end)

   it("takes as many trials, and errs as often, as the theory says", function()
      local draw = devices.generator(7)
      for _, case in ipairs { { 0.1, 2 }, { 0.3, 2 }, { 0.3, 3 } } do
         local q, m, runs, trials, wrong = case[1], case[2], 20000, 0, 0
         for _ = 1, runs do
            local result = traced {
               max_r = m, resolution = 100, min = 1,
               device = function(load)
                  local struck = load == 100 and draw(0, 1) < q
                  return { validity = "valid", tx = 1000, lost = struck and 1 or 0 }
               end,
            }
            local at_max = result.load == 100 and result.trials or m
            trials, wrong = trials + at_max, wrong + (result.load == 100 and 0 or 1)
         end
         assert.near((1 - q ^ m) / (1 - q), trials / runs, 0.02)
         assert.near(q ^ m, wrong / runs, 0.01)
      end
   end)

   it("refuses less than one trial a load", function()
      assert.has_error(function()
         traced { device = device { capacity = 1 }, max_r = 0 }
      end)
   end)
end)
