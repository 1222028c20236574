-- SPDX-License-Identifier: BSD-3-Clause
local search = require "framegauge.search"
local outcome = require "framegauge.search.outcome"
local binary = search.get "binary"

-- A device with a capacity and a buffer; loads are percent, a percent is 10,000 frames per second.
local FRAMES_PER_UNIT = 10000

local function device(o)
   return function(load, seconds)
      local tx = math.floor(load * FRAMES_PER_UNIT * seconds + 0.5)
      local carried = math.floor(o.capacity * FRAMES_PER_UNIT * seconds + 0.5) + (o.buffer or 0)
      local record = { verdict = "valid", tx = tx, lost = math.max(0, tx - carried) }
      if o.tester and load > o.tester then
         record.verdict = "tester-limited"
      end
      return record
   end
end

local function goal(o)
   local defaults = { min = 0, max = 100, tolerance = 0, search_trial = 1, final_trial = 1 }
   return setmetatable(o, { __index = defaults })
end

--- Run a search and keep what it asked for.
local function traced(o)
   local trace, trial = {}, o.trial
   o.trial = function(load, seconds, phase)
      local record = trial(load, seconds, phase)
      trace[#trace + 1] = { load = load, seconds = seconds, phase = phase, record = record }
      return record
   end
   return binary.run(goal(o)), trace
end

local function loads(trace)
   local list = {}
   for i, step in ipairs(trace) do
      list[i] = step.load
   end
   return list
end

describe("outcome of a trial", function()
   it("passes only when valid and within the tolerance, counted in whole frames", function()
      assert.equal("pass", outcome.of({ verdict = "valid", tx = 1000, lost = 0 }, 0))
      assert.equal("loss", outcome.of({ verdict = "valid", tx = 1000, lost = 1 }, 0))
      assert.equal("pass", outcome.of({ verdict = "valid", tx = 1000, lost = 5 }, 0.005))
      assert.equal("loss", outcome.of({ verdict = "valid", tx = 999, lost = 5 }, 0.005))
      assert.equal("tester", outcome.of({ verdict = "tester-limited", tx = 1000, lost = 0 }, 0))
      assert.equal("invalid", outcome.of({ verdict = "invalid", tx = 1000, lost = 0 }, 0))
   end)
end)

describe("search by name", function()
   it("knows its names", function()
      assert.same({ "binary" }, search.names())
      assert.has_error(function()
         search.get "guess"
      end)
   end)
end)

describe("binary search", function()
   it("finds 73.046875 % of a device of 73.4 % in nine trials", function()
      local result, trace = traced { trial = device { capacity = 73.4 }, resolution = 0.5 }
      assert.same({ 100, 50, 75, 62.5, 68.75, 71.875, 73.4375, 72.65625, 73.046875 }, loads(trace))
      assert.equal(73.046875, result.load)
      assert.equal(73.4375, result.upper)
      assert.equal(9, result.trials)
      assert.equal("loss", result.limited_by)
   end)

   it("finds 73.33984375 % with a resolution of 0.1 in eleven trials", function()
      local result = traced { trial = device { capacity = 73.4 }, resolution = 0.1 }
      assert.equal(73.33984375, result.load)
      assert.equal(11, result.trials)
   end)

   it("falls for a transient loss, as RFC 2544 has it", function()
      local honest, done = device { capacity = 73.4 }, false
      local result = traced {
         resolution = 0.5,
         trial = function(load, seconds)
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
      local result = traced { trial = device { capacity = 100 }, resolution = 0.5 }
      assert.equal(100, result.load)
      assert.is_nil(result.upper)
      assert.equal(1, result.trials)
      assert.equal("maximum", result.limited_by)
   end)

   it("takes 1 + ceil(log2(span / resolution)) trials otherwise", function()
      for _, case in ipairs { { 0.5, 9 }, { 0.1, 11 }, { 1, 8 }, { 100, 1 }, { 0.05, 12 } } do
         local g = { trial = device { capacity = 31.4 }, resolution = case[1] }
         assert.same({ search = 0, final = case[2] }, binary.expect(goal { resolution = case[1] }))
         if case[2] > 1 then
            assert.equal(case[2], traced(g).trials)
         end
      end
      assert.same({ search = 11, final = 1 }, binary.expect(goal { resolution = 0.1, final_trial = 60 }))
      assert.same({ search = 11, final = 1 },
         binary.expect(goal { resolution = 0.001, relative = true, min = 1, final_trial = 60 }))
   end)

   it("decides by a trial of the final length", function()
      local result, trace = traced { trial = device { capacity = 73.4 }, resolution = 0.5, final_trial = 60 }
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
         trial = function(load, seconds)
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
         trial = device { capacity = 60, buffer = 2 * FRAMES_PER_UNIT },
      }
      assert.equal(trace[10].load - 4, trace[11].load)
      assert.is_true(result.load <= 60 + 2 / 60 and result.load > 60 + 2 / 60 - 0.5)
   end)

   it("is not led far by a deep buffer that passes every short trial", function()
      local truth = 40 + 30 / 60
      local result = traced {
         resolution = 0.1, final_trial = 60,
         trial = device { capacity = 40, buffer = 30 * FRAMES_PER_UNIT },
      }
      assert.is_true(result.load <= truth and truth - result.load <= 0.1)
      assert.is_true(result.trials < 30, result.trials .. " trials")
   end)

   it("climbs to the maximum when it starts below and the maximum passes", function()
      local result = traced { trial = device { capacity = 100 }, resolution = 0.5, initial = 10 }
      assert.equal(100, result.load)
      assert.is_nil(result.upper)
   end)

   it("tests the minimum itself before it says that nothing passes", function()
      local result, trace = traced { trial = device { capacity = 5 }, min = 10, resolution = 0.5 }
      assert.is_nil(result.load)
      assert.equal(10, result.upper)
      assert.equal(10, trace[#trace].load)
      result = traced { trial = device { capacity = 10.1 }, min = 10, resolution = 0.5 }
      assert.equal(10, result.load)
   end)

   it("never offers a load of zero", function()
      local result, trace = traced { trial = device { capacity = 0 }, resolution = 0.5 }
      assert.is_nil(result.load)
      for _, step in ipairs(trace) do
         assert.is_true(step.load > 0)
      end
      assert.is_true(result.upper <= 0.5)
   end)

   it("accepts a relative resolution", function()
      local result = traced {
         trial = device { capacity = 0.5 }, min = 0.001, resolution = 0.01, relative = true,
      }
      assert.is_true(result.load <= 0.5 and (result.upper - result.load) / result.upper <= 0.01)
   end)

   it("gives up at max_trials without calling an unconfirmed load an answer", function()
      local result = traced {
         trial = device { capacity = 73.4 }, resolution = 0.5, final_trial = 60, max_trials = 9,
      }
      assert.is_nil(result.load)
      assert.equal("max_trials", result.limited_by)
      assert.equal(9, result.trials)
   end)

   it("says when the tester was the limit", function()
      local result = traced { trial = device { capacity = 73.4, tester = 20 }, resolution = 0.5 }
      assert.equal("tester", result.limited_by)
      assert.is_true(result.load <= 20 and result.load > 19.5)
      assert.equal("tester-limited", result.upper_trial.verdict)
   end)

   it("does not blame the tester when the device is what bounds the answer", function()
      local result = traced { trial = device { capacity = 30, tester = 40 }, resolution = 0.5 }
      assert.equal("loss", result.limited_by)
   end)

   it("takes a second look at a bound that a moment of the tester made", function()
      local honest, stolen = device { capacity = 73.4 }, false
      local result = traced {
         resolution = 0.5,
         trial = function(load, seconds)
            local record = honest(load, seconds)
            if load == 71.875 and not stolen then
               stolen, record.verdict = true, "tester-limited"
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
         trial = function(load)
            return { verdict = load > 33 and "invalid" or "valid", tx = 100, lost = 0 }
         end,
      }
      assert.equal("invalid", result.limited_by)
   end)

   it("refuses goals that have no answer", function()
      for _, wrong in ipairs {
         { resolution = 0 }, { resolution = 1, min = 5, max = 4 }, { resolution = 0.01, relative = true },
      } do
         assert.has_error(function()
            binary.run(goal(wrong))
         end)
      end
   end)
end)

-- Devices made from one seed; the generator is written out so that every machine draws the same ones.
local function generator(seed)
   local state = seed
   return function(low, high)
      state = (state * 16807) % 2147483647
      return low + (high - low) * (state / 2147483647)
   end
end

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
         g.trial = device { capacity = capacity, buffer = buffer }
         local result, trace = traced(g)

         local frame = 1 / FRAMES_PER_UNIT / g.final_trial
         local truth = math.min(g.max, (capacity + buffer * frame) / (1 - g.tolerance))
         local slack = 2 * frame / (1 - g.tolerance)
         if result.load then
            assert.is_true(result.load <= truth + slack)
            assert.is_true(result.load >= truth - g.resolution * (1 + 1e-6) - slack)
            assert.is_true(result.load == g.max or result.upper > result.load)
         else
            assert.is_true(truth <= math.max(g.min, g.resolution) + slack)
         end
         never_contradicted(g, result, trace)
      end
   end)
end)
