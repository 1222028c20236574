-- SPDX-License-Identifier: BSD-3-Clause
local devices = require "devices"
local search = require "framegauge.search"
local mlr = search.get "mlr"

local function goal(name, final, sum, loss, exceed, o)
   o = o or {}
   return {
      name = name, final_trial = final, duration_sum = sum, loss_ratio = loss, exceed_ratio = exceed,
      width = o.width or 0.005, initial_trial = o.initial,
   }
end

-- The worked device: no loss up to 8 Mfps, then a little, and never more than 10 Mfps forwarded; on a line of
-- 10 Gbit/s.
local MAX = 14.880952e6

local function worked(load, seconds)
   local mfps = load / 1e6
   local loss = mfps <= 8 and 0 or math.max(0.001 * (mfps - 8), 1 - 10 / mfps)
   local tx = math.floor(load * seconds + 0.5)
   return { validity = "valid", tx = tx, lost = tx - math.floor(tx * (1 - loss)) }
end

local function ndr_and_pdr(final, sum, exceed, initial)
   local o = { initial = initial }
   return { goal("ndr", final, sum, 0, exceed, o), goal("pdr", final, sum, 0.005, exceed, o) }
end

local function traced(o)
   o.max = o.max or MAX
   return devices.traced(mlr, o)
end

local function mfps(list)
   local out = {}
   for i, load in ipairs(list) do
      out[i] = ("%.4f"):format(load / 1e6)
   end
   return table.concat(out, " ")
end

