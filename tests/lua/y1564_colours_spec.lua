-- SPDX-License-Identifier: BSD-3-Clause

-- Step C.1, green and yellow frames together: a policer that does not heed colours must not pass, however its
-- losses would fall by the beat of two loads, and one that heeds them must, with a bucket as small as can be.
local Tester = require "framegauge.tester"
local loads = require "framegauge.methods.y1564.loads"
local plans = require "framegauge.plan"
local Session = require "framegauge.trial.session"
local y1564 = require "framegauge.methods.y1564.method"

local LINE = 1e9
local PLAN = [[
test: y1564
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device:
  rate: 1Gbps
  profiles:
    d: {cir: %dMbps, cbs: %d, eir: %dMbps, ebs: 16000, marking: dscp, yellow: [12], colour: %s}
y1564:
  tests: [configuration]
  learning_wait: 10ms
  drain: 100ms
  settle: 0
  configuration: {trial: %s, tests: [policing]}
  services:
    a:
      frame_size: %d
      cir: %dMbps
      cbs: %d
      eir: %dMbps
      ebs: 16000
      directions: forward
      marking: dscp
      dscp: 10
      yellow: 12
      colour: aware
      acceptance: {flr: 0}
]]

-- CIR and EIR in Mbit/s, bytes of a frame.
local SETTINGS = {
   { 20, 10, 512 }, { 20, 20, 512 }, { 100, 50, 512 }, { 20, 5, 512 }, { 20, 16, 512 }, { 17, 9, 300 },
   { 20, 10, 1518 },
}

-- The row of C.1.
local function police(setting, colour, cbs, trial)
   local cir, eir, size = unpack(setting)
   local text = PLAN:format(cir, cbs, eir, colour, trial, size, cir, cbs, eir)
   local plan = assert(plans.load_text(text, "c1.yaml"))
   local tester = assert(Tester.open(plan))
   local session = Session.new { tester = tester, retries = 0, phases = plan.y1564, sink = function() end }
   local results = {}
   local ok, why = pcall(y1564.run, plan, tester, session, results)
   tester:close()
   assert(ok, why)
   local row = results.y1564.services[1].configuration[1]
   assert.equal("C.1", row.step)
   return row, table.concat(setting, "/") .. " seed " .. loads.SEED
end

describe("policing with colours", function()
   local seed = loads.SEED

   after_each(function()
      loads.SEED = seed
   end)

   local function each(check)
      for _, setting in ipairs(SETTINGS) do
         for one = 1, 3 do
            loads.SEED = one
            check(setting)
         end
      end
   end

   it("fails a device that does not heed them", function()
      each(function(setting)
         local row, where = police(setting, "blind", 16000, "2s")
         assert.same({ "fail", "FLR" }, { row.outcome, row.failed[1] }, where)
         assert.is_true(row.green.lost > 0, where)
      end)
   end)

   it("fails it in a long trial, too", function()
      for i = 1, 2 do
         local row, where = police(SETTINGS[i], "blind", 16000, "30s")
         assert.same({ "fail", "FLR" }, { row.outcome, row.failed[1] }, where)
      end
   end)

   -- A green frame may have to wait for one yellow frame on the line: for this time more the bucket is filled
   -- before it, and for this time less before the next one.
   it("passes a device that heeds them, with the smallest bucket", function()
      each(function(setting)
         local cir, _, size = unpack(setting)
         local cbs = size + math.ceil(cir * 1e6 * (size + 20) / LINE)
         local row, where = police(setting, "aware", cbs, "2s")
         assert.same({ "pass", 0 }, { row.outcome, row.green.lost }, where)
         assert.is_true(row.yellow.lost > 0, where)
      end)
   end)

   it("sends the load that was asked for, to a frame", function()
      local row = police(SETTINGS[1], "aware", 16000, "2s")
      assert.near(32.5e6, row.offered_ir_bps, 512 * 8)
      -- of 20 and 12.5 Mbit/s
      assert.near(2 * 20e6 / 4096, row.green.tx, 2)
      assert.near(2 * 12.5e6 / 4096, row.yellow.tx, 2)
   end)
end)
