-- SPDX-License-Identifier: BSD-3-Clause

-- Our side of kernel_port.lua, in the network namespace of the port: WORK DEVICE OURS THEIRS MAIN WORKER
-- SECONDS MAC. Prints "figure N".
local folder = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = folder .. "/?.lua;" .. package.path

local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local octets = require "framegauge.core.octets"
local tester = require "tester"
local trial = require "framegauge.tester.l4.trial"

local work, device, ours, theirs, main, worker, seconds, mac = ...
seconds = tonumber(seconds)

local PLAN = [[
test: %s
isolated_network: true
ports:
  east: {device: "%s", ipv4: %s/24, line_rate: 100Gbps}
  west: {device: "vdev:net_null_west,no-rx=1", ipv4: 198.19.1.1/24, line_rate: 100Gbps}
%s
]]
local BEYOND = 1e9 -- frames per second nobody can make
local STREAMS, PORT = 4, 5201

local works = {}

-- Frames per second of the lcore's processor time.
function works.frames(bench)
   local clock = tester.worker_clock()
   local began = clock()
   local raw = tester.trial(bench, { fps = BEYOND, duration = seconds, directions = { "east->west" } })
   return raw.directions[1].tx / (clock() - began)
end

-- Bits per second that the iperf3 server there takes from us.
function works.stream(bench)
   local params = { omit = 0, time = seconds, parallel = STREAMS, len = 131072, tcp = true,
      client_version = "3.12" }
   local ended
   local result = trial.run(bench, {
      sides = { { port = 1, apps = { {
         test = "IPERF", port = PORT, host = ("c"):rep(36), params = json.encode(params), address = ours,
         remote = theirs, next_hop = octets.mac(mac), connections = 1,
      } } } },
      seconds = 60, learning_wait = 0.2, drain = 1, mtu = 1500, seed = 7,
      look = function(open)
         ended = ended or (open[1] > 0 and "begun") or nil
         return ended == "begun" and open[1] == 0
      end,
   })[1].apps[1]
   local sum = 0
   for _, r in ipairs(result.iperf) do
      sum = sum + (r.kind == "result" and r.theirs.octets or 0)
   end
   return 8 * sum / seconds
end

job.run(function()
   local test = work == "frames" and { "rfc2544", "rfc2544: {frame_sizes: [64]}" }
      or { "l4", "l4: {tests: [TCP_STREAM]}" }
   local bench = tester.open({ main = tonumber(main), worker = tonumber(worker) },
      PLAN:format(test[1], device, ours, test[2]))
   print(("figure %.6g"):format(tester.with(bench, works[work])))
end)
