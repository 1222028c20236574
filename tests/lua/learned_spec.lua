-- SPDX-License-Identifier: BSD-3-Clause

--- What an earlier run found out of a device shortens a search, and changes no answer.
local Tester = require "framegauge.tester"
local devices = require "devices"
local learned = require "framegauge.run.learned"
local method = require "framegauge.methods.rfc2544.method"
local plans = require "framegauge.plan"
local scratch = require "scratch"
local search = require "framegauge.search"
local Session = require "framegauge.trial.session"
local tables = require "framegauge.core.tables"
local truth = require "characterise_truth"
local uv = require "luv"

local SIZES, TRIAL = { 64, 256, 1518 }, 0.1

local PLAN = [[
ports: {east: {device: wire0}, west: {device: wire1}}
test: rfc2544
reference_device: %s
rfc2544:
  tests: [throughput]
  frame_sizes: [64, 256, 1518]
  bidirectional: false
  throughput: {trial: 100ms, search_trial: 20ms%s}
  learning_wait: 1ms
  drain: 4s
  settle: 0
]]

-- Throughput of a device, when `known` was learned of it: rows of the result.
local function throughput(device, known)
   local list = tables.map(known or {}, function(one)
      return ("{frame_size: %d, load: %.3ffps}"):format(one.frame_size, one.load)
   end)
   local text = PLAN:format(device.text, list[1] and (", learned: [%s]"):format(table.concat(list, ", "))
      or "")
   local plan, errors = plans.load_text(text, "device")
   assert(plan, errors and tostring(errors[1]))
   local tester = assert(Tester.open(plan))
   local session = Session.new { tester = tester, retries = 0, phases = plan.rfc2544, sink = function() end }
   local results = {}
   local ok, why = xpcall(method.run, debug.traceback, plan, tester, session, results)
   tester:close()
   assert(ok, why)
   return results.throughput
end

-- Both are loads that passed, at most a resolution below one that failed; a device whose buffer takes
-- in short trials may have another one of these.
local function assert_same(rows, others, text)
   for i, row in ipairs(rows) do
      local other = others[i]
      assert.same({ row.frame_size, row.limited_by }, { other.frame_size, other.limited_by }, text)
      assert.near(row.throughput_fps, other.throughput_fps, row.resolution_fps, text)
      assert.is_true(not other.upper_fps or other.upper_fps - other.throughput_fps
         <= row.resolution_fps * (1 + 1e-9), text)
   end
end

local function trials(rows)
   local n = 0
   for _, row in ipairs(rows) do
      n = n + row.trials
   end
   return n
end

