-- SPDX-License-Identifier: BSD-3-Clause

--- Every search against thousands of devices made from seeds: honest ones, noisy ones, ones that lose frames
-- in the middle and carry more above, ones with a transient loss. Whatever the device, a search must end, be
-- as narrow as it was asked to be, and publish no bound that its own trials contradict. What the trials say
-- is worked out here once more, and simply, without the modules of the searches.
local devices = require "devices"
local search = require "framegauge.search"

local MAX = 100
local PER_UNIT = devices.FRAMES_PER_UNIT

local function low(record, tolerance)
   return record.validity == "valid" and record.lost <= math.floor(tolerance * record.tx)
end

-- Kinds of devices: function(draw) -> device, and the load it carries without loss where that is one figure.
local KINDS = {}

function KINDS.monotone(draw)
   local capacity = MAX * draw(0, 1.2)
   return devices.device { capacity = capacity }, math.min(MAX, capacity)
end

function KINDS.buffered(draw)
   return devices.device { capacity = MAX * draw(0, 1.1), buffer = math.floor(draw(0, 2 * PER_UNIT * MAX)) }
end

function KINDS.noisy(draw)
   local capacity, noise = MAX * draw(0.01, 1.2), draw(0, 0.1)
   return function(load, seconds)
      return devices.device { capacity = capacity * (1 + noise * draw(-1, 1)) }(load, seconds)
   end
end

function KINDS.inverted(draw)
   local capacity = MAX * draw(0.1, 1.2)
   local from = draw(0, capacity)
   local to = draw(from, capacity)
   return devices.lost_on_path(function(load)
      return (load > capacity or (load >= from and load < to)) and 0.01 or 0
   end)
end

function KINDS.transient(draw)
   return devices.transient(devices.device { capacity = MAX * draw(0.05, 1.1) }, 10, math.floor(draw(0, 10)))
end

function KINDS.lost_on_path(draw)
   local share = 10 ^ draw(-6, -1)
   return devices.lost_on_path(function()
      return share
   end)
end

function KINDS.spoilt(draw)
   local honest, often = devices.device { capacity = MAX * draw(0.1, 1.1) }, draw(0, 0.2)
   return function(load, seconds)
      local record = honest(load, seconds)
      record.validity = draw(0, 1) < often and "tester-limited" or "valid"
      return record
   end
end

local function random_goal(draw, device)
   return {
      device = device, max = MAX, resolution = MAX * 10 ^ draw(-3.5, -1),
      tolerance = draw(0, 1) < 0.2 and 0.005 or 0, final_trial = draw(0, 1) < 0.5 and 1 or 60,
      initial = draw(0, 1) < 0.2 and MAX * draw(0.1, 1) or nil,
   }
end

-- For each kind of device, `count` of them: check(goal, draw, truth or nil).
local function each_device(seed, count, check)
   for kind, make in pairs(KINDS) do
      local draw = devices.generator(seed)
      for _ = 1, count do
         local device, truth = make(draw)
         check(random_goal(draw, device), draw, truth, kind)
      end
   end
end

local function within_resolution(g, result)
   if result.load and result.upper then
      assert.is_true(result.upper > result.load)
      assert.is_true(result.upper - result.load <= g.resolution * (1 + 1e-6))
   elseif result.load then
      assert.equal(g.max, result.load)
   end
end

local function near_truth(result, truth, tolerance, seconds)
   local frame = 1 / PER_UNIT / seconds
   if truth and result.load then
      assert.is_true(result.load <= truth / (1 - tolerance) + 2 * frame)
   end
   if truth and result.upper then
      assert.is_true(result.upper >= truth - 2 * frame)
   end
end

