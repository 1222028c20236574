-- SPDX-License-Identifier: BSD-3-Clause

-- Random draws of the reference device: independent from trial to trial, the same in a run that is repeated
-- or resumed.
local Tester = require "framegauge.tester"
local plans = require "framegauge.plan"
local Session = require "framegauge.trial.session"

local LOSS, FRAMES, TRIALS = 0.01, 2000, 60
local PLAN = [[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {loss_random: 1%, seed: 7}
rfc2544: {frame_sizes: [64]}
]]

local function with_tester(run)
   local tester = assert(Tester.open(assert(plans.load_text(PLAN, "draws.yaml"))))
   local ok, result = pcall(run, tester)
   tester:close()
   return ok and result or error(result, 0)
end

-- Frames lost in each of several trials of a session.
-- @param recorded  trials that a run before it has made
local function losses(tester, trials, recorded)
   local session = Session.new {
      tester = tester, retries = 0, phases = { learning_wait = 0, drain = 0.001, settle = 0 },
      sink = function() end, recorded = recorded,
   }
   local list = {}
   for i = 1, trials do
      local record = session:trial {
         test = "draws", frame_size = 64, direction = "east->west", directions = { "east->west" }, fps = 1e6,
         seconds = FRAMES / 1e6,
      }
      list[i] = record.lost
   end
   return list, session.trials
end

describe("a run that is resumed", function()
   -- The trials that are made where the first five of six are recorded; each has a load of 1 s.
   local function made(remembers)
      local list, recorded = {}, {}
      for i = 1, 5 do
         recorded[i] = { test = "t", frame_size = 64, direction = "d", intended_fps = 1, duration_s = 1,
            validity = "valid", lost = 0 }
      end
      local session = Session.new { retries = 0, phases = { learning_wait = 0.5, drain = 0.5, settle = 0 },
         sink = function() end, recorded = recorded, remembers = remembers }
      session.before = 0
      for _ = 1, 6 do
         session:trial { test = "t", frame_size = 64, direction = "d", fps = 1, seconds = 1,
            make = function(ask)
               list[#list + 1] = ask.number
               return recorded[1]
            end }
      end
      return table.concat(list, " ")
   end

   it("makes each attempt of a trial again", function()
      local list, recorded = {}, {}
      for i, validity in ipairs { "invalid", "valid" } do
         recorded[i] = { test = "t", frame_size = 64, direction = "d", intended_fps = 1, duration_s = 1,
            validity = validity, lost = 0 }
      end
      local session = Session.new { retries = 1, phases = { learning_wait = 0.5, drain = 0.5, settle = 0 },
         sink = function() end, recorded = recorded, remembers = math.huge }
      session.before = 0
      for _ = 1, 2 do
         session:trial { test = "t", frame_size = 64, direction = "d", fps = 1, seconds = 1,
            make = function(ask)
               list[#list + 1] = ask.number
               return recorded[2]
            end }
      end
      assert.same({ 1, 2, 3 }, list)
   end)

   it("makes again what the device has not forgotten, and at least the last trial", function()
      assert.equal("6", made(nil))
      assert.equal("5 6", made(0))
      assert.equal("3 4 5 6", made(3))
      assert.equal("2 3 4 5 6", made(3.5))
      assert.equal("1 2 3 4 5 6", made(math.huge))
   end)
end)

describe("random loss of the reference device", function()
   it("differs from trial to trial as independent draws do", function()
      local list = with_tester(function(tester)
         return (losses(tester, TRIALS))
      end)
      local sum, squares, expected = 0, 0, LOSS * FRAMES
      for _, lost in ipairs(list) do
         sum, squares = sum + lost, squares + (lost - expected) ^ 2
      end
      -- binomial: the mean of 60 trials within five deviations, and the sum of squares, chi-square of 60
      -- degrees of freedom, within five of its own
      local variance = expected * (1 - LOSS)
      assert.near(expected, sum / TRIALS, 5 * math.sqrt(variance / TRIALS))
      assert.near(TRIALS, squares / variance, 5 * math.sqrt(2 * TRIALS))
   end)

   it("is the same in a run made again, and in one that is resumed", function()
      local first, trials = nil, nil
      with_tester(function(tester)
         first, trials = losses(tester, 10)
         return true
      end)
      assert.same(first, with_tester(function(tester)
         return (losses(tester, 10))
      end))
      assert.same(first, with_tester(function(tester)
         return (losses(tester, 10, { unpack(trials, 1, 6) }))
      end))
   end)

   it("is another one for the next test on the same open ports", function()
      with_tester(function(tester)
         local first, second = losses(tester, 10), losses(tester, 10)
         assert.are_not.same(first, second)
         return true
      end)
   end)
end)
