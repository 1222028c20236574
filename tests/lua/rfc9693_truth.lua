-- SPDX-License-Identifier: BSD-3-Clause

--- Reference NAT44 gateways whose table, set-up rate and clearing are known, measured with `test: rfc9693`.
--
-- Each figure is held against what follows from the keys of the device, within a bound that follows from the
-- method (docs/explanation/rfc9693.md).
local Tester = require "framegauge.tester"
local method = require "framegauge.methods.rfc9693.method"
local plans = require "framegauge.plan"
local Session = require "framegauge.trial.session"

local M = {}

local PLAN = [[
name: gateway
ports:
  inside: {device: wire0, ipv4: 198.18.1.2/24, gateway: 198.18.1.1}
  outside: {device: wire1, ipv4: 198.19.1.2/24, gateway: 198.19.1.1}
test: rfc9693
reference_device: {rate: 1Gbps, time: free, latency: 100us, buffer: 2000, %s nat: {%s}}
rfc9693: {source_ports: {first: 2000, last: 2999}, destination_ports: {first: 1, last: 10}, repetitions: 2,
  frame_sizes: [64], learning_wait: 1ms, drain: 20ms, gap: 5ms, retries: 0, %s}
]]

--- The text of a plan.
-- @param device  { nat = its keys, device = other keys of it or nil, keys = of the method }
function M.plan_of(device)
   return PLAN:format(device.device and device.device .. "," or "", device.nat, device.keys)
end

--- Measure a gateway.
-- @return results, and the session
function M.measure(device)
   local plan, errors = plans.load_text(M.plan_of(device), device.name)
   assert(plan, errors and tostring(errors[1]))
   local tester, results = assert(Tester.open(plan)), {}
   local session = Session.new { tester = tester, retries = 0, phases = plan.rfc9693, sink = function() end }
   local ok, why = pcall(method.run, plan, tester, session, results)
   tester:close()
   assert(ok, why)
   return results.rfc9693, session
end

function M.check(what, truth, measured, low, high)
   return { what = what, truth = truth, measured = measured or -1, low = low, high = high }
end

local check = M.check
local RESOLUTION = 0.01

-- The highest rate at which n connections are set up: of n that come, all but those that wait are set up
-- while they come. Q may wait, and one is being set up.
function M.rate(row, setup, queue)
   local n = row.connections
   local least, most = setup / (1 - queue / (n - 1)), setup / (1 - (queue + 1) / (n - 1))
   return check(("connections a second, of %d"):format(n), least, row.connections_per_s,
      least * (1 - RESOLUTION), most)
end

-- The interval is halved until it is 1 % of its upper end.
function M.capacity(truth, row)
   return check("capacity", truth, row.capacity, truth * (1 - RESOLUTION), truth)
end

local rate, capacity = M.rate, M.capacity

--- The devices: list of { name =, nat =, device =, keys = of the plan, checks = function(results) }.
M.DEVICES = {
   {
      name = "sets up 20,000 sessions a second, and lets 64 wait",
      nat = "setup_rate: 20000, setup_queue: 64", keys = "tests: [connection_rate], connections: [400, 4000]",
      checks = function(results)
         local few, many = unpack(results.connection_rate)
         return { rate(few, 20000, 64), rate(many, 20000, 64), check("verdict", "valid", many.validity),
            check("what fails above", "not forwarded", many.failed_because) }
      end,
   },
   {
      name = "holds 2,000 sessions, and loses further ones", nat = "sessions: 2000, setup_rate: 50000",
      keys = "tests: [capacity], capacity: {start: 500}",
      checks = function(results)
         local row = results.capacity[1]
         return { capacity(2000, row),
            rate({ connections = 500, connections_per_s = row.start_rate }, 50000, 64),
            check("what fails above", "not forwarded", row.failed_because) }
      end,
   },
   {
      name = "holds 3,000 sessions, where new ones replace old ones",
      nat = "sessions: 3000, full: replace",
      keys = "tests: [capacity], capacity: {start: 1000, method: fixed}, max: 100kfps",
      checks = function(results)
         local row = results.capacity[1]
         -- nothing is lost of the first phase: the validation alone shows it
         return { capacity(3000, row), check("what fails above", "not established", row.failed_because) }
      end,
   },
   {
      name = "has 400 ports, each for one session with each far end",
      nat = "first_port: 5000, last_port: 5399",
      keys = "tests: [capacity], capacity: {start: 1000, method: fixed}, max: 100kfps",
      checks = function(results)
         return { capacity(4000, results.capacity[1]) } -- 10 far ends
      end,
   },
   {
      name = "forwards 100,000 frames a second each way, and forgets a million sessions a second",
      device = "capacity: 100kfps", nat = "clear_rate: 1000000, sessions: 6000",
      keys = "tests: [throughput, teardown], connections: [5000], establishment_rate: 50kfps, throughput: {trial: 500ms, search_trial: 500ms}",
      checks = function(results)
         local row, gone = results.throughput[1], results.teardown[1]
         -- one resolution too low; too high by what the buffer of 2,000 absorbs in 500 ms
         return {
            check("throughput, frames a second", 100e3, row.throughput_fps, 100e3 - 0.001 * 1488095,
               100e3 * (1 + 2001 / 50e3)),
            check("tear-down, connections a second", 1e6, gone.teardown_per_s, 1e6, 1e6),
            check("connections left", 0, gone.left, 0, 0),
         }
      end,
   },
   {
      name = "delays each frame by 0 to 100 us more, evenly spread", device = "jitter: 50us",
      nat = "sessions: 2000",
      keys = "tests: [latency, pdv], connections: [1000], establishment_rate: 5kfps, load: 5kfps, latency: {trial: 400ms, tag_after: 200ms, repetitions: 3}, pdv: {trial: 2s, repetitions: 3}",
      checks = function(results)
         local list = {}
         for way = 1, 2 do
            local row, pdv, n = results.latency[way], results.pdv[way], 10000
            local function us(ns) return ns and ns / 1e3 end
            -- the median of 500 tags: five of its deviations, 100 us / 2 / sqrt(500)
            list[#list + 1] = check("typical latency, us, " .. row.direction, 150,
               us(row.latency_typical_ns), 150 - 11.2, 150 + 11.2)
            -- the greatest of 500 is above 1 - 12/500 but once in e^12 times
            list[#list + 1] = check("worst case, us", 200, us(row.latency_worst_case_ns), 200 - 2.4, 200)
            -- of n delays the 99.9th percentile has the deviation 100 us sqrt(p (1 - p) / n); the least is
            -- within 12/n of 0, and the histogram rounds up by 0.1 % of the whole delay
            list[#list + 1] = check("PDV, us", 99.9, us(pdv.pdv_ns),
               99.9 - 5 * 100 * math.sqrt(0.999 * 0.001 / n) - 100 * 12 / n, 100.2)
         end
         return list
      end,
   },
}

return M
