-- SPDX-License-Identifier: BSD-3-Clause
local devices = require "devices"
local outcome = require "framegauge.search.outcome"
local search = require "framegauge.search"
local binary = search.get "binary"

local FRAMES_PER_UNIT = devices.FRAMES_PER_UNIT
local device, loads = devices.device, devices.loads

local function traced(goal)
   return devices.traced(binary, goal)
end

describe("outcome of a trial", function()
   it("passes only when valid and within the tolerance, counted in whole frames", function()
      assert.equal("pass", outcome.of({ validity = "valid", tx = 1000, lost = 0 }, 0))
      assert.equal("loss", outcome.of({ validity = "valid", tx = 1000, lost = 1 }, 0))
      assert.equal("pass", outcome.of({ validity = "valid", tx = 1000, lost = 5 }, 0.005))
      assert.equal("loss", outcome.of({ validity = "valid", tx = 999, lost = 5 }, 0.005))
      assert.equal("tester", outcome.of({ validity = "tester-limited", tx = 1000, lost = 0 }, 0))
      assert.equal("invalid", outcome.of({ validity = "invalid", tx = 1000, lost = 0 }, 0))
   end)
end)

describe("search by name", function()
   it("knows its names", function()
      assert.same({ "binary", "mlr", "tst009" }, search.names())
      assert.has_error(function()
         search.get "guess"
      end)
   end)
end)

