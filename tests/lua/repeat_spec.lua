-- SPDX-License-Identifier: BSD-3-Clause
local json = require "framegauge.text.json"
local one_run = require "framegauge.run"
local repeated = require "framegauge.report.repeated"
local repeated_run = require "framegauge.run.repeated"
local report = require "framegauge.report"
local scratch = require "scratch"
local stationarity = require "framegauge.trial.stationarity"
local uv = require "luv"

local CONFIG = scratch.PROJECT .. "configs/rfc2544-reference.yaml"

-- A result with one throughput, known to 10 frames/s.
local function result(fps, o)
   o = o or {}
   return {
      plan = { test = "rfc2544" }, trials = { { poll_gap_max_ns = o.gap or 1000 } },
      results = { throughput = { {
         frame_size = 64, direction = "both", throughput_fps = fps, validity = o.validity or "valid",
         reasons = o.validity and { "the tester was late" } or {},
         uncertainty = not o.validity and { throughput_fps = {
            low = fps - 10, high = fps + 10, expanded = 10, coverage = 1,
         } } or nil,
      } } },
   }
end

local function figure_of(values, special)
   local results = {}
   for i, value in ipairs(values) do
      results[i] = result(value, special and special[i])
   end
   return repeated.figures(results)[1]
end

describe("repetitions", function()
   it("rise or fall only where no chance order does so", function()
      assert.equal("rising", stationarity.trend({ 1, 2, 3, 4, 5 }, 0))
      assert.equal("falling", stationarity.trend({ 50, 41, 32, 20, 11 }, 5))
      -- one pair of ten the other way: 5 of 120 orders of five are like that or better, as many the other way
      assert.is_nil(stationarity.trend({ 1, 2, 3, 5, 4 }, 0))
      assert.equal("rising", stationarity.trend({ 1, 2, 3, 4, 6, 5 }, 0))
      assert.is_nil(stationarity.trend({ 1, 2, 3, 4 }, 0)) -- too few
      assert.is_nil(stationarity.trend({ 1, 2, 3, 4, 5 }, 4)) -- what single values leave open is no trend
   end)

   it("have two modes where the space between them is wide", function()
      local low, high = stationarity.modes({ 1, 20, 2, 21, 1, 22, 3, 20 }, 0)
      assert.same({ 4, 4 }, { #low, #high })
      assert.is_nil(stationarity.modes({ 1, 20, 2, 21, 1, 22, 3, 20 }, 17))
      assert.is_nil(stationarity.modes({ 1, 2, 3, 4, 5, 6, 7, 8 }, 0))
      assert.is_nil(stationarity.modes({ 1, 2, 3, 2, 1, 3, 2, 20 }, 0)) -- one value is no mode
   end)

   it("are called stationary, and their mean holds scatter and what each left open", function()
      local figure = figure_of { 1000, 1020, 1010, 1000, 1020 }
      assert.same({ "stationary", 1010, 10, 5 }, { figure.verdict, figure.mean, figure.within, #figure.runs })
      assert.near(10, figure.stddev, 1e-9)
      -- Student's 2.776 times 10 / sqrt 5, and 10
      assert.near(1010 - 12.414 - 10, figure.uncertainty.low, 0.01)
      assert.equal("between_runs", figure.uncertainty.components[1].name)
   end)

   it("of a device that warms up, or has two modes, have no mean", function()
      local warm = figure_of { 1000, 1100, 1200, 1300, 1400 }
      assert.same({ "rising" }, { warm.verdict, warm.mean, warm.uncertainty })
      local both = figure_of { 1000, 2000, 1003, 2003, 1001, 2002, 1002, 2001 }
      assert.same({ "bimodal" }, { both.verdict, both.mean })
      assert.same({ { runs = 4, mean = 1001.5 }, { runs = 4, mean = 2001.5 } }, both.modes)
   end)

   it("leave out what the evidence explains, and keep and name the rest", function()
      local kept = figure_of { 1000, 1010, 1000, 1010, 5000, 1000 }
      assert.same({ { run = 5, value = 5000, kept = true } }, kept.apart)
      assert.equal(6, #kept.runs)
      local explained = figure_of({ 1000, 1010, 1000, 1010, 5000, 1000 }, { [5] = { gap = 9e6 } })
      assert.same({ 1, 2, 3, 4, 6 }, explained.runs)
      assert.equal(1004, explained.mean)
      assert.matches("gap between polls up to 9000000 ns, at most 1000 ns", explained.apart[1].reason, 1,
         true)
      local invalid = figure_of({ 1000, 1010, 5000 }, { [3] = { validity = "invalid" } })
      assert.same({ { run = 3, value = 5000, kept = false, reason = "invalid: the tester was late" } },
         invalid.apart)
      assert.same({ 1, 2 }, invalid.runs)
   end)
end)

describe("framegauge run --repeat", function()
   teardown(scratch.remove)

   local function run(command, ...)
      return scratch.shell(("'%s' run " .. command .. " 2>&1"):format(uv.exepath(), ...))
   end

   local function read(path)
      return json.decode(scratch.read(path))
   end

   it("makes the runs, and those that are missing when resumed", function()
      local path = scratch.path()
      local output, status = run("'%s' --quick --set 'rfc2544.frame_sizes=[64]' --repeat 3 --out '%s' --expect 'throughput>=60%%'", CONFIG, path)
      assert.equal(0, status, output)
      assert.matches("64 bytes, both directions +Throughput, frames/s +3 +899,%d+", output)
      local whole = scratch.read(path .. "/repeat.json")
      local state = json.decode(whole)
      assert.same({ true, 3, 3, 1 }, { state.finished, #state.runs, state.wanted.runs, #state.wanted.expect })
      local figure = state.figures[1]
      assert.same({ "throughput_fps", 0, 3 }, { figure.figure, figure.stddev, #figure.values })
      assert.truthy(scratch.read(path .. "/report.html"):find("run-03/report.html", 1, true))

      -- as it is left when the third run is killed before its end
      local trials = scratch.read(path .. "/run-03/trials.jsonl")
      scratch.write(path .. "/run-03/trials.jsonl", trials:match "^[^\n]+\n[^\n]+\n")
      local moment = read(path .. "/run-03/run.json")
      moment.ended = json.null
      scratch.write(path .. "/run-03/run.json", json.encode(moment))
      os.remove(path .. "/run-03/result.json")
      state.finished = false
      scratch.write(path .. "/repeat.json", json.encode(state))
      output, status = run("--resume '%s'", path)
      assert.equal(0, status, output)
      assert.matches("Resumed: 2 trials made before", output, 1, true)
      assert.equal(whole, scratch.read(path .. "/repeat.json"))

      output, status = run("--resume '%s'", path)
      assert.same({ 2, true }, { status, output:find("nothing to resume", 1, true) ~= nil }, output)
   end)

   it("ends with the status that says most, whatever the order of the runs", function()
      local main, read_result = one_run.main, report.read
      finally(function()
         one_run.main, report.read = main, read_result
      end)
      report.read = function() return result(1000) end
      for _, statuses in ipairs { { 0, 1, 3 }, { 3, 1, 0 } } do
         one_run.main = function() return table.remove(statuses) end
         assert.equal(1, (repeated_run.main {
            load = function() return { name = "lab" } end, wanted = { runs = 3 }, out = scratch.path(),
            screen = { say = function() end },
         }))
      end
   end)

   it("begins no run that would end too late, and reads its plan once, from a pipe", function()
      local path = scratch.path()
      local output, status = scratch.shell(("cat '%s' | '%s' run /dev/stdin --quick --set 'rfc2544.frame_sizes=[1518]' --repeat-time 1ms --out '%s' 2>&1"):format(CONFIG, uv.exepath(), path))
      assert.equal(0, status, output)
      assert.equal(1, #read(path .. "/repeat.json").runs)
   end)

   it("refuses a number that makes no sense", function()
      for _, words in ipairs { "--repeat 1", "--repeat many", "--repeat-time never",
         "--repeat 3 --capture east=x.pcap" } do
         local output, status = run("'%s' %s", CONFIG, words)
         assert.equal(2, status, output)
         assert.matches("--repeat", output, 1, true)
      end
   end)
end)
