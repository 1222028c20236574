-- SPDX-License-Identifier: BSD-3-Clause

--- Reference firewalls and gateways whose table, set-up rate and inspection are known, measured with
-- `test: rfc9411`.
--
-- Each figure is held against what follows from the keys of the firewall, within a bound that follows from
-- the method (docs/explanation/rfc9411.md).
local Tester = require "framegauge.tester"
local method = require "framegauge.methods.rfc9411.method"
local plans = require "framegauge.plan"
local Session = require "framegauge.trial.session"

local M = {}

local PLAN = [[
name: firewall
ports:
  inside: {device: wire0, ipv4: 198.18.1.2/24, gateway: 198.18.1.1}
  outside: {device: wire1, ipv4: 198.19.1.2/24, gateway: 198.19.1.1}
test: rfc9411
reference_device: {rate: 1Gbps, latency: 100us, buffer: 2000, %s: {%s}}
rfc9411: {sustain: 500ms, search_sustain: 500ms, ramp_down: 50ms, sample: 50ms,
  learning_wait: 1ms, drain: 500ms, settle: 0, retries: 0, %s, ramp_up: %s}
]]

--- The text of a plan.
-- @param group  firewall or nat, and its keys
function M.plan_of(group, device, keys, ramp_up)
   return PLAN:format(group, device, keys, ramp_up or "50ms")
end

--- Measure a firewall.
-- @return results, and the device's own counters after the last trial
function M.measure(device)
   local group = device.nat and "nat" or "firewall"
   local plan, errors = plans.load_text(M.plan_of(group, device[group], device.keys, device.ramp_up),
      device.name)
   assert(plan, errors and tostring(errors[1]))
   local tester, results, counters = assert(Tester.open(plan)), {}, nil
   local session = Session.new { tester = tester, retries = 0, phases = plan.rfc9411, sink = function() end }
   -- closing the sides of a trial empties the table: what it counted is read before
   local reset = tester.wires.reset
   tester.wires.reset = function(wires, ...)
      local seen = wires[group](wires)
      counters = seen.created > 0 and seen or counters
      return reset(wires, ...)
   end
   local ok, why = pcall(method.run, plan, tester, session, results)
   tester:close()
   assert(ok, why)
   return results.rfc9411, counters
end

function M.check(what, truth, measured, low, high)
   return { what = what, truth = truth, measured = measured or -1, low = low, high = high }
end

local check = M.check
local RESOLUTION, SHORTFALL = 0.01, 0.01

-- A rate that a search finds: a resolution of the search too low, or the shortfall that passes. Where the
-- device gives its figure itself, it is not above the truth but for what waits at the ends of the phase.
function M.rate(what, truth, measured, waiting)
   return check(what, truth, measured, truth * (1 - RESOLUTION - SHORTFALL), truth + waiting / 0.5)
end

-- Each frame is stored twice on 1 Gb/s lines: SYN, SYN-ACK, request, first segment of the response.
local LINES_NS = 2 * 8 * (84 + 84 + 250 + 1538)
-- over TLS ClientHello, the server's flight, Finished with the request and the response come after these two
local TLS_LINES_NS = 2 * 8 * (84 + 84 + 4 * 1538)

function M.latency(name, times, truth_ns, lines_ns)
   return check(name .. ", least, us", truth_ns / 1e3, times.min_ns / 1e3, truth_ns / 1e3,
      (truth_ns + (lines_ns or LINES_NS)) / 1e3)
end

local rate, latency = M.rate, M.latency

