-- SPDX-License-Identifier: BSD-3-Clause

-- Metrics of an Open Traffic Generator flow by the port that has received it, behind the reference switch.
local job = require "framegauge.core.job"
local Served = require "otg_served"
local tables = require "framegauge.core.tables"

local ALL = "ff:ff:ff:ff:ff:ff" -- goes to all ports

describe("an Open Traffic Generator flow told apart by its ports", function()
   local served

   setup(function()
      served = Served.open_switch()
   end)
   teardown(function()
      served:close()
   end)

   local function flow(name, ports, more)
      local one = Served.flow(name, more)
      one.metrics = one.metrics.latency and one.metrics or { enable = true }
      one.metrics.predefined_metric_tags = { rx_name = true }
      one.tx_rx.port.rx_names = ports
      one.packet = { { ethernet = { src = { value = "00:00:01:01:01:01" }, dst = { value = ALL } } } }
      return one
   end

   local function set(...)
      served:must("POST /config", Served.switch_configuration { ... })
   end

   -- The tagged metrics of f1, each as the port's name and some figures.
   local function tagged(keys, request)
      local row = served:must("POST /monitor/metrics", {
         flow = { flow_names = { "f1" }, tagged_metrics = request },
      }).flow_metrics[1]
      return row.tagged_metrics and tables.map(row.tagged_metrics, function(one)
         assert.same({ "rx_name", "str" }, { one.tags[1].name, one.tags[1].value.choice })
         local out = { one.tags[1].value.str }
         for _, key in ipairs(keys) do
            out[#out + 1] = tonumber(one[key]) or "none"
         end
         return out
      end), row
   end

   it("has the counts of each, those without frames only where they are asked for", function()
      set(flow("f1", { "p2", "p3", "p1" }))
      local figures = { "frames_tx", "frames_rx", "bytes_tx", "bytes_rx", "loss" }
      assert.same({}, (tagged(figures)))
      served:transmit "start"
      served:await "f1"
      local west, south = { "p2", 100, 100, 12800, 12800, 0 }, { "p3", 100, 100, 12800, 12800, 0 }
      assert.same({ west, south }, (tagged(figures)))
      assert.same({ west, south, { "p1", 100, 0, 12800, 0, 100 } },
         (tagged(figures, { include_empty_metrics = true })))
      local filters = { { name = "rx_name", values = { "p3", "x" } } }
      assert.same({ south }, (tagged(figures, { filters = filters })))
      assert.same({ { "p2", "none", 100 }, { "p3", "none", 100 } },
         (tagged({ "frames_tx", "frames_rx" }, { metric_names = { "frames_rx" } })))
      assert.is_nil((tagged(figures, { include = false })))
   end)

   it("goes on with them where its size changes while it runs", function()
      local one = flow("f1", { "p2", "p3" }, { duration = { continuous = {} }, rate = { pps = 2000 } })
      one.metrics.latency = { enable = true }
      set(one)
      served:transmit "start"
      repeat
         job.sleep(0.02)
         local rows = tagged { "frames_rx", "frames_rx_rate" }
      until #rows == 2 and rows[2][2] > 20 and rows[1][3] > 0
      one.size = { fixed = 512 }
      served:must("PATCH /config", { flows = { property_names = { "size" }, flows = { one } } })
      local before = tagged({ "frames_rx" })[1][2]
      repeat
         job.sleep(0.02)
      until tagged({ "frames_rx" })[1][2] > before + 20
      served:transmit "stop"
      local rows, row = tagged { "frames_rx", "bytes_rx", "frames_tx", "frames_rx_rate" }
      local sent, bytes = tonumber(row.frames_tx), tonumber(row.bytes_tx)
      assert.is_true(bytes > 128 * sent and bytes < 512 * sent)
      assert.same({ { "p2", sent, bytes, sent, 0 }, { "p3", sent, bytes, sent, 0 } }, rows)
      assert.equal(2 * sent, tonumber(row.frames_rx))
      assert.is_true(row.tagged_metrics[2].latency.minimum_ns > 0)
   end)

   it("is refused without metrics, as a filter of another tag is", function()
      local one = flow("f1", { "p2" })
      one.metrics.enable = false
      local status, answer = served:ask("POST /config", Served.configuration { one })
      assert.same({ 400, { 'flows[0] "f1".metrics.predefined_metric_tags.rx_name: needs metrics.enable' } },
         { status, answer.errors })
      set(flow("f1", { "p2" }))
      status, answer = served:ask("POST /monitor/metrics", { flow = { tagged_metrics = {
         filters = { { name = "rx_name" }, { name = "tx_name" }, {} } } } })
      assert.same({ 400, { 'flow.tagged_metrics.filters[1].name: "tx_name" is no tag; there is rx_name',
         'flow.tagged_metrics.filters[2].name: nothing is no tag; there is rx_name' } },
         { status, answer.errors })
   end)
end)
