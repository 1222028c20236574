-- SPDX-License-Identifier: BSD-3-Clause

--- System recovery and reset on a made-up tester, as rfc2544_load_tests_spec.lua has the others.
local Tester = require "fake_tester"
local fake_plan = require "fake_plan"
local tests = require "framegauge.methods.rfc2544.tests"
local one = require "one_test"
local reset = require "framegauge.methods.rfc2544.reset"
local Session = require "framegauge.trial.session"

local fps = one.fps
local measure = one.measure

describe("system recovery", function()
   local GROUP = { overload = 60, watch = 60, repetitions = 2 }

   local function group(o)
      return setmetatable(o or {}, { __index = GROUP })
   end

   -- The last lost frame is due so long after the start, seconds.
   local function lost_until(...)
      local times = { ... }
      return function(raw, ask, n)
         local d = raw.directions[1]
         d.rx, d.last_lost_ns = d.tx - (ask.loads and 10 or 0), (times[n] or times[1]) * 1e9
      end
   end

   it("offers 110 % of the throughput and then half of that", function()
      local rows, tester = measure("system_recovery", group { rate = fps(10000) }, {
         rate = 1e9, capacity = 1e9, meddle = lost_until(60.25, 60.75),
      })
      assert.near(11000, tester.asked[1].loads[1].fps, 1e-6)
      assert.near(5500, tester.asked[1].loads[2].fps, 1e-6)
      assert.near(0.5e9, rows[1].recovery_mean_ns, 1)
      assert.near(0.25e9, rows[1].recovery_min_ns, 1)
      assert.near(0.75e9, rows[1].recovery_max_ns, 1)
      assert.near(1e9 / 5500, rows[1].resolution_ns, 1e-6)
      assert.same({ "valid", 2, 20 }, { rows[1].validity, rows[1].trials, rows[1].lost })
   end)

   it("offers no more than the line carries", function()
      local _, tester = measure("system_recovery", group { rate = fps(1.4e6) }, {
         rate = 1e9, capacity = 1e9, meddle = lost_until(60.1),
      })
      assert.equal(1488095, tester.asked[1].loads[1].fps)
   end)

   it("is zero when no frame was lost after the overload", function()
      local rows = measure("system_recovery", group { rate = fps(10000) }, {
         rate = 1e9, capacity = 1e9, meddle = lost_until(59.9),
      })
      assert.equal(0, rows[1].recovery_mean_ns)
   end)

   it("says when there is no overload", function()
      local row = measure("system_recovery", group(), { rate = 1e9, capacity = 1e9 })[1]
      assert.equal("not-applicable", row.validity)
      assert.matches("no overload is possible", row.reasons[1])
      row = measure("system_recovery", group { rate = fps(10000) }, { rate = 1e9, capacity = 1e9 })[1]
      assert.equal("not-applicable", row.validity)
      assert.matches("it was no overload", row.reasons[1])
   end)

   it("does not call a device recovered that still lost frames at the end", function()
      local row = measure("system_recovery", group { rate = fps(10000) }, {
         rate = 1e9, capacity = 1e9, meddle = lost_until(119.9),
      })[1]
      assert.equal("invalid", row.validity)
      assert.is_nil(row.recovery_mean_ns)
      assert.matches("raise rfc2544.system_recovery.watch", row.reasons[1])
   end)
end)

