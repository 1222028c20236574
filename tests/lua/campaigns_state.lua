-- SPDX-License-Identifier: BSD-3-Clause

--- Firewalls and gateways drawn at random, which keep state; the rest is in campaigns.lua.
local tools = require "campaign_tools"

local M = {}

local pick = tools.pick

-- A table, a set-up rate, an inspection, a lingering end, or a fault: one limit at a time.
local FIREWALLS = {
   function(draw, truth)
      local rate, queue = draw(300, 6000), draw(10, 100)
      return ("setup_rate: %d, setup_queue: %d"):format(rate, queue),
         ("tests: [connections], objects: [1KiB], target: {connections: %d}"):format(rate * draw(2, 5)),
         function(results)
            local row = results.connections[1]
            return { truth.rate("TCP connections a second", rate, row.connections_per_s, queue + 1),
               truth.check("verdict", "valid", row.validity),
               truth.check("target", "not reached", row.target_reached and "reached" or "not reached") }
         end
   end,
   function(draw, truth)
      local n = draw(200, 3000)
      return ("sessions: %d, full: %s"):format(n, pick(draw, { "drop", "reset" })),
         ("tests: [concurrent], ramp_rate: %d, target: {concurrent: %d}"):format(n * 5, n * draw(2, 4)),
         function(results, counters)
            return { truth.check("concurrent connections", n, results.concurrent[1].concurrent_mean, n * 0.99, n),
               truth.check("most sessions, as the device counts", n, counters.most, n * 0.99, n) }
         end
   end,
   function(draw, truth)
      local us, kib = draw(0, 20000), draw(1, 16)
      return ("inspect: %dus"):format(us), ("tests: [latency], objects: [%dKiB], target: {connections: %d}"):format(
         kib, draw(200, 1000)), function(results)
            local row = results.latency[1]
            -- four times through the device
            return { truth.latency("TTFB", row.ttfb, 400e3 + us * 1e3),
               truth.check("TTLB is not below TTFB", row.ttlb.min_ns, row.ttlb.min_ns, row.ttfb.min_ns, 1e12) }
         end
   end,
   function(draw, truth)
      local us = draw(20, 120) -- a tenth of the target is some hundred transactions a sample
      return ("inspect_frame: %dus, inspect_queue: 2000"):format(us),
         ("tests: [http_throughput], objects: [1KiB], target: {transactions: %d}"):format(5e5 / us * draw(2, 4)),
         function(results)
            -- a request and a response, a frame each
            return { truth.rate("transactions a second", 5e5 / us, results.http_throughput[1].transactions_per_s,
               1000) }
         end
   end,
   function(draw, truth)
      local every = draw(10, 200)
      return ("reset_every: %d"):format(every),
         "tests: [connections], objects: [1KiB], target: {connections: 10000}",
         function(results, counters)
            local seen
            for _, one in ipairs(results.connections[1].criteria) do
               seen = one.name == "reset_connections" and one.value or seen
            end
            local all = math.floor(counters.created / every)
            return { truth.check("connections that were reset", counters.resets, seen, counters.resets,
               counters.resets), truth.check("of all connections", all, counters.resets, all, all),
               truth.check("a tenth of the target", "not met",
                  results.connections[1].initial_passed and "met" or "not met") }
         end
   end,
}

