-- SPDX-License-Identifier: BSD-3-Clause

--- Reference devices with outages of known length at known times, measured with `test: convergence`.
--
-- Each figure is held against the outage, within a bound that follows from the method: the time tau between
-- two frames of a route, the time between two frames of all routes, and the sampling interval s.
local Tester = require "framegauge.tester"
local ethernet = require "framegauge.core.ethernet"
local method = require "framegauge.methods.convergence.method"
local plans = require "framegauge.plan"
local Session = require "framegauge.trial.session"

local M = {}

local PLAN = [[
name: %s
ports: %s
test: convergence
reference_device: %s
convergence:
  routes: %s
  size: %d
  rate: %dfps
  resolution: 10ms
  sampling: %.10gms
  at: %.10gms
  outage: %.10gms
  watch: %.10gms
  validation: 50ms
  learning_wait: 1ms
  drain: 20ms
  settle: 0
  repetitions: 2
]]

local V4 = "{east: {device: wire0}, west: {device: wire1}}"
local V6 = "{east: {device: wire0, ipv6: 2001:2:0:1::2/64}, west: {device: wire1, ipv6: 2001:2:0:2::2/64}}"

--- The devices: what is written into the plan, and the same in numbers. Times in seconds; odd ones, so that
-- they fall between frames.
M.DEVICES = {
   {
      name = "router", written = "{rate: 1Gbps, latency: 50us}", rate = 1e9, size = 128, fps = 100000,
      routes = 100, of = "{first: 198.19.64.1, count: 100, prefix: 24}", at = 0.1001234, outage = 0.05,
      sampling = 0.01,
   },
   {
      name = "core router", written = "{rate: 10Gbps, latency: 5us}", rate = 1e10, size = 256,
      fps = 2000000, routes = 1000, of = "{first: 198.19.64.1, count: 1000, prefix: 32}", at = 0.0600071,
      outage = 0.1700333, sampling = 0.005,
   },
   {
      name = "link with one flow", written = "{rate: 1Gbps, latency: 20us}", rate = 1e9, size = 512,
      fps = 10000, routes = 1, of = "{count: 1}", at = 0.0999999, outage = 0.05, sampling = 0.01,
   },
   {
      name = "slow router", written = "{rate: 100Mbps, latency: 3ms}", rate = 1e8, size = 64, fps = 20000,
      routes = 20, of = "{first: 198.19.64.1, count: 20, prefix: 30}", at = 0.2000457, outage = 1.2345,
      sampling = 0.02,
   },
   {
      name = "switch with fast protection", written = "{rate: 10Gbps, latency: 900ns}", rate = 1e10,
      size = 64, fps = 8000000, routes = 8, of = "{count: 8}", at = 0.0200001, outage = 0.0003,
      sampling = 0.001,
   },
   {
      name = "router of IPv6", written = "{rate: 1Gbps, latency: 100us}", ports = V6, rate = 1e9, size = 1518,
      fps = 60000, routes = 16, of = "{first: 2001:2:0:c001::1, count: 16, prefix: 64}", at = 0.0500333,
      outage = 0.012345, sampling = 0.003,
   },
   {
      -- shorter than the interval of a route: some routes lose nothing
      name = "router that misses a beat", written = "{rate: 1Gbps, latency: 50us}", rate = 1e9, size = 128,
      fps = 10000, routes = 50, of = "{first: 198.19.64.1, count: 50, prefix: 24}", at = 0.1000007,
      outage = 0.0012, sampling = 0.01,
   },
}

--- The text of a device's plan.
function M.plan_of(device)
   return PLAN:format(device.name, device.ports or V4, device.written, device.of, device.size, device.fps,
      device.sampling * 1e3, device.at * 1e3, device.outage * 1e3, device.outage * 1e3 + 20)
end

--- Measure a device.
-- @return results, as result.json has them
function M.measure(device)
   local plan, errors = plans.load_text(M.plan_of(device), device.name)
   assert(plan, errors and tostring(errors[1]))
   local tester = assert(Tester.open(plan))
   local session = Session.new {
      tester = tester, retries = 0, phases = plan.convergence, sink = function() end,
   }
   local results = {}
   local ok, why = pcall(method.run, plan, tester, session, results)
   tester:close()
   assert(ok, why)
   return results
end

local NS = 1e9
local STAMP = 2 -- ns: times rounded to 1 ns, at both ends

--- What the figures of an event must be.
-- @param row     of it
-- @param routes  rows of its routes
-- @return list of { what =, truth =, measured =, low =, high = }, ns
function M.checks(device, row, routes)
   local tau, frame, s = device.routes / device.fps * NS, NS / device.fps, device.sampling * NS
   local at, outage, list = device.at * NS, device.outage * NS, {}
   -- departures count; the device is out of service when the frame arrives there, a frame time later at most
   local on_line = NS / ethernet.max_fps(device.rate, device.size) + 1
   local function add(what, truth, measured, below, above)
      list[#list + 1] = { what = what, truth = truth, measured = measured, low = truth - below - STAMP,
         high = truth + above + STAMP }
   end
   add("least loss of connectivity", outage, row.connectivity.min_ns, tau, tau)
   add("longest loss of connectivity", outage, row.connectivity.max_ns, tau, tau)
   add("first route", outage, row.first_route_ns, tau, tau)
   add("full convergence", outage, row.full_ns, tau, tau)
   -- all routes went down and came back together: of the load one frame more or less
   add("mean by loss", outage, row.loss_derived_ns, frame, frame)
   add("full by rate", outage, row.full_rate_derived_ns, tau + frame, 2 * s)
   add("loss began at", at, row.loss_begin_ns, row.loss_begin_error_ns + on_line, row.loss_begin_error_ns)
   local begin, last = { math.huge, -math.huge }, { math.huge, -math.huge }
   for _, route in ipairs(routes) do
      if route.affected then
         begin = { math.min(begin[1], route.begin_ns), math.max(begin[2], route.begin_ns) }
         last = { math.min(last[1], route.end_ns), math.max(last[2], route.end_ns) }
      end
   end
   for i, word in ipairs { "earliest", "latest" } do
      add(word .. " begin of a route's outage", at, begin[i], tau / 2 + on_line, tau / 2)
      add(word .. " end of a route's outage", at + outage, last[i], tau / 2 + on_line, tau / 2)
   end
   return list
end

return M
