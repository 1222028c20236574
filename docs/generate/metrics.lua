-- SPDX-License-Identifier: BSD-3-Clause

--- Writes docs/reference/metrics.md from a tester that has sent something:
-- build/app/framegauge script docs/generate/metrics.lua > docs/reference/metrics.md
local Control = require "framegauge.control"
local job = require "framegauge.core.job"
local metrics = require "framegauge.web.metrics"
local plan = require "framegauge.plan"

local PLAN = [[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, time: free}
]]

local HEAD = [[
# Metrics

What `framegauge serve --metrics ADDRESS` and `run --metrics ADDRESS` serve at `/metrics`: OpenMetrics 1.0 to a client that
accepts it (Prometheus does), otherwise the text format 0.0.4. [How to scrape and draw them](../how-to/metrics.md).

Counters are sums since the tester was started, the running trial included; where the text says so, only trials that have ended.
They are read while frames fly: the report has the results. More than 200 streams are summed by their ports (`stream="all"`).
`framegauge_trials_total` bears exemplars in OpenMetrics: run and number of the last trial of its kind. TCP and UDP connections
and replayed captures are not counted here. The last five are there where the plan has agents of a fleet (`fleet.agents`), which are asked
when somebody scrapes, at most once in two seconds; those that do not answer take two.

| Name | Type | Labels | Meaning |
|---|---|---|---|
]]

local function labels_of(text, name)
   local names = {}
   for label in (text:match("\n" .. name .. "%S*{(.-)} ") or ""):gmatch '([%w_]+)="' do
      if label ~= "le" then
         names[#names + 1] = "`" .. label .. "`"
      end
   end
   return table.concat(names, ", ")
end

local EVENT = {
   test = "rfc2544.throughput", trial = 1, of = 2, elapsed_s = 1, left_s = 1,
   ended = { trial = 1, validity = "valid", duration_s = 1, outcome = "no loss" },
}

-- A job with a trial and a result, so that each metric has a sample.
local function pretend_run(control)
   control.tasks:start("rfc2544", {}, function(task)
      task:report(EVENT)
      task.look = function()
         return EVENT
      end
      task.result = { plan = control.plan, results = { throughput = { {
         frame_size = 64, direction = "both", throughput_fps = 1, loss_ratio = 0, latency = { mean_ns = 1 },
         validity = "valid",
      } } } }
      job.sleep(1)
   end)
end

local AGENTS = { { name = "rack1",
   ports = { ports = { { port = "north", epoch = 1, remaining_s = 20 } } },
   clock = { source = "chrony", synchronised = true, error_ns = 1000 },
} }

local function text_of_tester()
   local control = Control.new(assert(plan.load_text(PLAN, "metrics")))
   control:tester_for(nil, { 64 }):trial {
      frame_size = 64, fps = "10kfps", duration = "1ms", directions = { "east->west" },
   }
   control.totals:add_port { name = "east", foreign_by_kind = { arp = 1 } }
   pretend_run(control)
   job.sleep(0.01)
   local text = metrics.text(control, false, AGENTS)
   control:close()
   return text
end

io.write(HEAD)
local text = job.run(text_of_tester)
for name, kind, help in text:gmatch "# TYPE (%S+) (%S+)\n# HELP %S+ ([^\n]+)" do
   io.write(("| `%s` | %s | %s | %s |\n"):format(name, kind, labels_of(text, name), help))
end
io.write "\nThis page is generated: `build/app/framegauge script docs/generate/metrics.lua > docs/reference/metrics.md`.\n"