describe("binary search", function()
   it("finds 73.046875 % of a device of 73.4 % in nine trials", function()
      local result, trace = traced { device = device { capacity = 73.4 }, resolution = 0.5 }
      assert.same({ 100, 50, 75, 62.5, 68.75, 71.875, 73.4375, 72.65625, 73.046875 }, loads(trace))
      assert.equal(73.046875, result.load)
      assert.equal(73.4375, result.upper)
      assert.equal(9, result.trials)
      assert.equal("loss", result.limited_by)
   end)

   it("finds 73.33984375 % with a resolution of 0.1 in eleven trials", function()
      local result = traced { device = device { capacity = 73.4 }, resolution = 0.1 }
      assert.equal(73.33984375, result.load)
      assert.equal(11, result.trials)
   end)

   it("falls for a transient loss, as RFC 2544 has it", function()
      local honest, done = device { capacity = 73.4 }, false
      local result = traced {
         resolution = 0.5,
         device = function(load, seconds)
            local record = honest(load, seconds)
            if load == 71.875 and not done then
               done, record.lost = true, 12
            end
            return record
         end,
      }
      assert.equal(71.484375, result.load)
      assert.equal(71.875, result.upper)
   end)

   it("needs one trial when the maximum passes", function()
      local result = traced { device = device { capacity = 100 }, resolution = 0.5 }
      assert.equal(100, result.load)
      assert.is_nil(result.upper)
      assert.equal(1, result.trials)
      assert.equal("maximum", result.limited_by)
   end)

   it("takes 1 + ceil(log2(span / resolution)) trials otherwise", function()
      for _, case in ipairs { { 0.5, 9 }, { 0.1, 11 }, { 1, 8 }, { 0.05, 12 } } do
         assert.equal(case[2], traced { device = device { capacity = 31.4 }, resolution = case[1] }.trials)
      end
   end)

   it("decides by a trial of the final length", function()
      local result, trace = traced { device = device { capacity = 73.4 }, resolution = 0.5, final_trial = 60 }
      assert.equal(10, result.trials)
      assert.same({ 73.046875, 60, "confirm" }, { trace[10].load, trace[10].seconds, trace[10].phase })
      assert.equal(trace[10].record, result.lower_trial)
      assert.equal(trace[7].record, result.upper_trial)
      for i = 1, 9 do
         assert.same({ 1, "search" }, { trace[i].seconds, trace[i].phase })
      end
   end)

   it("steps back by the resolution when the final trial fails", function()
      local honest = device { capacity = 73.4 }
      local result, trace = traced {
         resolution = 0.5, final_trial = 60,
         device = function(load, seconds)
            local record = honest(load, seconds)
            record.lost = seconds == 60 and load > 73 and 1 or record.lost
            return record
         end,
      }
      assert.equal(73.046875 - 0.5, result.load)
      assert.equal(73.046875, result.upper)
      assert.equal(60, trace[#trace].seconds)
      assert.equal(11, result.trials)
   end)

   it("steps back by what it is told", function()
      local result, trace = traced {
         resolution = 0.5, final_trial = 60, backoff = 4,
         device = device { capacity = 60, buffer = 2 * FRAMES_PER_UNIT },
      }
      assert.equal(trace[10].load - 4, trace[11].load)
      assert.is_true(result.load <= 60 + 2 / 60 and result.load > 60 + 2 / 60 - 0.5)
   end)

   it("is not led far by a deep buffer that passes every short trial", function()
      local truth = 40 + 30 / 60
      local result = traced {
         resolution = 0.1, final_trial = 60,
         device = device { capacity = 40, buffer = 30 * FRAMES_PER_UNIT },
      }
      assert.is_true(result.load <= truth and truth - result.load <= 0.1)
      assert.is_true(result.trials < 30, result.trials .. " trials")
   end)

   it("climbs to the maximum when it starts below and the maximum passes", function()
      local result = traced { device = device { capacity = 100 }, resolution = 0.5, initial = 10 }
      assert.equal(100, result.load)
      assert.is_nil(result.upper)
   end)

   it("tests the minimum itself before it says that nothing passes", function()
      local result, trace = traced { device = device { capacity = 5 }, min = 10, resolution = 0.5 }
      assert.is_nil(result.load)
      assert.equal(10, result.upper)
      assert.equal(10, trace[#trace].load)
      result = traced { device = device { capacity = 10.1 }, min = 10, resolution = 0.5 }
      assert.equal(10, result.load)
   end)

   it("goes below the resolution until a load passes, when nothing else has", function()
      for _, final in ipairs { 1, 60 } do
         local result, trace = traced {
            device = device { capacity = 0.013 }, resolution = 0.1, final_trial = final,
         }
         assert.is_true(result.load <= 0.013 and result.load >= 0.013 / 2)
         assert.is_true(result.upper > 0.013 and result.upper <= 0.1)
         assert.equal(trace[#trace].record, result.lower_trial)
         assert.equal("loss", result.limited_by)
      end
   end)

   it("stays above the minimum, and at the resolution when something has passed", function()
      local result = traced { device = device { capacity = 0.3 }, min = 0.5, resolution = 1 }
      assert.is_nil(result.load)
      assert.equal(0.5, result.upper)
      result = traced { device = device { capacity = 0.3 }, resolution = 0.5 }
      assert.is_true(result.upper - result.load > 0.1)
   end)

   it("does not go below the resolution for a device that forwards nothing", function()
      local result, trace = traced { device = device { capacity = 0 }, resolution = 0.5 }
      assert.is_nil(result.load)
      assert.equal(9, #trace)
      assert.is_true(result.upper <= 0.5 and result.upper > 0.25)
   end)

   it("never offers less than a frame", function()
      local result, trace = traced {
         resolution = 0.5, search_trial = 0.1, final_trial = 1,
         device = function(load, seconds)
            local tx = math.floor(load * seconds * FRAMES_PER_UNIT + 0.5)
            assert.is_true(tx >= 1)
            return { validity = "valid", tx = tx, lost = math.ceil(tx / 2) }
         end,
      }
      assert.is_nil(result.load)
      assert.is_true(#trace < 30)
   end)

   it("accepts a relative resolution", function()
      local result = traced {
         device = device { capacity = 0.5 }, min = 0.001, resolution = 0.01, relative = true,
      }
      assert.is_true(result.load <= 0.5 and (result.upper - result.load) / result.upper <= 0.01)
   end)

   it("gives up at max_trials without calling an unconfirmed load an answer", function()
      local result = traced {
         device = device { capacity = 73.4 }, resolution = 0.5, final_trial = 60, max_trials = 9,
      }
      assert.is_nil(result.load)
      assert.equal("max_trials", result.limited_by)
      assert.equal(9, result.trials)
   end)

   it("says when the tester was the limit", function()
      local result = traced { device = device { capacity = 73.4, tester = 20 }, resolution = 0.5 }
      assert.equal("tester", result.limited_by)
      assert.is_true(result.load <= 20 and result.load > 19.5)
      assert.equal("tester-limited", result.upper_trial.validity)
   end)

   it("gives up, where told, on a tester that carries nothing", function()
      local goal = { device = device { capacity = 73.4, tester = 0 }, resolution = 0.001, give_up = 5 }
      local result, trace = traced(goal)
      assert.same({ 100, 50, 25, 12.5, 6.25 }, loads(trace))
      assert.same({ "tester", nil }, { result.limited_by, result.load })
      goal.device = device { capacity = 73.4, tester = 10 }
      assert.near(10, traced(goal).load, 0.001)
   end)

   it("does not blame the tester when the device is what bounds the answer", function()
      local result = traced { device = device { capacity = 30, tester = 40 }, resolution = 0.5 }
      assert.equal("loss", result.limited_by)
   end)

   it("takes a second look at a bound that a moment of the tester made", function()
      local honest, stolen = device { capacity = 73.4 }, false
      local result = traced {
         resolution = 0.5,
         device = function(load, seconds)
            local record = honest(load, seconds)
            if load == 71.875 and not stolen then
               stolen, record.validity = true, "tester-limited"
            end
            return record
         end,
      }
      assert.equal(73.046875, result.load)
      assert.equal("loss", result.limited_by)
   end)

   it("reports an invalid bound as invalid", function()
      local result = traced {
         resolution = 0.5,
         device = function(load)
            return { validity = load > 33 and "invalid" or "valid", tx = 100, lost = 0 }
         end,
      }
      assert.equal("invalid", result.limited_by)
   end)

   it("refuses goals that have no answer", function()
      for _, wrong in ipairs {
         { resolution = 0 }, { resolution = 1, min = 5, max = 4 }, { resolution = 0.01, relative = true },
      } do
         assert.has_error(function()
            traced(wrong)
         end)
      end
   end)
end)

local generator = devices.generator

local function random_goal(draw)
   local max = 10 ^ draw(-0.5, 2)
   local final = draw(0, 1) < 0.5 and 1 or 60
   local with_min = draw(0, 1) < 0.3
   return {
      max = max,
      min = with_min and max * draw(0.001, 0.2) or 0,
      resolution = max * 10 ^ draw(-3.5, -1),
      initial = draw(0, 1) < 0.2 and max * draw(0.3, 1) or nil,
      search_trial = 1,
      final_trial = final,
      backoff = draw(0, 1) < 0.2 and max * draw(0.001, 0.1) or nil,
      tolerance = draw(0, 1) < 0.2 and 0.005 or 0,
   }
end

local function passes(step, tolerance)
   return outcome.of(step.record, tolerance) == "pass"
end

local function never_contradicted(g, result, trace)
   local confirmed = result.load == nil
   for _, step in ipairs(trace) do
      local full = step.seconds >= g.final_trial
      if step.load == result.load and full and passes(step, g.tolerance) then
         confirmed = true
      end
      if full and result.load and step.load <= result.load then
         assert.is_true(passes(step, g.tolerance), "a full-length trial at or below the answer failed")
      end
      if step.load == result.upper and step.record == result.upper_trial then
         assert.is_false(passes(step, g.tolerance))
      end
   end
   assert.is_true(confirmed, "the answer has a passing full-length trial")
end

describe("binary search over devices", function()
   it("is within its resolution of the truth, whatever the device", function()
      local draw = generator(20250101)
      for _ = 1, 4000 do
         local g = random_goal(draw)
         local capacity = g.max * draw(0, 1.2)
         local buffer = draw(0, 1) < 0.5 and math.floor(draw(0, 5000)) or 0
         g.device = device { capacity = capacity, buffer = buffer }
         local result, trace = traced(g)

         local frame = 1 / FRAMES_PER_UNIT / g.final_trial
         local truth = math.min(g.max, (capacity + buffer * frame) / (1 - g.tolerance))
         local slack = 2 * frame / (1 - g.tolerance)
         if result.load then
            assert.is_true(result.load <= truth + slack)
            assert.is_true(result.load >= truth - g.resolution * (1 + 1e-6) - slack)
            assert.is_true(result.load == g.max or result.upper > result.load)
         else
            assert.is_true(truth <= g.min + slack)
         end
         never_contradicted(g, result, trace)
      end
   end)
end)
