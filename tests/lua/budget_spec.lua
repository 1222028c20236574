-- SPDX-License-Identifier: BSD-3-Clause

-- RFC 2544 within a budget of time, against the plain procedure on the same devices.
local Tester = require "fake_tester"
local conformance = require "framegauge.methods.rfc2544.conformance"
local method = require "framegauge.methods.rfc2544.method"
local plans = require "framegauge.plan"
local Session = require "framegauge.trial.session"

local LINE = 1e9
local PLAN = [[
test: rfc2544
isolated_network: true
ports: {east: {device: "0000:01:00.0"}, west: {device: "0000:01:00.1"}}
rfc2544:
  tests: [throughput, latency, frame_loss, system_recovery]
  frame_sizes: [64, 1518]
]]

-- shares of the line at 64 bytes, and frames that the device holds
local DEVICES = { { 1, 0 }, { 0.93, 4000 }, { 0.618, 1000 }, { 0.39, 8000 }, { 0.1, 512 }, { 0.02, 16 } }

local function load(...)
   return assert(plans.load_text(PLAN, "plan", { sets = { ... } }))
end

local function tester_of(device)
   return Tester.new { rate = LINE, capacity = device[1] * 1488095, buffer = device[2] }
end

-- @return results by test, and the session
local function run(plan, device)
   local tester, results = tester_of(device), {}
   local session = Session.new { tester = tester, retries = 0, phases = plan.rfc2544, sink = function() end }
   assert.is_nil(method.check(plan, tester))
   method.run(plan, tester, session, results)
   return results, session
end

describe("a budget of time", function()
   for _, device in ipairs(DEVICES) do
      it(("finds a throughput of %g of the line, buffer %d, in a third of the time"):format(unpack(device)),
         function()
            local plain, made = run(load(), device)
            local plan = load(("rfc2544.budget=%gs"):format(made.seconds / 3))
            local short, in_time = run(plan, device)
            assert.is_true(in_time.seconds <= made.seconds / 3)
            for i, row in ipairs(plain.throughput) do
               local other = short.throughput[i]
               assert.near(row.throughput_fps, other.throughput_fps, row.resolution_fps)
               assert.equal(row.upper_fps ~= nil, other.upper_fps ~= nil)
               assert.is_true(other.trial_s < row.trial_s)
            end
            assert.equal(#plain.latency, #short.latency)
            assert.matches("short trials", table.concat(conformance.of(plan).notes, "; "))
         end)
   end

   it("leaves alone what the plan gives", function()
      local plan = load("rfc2544.budget=20min", "rfc2544.latency.trial=7s", "rfc2544.latency.tag_after=3s",
         "rfc2544.throughput.search=binary", "rfc2544.throughput.trial=60s")
      local results = run(plan, DEVICES[3])
      assert.equal(60, results.throughput[1].trial_s)
      assert.is_nil(results.throughput[1].goal)
      assert.same({ 7, 3 }, { results.latency[1].trial_s, results.latency[1].tag_after_s })
      assert.is_true(results.latency[1].repetitions < 20 and results.frame_loss[1].trial_s < 60)
   end)

   it("shortens nothing where there is time for the whole procedure", function()
      local plan = load("rfc2544.budget=1000h", "rfc2544.frame_sizes=[64,128,256,512,1518]")
      local results = run(plan, DEVICES[3])
      assert.same({ 60, 120, 20 },
         { results.throughput[1].trial_s, results.latency[1].trial_s, results.latency[1].repetitions })
      assert.same({}, conformance.of(plan).notes)
   end)

   it("gives later tests the time that earlier ones did not need", function()
      local function latency_trial(device)
         return run(load "rfc2544.budget=20min", device).latency[1].trial_s
      end
      assert.is_true(latency_trial { 1, 0 } > latency_trial { 0.45, 8000 })
   end)

   it("is too small when not even the shortest trials fit", function()
      local plan = load "rfc2544.budget=30s"
      assert.matches("rfc2544.budget: the shortest tests take %d+:%d+, more than 0:30",
         method.check(plan, tester_of(DEVICES[1])))
   end)

   it("asks for the same trials when the run is made again", function()
      local first = select(2, run(load "rfc2544.budget=15min", DEVICES[2]))
      local again = select(2, run(load "rfc2544.budget=15min", DEVICES[2]))
      assert.same(first.trials, again.trials)
   end)
end)
