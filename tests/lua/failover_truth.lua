-- SPDX-License-Identifier: BSD-3-Clause

--- Reference switches that fail over in a known time, measured with `test: convergence`.
--
-- The switch says itself when each route moves and what it lost of it: counts must be the same, and times
-- within a bound that follows from the method, which is the time tau between two frames of a route.
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
reference_switch: {rate: %dbps, latency: 20us, failover: {%s}}
convergence:
  case: %s
  next_best: west
  routes: %s
  size: %d
  rate: %dfps
  sampling: 10ms
  at: %.10gms
  watch: %.10gms
  validation: 50ms
  learning_wait: 1ms
  drain: 20ms
  settle: 0
  repetitions: 1
]]

local V4 = "{east: {device: wire0}, north: {device: wire1}, west: {device: wire2}}"
local V6 = "{east: {device: wire0, ipv6: 2001:2:0:1::2/64}, north: {device: wire1, ipv6: 2001:2:0:2::2/64}, west: {device: wire2, ipv6: 2001:2:0:3::2/64}}"

--- The switches: what is written into the plan, and the same in numbers. `away` and `back` are detection,
-- computation and time of a route in seconds. Times are odd ones, so that they fall between frames.
M.DEVICES = {
   {
      name = "link that is cut", written = "detect: 50ms, compute: 20ms, per_route: 100us", routes = 1000,
      of = "{first: 198.19.0.1, count: 1000, prefix: 32}", fps = 1000000, at = 0.1234567,
      away = { 0.05, 0.02, 1e-4 }, rate = 1e10,
   },
   {
      name = "change of costs", written = "detect: 10.0003ms, compute: 5ms, per_route: 50us, graceful: true",
      routes = 500, of = "{first: 198.19.0.1, count: 500, prefix: 32}", fps = 500000, at = 0.0500123,
      away = { 0.0100003, 0.005, 5e-5 }, graceful = true, case = "cost",
   },
   {
      name = "LAG of two links", written = "detect: 3.3ms, balance: true", routes = 64, of = "{count: 64}",
      fps = 640000, at = 0.0300077, away = { 0.0033, 0, 0 }, balance = true, case = "parallel-link",
   },
   {
      name = "slow table in any order", written = "detect: 1.2345ms, per_route: 1ms, order: random, seed: 7",
      routes = 200, of = "{first: 198.19.64.1, count: 200, prefix: 30}", fps = 400000,
      at = 0.0400021, away = { 0.0012345, 0, 1e-3 }, size = 64,
   },
   {
      name = "protection by a longer path", written = "detect: 50.01ms, preferred_latency: 10us, next_best_latency: 5ms",
      routes = 1, of = "{count: 1}", fps = 10000, at = 0.1000333,
      away = { 0.05001, 0, 0 }, rate = 1e10,
   },
   {
      name = "IPv6 routes with the last ones first",
      written = "detect: 20ms, compute: 3ms, per_route: 200us, order: reverse, revert_detect: 100us, revert_compute: 0, revert_per_route: 20us", ports = V6,
      routes = 50, of = "{first: 2001:2:0:c001::1, count: 50, prefix: 64}", fps = 80000, at = 0.0600111,
      away = { 0.02, 0.003, 2e-4 }, back = { 1e-4, 0, 2e-5 }, size = 512,
   },
}

-- From the event to the move of the n-th route.
local function after(move, n)
   return move[1] + move[2] + n * move[3]
end

-- Routes that have to move.
local function moving(device)
   return device.balance and device.routes / 2 or device.routes
end

--- The text of a switch's plan.
function M.plan_of(device)
   return PLAN:format(device.name, device.ports or V4, device.rate or 1e9, device.written,
      device.case or "local-link", device.of, device.size or 128, device.fps, device.at * 1e3,
      after(device.away, device.routes) * 1e3 + 30)
end

--- Measure a switch.
-- @return results, as result.json has them, and for each event the routes as the switch saw them
function M.measure(device)
   local plan, errors = plans.load_text(M.plan_of(device), device.name)
   assert(plan, errors and tostring(errors[1]))
   local tester = assert(Tester.open(plan))
   local results, seen = {}, {}
   local session = Session.new {
      tester = tester, retries = 0, phases = plan.convergence,
      sink = function(record) seen[record.phase] = tester.wires:routes() end,
   }
   local ok, why = pcall(method.run, plan, tester, session, results)
   tester:close()
   assert(ok, why)
   return results, seen
end

local NS = 1e9

--- What the figures of an event must be.
-- @param row   of it
-- @param seen  its routes, as the switch saw them
-- @return list of { what =, truth =, measured =, low =, high = }, ns or frames
function M.checks(device, row, seen)
   local tau, list = device.routes / device.fps * NS, {}
   local failure, n = row.event == "failure", moving(device)
   local move = failure and device.away or device.back or device.away
   -- departures count; the switch has the frame a frame time of its line later
   local late = NS / ethernet.max_fps(device.rate or 1e9, device.size or 128)
   local function add(what, truth, measured, below, above)
      list[#list + 1] = { what = what, truth = truth, measured = measured, low = truth - below,
         high = truth + above }
   end
   local first, full, mean = after(move, 1) * NS, after(move, n) * NS, after(move, (n + 1) / 2) * NS
   add("first route", first, row.first_route_ns, tau / 2 + late, tau / 2)
   add("full convergence", full, row.full_ns, tau / 2 + late, tau / 2)
   add("mean of the routes", mean, row.route.mean_ns, tau / 2 + late, tau / 2)
   add("mean by loss", mean, row.loss_derived_ns, tau + late, tau)
   if failure or not device.balance then -- the routes of the other link never come to this one
      add("full by rate", full, row.full_rate_derived_ns, tau + NS / device.fps + late,
         2 * row.sampling_ns)
   end
   local lost = 0
   for _, route in ipairs(seen) do
      lost = lost + route.lost
   end
   add("lost frames", lost, row.connectivity_loss, 0, 0)
   local lasts = failure and not device.graceful
   add("longest loss of connectivity", lasts and full or 0, row.connectivity.max_ns, lasts and tau or 0,
      lasts and tau or 0)
   add("routes that moved", n, row.routes_affected, 0, 0)
   return list
end

return M
