-- SPDX-License-Identifier: BSD-3-Clause

local Control = require "framegauge.control"
local exposition = require "framegauge.web.exposition"
local ffi = require "ffi"
local metrics = require "framegauge.web.metrics"
local plan = require "framegauge.plan"
local scratch = require "scratch"
local totals = require "framegauge.tester.totals"

local PLAN = [[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, latency: 20us, capacity: 700kfps, time: free}
rfc2544: {frame_sizes: [64], tests: [throughput], throughput: {resolution: 5%}}
]]

-- Reads OpenMetrics from a file as Prometheus' own client does, and prints one figure a line.
local READ = [[
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(open(sys.argv[1]).read()):
    for s in family.samples:
        print(s.name, " ".join(s.labels[k] for k in sorted(s.labels)), "%.15g" % s.value)
]]

local CLOCK = { source = "chrony", synchronised = true, error_ns = 1500 }
local AGENTS = {
   { name = "rack1", clock = CLOCK, ports = { ports = {
      { port = "north", epoch = 3, remaining_s = 20 }, { port = "south", state = "free" },
   } } },
   { name = "rack2", clock = { source = "kernel" }, ports = { draining = true, ports = {} } },
   { name = "rack3", problem = "no agent rack3 listens" },
}

local function has(command)
   return select(2, scratch.shell(command .. " >/dev/null 2>&1")) == 0
end

