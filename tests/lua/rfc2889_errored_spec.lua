-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889, 5.9: errored frames, through reference switches that forward some kinds of them.
local method = require "framegauge.methods.rfc2889.method"
local plans = require "framegauge.plan"
local runs = require "rfc2889_runs"
local tables = require "framegauge.core.tables"

local KEYS = "tests: [errored_frames], trial: 20ms, errored_frames: {%s}"

local function measure(switch, keys)
   local results, session = runs.run(2, switch, KEYS:format(keys or ""))
   return results.errored_frames, session
end

local function outcomes(rows)
   local by_kind = {}
   for _, row in ipairs(rows) do
      local before = by_kind[row.kind]
      local now = row.outcome or row.validity
      by_kind[row.kind] = (before == nil or before == now) and now or "mixed"
   end
   return by_kind
end

local NOT_SENT = "not-applicable"

describe("errored frames by RFC 2889", function()
   it("do not pass a switch that checks them", function()
      local rows, session = measure ""
      assert.equal(3 * 3 * 3 + 2, #rows)
      assert.equal(3 * 3 * 3, #session.trials)
      assert.same({ oversize = "pass", undersize = "pass", crc = "pass", dribble = NOT_SENT,
         alignment = NOT_SENT }, outcomes(rows))
      local row = rows[3]
      assert.same({ "oversize", 1519, 1518, 100 }, { row.kind, row.frame_size, row.good_size,
         row.iload_percent })
      -- every tenth frame of the line's bits for 20 ms
      local fps = 1e9 / (8 * (1518.1 + 20))
      assert.near(fps * 0.02 / 10, row.sent, 1)
      assert.near(fps * 0.02 * 0.9, row.good_sent, 1)
      assert.same({ 0, 0, 0 }, { row.received, row.laundered, row.good_lost })
      assert.truthy(rows[#rows].reasons[1]:find("takes a PHY", 1, true))
   end)

   it("are told apart by kind", function()
      assert.same({ undersize = "fail", crc = "pass", oversize = "pass" },
         outcomes(measure("forwards_runts: true", "kinds: [oversize, undersize, crc]")))
      assert.same({ undersize = "pass", crc = "fail", oversize = "pass" },
         outcomes(measure("forwards_bad_fcs: true", "kinds: [oversize, undersize, crc]")))
      local rows = measure("max_frame: 1522", "kinds: [oversize], iloads: [50%]")
      assert.same({ "fail", "fail", "pass" }, tables.field(rows, "outcome"))
      assert.equal("81 of 81 wrong frames arrived", rows[1].reasons[1])
   end)

   -- the signature stands where a longer frame has its IP header, whatever that makes of it
   it("are known as runts of any size", function()
      local sizes = {}
      for size = 36, 63 do
         sizes[#sizes + 1] = tostring(size)
      end
      local rows = measure("forwards_runts: true", ("kinds: [undersize], iloads: [30%%], undersize: [%s]")
         :format(table.concat(sizes, ", ")))
      assert.equal(28, #rows)
      for _, row in ipairs(rows) do
         assert.same({ row.sent, "fail" }, { row.received, row.outcome }, row.frame_size)
      end
   end)

   it("arrive with the FCS that they had, or laundered", function()
      local row = measure("forwards_bad_fcs: true", "kinds: [crc], crc: [128], iloads: [10%]")[1]
      assert.same({ row.sent, row.sent, 0 }, { row.received, row.laundered, row.good_lost })
      assert.truthy(row.reasons[1]:find("the switch wrote a new one", 1, true))
      row = measure("forwards_bad_fcs: true, keeps_fcs: true", "kinds: [crc], crc: [128], iloads: [10%]")[1]
      assert.same({ row.sent, 0, "fail" }, { row.received, row.laundered, row.outcome })
   end)

   it("may not cost good frames", function()
      local row = measure("capacity: 100kfps, buffer: 4",
         "kinds: [undersize], undersize: [60], iloads: [100%]")[1]
      assert.same({ 0, "fail" }, { row.received, row.outcome })
      assert.near(row.good_sent - 100e3 * 0.02, row.good_lost, 6)
   end)

   it("are not longer than they may be with a tag", function()
      local text = runs.plan_of(2, "", KEYS:format "kinds: [oversize], iloads: [50%]")
         :gsub("wire(%d)}", "wire%1, vlan: 7}")
      local plan = assert(plans.load_text(text, "x.yaml"))
      local rows = runs.measure(plan).errored_frames
      assert.same({ NOT_SENT, NOT_SENT, "valid" }, tables.field(rows, "validity"))
      assert.equal("pass", rows[3].outcome)
   end)

   it("have keys that fit each other", function()
      assert.truthy(runs.wrong(2, "", KEYS:format "oversize: [1500]"):find("1500 bytes, and the switch is to forward up to 1518", 1, true))
      assert.truthy(runs.wrong(2, "keeps_fcs: true", ""):find(
         "keeps_fcs: it forwards no frame with a wrong FCS", 1, true))
      local plan = assert(plans.load_text(runs.plan_of(2, "", KEYS:format "max_frame: 1600"), "x.yaml"))
      assert.same({ 1601, 1604, 2000 }, plan.rfc2889.errored_frames.oversize)
      local parts = method.parts(plan, { max_fps = function(_, size) return 1e9 / 8 / (size + 20) end })
      assert.equal(9, #parts)
      assert.near(3 * 0.05, parts[1].seconds, 1e-9)
   end)
end)