function M.rfc9411(draw)
   local truth, kind = require "rfc9411_truth", draw(1, #FIREWALLS)
   local device, keys, checks = FIREWALLS[kind](draw, truth)
   local nat = kind == 1 and draw(1, 2) == 2 and device or nil
   local one = { name = "firewall", nat = nat, firewall = not nat and device or nil, keys = keys }
   return checks(truth.measure(one)), truth.plan_of(nat and "nat" or "firewall", device, keys)
end

-- What a gateway sets up, holds, forwards and forgets, and how its delays are spread.
local GATEWAYS = {
   function(draw, truth)
      local rate, queue = draw(2000, 60000), draw(0, 200)
      local n = draw(queue * 3 + 100, 6000)
      return { nat = ("setup_rate: %d, setup_queue: %d"):format(rate, queue),
         keys = ("tests: [connection_rate], connections: [%d]"):format(n) }, function(results)
            local row = results.connection_rate[1]
            return { truth.rate(row, rate, queue), truth.check("verdict", "valid", row.validity),
               truth.check("what fails above", "not forwarded", row.failed_because) }
         end
   end,
   function(draw, truth)
      local n, full = draw(600, 9000), pick(draw, { "drop", "replace" })
      return { nat = ("sessions: %d, full: %s"):format(n, full),
         keys = ("tests: [capacity], capacity: {start: %d, method: fixed}, max: 100kfps"):format(draw(100, 500)) },
         function(results)
            local row = results.capacity[1]
            return { truth.capacity(n, row), truth.check("what fails above",
               full == "drop" and "not forwarded" or "not established", row.failed_because) }
         end
   end,
   function(draw, truth)
      local first, ports = draw(1024, 60000), draw(100, 900)
      return { nat = ("first_port: %d, last_port: %d"):format(first, first + ports - 1),
         keys = "tests: [capacity], capacity: {start: 500, method: fixed}, max: 100kfps" }, function(results)
            return { truth.capacity(ports * 10, results.capacity[1]) } -- 10 far ends
         end
   end,
   function(draw, truth)
      local fps, cleared, n = draw(50, 500) * 1000, draw(1000, 2000000), draw(200, 6000)
      return { device = ("capacity: %dfps"):format(fps), nat = ("clear_rate: %d, sessions: 6000"):format(cleared),
         keys = ("tests: [throughput, teardown], connections: [%d], establishment_rate: 20kfps, throughput: {trial: 200ms, search_trial: 200ms}"):format(n) }, function(results)
            local row, gone = results.throughput[1], results.teardown[1]
            -- one resolution too low; too high by what the buffer of 2,000 absorbs in 200 ms
            return { truth.check("throughput, frames a second", fps, row.throughput_fps, fps - 0.001 * 1488096,
               fps + 2001 / 0.2),
               truth.check("tear-down, connections a second", cleared, gone.teardown_per_s, cleared * (1 - 1e-3),
                  cleared * (1 + 1e-3)),
               truth.check("connections left", 0, gone.left, 0, 0) }
         end
   end,
   function(draw, truth)
      local us, n = draw(1, 95), 5000 -- frames come every 200 us, and keep their order
      return { device = ("jitter: %dus"):format(us), nat = "sessions: 2000",
         keys = "tests: [latency, pdv], connections: [1000], establishment_rate: 5kfps, load: 5kfps, latency: {trial: 400ms, tag_after: 200ms, repetitions: 1}, pdv: {trial: 1s, repetitions: 1}" },
         function(results)
            local list = {}
            for way = 1, 2 do
               local row, pdv = results.latency[way], results.pdv[way]
               -- the bounds of rfc9693_truth.lua, of 500 tags and of n delays
               list[#list + 1] = truth.check("typical latency, ns", 100e3 + us * 1e3, row.latency_typical_ns,
                  100e3 + us * 1e3 * 0.776, 100e3 + us * 1e3 * 1.224 + 2)
               local least = 0.999 - 5 * math.sqrt(0.999 * 0.001 / n) - 12 / n
               list[#list + 1] = truth.check("PDV, ns", 1998 * us, pdv.pdv_ns, 2e3 * us * least - 202,
                  2e3 * us + 1e-3 * (100e3 + 2e3 * us) + 2)
            end
            return list
         end
   end,
}

function M.rfc9693(draw)
   local truth = require "rfc9693_truth"
   local device, checks = pick(draw, GATEWAYS)(draw, truth)
   device.name = "gateway"
   return checks(truth.measure(device)), truth.plan_of(device)
end

return M