describe("a learned load", function()
   teardown(scratch.remove)

   -- capacities down to below the resolution, buffers that take short trials in whole, weak testers; learned
   -- once as it is and once as of another device
   it("changes no answer of a search, right or wrong", function()
      local draw, plain, right, wrong = devices.generator(4242), 0, 0, 0
      for i = 1, 500 do
         local buffer = draw(0, 1) < 0.5 and 10 ^ draw(0, 5) or 0
         local goal = {
            device = devices.device { capacity = 10 ^ draw(-1.5, 2.05), buffer = buffer,
               tester = draw(0, 1) < 0.1 and draw(1, 100) or nil },
            resolution = 10 ^ draw(-1.3, 0), final_trial = draw(0, 1) < 0.5 and 1 or 10, give_up = 11,
         }
         local search_by = search.get(i % 2 == 0 and "binary" or "tst009")
         local told = devices.traced(search_by, goal)
         goal.learned = told.load or 0.01
         local short = devices.traced(search_by, goal)
         goal.learned = math.min(100, 10 ^ draw(-1.5, 2.05))
         local long = devices.traced(search_by, goal)
         for _, one in ipairs { short, long } do
            assert.equal(told.limited_by, one.limited_by)
            assert.equal(told.load == nil, one.load == nil)
            local apart = math.abs((told.load or 0) - (one.load or 0))
            assert.is_true(apart <= (buffer > 0 and goal.resolution or 0), i)
         end
         plain, right = plain + told.trials, right + short.trials
         wrong = wrong + long.trials
      end
      assert.is_true(right < 0.5 * plain, right .. " of " .. plain)
      assert.is_true(wrong < 1.25 * plain, wrong .. " of " .. plain)
   end)

   -- Goals of several kinds, and devices as above. The loads that MLRsearch tries are whole widths apart from
   -- the first trial on, which is the same, so the answers are; but not for a device that was told to
   -- carry hardly a frame: there loads are counted from the least one, and bounds lie elsewhere by part of a
   -- width.
   it("changes no answer of MLRsearch, right or wrong", function()
      local draw, plain, right, wrong = devices.generator(2424), 0, 0, 0
      local function goal_of(name, final, sum, loss, exceed, width)
         return { name = name, initial_trial = 1, final_trial = final, duration_sum = sum, loss_ratio = loss,
            exceed_ratio = exceed, width = width }
      end
      for i = 1, 200 do
         local width = 10 ^ draw(-2.5, -1)
         local goal = {
            device = devices.device { capacity = 10 ^ draw(-1.5, 2.05), tester = draw(0, 1) < 0.1
               and draw(1, 100) or nil },
            goals = ({
               { goal_of("rfc2544", 10, 10, 0, 0, width) },
               { goal_of("ndr", 1, 21, 0, 0.5, width), goal_of("pdr", 1, 21, 0.005, 0.5, width) },
               { goal_of("tst009", 5, 10, 0, 0.5, width) },
            })[i % 3 + 1],
         }
         local mlr = search.get "mlr"
         local told = devices.traced(mlr, goal)
         goal.learned = told.load or 0.01
         local short = devices.traced(mlr, goal)
         goal.learned = math.min(100, 10 ^ draw(-1.5, 2.05))
         local long = devices.traced(mlr, goal)
         for k, of_goal in ipairs(told.goals) do
            for _, one in ipairs { short.goals[k], long.goals[k] } do
               local error = one == short.goals[k] and 1e-9 or width * (of_goal.upper or 0)
               assert.same({ of_goal.limited_by, of_goal.regular }, { one.limited_by, one.regular }, i)
               assert.near(of_goal.load or 0, one.load or 0, error, i)
               assert.near(of_goal.upper or 0, one.upper or 0, error, i)
            end
         end
         plain, right, wrong = plain + told.trials, right + short.trials, wrong + long.trials
      end
      assert.is_true(right < 0.85 * plain, right .. " of " .. plain)
      assert.is_true(wrong < 1.25 * plain, wrong .. " of " .. plain)
   end)

   it("is that of a characterisation or of an earlier run: fewer trials of 8 devices, the same answers",
      function()
         local plain, by_model, by_run = 0, 0, 0
         local number = 0
         for _ = 1, 8 do -- a throughput without loss of these has one answer
            local device
            repeat
               number = number + 1
               device = truth.device(number)
            until device.ways[1].loss == 0
            local characterised = { results = truth.measure(device), ports = { { line_rate = device.rate } } }
            local first = throughput(device)
            local model = throughput(device, learned.loads(characterised, SIZES, TRIAL))
            local earlier = { results = { throughput = first } }
            local again = throughput(device, learned.loads(earlier, SIZES, TRIAL))
            assert_same(first, model, device.text)
            assert_same(first, again, device.text)
            plain, by_model, by_run = plain + trials(first), by_model + trials(model), by_run + trials(again)
         end
         assert.is_true(by_model < 0.25 * plain and by_run < 0.25 * plain,
            ("%d, %d and %d trials"):format(plain, by_model, by_run))
      end)

   it("is where --on and --learned find it, or they say what they expect", function()
      local folder = scratch.path()
      local path = folder .. "/plan.yaml"
      assert(uv.fs_mkdir(folder, 448))
      scratch.write(path, "test: rfc2544\nports: {a: {device: \"kernel:x\"}, b: {device: \"kernel:y\"}}\n")
      local _, errors = plans.load(path, { on = folder })
      assert.matches(folder .. "/twin.yaml: cannot be read", tostring(errors[1]), 1, true)
      scratch.write(folder .. "/twin.yaml", "reference_device: {rate: 10Mbps}\n")
      assert.equal(1e7, assert(plans.load(path, { on = folder })).reference_device.rate)
      local found, err = pcall(learned.setting, folder, assert(plans.load(path, { on = folder })))
      assert.is_false(found)
      assert.matches("--learned: .*result.json.*; expected the folder of a characterisation", tostring(err))
   end)
end)
