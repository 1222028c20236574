-- SPDX-License-Identifier: BSD-3-Clause

-- Delays between agents on several machines: the clocks of both in virtual time; one is stepped.
local Clock = require "framegauge.clock"
local job = require "framegauge.core.job"
local Offsets = require "framegauge.fleet.offsets"
local virtual = require "virtual_time"

local BOUND_NS = 1e5 -- 100 us of each clock

-- A trial of some seconds in which the sender's clock may be stepped.
-- @param o.step_ns  by which it is stepped in the middle; or o.late: it is heard after the start only;
--                   o.until_s: how long it is heard; o.negative: delays; o.worst_ns: what the sender once
--                   tells in addition to its bound
-- @return bound or nil, why; by how much delays were wrong at most, ns
local function trial(o)
   local out = virtual.run(function()
      local sender, receiver = virtual.new_host("sender", 7e12), virtual.new_host("receiver", 3e9)
      local worst, ends = 0, {}
      local function open(host)
         local clock
         virtual.as(host, function()
            clock = Clock.new { source = "kernel", machine = virtual.machine(host, BOUND_NS) }
            job.spawn(function() clock:open() end)
         end)
         job.sleep(0.01)
         return Offsets.new(clock)
      end
      local theirs, ours = open(sender), open(receiver)
      for tick = 0, 100 do -- traffic from 0.5 s to 5 s
         sender.error_ns = tick >= 50 and o.step_ns or 0
         local told
         virtual.as(sender, function() told = theirs:told() end)
         told.error_ns = told.error_ns + (tick == 20 and o.worst_ns or 0)
         virtual.as(receiver, function()
            if tick == 10 then
               ours:begin()
            end
            ours:told()
            local ahead = ours:ahead "sender"
            if ahead and tick >= 10 then
               worst = math.max(worst, math.abs(receiver.raw_ns - sender.raw_ns + tonumber(ahead)))
            end
            if tick >= (o.late and 11 or 0) and tick <= (o.until_s or 5) * 20 then
               ours:hear("sender", told)
            end
         end)
         job.sleep(0.05)
      end
      virtual.as(receiver, function() ends = { ours:verdict("sender", o.negative or 0) } end)
      return { ends[1], ends[2], worst }
   end)
   return out[1], out[2], out[3]
end

describe("delays between two machines", function()
   it("are as exact as both clocks say", function()
      local bound, why, worst = trial {}
      assert.is_nil(why)
      assert.is_true(bound >= 2 * BOUND_NS and bound < 2 * BOUND_NS + 2e6, bound)
      assert.is_true(worst < 1)
   end)

   it("are within the bound where a clock is stepped by 1 us", function()
      local bound, _, worst = trial { step_ns = 1000 }
      assert.is_true(worst >= 999 and worst <= bound, worst)
   end)

   it("are as wrong as the sender's clock was at its worst", function()
      local bound, why = trial { worst_ns = 1e6 }
      assert.is_nil(why)
      assert.is_true(bound >= 1e6 + 2 * BOUND_NS, bound)
   end)

   it("are not known, for a reason, where a clock is stepped by 1 ms or not heard", function()
      for expected, o in pairs {
         ["the clock of agent sender was stepped by 1%.?0* ms"] = { step_ns = 1e6 },
         ["the clock of agent sender was not heard before the start"] = { late = true },
         ["the clock of agent sender was not heard for [23]"] = { until_s = 2 },
         ["1 delay from agent sender negative"] = { negative = 1 },
      } do
         local bound, why = trial(o)
         assert.is_nil(bound)
         assert.matches(expected, why)
      end
   end)
end)
