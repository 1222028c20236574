-- SPDX-License-Identifier: BSD-3-Clause

-- RFC 6349: its own examples, and paths whose MTU, delay, rate and loss are configured.
local common = require "framegauge.methods.rfc6349.common"
local held = require "held"
local interrupted = require "interrupted"
local json = require "framegauge.text.json"
local schema = require "result_schema"
local scratch = require "scratch"
local uv = require "luv"

local CONFIG = debug.getinfo(1, "S").source:match "^@(.*)tests/lua/" .. "configs/rfc6349-reference.yaml"

local function near(expected, value, share)
   assert.near(expected, value, share * expected)
end

-- Run with settings. @return results.rfc6349, the folder
local function run(...)
   local path, words = scratch.path(), {}
   words[1] = ("'%s' run '%s' --quick --out '%s'"):format(uv.exepath(), CONFIG, path)
   for _, set in ipairs { ... } do
      words[#words + 1] = ("--set '%s'"):format(set)
   end
   local output, status = scratch.shell(table.concat(words, " ") .. " 2>&1")
   assert.equal(0, status, output)
   return json.decode(scratch.read(path .. "/result.json")).results.rfc6349, path
end

describe("what is expected of a path", function()
   local plan = { test = "rfc6349", ports = { { name = "a" }, { name = "b" } },
      rfc6349 = { windows = { 0.5, 1 }, directions = { "forward" } } }
   local row = { validity = "valid", window_share = 1, transfer_time_ratio = 1.05, efficiency_percent = 99.5,
      buffer_delay_percent = 12, achieved_bps = 900e6 }

   it("is one of the metrics, of all windows or of one", function()
      for text, met in pairs {
         ["transfer_time_ratio<=1.05"] = true, ["transfer_time_ratio<=1.04@100%"] = false,
         ["efficiency>=99.5%"] = true, ["efficiency>=99.6%"] = false, ["buffer_delay<=12%"] = true,
         ["buffer_delay<=10%"] = false, ["throughput>=900Mbps"] = true, ["throughput>=901Mbps"] = false,
      } do
         assert.equal(met, (held.met(text, plan, { rfc6349 = { transfers = { row } } })), text)
      end
      assert.is_nil((held.met("efficiency>=99%@50%", plan, { rfc6349 = { transfers = { row } } })))
      row.validity = "invalid"
      assert.is_nil((held.met("efficiency>=99%", plan, { rfc6349 = { transfers = { row } } })))
   end)

   it("is refused with the reason", function()
      for text, why in pairs {
         ["speed>=1"] = "no figure 'speed'", ["efficiency>=99%@25%"] = "subject '25%'",
         ["efficiency<=99%"] = "criterion with >=", efficiency = "no figure with a comparison",
      } do
         assert.matches(why, held.refusal(text, plan), 1, true)
      end
   end)
end)

describe("the arithmetic of RFC 6349", function()
   it("gives the windows of its table", function()
      near(3840, common.bdp(1.536e6, 20e-3), 1e-9)
      near(138156, common.bdp(44.21e6, 25e-3), 1e-4)
      near(62500, common.bdp(1e9, 0.5e-3), 1e-9)
      near(375000, common.bdp(10e9, 0.3e-3), 1e-9)
   end)

   it("tells how many connections fill a pipe, and what a window allows", function()
      for window, n in pairs { [16000] = 20, [32000] = 10, [64000] = 5, [128000] = 3 } do
         assert.equal(n, common.connections(500e6, 5e-3, window))
      end
      near(25.6e6, common.window_limited(16000, 5e-3), 1e-9)
      near(5.12e6, common.window_limited(16000, 25e-3), 1e-9)
      assert.equal(6, common.window_scale(2500000))
      assert.equal(0, common.window_scale(65535))
      assert.equal(1, common.window_scale(65536))
   end)

   it("tells the most that TCP can have", function()
      local o = { mtu = 1500, ip = "ipv4", tags = 0 }
      near(949.28e6, common.achievable(1e9, o), 1e-5)
      o.timestamps = true
      near(94.148e6, common.achievable(100e6, o), 1e-5)
      near(9147.2e6, common.achievable(10e9, o, true), 1e-5)
   end)

   it("gives the metrics of its examples", function()
      near(1.5, common.transfer_time_ratio(12, 5 * 100e6, 500e6), 1e-9)
      near(98.04, common.efficiency(102000, 2000), 1e-4)
      near(28, common.buffer_delay(32e-3, 25e-3), 1e-9)
      near(1.100, common.transfer_time_ratio(9.35, 4 * 250e6, 941.48e6), 1e-3)
   end)
end)

describe("a path", function()
   teardown(scratch.remove)

   it("is measured on where a run was ended", function()
      local _, path = run("rfc6349.windows=[50%]", "rfc6349.directions=[backward]")
      local half = interrupted(path, 6)
      local output, status = scratch.shell(("'%s' run --resume '%s' 2>&1"):format(uv.exepath(), half))
      assert.equal(0, status, output)
      assert.is_true(scratch.read(path .. "/result.json") == scratch.read(half .. "/result.json"))
   end)

   it("is found as it is configured", function()
      local found, path = run("rfc6349.windows=[50%, 200%]", "rfc6349.duration=4s",
         "rfc6349.directions=[forward]")
      assert.equal(1492, found.path_mtu.mtu)
      near(20e-3, found.baseline.rtt_min_ns / 1e9, 1e-3)
      near(100e6, found.bandwidth[1].bandwidth_l1_bps, 2e-3)
      local half, full = found.transfers[1], found.transfers[2]
      near(100e6 * (1492 - 52) / (1492 + 38), full.bottleneck_bps, 2e-3)
      near(full.bottleneck_bps, full.achieved_bps, 0.02)
      assert.is_true(full.transfer_time_ratio > 1 and full.transfer_time_ratio < 1.02)
      near(half.window * 4 * 8 / 20.01e-3, half.achievable_bps, 1e-3)
      near(half.achievable_bps, half.achieved_bps, 0.04)
      for _, row in ipairs(found.transfers) do
         assert.equal(100, row.efficiency_percent)
         assert.equal("valid", row.validity)
      end
      -- what is more than the product waits in front of the line
      assert.is_true(half.buffer_delay_percent < 5)
      assert.is_true(schema.validate(path .. "/result.json"))
   end)

   it("shows its loss, its queue, and a bottleneck behind the line", function()
      local found = run("rfc6349.windows=[400%]", "rfc6349.duration=3s", "rfc6349.directions=[forward]",
         "reference_device.bandwidth=20Mbps", "reference_device.buffer=150", "rfc6349.bandwidth.trial=10s",
         "rfc6349.bandwidth.search_trial=2s", "reference_device.rate=1Gbps")
      local row = found.transfers[1]
      -- the buffer takes 150 of the 16,500 frames of the trial, and a thousandth may be lost
      near(20e6, found.bandwidth[1].bandwidth_l2_bps, 0.012)
      near(row.bottleneck_bps, row.achieved_bps, 0.03)
      -- four times the product: three of them wait
      near(300, row.buffer_delay_percent, 0.15)
      local lossy = run("rfc6349.windows=[200%]", "rfc6349.duration=3s", "rfc6349.directions=[forward]",
         "reference_device.loss_random=0.5%", "rfc6349.bottleneck=100Mbps").transfers[1]
      near(99.5, lossy.efficiency_percent, 1e-3)
      assert.is_true(lossy.transfer_time_ratio > 1.2)
      assert.equal("policing, loss, or small buffers in the path", lossy.hint)
   end)

   it("tells a queue in the path from one in front of its own line", function()
      local function measured(...)
         return run("rfc6349.windows=[100%, 200%]", "rfc6349.duration=3s", "rfc6349.directions=[forward]",
            "rfc6349.connections=1", "rfc6349.path_mtu=1400", "rfc6349.bottleneck=50Mbps",
            "reference_device.latency=8ms", "reference_device.max_frame=1418", ...).transfers
      end
      -- layer 2 of 50 Mb/s in full packets
      local behind = measured("reference_device.rate=1Gbps", "reference_device.bandwidth=49304590bps")
      for _, row in ipairs(behind) do
         -- what is under way in all is the window, but for the beginning, in which the queue grows
         local reckoned = 100 * (row.windows * 8 / row.bottleneck_bps / (row.rtt_baseline_ns / 1e9) - 1)
         near(reckoned, row.buffer_delay_percent, 0.1)
         assert.same({}, row.warnings)
      end
      assert.near(9.3, behind[1].buffer_delay_percent, 0.3)
      assert.equal("the path is full, and frames wait in it", behind[2].hint)
      for _, row in ipairs(measured "reference_device.rate=50Mbps") do
         assert.matches("the tester's own line is the bottleneck", row.warnings[1], 1, true)
         assert.equal("the path is fine", row.hint)
      end
   end)

   it("carries both ways at once", function()
      local found = run("rfc6349.windows=[200%]", "rfc6349.duration=3s", "rfc6349.directions=[both]",
         "rfc6349.path_mtu=1492", "rfc6349.bottleneck=100Mbps")
      assert.equal(2, #found.transfers)
      for _, row in ipairs(found.transfers) do
         near(100e6 * 1440 / (1530 + 45), row.bottleneck_bps, 1e-3)
         near(row.bottleneck_bps, row.achieved_bps, 0.05)
      end
   end)
end)