describe("the metrics", function()
   local control, result
   local folder = scratch.path()

   local function value(name)
      return tonumber(metrics.text(control, false):match("\n" .. name:gsub("[-{}.>]", "%%%0") .. " (%S+)\n"))
   end

   setup(function()
      control = Control.new(assert(plan.load_text(PLAN, "metrics")))
      control.totals.keeps_delays = true
      local task = control:test("rfc2544", {}, { quick = true, out = folder })
      task:wait()
      result = task.result
   end)
   teardown(function()
      control:close()
      scratch.remove()
   end)

   it("count what the trials counted, to the frame", function()
      local tx, rx, bytes = {}, {}, 0
      for _, trial in ipairs(result.trials) do
         for _, one in ipairs(trial.directions) do
            tx[one.direction] = (tx[one.direction] or 0) + one.tx
            rx[one.direction] = (rx[one.direction] or 0) + one.rx
         end
         bytes = bytes + trial.directions[1].tx * 64
      end
      for direction, labels in pairs {
         ["east->west"] = 'from="east",stream="east->west",to="west"',
         ["west->east"] = 'from="west",stream="west->east",to="east"',
      } do
         assert.equal(tx[direction], value("framegauge_stream_transmit_frames_total{" .. labels .. "}"))
         assert.equal(rx[direction], value("framegauge_stream_receive_frames_total{" .. labels .. "}"))
         assert.equal(rx[direction], value("framegauge_stream_delay_seconds_count{" .. labels .. "}"))
      end
      for _, stream in ipairs(control.totals:read()) do
         assert.equal(tx[stream.name] - rx[stream.name], stream.lost)
         assert.truthy(stream.lost > 0)
      end
      assert.equal(tx["east->west"], value 'framegauge_port_transmit_frames_total{port="east"}')
      assert.equal(rx["west->east"], value 'framegauge_port_receive_frames_total{port="east"}')
      assert.equal(bytes, value 'framegauge_port_transmit_bytes_total{port="east"}')
   end)

   it("have the delays in bins: 20 us and 64 bytes at 1 Gbit/s lie above 20 us, below 50", function()
      local bucket = "framegauge_stream_delay_seconds_bucket"
         .. [[{from="east",le="%s",stream="east->west",to="west"}]]
      assert.equal(0, value(bucket:format "2e-05"))
      assert.truthy(value(bucket:format "5e-05") > 0)
   end)

   it("have trials by verdict, and the result only of valid rows", function()
      assert.equal(#result.trials, value 'framegauge_trials_total{test="rfc2544.throughput",verdict="valid"}')
      local row, name = result.results.throughput[1], "framegauge_result_throughput_frames_per_second"
      local labels = '{direction="both",frame_size="64",part="throughput",plan="metrics"}'
      assert.near(row.throughput_fps, value(name .. labels), 1e-9 * row.throughput_fps)
      local before = row.validity
      row.validity = "tester-limited"
      assert.is_nil(value(name .. labels))
      assert.equal(1, value('framegauge_result_verdict{direction="both",frame_size="64",framegauge_result_verdict="tester-limited",part="throughput",plan="metrics"}'))
      row.validity = before
   end)

   it("have the result of the last run of a plan", function()
      local list, row = control.tasks.list, result.results.throughput[1]
      local older = setmetatable({ throughput_fps = 1 }, { __index = row })
      table.insert(list, 1, setmetatable({
         result = { plan = result.plan, results = { throughput = { older } } },
      }, { __index = list[1] }))
      finally(function() table.remove(list, 1) end)
      assert.near(row.throughput_fps, value 'framegauge_result_throughput_frames_per_second{direction="both",frame_size="64",part="throughput",plan="metrics"}', 1e-9 * row.throughput_fps)
   end)

   it("are OpenMetrics to those who accept it", function()
      assert.truthy(exposition.wants_openmetrics "application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1")
      assert.falsy(exposition.wants_openmetrics "text/plain")
      assert.matches("# EOF\n$", metrics.text(control, true))
      if not has "/usr/bin/python3 -c 'import prometheus_client.openmetrics'" then
         return pending "python3-prometheus-client is not installed"
      end
      local path = scratch.path()
      scratch.write(path, metrics.text(control, true))
      local read, status = scratch.shell(("/usr/bin/python3 -c '%s' '%s' 2>&1"):format(READ, path))
      assert.equal(0, status, read)
      assert.matches("\nframegauge_port_speed_bytes east 125000000\n", read)
      local _, lines = metrics.text(control, true):gsub("\n[^#]", "")
      assert.equal(lines, select(2, read:gsub("\n", "")))
   end)

   it("are what promtool finds no fault with", function()
      if not has "promtool --version" then
         return pending "promtool is not installed"
      end
      local path = scratch.path()
      scratch.write(path, metrics.text(control, false, AGENTS))
      local output, status = scratch.shell(("promtool check metrics < '%s' 2>&1"):format(path))
      assert.equal("", output)
      assert.equal(0, status)
   end)

   it("tell of agents, their ports, and the bounds of clocks that have one", function()
      local text = metrics.text(control, false, AGENTS)
      for _, line in ipairs {
         'agents{state="ready"} 1', 'agents{state="draining"} 1', 'agents{state="silent"} 1',
         'agent_ports{agent="rack1",state="free"} 1', 'agent_ports{agent="rack1",state="leased"} 1',
         'lease_remaining_seconds{agent="rack1",port="north"} 20',
         'clock_synchronized{agent="rack1",source="chrony"} 1',
         'clock_synchronized{agent="rack2",source="kernel"} 0',
         'clock_error_bound_seconds{agent="rack1",source="chrony"} 1.5e-06',
      } do
         assert.truthy(text:find("\nframegauge_" .. line .. "\n", 1, true), line)
      end
      assert.is_nil(text:find 'clock_error_bound_seconds{agent="rack2"')
      assert.is_nil(text:find "rack3")
   end)

   it("escape what labels hold", function()
      local out = exposition.writer(false)
      out:family("gauge", "x", "y")
      out:add({ a = 'b"\\\n' }, 0.1)
      assert.equal('# TYPE x gauge\n# HELP x y\nx{a="b\\"\\\\\\n"} 0.1\n', out:text())
   end)

   it("stay few with 10,000 streams, and lose no frame", function()
      local many = totals.new()
      for i = 1, 10000 do
         local entry = many:entry { name = "s" .. i, from = i % 2 + 1, to = 2 - i % 2 }
         entry.tx, entry.delays = i, ffi.new("uint64_t[?]", #totals.BOUNDS + 1)
      end
      local kept = control.tester.totals
      control.tester.totals = many
      local text = metrics.text(control, true)
      control.tester.totals = kept
      local series, sum = select(2, text:gsub("\nframegauge", "")), 0
      for n in text:gmatch "framegauge_stream_transmit_frames_total{[^}]*} (%d+)" do
         sum = sum + n
      end
      assert.truthy(series < 2000)
      assert.equal(10000 * 10001 / 2, sum)
   end)
end)