describe("MLRsearch of the worked device", function()
   it("makes the 20 trials of the example", function()
      local result, trace = traced { device = worked, goals = ndr_and_pdr(1, 1, 0) }
      assert.equal("14.8810 10.0000 9.9500 9.8507 9.6552 9.2757 8.5608 7.2921 7.9010 8.2243 8.0611 7.9807 8.0208 13.7823 11.7398 10.8350 10.4092 10.2025 10.1008 10.0503", mfps(devices.loads(trace)))
      local ndr, pdr = result.goals[1], result.goals[2]
      assert.equal("7.9807 7.9807 10.0000 9.9800",
         mfps { ndr.load, ndr.conditional, pdr.load, pdr.conditional })
      assert.same({ "ndr", true, "loss", 20 }, { ndr.name, ndr.regular, ndr.limited_by, ndr.trials })
      assert.same({ ndr.load, "pdr" }, { result.load, result.goals[2].name })
   end)

   it("makes 144 trials at 14 loads with a sum of 21 s and an exceed ratio of one half", function()
      local result, trace = traced { device = worked, goals = ndr_and_pdr(1, 21, 0.5), preceding = 0 }
      local at, loads = {}, 0
      for _, step in ipairs(trace) do
         loads = loads + (at[step.load] and 0 or 1)
         at[step.load] = (at[step.load] or 0) + 1
      end
      assert.same({ 144, 14, 1 }, { #trace, loads, at[MAX] })
      local ndr, pdr = result.goals[1], result.goals[2]
      assert.equal("7.9807 10.0000 10.0503", mfps { ndr.load, pdr.load, pdr.upper })
      assert.is_true(ndr.regular and pdr.regular)
   end)

   it("comes near by preceding targets before it pays for long sums and long trials", function()
      local result, trace = traced { device = worked, goals = ndr_and_pdr(1, 21, 0.5) }
      assert.equal(60, #trace)
      assert.equal("7.9807 10.0000", mfps { result.goals[1].load, result.goals[2].load })
      local again, steps, seconds = traced { device = worked, goals = ndr_and_pdr(60, 60, 0, 1) }
      assert.same({ 24, 169 }, { #steps, math.floor(seconds + 0.5) })
      assert.equal("7.9807 10.0000", mfps { again.goals[1].load, again.goals[2].load })
   end)

   it("finds the same in whatever order the goals are given", function()
      local one = traced { device = worked, goals = ndr_and_pdr(1, 21, 0.5) }
      local goals = ndr_and_pdr(1, 21, 0.5)
      goals[1], goals[2] = goals[2], goals[1]
      local other, trace = traced { device = worked, goals = goals }
      assert.same({ one.goals[1].load, one.goals[2].load }, { other.goals[2].load, other.goals[1].load })
      assert.equal("pdr", other.goals[1].name)
      assert.equal(one.trials, #trace)
   end)

   it("takes a third of the time of two binary searches of 60 s trials, for the same precision", function()
      local binary_seconds = 0
      for _, tolerance in ipairs { 0, 0.005 } do
         local result, trace, seconds = devices.traced(search.get "binary", {
            device = worked, max = MAX, resolution = 0.005 * MAX, tolerance = tolerance, search_trial = 60,
            final_trial = 60,
         })
         assert.equal(tolerance == 0 and "7.9636" or "9.9981", mfps { result.load })
         assert.equal(9, #trace)
         binary_seconds = binary_seconds + seconds
      end
      assert.equal(18 * 60, binary_seconds)
      for _, goals in ipairs { ndr_and_pdr(60, 60, 0, 1), ndr_and_pdr(1, 21, 0.5) } do
         local result, _, seconds = traced { device = worked, goals = goals }
         for i, truth in ipairs { 8e6, 10.05e6 } do
            local found = result.goals[i]
            assert.is_true(found.regular and found.load <= truth * 1.0001 and found.upper > truth * 0.9999)
         end
         assert.is_true(seconds <= binary_seconds / 3, seconds .. " s")
      end
   end)
end)

local function carrying(o)
   return function(load, seconds)
      local tx = math.floor(load * seconds + 0.5)
      local record = {
         validity = "valid", tx = tx,
         lost = math.max(0, tx - math.floor((o.capacity or MAX) * seconds + 0.5) - (o.buffer or 0)),
      }
      if o.tester and load > o.tester then
         record.validity, record.offered_fps, record.tx, record.lost = "tester-limited", o.tester, tx / 2, 0
      end
      return record
   end
end

describe("MLRsearch", function()
   local ONE = { goal("one", 1, 1, 0, 0) }

   it("calls a result without an upper bound irregular: the maximum passed", function()
      for _, goals in ipairs { ONE, ndr_and_pdr(1, 21, 0.5) } do
         local result, trace = traced { device = carrying {}, goals = goals }
         assert.same({ MAX, false, "maximum" }, { result.load, result.regular, result.limited_by })
         assert.is_nil(result.upper)
         assert.equal(MAX, result.conditional)
         assert.is_true(#trace <= 11)
      end
   end)

   it("ends soon at a device that forwards nothing", function()
      local result, trace = traced { device = carrying { capacity = 0 }, goals = ONE }
      assert.is_nil(result.load)
      assert.is_nil(result.conditional)
      assert.same({ 1, false, "loss", 2 }, { result.upper, result.regular, result.limited_by, #trace })
   end)

   it("finds a slow device on a fast line", function()
      local result = traced { device = carrying { capacity = 37 }, goals = ONE }
      assert.is_true(result.load < 37.5 and result.load > 36.5)
   end)

   it("goes no lower than the minimum", function()
      local result, trace = traced { device = carrying { capacity = 1e3 }, goals = ONE, min = 9001 }
      assert.is_nil(result.load)
      assert.equal(9001, result.upper)
      for _, step in ipairs(trace) do
         assert.is_true(step.load >= 9001)
      end
      result = traced { device = carrying { capacity = 9010 }, goals = ONE, min = 9001 }
      assert.is_true(result.load >= 9001 and result.load < 9010.5)
   end)

   it("climbs from an initial load that passes", function()
      local result, trace = traced { device = carrying { capacity = 5e6 }, goals = ONE, initial = 1e6 }
      assert.equal(1e6, trace[1].load)
      assert.is_true(result.load <= 5e6 and result.load >= 5e6 * 0.995)
   end)

   it("is not led far by a deep buffer that passes every short trial", function()
      local result, trace = traced {
         device = carrying { capacity = 5e6, buffer = 3e6 },
         goals = { goal("x", 60, 60, 0, 0, { initial = 1 }) },
      }
      local truth = 5e6 + 3e6 / 60
      assert.is_true(result.load <= truth and result.upper > truth and result.regular)
      assert.near(60, result.lower_trial.tx / result.load, 0.01)
      assert.is_true(#trace < 50, #trace .. " trials")
   end)

   it("says when the tester was the limit, after a second look", function()
      local result, trace = traced { device = carrying { capacity = 9e6, tester = 2e6 }, goals = ONE }
      assert.same({ "tester", "tester-limited" }, { result.limited_by, result.upper_trial.validity })
      assert.is_true(result.load <= 2e6 and result.load >= 2e6 * 0.995)
      local looks = 0
      for _, step in ipairs(trace) do
         looks = looks + (step.load == result.upper and 1 or 0)
      end
      assert.equal(2, looks)
   end)

   it("forgets a moment of the tester that the second look does not confirm", function()
      local honest, stolen = carrying { capacity = 9e6 }, false
      local result = traced {
         goals = ONE,
         device = function(load, seconds)
            local record = honest(load, seconds)
            if record.lost == 0 and not stolen then
               stolen, record.validity = true, "tester-limited"
            end
            return record
         end,
      }
      assert.is_true(stolen)
      assert.equal("loss", result.limited_by)
      assert.near(9e6, result.load, 1)
   end)

   it("says invalid when trials stay invalid", function()
      local result = traced {
         goals = ONE,
         device = function(load)
            return { validity = load > 1e6 and "invalid" or "valid", tx = load, lost = 0 }
         end,
      }
      assert.equal("invalid", result.limited_by)
      assert.equal("invalid", result.upper_trial.validity)
   end)

   it("gives up at max_trials and at the time limit, and says so", function()
      local goals = ndr_and_pdr(1, 21, 0.5)
      local result, trace = traced { device = worked, goals = goals, max_trials = 50 }
      local pdr = result.goals[2]
      assert.same({ 50, "max_trials", false }, { #trace, pdr.limited_by, pdr.regular })
      local limited, _, seconds = traced { device = worked, goals = goals, time_limit = 10.5 }
      assert.equal(10, seconds)
      assert.equal("time_limit", limited.goals[1].limited_by)
      assert.is_nil(limited.goals[1].load)
   end)

   it("makes a goal of what the other searches take", function()
      local result, trace = traced {
         device = carrying { capacity = 9e6 }, search_trial = 1, final_trial = 60, resolution = 0.001 * MAX,
      }
      assert.near(9e6, result.load, 1)
      assert.is_true(result.upper - result.load <= 0.001 * MAX)
      assert.near(60 * 9e6, result.lower_trial.tx, 60)
      assert.equal("confirm", trace[#trace].phase)
   end)

   it("refuses goals that have no answer", function()
      for _, wrong in ipairs {
         { loss_ratio = 1 }, { loss_ratio = -0.1 }, { exceed_ratio = 1 }, { width = 0 }, { width = 1 },
         { initial_trial = 61 }, { final_trial = 0 },
      } do
         assert.has_error(function()
            traced { device = worked, goals = { setmetatable(wrong, { __index = goal("x", 60, 60, 0, 0) }) } }
         end)
      end
      assert.has_error(function()
         traced { device = worked, goals = {} }
      end)
   end)
end)