--- The devices: list of { name =, firewall = or nat =, keys = of the plan, checks = function(results,
-- counters) }.
M.DEVICES = {
   {
      name = "sets up 5,000 sessions a second", firewall = "setup_rate: 5000, setup_queue: 50",
      keys = "tests: [connections], objects: [1KiB], target: {connections: 20000}",
      checks = function(results)
         local row = results.connections[1]
         return {
            rate("TCP connections a second, 1 KiB", 5000, row.connections_per_s, 51),
            check("verdict", "valid", row.validity),
            check("target of 20,000", "not reached", row.target_reached and "reached" or "not reached"),
         }
      end,
   },
   {
      name = "holds 2,000 sessions", firewall = "sessions: 2000",
      keys = "tests: [concurrent], ramp_rate: 10000, target: {concurrent: 5000}",
      checks = function(results, counters)
         local row = results.concurrent[1]
         return {
            check("concurrent connections", 2000, row.concurrent_mean, 2000 * (1 - RESOLUTION), 2000),
            check("most sessions, as the device counts", 2000, counters.most, 2000 * (1 - RESOLUTION), 2000),
         }
      end,
   },
   {
      name = "refuses by RST, and inspects the first payload", firewall = "sessions: 500, full: reset, inspect: 500us",
      keys = "tests: [latency, concurrent], objects: [1KiB, 16KiB], ramp_rate: 5000, target: {connections: 1000, concurrent: 1000}",
      checks = function(results)
         local one, many = results.latency[1], results.latency[2]
         return {
            -- four times through the device, and its inspection
            latency("TTFB, 1 KiB", one.ttfb, 900e3),
            latency("TTLB, 1 KiB", one.ttlb, 900e3),
            latency("TTFB, 16 KiB", many.ttfb, 900e3),
            check("concurrent connections", 500, results.concurrent[1].concurrent_mean,
               500 * (1 - RESOLUTION), 500),
         }
      end,
   },
   {
      name = "inspects 100,000 frames a second", firewall = "inspect_frame: 10us, inspect_queue: 2000",
      keys = "tests: [http_throughput], objects: [1KiB], target: {transactions: 90000}",
      checks = function(results)
         -- a request and a response, a frame each
         return { rate("transactions a second, 1 KiB", 50000, results.http_throughput[1].transactions_per_s,
            1000) }
      end,
   },
   {
      name = "keeps closed sessions for 200 ms", firewall = "sessions: 400, half_closed: 200ms",
      keys = "tests: [connections], objects: [1KiB], target: {connections: 10000}",
      ramp_up = "400ms",
      checks = function(results)
         -- a session lasts from the SYN to the last ACK: five to eight times through the device, and 200 ms
         local row, through = results.connections[1], 100e-6
         return { check("TCP connections a second, 1 KiB", 400 / 0.2006, row.connections_per_s,
            400 / (0.2 + 8 * through + LINES_NS * 1e-9) * (1 - RESOLUTION - SHORTFALL),
            400 / (0.2 + 5 * through) + 400 * SHORTFALL + 1 / 0.5) } -- one more may be missed in the phase
      end,
   },
   {
      name = "resets every 50th session", firewall = "reset_every: 50",
      keys = "tests: [connections], objects: [1KiB], target: {connections: 10000}",
      checks = function(results, counters)
         local row, seen = results.connections[1], {}
         for _, one in ipairs(row.criteria) do
            seen[one.name] = one.value
         end
         return {
            check("a tenth of the target", "not met", row.initial_passed and "met" or "not met"),
            check("connections that were reset", counters.resets, seen.reset_connections, counters.resets,
               counters.resets),
            check("of all connections", math.floor(counters.created / 50), counters.resets,
               math.floor(counters.created / 50), math.floor(counters.created / 50)),
         }
      end,
   },
   {
      name = "translates with 400 ports", nat = "first_port: 2000, last_port: 2399",
      keys = "tests: [concurrent], ramp_rate: 4000, target: {concurrent: 1000}",
      checks = function(results, counters)
         return {
            check("concurrent connections to one server", 400, results.concurrent[1].concurrent_mean,
               400 * (1 - RESOLUTION), 400),
            check("most sessions, as the device counts", 400, counters.most, 400 * (1 - RESOLUTION), 400),
         }
      end,
   },
   {
      name = "translates, and sets up 3,000 sessions a second", nat = "setup_rate: 3000, setup_queue: 50",
      keys = "tests: [connections], objects: [1KiB], target: {connections: 20000}",
      checks = function(results)
         local row = results.connections[1]
         return { rate("TCP connections a second, 1 KiB", 3000, row.connections_per_s, 51) }
      end,
   },
   {
      name = "sets up 600 sessions a second, with TLS over it", firewall = "setup_rate: 600, setup_queue: 50",
      keys = "over: https, tests: [connections], objects: [1KiB], target: {connections: 1500}",
      checks = function(results)
         local row = results.connections[1]
         return {
            rate("connections a second, 1 KiB", 600, row.connections_per_s, 51),
            check("handshakes that failed", 0, row.tls.failed_handshakes, 0, 0),
         }
      end,
   },
   {
      name = "holds 100 sessions and inspects the first payload, with TLS over it",
      firewall = "sessions: 100, inspect: 500us",
      keys = "over: https, tests: [latency, concurrent], objects: [1KiB], ramp_rate: 1000, target: {connections: 100, concurrent: 200}",
      checks = function(results, counters)
         local row = results.latency[1]
         return {
            -- SYN, ClientHello, and Finished with the request, each there and back, and its inspection
            latency("TTFB, 1 KiB", row.ttfb, 1100e3, TLS_LINES_NS),
            check("concurrent connections", 100, results.concurrent[1].concurrent_mean,
               100 * (1 - RESOLUTION), 100),
            check("most sessions, as the device counts", 100, counters.most, 100 * (1 - RESOLUTION), 100),
         }
      end,
   },
}

return M