describe("binary search", function()
   it("publishes no bound that its trials contradict", function()
      each_device(11, 1000, function(g, _, truth, kind)
         local result, trace = devices.traced(search.get "binary", g)
         within_resolution(g, result)
         near_truth(result, truth, g.tolerance, g.final_trial)
         for _, step in ipairs(trace) do
            local spoilt = step.record.validity ~= "valid"
            if result.load and step.load <= result.load and not spoilt then
               assert.is_true(low(step.record, g.tolerance), kind)
            end
         end
         if result.load then
            assert.is_true(low(result.lower_trial, g.tolerance))
            assert.near(result.load * g.final_trial * PER_UNIT, result.lower_trial.tx, 0.51)
         end
         assert.is_true(not result.upper or not low(result.upper_trial, g.tolerance))
         assert.is_true(#trace < 200)
      end)
   end)
end)

-- The trials of the last look at a load: those at the end of the trace's run at that load.
local function last_look(trace, load)
   local list
   for i, step in ipairs(trace) do
      if step.load == load then
         local before = trace[i - 1]
         if not (list and before and before.load == load and before.seconds == step.seconds) then
            list = {}
         end
         list[#list + 1] = step
      end
   end
   return list
end

describe("TST 009 search", function()
   it("publishes no bound that its trials contradict", function()
      each_device(12, 600, function(g, draw, truth)
         g.max_r, g.z = math.floor(draw(1, 5)), draw(0, 1) < 0.5 and math.floor(draw(0, 1000)) or nil
         g.step = draw(0, 1) < 0.5 and g.resolution or nil
         local result, trace = devices.traced(search.get "tst009", g)
         within_resolution(g, result)
         near_truth(result, truth, g.tolerance, g.final_trial)
         if result.load then
            local look = last_look(trace, result.load)
            assert.is_true(low(look[#look].record, g.tolerance))
            assert.equal(g.final_trial, look[#look].seconds)
         end
         if result.upper then
            local look = last_look(trace, result.upper)
            local last = look[#look].record
            assert.is_false(low(last, g.tolerance))
            assert.is_true(#look % g.max_r == 0 or last.lost > (g.z or math.huge))
         end
         assert.is_true(#trace < 200 * g.max_r)
      end)
   end)
end)

local function random_goals(draw)
   local goals = {}
   local final = draw(0, 1) < 0.5 and 1 or 10
   for i = 1, math.floor(draw(1, 4)) do
      local exceed = draw(0, 1) < 0.5 and 0 or draw(0.1, 0.7)
      goals[i] = {
         name = "goal " .. i, final_trial = final, initial_trial = draw(0, 1) < 0.5 and 1 or nil,
         duration_sum = final * math.floor(draw(1, 22)), loss_ratio = draw(0, 1) < 0.5 and 0 or draw(0, 0.02),
         exceed_ratio = exceed, width = 10 ^ draw(-3, -1),
      }
   end
   return goals
end

-- Seconds of the valid trials at a load by length and loss. Those the tester spoilt count as bad unless the
-- load was looked at again; without them a lower bound is all the more one, and so is what is below it.
local function sums(trace, load, goal)
   local s = { full_low = 0, full_high = 0, short_low = 0, short_high = 0 }
   for _, step in ipairs(trace) do
      if step.load == load and step.record.validity == "valid" then
         local key = (step.seconds >= goal.final_trial and "full_" or "short_")
            .. (low(step.record, goal.loss_ratio) and "low" or "high")
         s[key] = s[key] + step.seconds
      end
   end
   return s
end

-- Seconds by which bad trials exceed what the goal allows, if the time still missing goes well or goes badly.
local function excess(s, goal)
   local e = goal.exceed_ratio
   local bad = s.full_high + math.max(0, s.short_high - s.short_low * e / (1 - e))
   local whole = math.max(s.full_low + bad, goal.duration_sum)
   return bad - e * whole, whole - s.full_low - e * whole
end

local ROUNDING = 1e-6

describe("MLRsearch", function()
   local function check(g, draw, truth)
      g.goals, g.preceding, g.min = random_goals(draw), math.floor(draw(0, 4)), 1
      local result, trace = devices.traced(search.get "mlr", g)
      for i, goal in ipairs(g.goals) do
         local found = result.goals[i]
         if found.load and found.upper then
            assert.is_true(found.upper > found.load)
            assert.is_true((found.upper - found.load) / found.upper <= goal.width * (1 + 1e-6))
         end
         assert.equal(found.load ~= nil and found.upper ~= nil, found.regular)
         assert.is_true(found.regular or found.load == MAX or found.upper == 1)
         near_truth(found, truth, goal.loss_ratio, 1)
         if found.load then
            local _, at_worst = excess(sums(trace, found.load, goal), goal)
            assert.is_true(at_worst < ROUNDING)
            assert.is_true(found.conditional <= found.load
               and found.conditional >= found.load * (1 - goal.loss_ratio) * (1 - 1e-9))
            assert.is_true(low(found.lower_trial, goal.loss_ratio))
         end
         for _, step in ipairs(trace) do
            local at_best = excess(sums(trace, step.load, goal), goal)
            assert.is_true(not found.load or step.load > found.load or at_best < ROUNDING)
            assert.is_true(step.load ~= found.upper or found.limited_by == "tester" or at_best > -ROUNDING)
         end
      end
      assert.is_true(#trace < 2000, #trace .. " trials")
   end

   it("publishes no bound that its trials contradict", function()
      each_device(13, 200, check)
   end)
end)

-- Losses of a few frames in one trial of ten, whatever the load; every load and every phase of that.
describe("a device with a transient loss in one interval of ten", function()
   local RESOLUTION = 0.5

   local function fooled(name, o)
      local count, runs = 0, 0
      for capacity = 15, 95, 5 do
         for phase = 0, 9 do
            local goal = {
               device = devices.transient(devices.device { capacity = capacity + 0.3 }, 10, phase),
               max = MAX, resolution = RESOLUTION,
            }
            for key, value in pairs(o or {}) do
               goal[key] = value
            end
            local result = devices.traced(search.get(name), goal)
            local found = result.load or 0
            assert.is_true(found <= capacity + 0.3 + 1e-3)
            count = count + (found < capacity + 0.3 - RESOLUTION and 1 or 0)
            runs = runs + 1
         end
      end
      return count / runs
   end

   it("fools binary search", function()
      assert.is_true(fooled "binary" > 0.3)
   end)

   it("fools TST 009 with one trial a load, but not with two or more", function()
      assert.equal(fooled "binary", fooled("tst009", { max_r = 1 }))
      for max_r = 2, 4 do
         assert.equal(0, fooled("tst009", { max_r = max_r }))
      end
   end)

   it("does not fool MLRsearch with an exceed ratio", function()
      local function goals(trials)
         return { {
            name = "ndr", final_trial = 1, duration_sum = trials, loss_ratio = 0, exceed_ratio = 0.5,
            width = RESOLUTION / MAX,
         } }
      end
      for preceding = 0, 2 do
         assert.equal(0, fooled("mlr", { goals = goals(21), preceding = preceding }))
         assert.equal(0, fooled("mlr", { goals = goals(2), preceding = preceding }))
      end
   end)
end)