describe("reset", function()
   local GROUP = { rate = fps(1488095), after = 15, watch = 60, outage = 1, repetitions = 1 }

   local function with_loss(lost, gap_ns, last_lost_s)
      return function(raw)
         local d = raw.directions[1]
         d.rx, d.gap_max_ns, d.last_lost_ns = d.tx - lost, gap_ns, (last_lost_s or 16) * 1e9
         raw.ports[2].link_changes = 2
      end
   end

   -- Without a reference device, unless the plan gets one.
   local function reset_row(o, device, options)
      return measure("reset", setmetatable(o, { __index = GROUP }), device, options)
   end

   it("has the figure of RFC 6201's example", function()
      local by_loss, by_stamps = reset.figures({ lost = 1500000, gap_max_ns = 1.009e9 }, 1488095)
      assert.near(1.008e9, by_loss, 1e4)
      assert.near(1.009e9 - 672, by_stamps, 1)
   end)

   it("runs the command in the middle of the load, and a changing link does not spoil it", function()
      local path = os.tmpname()
      local phases = { frame_sizes = { 64, 1518 }, bidirectional = false, learning_wait = 0.05 }
      local started
      local command = { "sh", "-c", ("echo done > '%s'"):format(path) }
      local rows = reset_row({ after = 0.05, watch = 0.2, command = command }, {
         rate = 1e9, capacity = 1e9,
         meddle = function(raw)
            started = os.time()
            require("framegauge.core.job").sleep(0.3)
            with_loss(1500000, 1.009e9, 0.2)(raw)
         end,
      }, phases)
      local file = assert(io.open(path))
      assert.equal("done\n", file:read "*a")
      file:close()
      os.remove(path)
      assert.is_true(started ~= nil)
      assert.same({ "valid", "command", 0, "reset", 1500000, 64 }, { rows[1].validity, rows[1].by,
         rows[1].command_status, rows[1].effect, rows[1].lost, rows[1].frame_size })
      assert.near(1.008e9, rows[1].reset_ns, 1e4)
      assert.equal(1, #rows)
   end)

   local function slow(raw)
      require("framegauge.core.job").sleep(0.15)
      with_loss(1000, 1e6, 0.05)(raw)
   end

   it("is invalid when the command fails, cannot be run or does not end", function()
      local phases = { frame_sizes = { 64 }, bidirectional = false, learning_wait = 0 }
      for problem, command in pairs {
         ["failed with status 3"] = { "sh", "-c", "exit 3" },
         ["could not be run"] = { "/no/such/program" },
         ["was ended by signal 15"] = { "sh", "-c", "kill $$" },
      } do
         local row = reset_row({ after = 0.05, watch = 1, command = command },
            { rate = 1e9, capacity = 1e9, meddle = slow }, phases)[1]
         assert.equal("invalid", row.validity)
         assert.matches(problem, row.reasons[1], 1, true)
      end
   end)

   it("tells no loss from a reset, and stray losses from either", function()
      local phases = { frame_sizes = { 64 }, bidirectional = false, learning_wait = 0 }
      local function row(lost, gap_ns, last)
         return reset_row({ after = 0.01, watch = 1, command = { "true" } }, {
            rate = 1e9, capacity = 1e9,
            meddle = function(raw)
               require("framegauge.core.job").sleep(0.1)
               with_loss(lost, gap_ns, last)(raw)
            end,
         }, phases)[1]
      end
      local none = row(0, 672)
      assert.same({ "no loss", 0, 0, "valid" },
         { none.effect, none.reset_ns, none.reset_by_timestamps_ns, none.validity })
      assert.matches("that was no reset", row(3, 700, 0.05).reasons[1])
      assert.matches("that was no reset", row(1, 2e9 / 1488095, 0.05).reasons[1])
      assert.equal("valid", row(2, 3e9 / 1488095, 0.05).validity)
      assert.matches("still lost when the trial ended", row(3000, 700, 1.005).reasons[1])
   end)

   it("asks the person when there is no command", function()
      local said
      local plan = fake_plan { frame_sizes = { 64 }, bidirectional = false, learning_wait = 0 }
      plan.rfc2544.tests = { "reset" }
      plan.rfc2544.reset = setmetatable({ after = 0.05, watch = 0.2 }, { __index = GROUP })
      local tester = Tester.new {
         rate = 1e9, capacity = 1e9,
         meddle = function(raw)
            require("framegauge.core.job").sleep(0.15)
            with_loss(1000, 1e6, 0.1)(raw)
         end,
      }
      local rows = {}
      reset.measure(plan, tester, Session.new {
         tester = tester, retries = 0, phases = plan.rfc2544, sink = function() end,
         say = function(text)
            said = text
         end,
      }, 64, rows)
      assert.matches("Reset the device", said)
      assert.same({ "person", "valid" }, { rows[1].by, rows[1].validity })
   end)

   it("has the reference device fail by itself", function()
      local plan = fake_plan { frame_sizes = { 64 }, bidirectional = false }
      plan.reference_device = {}
      plan.rfc2544.reset = GROUP
      local tester = Tester.new { rate = 1e9, capacity = 1e9, meddle = with_loss(1488095, 1.0000007e9) }
      local rows = {}
      reset.measure(plan, tester, Session.new {
         tester = tester, retries = 0, phases = plan.rfc2544, sink = function() end,
      }, 64, rows)
      assert.same({ at = 15, seconds = 1 }, tester.asked[1].outage)
      assert.same({ "reference device", "valid" }, { rows[1].by, rows[1].validity })
      assert.near(1e9, rows[1].reset_ns, 1)
   end)
end)

describe("the tests of a plan", function()
   it("come in the order of the RFC", function()
      local names = {}
      local plan = { rfc2544 = { tests = { "reset", "frame_loss", "throughput" } } }
      for i, method in ipairs(tests.of(plan)) do
         names[i] = method.KEY
      end
      assert.same({ "throughput", "frame_loss", "reset" }, names)
   end)
end)
