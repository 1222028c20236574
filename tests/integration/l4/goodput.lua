-- SPDX-License-Identifier: BSD-3-Clause

-- Our TCP as the sender, for tools/compare-tcp: streams from the address OURS, by a device, to THEIRS, which
-- is at MAC.
local Tester = require "framegauge.tester"
local job = require "framegauge.core.job"
local octets = require "framegauge.core.octets"
local plans = require "framegauge.plan"
local trial = require "framegauge.tester.l4.trial"

local device, ours, theirs, mac, port, connections, seconds, congestion = ...

local PLAN = [[
test: l4
isolated_network: true
ports:
  east: {device: 'kernel:%s,af_packet', ipv4: %s/24}
  west: {device: 'kernel:%s-idle,af_packet', ipv4: 198.19.1.1/24}
l4: {tests: [TCP_STREAM]}
]]

job.run(function()
   local plan, problems = plans.load_text(PLAN:format(device, ours, device), "compare-tcp", {})
   assert(plan, problems and tostring(problems[1]))
   local tester = assert(Tester.open(plan))
   local results = trial.run(tester, {
      sides = { { port = 1, apps = { {
         test = "TCP_STREAM", address = ours, remote = theirs, port = tonumber(port),
         next_hop = octets.mac(mac), connections = tonumber(connections),
         tcp = { congestion = congestion },
      } } } },
      seconds = tonumber(seconds), learning_wait = 0.2, drain = 2, mtu = 1500, seed = 7,
   })
   local n = results[1].counters
   for _, name in ipairs { "segments_retransmitted", "fast_retransmits", "timeouts", "tail_probes",
      "lost_retransmits", "spurious_recoveries" } do
      io.write(name, " ", n[name], "  ")
   end
   local rtt = results[1].apps[1].rtt
   if rtt then
      io.write(("rtt %.1f/%.1f/%.1f ms"):format(rtt.min_ns / 1e6, rtt.p50_ns / 1e6, rtt.p99_ns / 1e6))
   end
   io.write "\n"
   tester:close()
end)
