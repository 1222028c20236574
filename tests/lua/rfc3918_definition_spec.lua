-- SPDX-License-Identifier: BSD-3-Clause

--- The definition of latencies of RFC 3918 (RFC 1242, 3.8): by the kind of the device, one for all
-- rows of a run.
local plans = require "framegauge.plan"
local trials = require "framegauge.methods.rfc3918.trials"
local truth = require "rfc3918_truth"

local function run(switch, ...)
   return truth.measure_plan(assert(plans.load_text(truth.FOUR:format(switch), "x.yaml", { sets = { ... } })))
end

describe("a switch", function()
   it("takes no time for a line that the plan alone declares", function()
      local c = { tester = { ports = { { name = "a", line_rate = 1e8 }, { name = "b", line_rate = 1e8,
         serial_rate = 1e8 } } }, o = { latency_definition = "lifo" }, frame_size = 1518 }
      for source, found in pairs { a = { 0, "fifo" }, b = { 1518 * 80, "lifo" } } do
         c.source = source
         local is, store = trials.definition(c)
         assert.same(found, { store, is })
      end
   end)

   -- the latency of 20 us counts from when the header is in
   it("has a latency from first bit to first bit where it cuts through", function()
      local switch = "rate: 100Mbps, switching: cut-through, snooping: {groups: 100, unregistered: drop}"
      local function latency(definition)
         local results = run(switch, "rfc3918.tests=[latency,join_delay]", "rfc3918.frame_sizes=[1518]",
            "rfc3918.latency_load=50%", "rfc3918.latency_trial=20ms", "rfc3918.latency_repetitions=2",
            "rfc3918.membership.repetitions=2", "rfc3918.membership.max_resolution=1ms",
            definition and "rfc3918.latency_definition=" .. definition)
         return results.latency[1], results.join_delay[1]
      end
      local fifo, join = latency "fifo"
      assert.same({ "valid", {}, "fifo" }, { fifo.validity, fifo.reasons, fifo.definition })
      -- 14 bytes of header at 100 Mbit/s
      assert.near(20000 + 14 * 80, fifo.latency_max_ns, 2)
      assert.equal(fifo.latency_min_ns, fifo.egress[1].every_frame_latency.min_ns)
      local own, joined = latency()
      assert.same({ "fifo", fifo.latency_max_ns, join.net_mean_ns }, { own.definition, own.latency_max_ns,
         joined.net_mean_ns })
      assert.same({ "fifo", "valid", own.reasons[1] }, { joined.definition, joined.validity,
         joined.reasons[1] })
      assert.truthy(own.reasons[1]:find("frames of 1518 bytes left before", 1, true))
      local lifo, late = latency "lifo"
      assert.near(20000 + 14 * 80 - 1518 * 80, lifo.latency_max_ns, 2)
      assert.truthy(lifo.reasons[1]:find("take rfc3918.latency_definition: fifo", 1, true))
      assert.near(1518 * 80, late.net_mean_ns - join.net_mean_ns, 2)
   end)

   -- of 20 us; 64 bytes take 5.12 us, 1518 bytes 121.44 us
   it("has one definition for all rows of a run", function()
      local function measured(definition)
         return run("rate: 100Mbps, switching: cut-through, snooping: {groups: 100, unregistered: drop}",
            "rfc3918.tests=[latency,burdened_latency,join_delay]", "rfc3918.frame_sizes=[64,1518]",
            "rfc3918.burden=[a,b]", "rfc3918.latency_trial=5ms", "rfc3918.latency_repetitions=1",
            "rfc3918.latency_load=20%", "rfc3918.burden_load=20%", "rfc3918.membership.repetitions=1",
            "rfc3918.membership.max_resolution=1ms", definition and "rfc3918.latency_definition=" .. definition)
      end
      local own, fifo = measured(), measured "fifo"
      for _, key in ipairs { "latency", "burdened_latency", "join_delay" } do
         assert.is_true(#own[key] > 1)
         for i, row in ipairs(own[key]) do
            local text = row.reasons[#row.reasons]
            assert.same({ "fifo", 1 }, { row.definition, select(2, text:gsub("frames of 1518 bytes left", "")) })
            row.reasons, fifo[key][i].reasons = {}, {}
            assert.same(fifo[key][i], row)
         end
      end
   end)
end)
