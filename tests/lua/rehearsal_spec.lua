-- SPDX-License-Identifier: BSD-3-Clause

-- What a run is said to take, against what it takes.
local Tester = require "fake_tester"
local fake_plan = require "fake_plan"
local format = require "framegauge.text.format"
local rehearsal = require "framegauge.methods.rfc2544.estimate"
local scratch = require "scratch"
local timed = require "timed"
local uv = require "luv"

local HERE = debug.getinfo(1, "S").source:match "^@(.*/)"
local CONFIGS = HERE .. "../../configs/"

local function on_the_wire(name, ...)
   local command = "'%s' script '%stimed.lua' '%s' %s"
   local words = command:format(uv.exepath(), HERE, CONFIGS .. name, table.concat({ ... }, " "))
   local output = scratch.shell(words)
   local figures = {}
   for word in output:gmatch "%S+" do
      figures[#figures + 1] = assert(tonumber(word), output)
   end
   return { seconds = figures[1], trials = figures[2] }, { seconds = figures[3], trials = figures[4] }
end

describe("the estimate of a run", function()
   -- a slower line has fewer frames in the same time, and still fewer of long ones
   for name, sets in pairs {
      ["rfc2544-reference.yaml"] = {
         "reference_device.rate=1Mbps", "reference_device.capacity=900fps", "reference_device.buffer=50",
      },
      ["rfc2544-full-reference.yaml"] = {
         "reference_device.rate=1Mbps", "reference_device.capacity=60fps", "reference_device.buffer=5",
         "reference_device.reverse.capacity=50fps", "reference_device.reverse.buffer=3",
         "rfc2544.frame_sizes=[1518]",
      },
   } do
      it("is right within 5 % for the RFC-conformant plan " .. name, function()
         local estimated, taken = on_the_wire(name, unpack(sets))
         assert.is_true(taken.seconds > 600)
         assert.near(taken.seconds, estimated.seconds, 0.05 * taken.seconds)
         assert.near(taken.trials, estimated.trials, 0.05 * taken.trials)
      end)
   end

   it("knows what a policer of the reference device lets through, as a twin may have one", function()
      local estimated, taken = on_the_wire("rfc2544-reference.yaml", "reference_device.rate=1Mbps",
         "rfc2544.frame_sizes=[64,1518]", "'reference_device.profiles={all: {cir: 400kbps, cbs: 20000}}'")
      assert.near(taken.seconds, estimated.seconds, 0.05 * taken.seconds)
      assert.near(taken.trials, estimated.trials, 0.05 * taken.trials)
   end)

   it("expects of an unknown device what one does that carries a good half", function()
      local plan = fake_plan { frame_sizes = { 64 } }
      local tester = Tester.new { rate = 1e9, capacity = 0.618 * 1488095, buffer = 1000 }
      local estimated, taken = timed.run(plan, tester)
      assert.same(taken, estimated)
   end)

   it("expects it to carry a good half of what is tried, where that is less than the line", function()
      local plan = fake_plan {
         tests = { "throughput", "frame_loss", "back_to_back" }, frame_sizes = { 64 },
      }
      plan.rfc2544.throughput.max = { value = 0.4, unit = "ratio", text = "40 %" }
      plan.rfc2544.frame_loss.max = plan.rfc2544.throughput.max
      local tester = Tester.new { rate = 1e9, capacity = 0.618 * 0.4 * 1488095, buffer = 1000 }
      local estimated, taken = timed.run(plan, tester)
      assert.is_true(taken.trials > 20)
      assert.equal(taken.trials, estimated.trials)
      assert.near(taken.seconds, estimated.seconds, 1e-6)
      local most = rehearsal.parts(plan, tester).most
      assert.is_true(most.trials >= taken.trials and most.seconds >= taken.seconds)
      local text = require("framegauge.report.text").heading(plan, {}, rehearsal.parts(plan, tester), 0)
      assert.matches(("about %d to %d trials"):format(taken.trials, most.trials), text, 1, true)
      plan.reference_device = { rate = 1e9, capacity = 1e5, buffer = 1000, buffer_unit = "frames" }
      assert.is_nil(rehearsal.parts(plan, tester).most)
   end)

   it("knows of trials made again at full length, where a buffer deceived the short ones", function()
      local plan = fake_plan { frame_sizes = { 1518 } }
      plan.reference_device = { rate = 1e9, capacity = 5e4, buffer = 2000, buffer_unit = "frames" }
      local estimated, taken = timed.run(plan, Tester.new { rate = 1e9, capacity = 5e4, buffer = 2000 })
      assert.is_true(taken.trials > 13)
      assert.same(taken, estimated)
   end)

   it("comes in the order of the trials, test by test and frame size by frame size", function()
      local parts = rehearsal.parts(fake_plan(), Tester.new { rate = 1e9 })
      assert.same({ "rfc2544.throughput", 64 }, { parts[1].test, parts[1].frame_size })
      assert.equal(1518, parts[3].frame_size)
      assert.equal(3, #parts)
   end)
end)

describe("run --dry-run", function()
   teardown(scratch.remove)

   -- in an empty folder, which must stay so
   local function dry_run(plan)
      local folder = scratch.path()
      local command = "mkdir '%s' && cd '%s' && '%s' run '%s' --dry-run 2>&1"
      local output, status = scratch.shell(command:format(folder, folder, uv.exepath(), plan))
      assert.is_nil(uv.fs_scandir_next(uv.fs_scandir(folder)))
      return output, status
   end

   it("says what would be made, and makes none of it", function()
      local output, status = dry_run(assert(uv.fs_realpath(CONFIGS)) .. "/rfc2544-full-reference.yaml")
      assert.equal(0, status, output)
      -- test, frame size, trials: expected, at least, at most
      assert.is_truthy(output:find "throughput +1518 +2 +2 +%d+ ", output)
      assert.is_truthy(output:find "latency +64 +20 +20 +20 ", output)
      assert.is_truthy(output:find "frame_loss +1518 +2 +2 +10 ", output)
      assert.is_truthy(output:find "reset +64 +1 +1 +1 ", output)
      assert.is_truthy(output:find("1,488,095 down to", 1, true))
      assert.is_truthy(output:find("2 s for learning, 2 s for the drain, 5 s to settle", 1, true))
      assert.is_truthy(output:find "Estimate: [%d,]+ trials %([%d,]+ to [%d,]+%) in 1%d:%d%d:%d%d ")
   end)

   it("knows how many trials a search of connections a second has", function()
      local output, status = dry_run(assert(uv.fs_realpath(CONFIGS)) .. "/l4-connection-rate-reference.yaml")
      assert.equal(0, status, output)
      assert.matches("\nEstimate: about 20 trials in 1:10.\n", output, 1, true) -- the run has 20
   end)

   it("says it of all runs of a plan that is run again and again", function()
      local command = "'%s' run '%s/rfc2889-reference.yaml' %s --dry-run 2>&1"
      local output, status = scratch.shell(command:format(uv.exepath(), CONFIGS, "--repeat 3"))
      assert.equal(0, status, output)
      local trials = tonumber((output:match "Estimate: about ([%d,]+) trials":gsub(",", "")))
      assert.matches(("\n3 runs: about %s trials in "):format(format.count(3 * trials)), output, 1, true)
      output = scratch.shell(command:format(uv.exepath(), CONFIGS, "--repeat-time 10h"))
      assert.matches(("\n2 runs: about %s trials in 8:"):format(format.count(2 * trials)), output, 1, true)
      output = scratch.shell(command:format(uv.exepath(), CONFIGS, "--repeat-time 1h"))
      assert.matches(("\n1 run: about %s trials in 4:"):format(format.count(trials)), output, 1, true)
   end)

   it("opens no port, and says when a run on a real one would end", function()
      local path = scratch.path()
      local file = assert(io.open(path, "w"))
      file:write("test: rfc2544\nisolated_network: true\n",
         "ports: {a: {device: '0000:ff:00.0'}, b: {device: 'kernel:none9'}}\n")
      file:close()
      local output, status = dry_run(path)
      assert.equal(0, status, output)
      assert.is_truthy(output:find("10 Gbit/s is assumed", 1, true), output)
      assert.is_truthy(output:find "until about %d+%-%d+%-%d+ %d+:%d+\n", output)
   end)

   it("refuses what cannot be expected, as the run would", function()
      local command = "'%s' run '%s/rfc2544-full-reference.yaml' --expect 'throughput>=fast' --dry-run 2>&1"
      local output, status = scratch.shell(command:format(uv.exepath(), CONFIGS))
      assert.equal(2, status)
      assert.matches("throughput>=fast", output, 1, true)
   end)

   it("has no place beside --resume", function()
      local _, status = scratch.shell(("'%s' run --resume x --dry-run 2>&1"):format(uv.exepath()))
      assert.equal(2, status)
   end)
end)
