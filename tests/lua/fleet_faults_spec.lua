-- SPDX-License-Identifier: BSD-3-Clause

-- Trials of a fleet in which things go wrong, in virtual time (fleet_faults.lua); the same 10,000 times:
-- tests/tester/fleet_faults.lua. And the clocks of agents on several machines.
local clocks = require "framegauge.fleet.clocks"
local faults = require "fleet_faults"
local ffi = require "ffi"
local job = require "framegauge.core.job"
local scratch = require "scratch"
local time = require "framegauge.clock.time"
local virtual = require "virtual_time"

teardown(scratch.remove)

describe("virtual time", function()
   it("stops and ends hosts with their timers, and takes no time", function()
      local began, seen = time.raw(), {}
      virtual.run(function()
         local one, other = virtual.new_host("one", 7e9), virtual.new_host("other", 0)
         for _, host in ipairs { one, other } do
            virtual.as(host, job.spawn, function()
               for i = 1, 4 do
                  job.sleep(1)
                  seen[#seen + 1] = ("%s %d %.1f"):format(host.name, i, tonumber(time.raw()) / 1e9)
               end
            end)
         end
         job.sleep(1.5)
         virtual.stop(one)
         job.sleep(1)
         virtual.kill(other)
         job.sleep(100)
         virtual.go_on(one)
         job.sleep(1000)
      end)
      assert.same({ "one 1 8.0", "other 1 1.0", "other 2 2.0", "one 2 109.5", "one 3 110.5", "one 4 111.5" },
         seen)
      assert.is_true(tonumber(time.raw() - began) < 1000e9)
   end)
end)

describe("a fleet in which things go wrong", function()
   it("is valid only with the truth, delays in their bounds, hangs never, and frees its ports", function()
      local world = faults.play { seed = 24, trials = 120 }
      assert.same({}, world.wrong)
      assert.is_true(world.counts.valid > 40, world.counts.valid)
      assert.is_true(world.counts["delays known"] > 100, world.counts["delays known"])
      assert.is_true(world.trials - world.counts.valid > 10, world.counts.valid)
   end)
end)

describe("the clocks of agents", function()
   -- A controller whose agents are ahead of it, and answer after a time.
   local function controller(agents)
      return { ask = function(_, name)
         local one = agents[name]
         job.sleep(one.takes_s or 0.001)
         local state = { raw = time.text(time.raw()), distance = time.text(one.ahead_ns), boot = name,
            error_ns = 1e5, synchronised = one.synchronised ~= false, finding = "f", fix = "x" }
         job.sleep(one.takes_s or 0.001)
         return one.lost and { refused = "it does not answer" } or { ok = true, body = state }
      end }
   end

   local function agreed(agents, within_s)
      return virtual.run(function()
         local control, readings = controller(agents), {}
         for name in pairs(agents) do
            local why
            readings[name], why = clocks.read(control, name, (within_s or 0.25) * 1e9, "common")
            if why then
               return why
            end
         end
         local ahead, why = clocks.agree(readings)
         return why or tonumber(ahead)
      end)
   end

   it("are a common time when all can be right", function()
      local ahead = agreed { a = { ahead_ns = 7e9 }, b = { ahead_ns = 7e9 + 1e6 } }
      assert.is_true(math.abs(ahead - 7e9) < 2.1e6, ahead)
   end)

   it("are not when one was stepped, cannot be compared in time, or is not synchronised", function()
      assert.matches("clocks of agent b and agent a are 7,?.?%d* ms apart or more", agreed {
         a = { ahead_ns = 0 }, b = { ahead_ns = 10e6 } })
      assert.matches("it answered after 600 ms; 250 ms would do", agreed {
         a = { ahead_ns = 0, takes_s = 0.3 } }, 1, true)
      assert.matches("on agent a f: x", agreed { a = { ahead_ns = 0, synchronised = false } }, 1, true)
      assert.matches("agent a: it does not answer", agreed { a = { ahead_ns = 0, lost = true } }, 1, true)
   end)

   it("are needed on several machines, and not on one", function()
      virtual.run(function()
         local good, bad = { ahead_ns = 0 }, { ahead_ns = 0, synchronised = false }
         assert.equal("common", clocks.scale(controller { a = good, b = good }, { "a", "b" }))
         local _, err = pcall(clocks.scale, controller { a = bad, b = good }, { "a", "b" })
         assert.matches("need synchronised clocks; on agent a f: x", tostring(err), 1, true)
         assert.equal("machine", clocks.scale(controller { a = bad }, { "a" }))
      end)
   end)

   it("are compared to the nanosecond, which a number of Lua does not hold", function()
      local base = 1800000000123456789LL
      local one = { name = "a", low = base - 5, high = base + 5 }
      local other = { name = "b", low = base + 5, high = base + 15 }
      assert.is_true(clocks.agree { a = one, b = other } == base + ffi.cast("int64_t", 5))
   end)
end)
