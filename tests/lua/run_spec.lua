-- SPDX-License-Identifier: BSD-3-Clause
local Tester = require "fake_tester"
local criteria = require "framegauge.methods.common.criteria"
local fake_plan = require "fake_plan"
local held = require "held"
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local run = require "framegauge.run"
local schema = require "result_schema"
local scratch = require "scratch"

-- Run a plan on a made-up device.
-- @return status, or the error it raised; the folder's path; what was printed
local function run_on(device, plan, options)
   local tester = Tester.new(device)
   package.loaded["framegauge.tester"] = {
      open = function()
         return tester
      end,
   }
   options = options or {}
   options.out = options.out or scratch.path()
   local printed, stdout = {}, io.stdout
   local recorder = { flush = function() end }
   function recorder.write(_, text)
      printed[#printed + 1] = text
   end
   rawset(io, "stdout", recorder)
   local ok, status = pcall(run.main, plan, options)
   rawset(io, "stdout", stdout)
   package.loaded["framegauge.tester"] = nil
   assert.is_true(not ok or tester.closed)
   return status, options.out, table.concat(printed)
end

local function fps(value)
   return { unit = "fps", value = value, text = value .. "fps" }
end

local function lines_of(path)
   local lines = {}
   for line in scratch.read(path):gmatch "[^\n]+" do
      lines[#lines + 1] = line
   end
   return lines
end

local ALL_TESTS = {
   learning_wait = 0, frame_sizes = { 64, 1518 },
   tests = {
      "throughput", "latency", "frame_loss", "back_to_back", "system_recovery", "reset", "bursty_traffic",
   },
}

-- What the made-up tester leaves out: tags, a last loss, a gap; and time for a command to run.
local function with_events(raw, ask)
   for _, direction in ipairs(raw.directions) do
      direction.tags_ns = ask.tags and { 20500 } or nil
      direction.last_lost_ns, direction.gap_max_ns, direction.gap_max_begin_ns = 5e7, 1e7, 2e7
   end
   if ask.duration < 0.2 and ask.drain == 2 then -- the reset's trial: bursts have a longer drain
      require("framegauge.core.job").sleep(0.1)
   end
end

local DEVICES = {
   ["all six tests"] = { { rate = 1e9, capacity = 9e5, buffer = 100, meddle = with_events }, ALL_TESTS },
   ["all six tests, nothing passing"] = { { rate = 1e9, capacity = 0, meddle = with_events }, ALL_TESTS },
   ["all six tests, the tester too slow"] = {
      { rate = 1e9, capacity = 9e5, tester = 2e5, meddle = with_events }, ALL_TESTS,
   },
   ["a device that behaves"] = { { rate = 1e9, capacity = 9e5 } },
   ["a device that carries nothing"] = { { rate = 1e9, capacity = 0 } },
   ["a device at line rate"] = { { rate = 1e9, capacity = 1e9 } },
   ["a slow tester"] = { { rate = 1e9, capacity = 9e5, tester = 2e5 } },
   ["a line of unknown rate, one way"] = {
      { capacity = 9e5 }, { bidirectional = false, throughput = { max = fps(1e6) } },
   },
   ["several goals, one of them out of time"] = {
      { rate = 1e9, capacity = 9e5 }, {
         throughput = {
            search = "mlr", time_limit = 30, goals = {
               { name = "a", final_trial = 1, duration_sum = 1, loss_ratio = 0, exceed_ratio = 0 },
               { name = "b", final_trial = 60, duration_sum = 60, loss_ratio = 0.1, exceed_ratio = 0 },
            },
         },
      },
   },
   ["no latency and no poll gap"] = {
      {
         rate = 1e9, capacity = 9e5,
         meddle = function(raw)
            raw.lcores, raw.directions[1].latency, raw.directions[2].latency = {}, nil, nil
         end,
      },
   },
}

describe("a run", function()
   teardown(scratch.remove)

   it("writes every file, prints the table and the folder last, and succeeds", function()
      local status, path, out = run_on({ rate = 1e9, capacity = 9e5 }, fake_plan())
      assert.equal(0, status)
      assert.equal("junit.xml\nreport.html\nresult.json\nresult.jtl\nrun.json\nthroughput.csv\n"
         .. "trials.jsonl\n",
         (scratch.shell(("ls '%s'"):format(path))))
      assert.matches("64  both         1,488,095     899,541", out, 1, true)
      assert.equal(path, out:match "([^\n]+)\n$")
   end)

   it("has a table and a file for each of its tests, and none of others", function()
      local status, path, out = run_on({ rate = 1e9, capacity = 9e5, buffer = 100, meddle = with_events },
         fake_plan(ALL_TESTS))
      assert.equal(0, status)
      for title, file in pairs {
         ["\nThroughput\n"] = "throughput", ["\nLatency\n"] = "latency", ["\nFrame loss rate, "] = "frame_loss",
         ["\nBack%-to%-back frames\n"] = "back_to_back", ["\nSystem recovery\n"] = "system_recovery",
         ["\nReset\n"] = "reset", ["\nBursty traffic\n"] = "bursty_traffic",
      } do
         assert.matches(title, out)
         local rows = json.decode(scratch.read(path .. "/result.json")).results[file]
         assert.equal(#rows + 1, #lines_of(path .. "/" .. file .. ".csv"))
      end
      assert.matches("Back%-to%-back frames, 1518 bytes.*: not%-applicable: the throughput is the line's",
         out)
      assert.matches("RFC 2544 throughput, latency, frame loss, back to back, system recovery, reset, bursty traffic: fake\n", out)
      status, path = run_on({ rate = 1e9, capacity = 9e5 }, fake_plan { tests = { "frame_loss" } })
      assert.equal(0, status)
      assert.equal("frame_loss.csv\n", (scratch.shell(("cd '%s' && ls *.csv"):format(path))))
   end)

   it("keeps the same trials in trials.jsonl and result.json", function()
      local _, path = run_on({ rate = 1e9, capacity = 9e5 }, fake_plan())
      local result = json.decode(scratch.read(path .. "/result.json"))
      local lines = lines_of(path .. "/trials.jsonl")
      assert.equal(#lines, #result.trials)
      for i, line in ipairs(lines) do
         assert.same(result.trials[i], json.decode(line))
         assert.equal(i, result.trials[i].trial)
      end
      assert.equal(1, result.schema_version)
      assert.is_nil(result.plan.file)
   end)

   it("writes each trial before the next begins", function()
      local path = scratch.path()
      run_on({
         rate = 1e9, capacity = 9e5,
         meddle = function(_, _, n)
            if n > 1 then
               assert.equal(n - 1, #lines_of(path .. "/trials.jsonl"))
            end
         end,
      }, fake_plan(), { out = path })
   end)

   it("is refused for a plan of a service, with its command", function()
      for test, more in pairs { reflect = "", emulate = "emulate: {delay: 1ms}" } do
         local plan = assert(plans.load_text(("test: %s\nisolated_network: true\nports: {east: {device: 'memif:/none/a'}, west: {device: 'memif:/none/b'}}\n%s"):format(test, more), "service"))
         local ok, err = pcall(run.main, plan, { out = scratch.path() })
         assert.falsy(ok)
         assert.same({ 2, ("a plan with test: %s is for 'framegauge %s'"):format(test, test) },
            { err.status, tostring(err) })
      end
   end)

   it("writes the same bytes for the same measurements", function()
      local _, one = run_on({ rate = 1e9, capacity = 9e5 }, fake_plan())
      local _, other = run_on({ rate = 1e9, capacity = 9e5 }, fake_plan())
      for _, name in ipairs { "result.json", "trials.jsonl", "throughput.csv" } do
         assert.equal(scratch.read(one .. "/" .. name), scratch.read(other .. "/" .. name))
      end
   end)

   it("puts what belongs to the moment into run.json", function()
      local plan = fake_plan()
      plan.file = "some/plan.yaml"
      local _, path = run_on({ rate = 1e9, capacity = 9e5 }, plan)
      local moment = json.decode(scratch.read(path .. "/run.json"))
      assert.equal("some/plan.yaml", moment.plan_file)
      assert.matches("^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%dZ$", moment.started)
      assert.matches("Z$", moment.ended)
      assert.is_true(#moment.command_line > 0)
   end)

   it("keeps what it has when it is interrupted, and says 130", function()
      local status, path, out = run_on({
         rate = 1e9, capacity = 9e5,
         meddle = function(_, _, n)
            if n == 15 then
               error { interrupted = true }
            end
         end,
      }, fake_plan(), { expect = { "throughput>=1%" } })
      assert.equal(130, status)
      local result = json.decode(scratch.read(path .. "/result.json"))
      assert.same({ true, "valid" }, { result.interrupted, result.validity })
      assert.same({ 2, 14 }, { #result.results.throughput, #result.trials })
      assert.equal(json.null, result.expectations[1].met)
      assert.matches("interrupted: only what was measured", out)
      assert.is_true(schema.validate(path .. "/result.json"))
   end)

   it("keeps what it has when something breaks, and lets the error through", function()
      local status, path = run_on({
         rate = 1e9, capacity = 9e5,
         meddle = function(_, _, n)
            if n == 13 then
               error "the cable caught fire"
            end
         end,
      }, fake_plan())
      assert.matches("the cable caught fire", tostring(status))
      assert.matches("stack traceback", status.traceback)
      assert.equal(1, #json.decode(scratch.read(path .. "/result.json")).results.throughput)
   end)

   it("overwrites nothing", function()
      local _, path = run_on({ rate = 1e9, capacity = 9e5 }, fake_plan())
      local before = scratch.read(path .. "/result.json")
      local err = run_on({ rate = 1e9, capacity = 1e5 }, fake_plan(), { out = path })
      assert.same({ 2, true }, { err.status, tostring(err):find "is not empty" ~= nil })
      assert.equal(before, scratch.read(path .. "/result.json"))
   end)

   it("refuses what it cannot run before it makes a folder", function()
      local path = scratch.path()
      local err = run_on({ capacity = 9e5 }, fake_plan(), { out = path })
      assert.equal(2, err.status)
      assert.matches("line rate of these ports is not known", tostring(err))
      err = run_on({ rate = 1e9, capacity = 9e5 }, fake_plan(), { out = path, expect = { "throughput>95%" } })
      assert.equal(2, err.status)
      assert.has_error(function()
         scratch.read(path .. "/run.json")
      end)
   end)

   it("leaves with the tester's reason when that does not open", function()
      package.loaded["framegauge.tester"] = {
         open = function()
            return nil, "no such port"
         end,
      }
      local ok, err = pcall(run.main, fake_plan(), { out = scratch.path() })
      package.loaded["framegauge.tester"] = nil
      assert.same({ false, 4, "no such port" }, { ok, err.status, tostring(err) })
   end)

   it("tells by its status whether the device fell short or the tester did", function()
      local slow_tester = { rate = 1e9, capacity = 9e5, tester = 2e5 }
      local device = { rate = 1e9, capacity = 9e5 }
      local function status(tester, ...)
         return (run_on(tester, fake_plan(), { expect = { ... } }))
      end
      assert.equal(0, status(device, "throughput>=60%", "throughput>=80kfps", "throughput>=100%@512"))
      assert.equal(1, status(device, "throughput>=95%"))
      assert.equal(0, status(device, "throughput >= 95% @ 1518"))
      assert.equal(3, status(slow_tester))
      assert.equal(3, status(slow_tester, "throughput>=95%@64"))
      assert.equal(1, status({ rate = 1e9, capacity = 1e5, tester = 2e5 }, "throughput>=95%@64"))
   end)
end)

describe("result.json", function()
   teardown(scratch.remove)

   for name, case in pairs(DEVICES) do
      it("keeps to its schema for " .. name, function()
         local _, path = run_on(case[1], fake_plan(case[2]))
         assert.is_true(schema.validate(path .. "/result.json"))
      end)
   end

   it("is refused by the schema when something is missing, wrong or unknown", function()
      local _, path = run_on({ rate = 1e9, capacity = 9e5 }, fake_plan())
      local text = scratch.read(path .. "/result.json")
      for wrong, right in pairs {
         ['"validity": "fine"'] = '"validity": "valid"',
         ['"lost": -1'] = '"lost": 0',
         ['"schema_version": 2'] = '"schema_version": 1',
         ['"mood": "good"'] = '"phase": "search"',
         ['"throughput_fps": "fast"'] = '"throughput_fps": [%d.]+',
      } do
         local broken, n = text:gsub(right, wrong, 1)
         assert.equal(1, n)
         local file = assert(io.open(path .. "/broken.json", "w"))
         file:write(broken)
         file:close()
         local valid, complaint = schema.validate(path .. "/broken.json")
         assert.is_false(valid)
         assert.matches("^%$", complaint)
      end
   end)
end)

describe("a criterion", function()
   local plan = fake_plan()

   local function row(o)
      local out = { frame_size = 64, direction = "both", theoretical_fps = 1e6, validity = "valid" }
      for key, value in pairs(o) do
         out[key] = value
      end
      return out
   end

   local function met(text, o)
      return held.met(text, plan, { throughput = { row(o) } })
   end

   it("is a figure, a value and perhaps what it is about", function()
      assert.is_true(met("throughput>=800kfps@64", { throughput_fps = 8e5 }))
      assert.is_false(met("throughput>=800kfps@64", { throughput_fps = 799999 }))
      assert.is_nil((met("throughput>=800kfps@64", { frame_size = 128, throughput_fps = 1e6 })))
      assert.is_true(met(" throughput >= 95% ", { throughput_fps = 950000, frame_size = 128 }))
      assert.is_false(met(" throughput >= 95% ", { throughput_fps = 949999, frame_size = 128 }))
      assert.is_true(met("throughput>=512Mbps L2", { throughput_fps = 1e6, frame_size = 64 }))
      assert.is_false(met("throughput>=512Mbps L2", { throughput_fps = 999999, frame_size = 64 }))
      assert.is_true(met("throughput_fps>=1kfps@throughput@64@both", { throughput_fps = 1e3 }))
      assert.is_true(met("latency_max<=50us", { latency = { max_ns = 50000 } }))
      assert.is_false(met("latency_max<=50us", { latency = { max_ns = 50001 } }))
   end)

   it("is refused with the reason and the figures of the plan", function()
      for text, why in pairs {
         ["throughput>95%"] = "no figure with a comparison",
         ["speed>=3us"] = "no figure 'speed'",
         ["thruoghput>=95%"] = "no figure 'thruoghput' in the tests of the plan; did you mean 'throughput'?",
         ["throughput>=95%@thruoghput"] = "subject 'thruoghput'; did you mean 'throughput'?",
         ["throughput>=fast"] = "fast",
         ["throughput<=95%"] = "criterion with >=",
         ["throughput>=95%@65"] = "subject '65'",
         ["throughput>="] = "is not",
         ["throughput>=95% with 120% confidence"] = "'120%' is no confidence",
         ["throughput>=95% with much confidence"] = "'much' is no confidence",
         ["latency_max<=1ms with 95% confidence"] = "no uncertainty of latency_max is known",
         [""] = "no figure with a comparison",
      } do
         local message = held.refusal(text, plan)
         assert.matches(why, message, 1, true)
         assert.matches("the figures of this plan: ", message, 1, true)
      end
   end)

   it("is refused with the directions of all tables that have the figure", function()
      local function refusal(method, text, ...)
         return held.refusal(text, assert(plans.load(scratch.PROJECT .. "configs/" .. method .. "-reference.yaml",
            { sets = { ... } })))
      end
      assert.matches("about x->y; directions of such rows: both, east->west, west->east;",
         refusal("rfc2544", "latency_mean<=1us@x->y", "rfc2544.tests=[throughput, latency]"), 1, true)
      for _, method in ipairs { "rfc2889", "rfc3918", "rfc8239" } do
         assert.matches("about x->y; rows of these tables have no direction;", refusal(method, "throughput>=1%@x->y"), 1, true)
      end
      local one_way = "y1564.services.voice.directions=forward"
      assert.matches("about voice and west->east; directions of such rows: east->west;",
         refusal("y1564-three-services", "voice.flr<=1%@west->east", one_way), 1, true)
      assert(criteria.parse("video.flr<=1%@west->east",
         plans.load(scratch.PROJECT .. "configs/y1564-three-services-reference.yaml", { sets = { one_way } })))
   end)

   it("is refused at a load that frame loss does not have", function()
      local function read(text, ...)
         return criteria.parse(text, assert(plans.load(scratch.PROJECT .. "configs/rfc2544-reference.yaml",
            { sets = { "rfc2544.tests=[frame_loss]", "rfc2544.frame_loss.step=10%", ... } })))
      end
      assert(read "loss<=1%@70%")
      assert(read("loss<=1%@35%", "rfc2544.frame_loss.max=50%"))
      assert(read("loss<=1%@33%", "rfc2544.frame_loss.max=100kfps")) -- a share of a line that is not known yet
      assert.matches("other subject '33%'; it has the loads in percent 100, 90, 80, 70, 60, 50, 40, 30, 20, 10;",
         select(2, read "loss<=1%@33%"), 1, true)
   end)

   it("with a confidence is about the bound of the uncertainty", function()
      local function confident(text, low, coverage, validity)
         return (met(text, { throughput_fps = 960000, validity = validity or "valid",
            uncertainty = low and { throughput_fps = { low = low, high = 961000, coverage = coverage } } }))
      end
      local text = "throughput>=95% with 95% confidence"
      assert.is_true(confident(text, 950000, 0.95))
      assert.is_false(confident(text, 949999, 0.95))
      assert.is_false(confident("throughput>=95%@64 with 99% confidence", 950000, 0.95))
      assert.is_true(confident("throughput>=95%@64 with 99% confidence", 950000, 1))
      assert.is_false(confident(text, nil)) -- nothing is known of it
      assert.is_nil(confident(text, nil, nil, "tester-limited"))
   end)

   it("is not decided by a figure that is not the device's, unless the device has reached it", function()
      local text = "throughput>=500fps"
      assert.is_true(met(text, { validity = "tester-limited", throughput_fps = 500 }))
      local decided, found = met(text, { validity = "tester-limited", throughput_fps = 499 })
      assert.is_nil(decided)
      assert.same({ "tester-limited", "64 bytes, both directions", ">= 500fps" }, { found.reason, found.row,
         found.limit })
      assert.is_nil((met(text, { validity = "invalid", throughput_fps = 500 })))
      assert.is_false(met(text, { throughput_fps = 499 }))
      assert.is_false(met(text, {})) -- no load passed
      assert.is_nil((held.met(text, plan, {})))
   end)

   it("is as bad as its worst row, which it names", function()
      local _, found = held.met("throughput>=50%", plan, { throughput = { row { throughput_fps = 6e5 },
         row { throughput_fps = 3e5, frame_size = 128 }, row { throughput_fps = 4e5, frame_size = 256 } } })
      assert.same({ false, "128 bytes, both directions", "300,000 frames/s" }, { found.met, found.row,
         found.figure })
   end)

   it("of a characterisation is about bounds, which are as sure as they say", function()
      local device = assert(plans.load_text("test: characterise\nports: {a: {device: wire0}, b: {device: wire1}}", "plan"))
      local function of_device(text)
         return (held.met(text, device, { characterisation = { { validity = "valid", direction = "a->b",
            capacity = { fps = 1000, min_fps = 990, max_fps = 1010, coverage = 1 },
            loss = { ratio = 0, min_ratio = 0, max_ratio = 1e-4, coverage = 0.95 } } } }))
      end
      assert.is_true(of_device "capacity>=990")
      assert.is_true(of_device "capacity>=990fps@a->b with 99% confidence")
      assert.is_false(of_device "capacity>=991 with 50% confidence")
      assert.is_true(of_device "loss<=0.01% with 95% confidence")
      assert.is_false(of_device "loss<=0.01% with 96% confidence")
      assert.is_false(of_device "latency<=1s with 95% confidence") -- not found
      assert.is_nil(of_device "latency<=1s")
   end)
end)
