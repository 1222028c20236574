-- SPDX-License-Identifier: BSD-3-Clause

--- Reference switches with snooping, measured with `test: rfc3918`. Each figure is held against what the
-- switch was set to, within a bound that follows from the method.
local Tester = require "framegauge.tester"
local method = require "framegauge.methods.rfc3918.method"
local plans = require "framegauge.plan"
local Session = require "framegauge.trial.session"

local M = {}

local TRIAL, RESOLUTION, STAMP = 0.1, 1e-3, 2 -- seconds, share of the line, ns
local BUFFER = 16 -- frames

local PLAN = [[
name: %s
test: rfc3918
ports: {%s}
reference_switch: {rate: %s, buffer: %d, %s}
rfc3918:
  %s
  trial: %.10gms
  search_trial: 20ms
  report_rate: 20kfps
  probe_rate: 20kfps
  join_wait: 10ms
  forget: %s
  latency_trial: 20ms
  latency_repetitions: 2
  learning_wait: 10ms
  drain: 10ms
  settle: 0
]]

local function line(device)
   return device.rate / 8 / (device.size + 20)
end

-- A throughput: too low by a resolution of the search, too high by what waits for the engine at the end of
-- the deciding trial.
local function throughput(what, key, of)
   return function(device, results)
      local truth = math.min(line(device), device.capacity and device.capacity / of(device) or math.huge)
      return { {
         what = what, truth = truth, measured = results[key][1].throughput_fps,
         low = truth - 1.01 * RESOLUTION * line(device),
         high = math.min(line(device) + 1, truth + (BUFFER + 1) / TRIAL),
      } }
   end
end

local function exactly(what, truth, measured, error)
   return { what = what, truth = truth, measured = measured, low = truth - (error or 0),
      high = truth + (error or 0) }
end

-- The same through tunnels: the lines in and out carry frames of other lengths, which are exact.
local function tunnelled(key, grows)
   return function(device, results)
      local row, into, out = results[key][1], grows.ingress and device.ingress or 0,
         grows.egress and device.egress or 0
      local function carried(more)
         return device.rate / 8 / (device.size + more + 20)
      end
      local truth = math.min(carried(into), carried(out),
         device.capacity and device.capacity / device.receivers or math.huge)
      local what = key:gsub("_", "-")
      return {
         {
            what = what .. ", source, frames/s", truth = truth, measured = row.throughput_fps,
            low = truth - 1.01 * RESOLUTION * carried(into),
            high = math.min(carried(into) + 1, truth + (BUFFER + 1) / TRIAL),
         },
         exactly(what .. ", bytes of a frame to the device", device.size + into, row.offered_size),
         exactly(what .. ", bytes of a frame to a receiver", device.size + out, row.forwarded_size),
      }
   end
end

local FIGURES = {
   aggregated = throughput("aggregated, source, frames/s", "aggregated", function(device)
      return device.receivers
   end),
   mixed_class = throughput("mixed class, source, frames/s", "mixed_class", function(device)
      return (1 - device.unicast) * device.receivers + device.unicast
   end),
}

FIGURES.encapsulation = tunnelled("encapsulation", { egress = true })
FIGURES.decapsulation = tunnelled("decapsulation", { ingress = true })
FIGURES.re_encapsulation = tunnelled("re_encapsulation", { ingress = true, egress = true })

-- From the last bit in to the first bit out; from first to first bit where that shows that the device cuts
-- through, which has a frame when its 14 bytes of header are in.
local function latency_of(device)
   local bit_ns = 1e9 / device.rate
   local first = device.latency + 14 * 8 * bit_ns
   if not device.cut_through then
      return device.latency
   end
   return first < 8 * device.size * bit_ns - STAMP and first or first - 8 * device.size * bit_ns
end

-- A copy leaves the engine after those before it.
function FIGURES.latency(device, results)
   local row, list = results.latency[1], {}
   for k, one in ipairs(row.egress) do
      local truth = latency_of(device) + (k - 1) * (device.capacity and 1e9 / device.capacity or 0)
      list[k] = exactly(("latency at receiver %d, ns"):format(k), truth, one.latency_max_ns, STAMP)
   end
   list[#list + 1] = exactly("spread of a frame's copies, ns",
      (device.receivers - 1) * (device.capacity and 1e9 / device.capacity or 0), row.spread_max_ns, STAMP)
   return list
end

-- The engine takes a copy's time for each receiver, and the table's for each group.
function FIGURES.group_matrix(device, results)
   local list = {}
   for i, row in ipairs(results.group_matrix) do
      local served = 1 / (device.receivers / device.capacity + device.group_cost * row.groups)
      local truth = math.min(line(device), served)
      list[i] = {
         what = ("forwarded of %d groups, each receiver, frames/s"):format(row.groups), truth = truth,
         measured = row.per_egress_fps, low = truth - 2 / TRIAL, high = truth + (BUFFER + 2) / TRIAL,
      }
   end
   return list
end

local function delays(what, row, truth, low, high)
   local list = {}
   for i, one in ipairs(row.egress) do
      list[i] = {
         what = ("%s, port %d, ns"):format(what, i), truth = truth, measured = one.delay_max_ns,
         low = truth + low - STAMP, high = truth + high + STAMP,
      }
   end
   return list
end

-- The first frame that is in after the table has changed comes out after the latency of the device.
function FIGURES.join_delay(device, results)
   local list = {}
   for _, row in ipairs(results.join_delay) do
      local truth = device.join + (row.method == "new" and device.new or 0) + device.latency
      local queued = device.capacity and device.receivers * 1e9 / device.capacity or 0
      for _, one in ipairs(delays(("join, %s group"):format(row.method), row, truth, 0,
         row.resolution_ns + queued)) do
         list[#list + 1] = one
      end
   end
   return list
end

-- The last frame that was in before the table changed.
function FIGURES.leave_delay(device, results)
   local row = results.leave_delay[1]
   local frame = device.size * 8e9 / device.rate
   local queued = device.capacity and device.receivers * 1e9 / device.capacity or 0
   return delays("leave", row, device.leave + device.latency + frame, -row.resolution_ns, queued)
end

function FIGURES.group_capacity(device, results)
   return { exactly("groups", device.groups, results.group_capacity[1].groups) }
end

-- What a frame waits for the engine beside the burden: at most for a frame of each of its ports. For just
-- these if all ports send at the same instants, for then frames of the lower ports come first.
local function added(device, what, measured, error)
   local most = device.capacity and device.burden / device.capacity * 1e9 or 0
   return {
      what = what, truth = most, measured = measured, low = (device.in_step and most or 0) - error,
      high = most + error,
   }
end

function FIGURES.burdened_latency(device, results)
   local row, list = results.burdened_latency[1], {}
   for i, one in ipairs(row.egress) do
      list[#list + 1] = added(device, ("latency added by the burden at receiver %d, ns"):format(i),
         one.added_ns, STAMP)
      list[#list + 1] = added(device, ("every frame: added at receiver %d, ns"):format(i),
         one.every_frame_added_ns, STAMP)
   end
   return list
end

-- Without the burden it is known to the time between two frames of the group, and beside it as well.
function FIGURES.burdened_join_delay(device, results)
   local list = {}
   for _, row in ipairs(results.burdened_join_delay) do
      for i, one in ipairs(row.egress) do
         list[#list + 1] = added(device, ("join delay added by the burden, %s group, port %d, ns"):format(
            row.method, i), one.added_ns, STAMP + (device.in_step and 0 or row.resolution_ns))
      end
   end
   return list
end

-- Queries of the switch before it forgets a member: of each port in each trial.
function FIGURES.queries(device, results)
   local row = results.leave_delay[1]
   return { exactly("queries before it forgets", device.asks * device.receivers * row.trials,
      row.queries_seen) }
end

--- The devices: what is written into the plan, and the same in numbers; times in ns.
M.DEVICES = {
   {
      name = "switch with an engine for copies", receivers = 3, rate = 1e9, size = 64, capacity = 2e6,
      latency = 20000, unicast = 0.5, tests = { "aggregated", "mixed_class", "latency" },
      written = "capacity: 2Mfps, latency: 20us, snooping: {unregistered: drop}",
      keys = "{groups: 6, latency_load: 90%, unicast_share: 50%}",
   },
   {
      name = "switch that copies at the speed of its lines", receivers = 3, rate = 1e9, size = 512,
      latency = 5000, unicast = 0.25, tests = { "aggregated", "mixed_class", "latency" },
      written = "latency: 5us, snooping: {unregistered: drop}",
      keys = "{groups: 10, latency_load: 90%, unicast_share: 25%}",
   },
   {
      name = "switch with seven receivers by IGMPv3", receivers = 7, rate = 1e9, size = 64, capacity = 3.5e6,
      latency = 10000, unicast = 0.25, tests = { "aggregated", "latency" },
      written = "capacity: 3.5Mfps, latency: 10us, snooping: {unregistered: flood}",
      keys = "{groups: 10, latency_load: 90%, version: igmpv3}",
   },
   {
      name = "switch whose engine is slowed by groups", receivers = 1, rate = 1e9, size = 64, capacity = 2e6,
      latency = 20000, group_cost = 1e-9, tests = { "group_matrix" },
      written = "capacity: 2Mfps, snooping: {group_cost: 1ns, unregistered: drop}",
      keys = "{matrix_first: 100, matrix_step: 400, matrix_max: 900}",
   },
   {
      name = "switch that takes its time", receivers = 3, rate = 1e9, size = 64, latency = 20000,
         join = 100e3,
      new = 1e6, leave = 150e3, tests = { "join_delay", "leave_delay" },
      written = "latency: 20us, snooping: {unregistered: drop, join_delay: 100us, new_group_delay: 1ms, leave_delay: 150us}",
      keys = "{membership: {load: 60%, observe_join: 5ms, observe_leave: 5ms, repetitions: 2}}",
   },
   {
      name = "switch that asks before it forgets with MLDv1", receivers = 2, rate = 1e8, size = 128,
         six = true,
      latency = 50000, join = 200e3, new = 0, leave = 100e3 + 2 * 50e6, asks = 2, forget = "200ms",
      tests = { "join_delay", "leave_delay", "queries" },
      written = "latency: 50us, snooping: {unregistered: drop, join_delay: 200us, new_group_delay: 0s, leave_delay: 100us, fast_leave: false, last_member_interval: 50ms, last_member_count: 2}",
      keys = "{membership: {load: 40%, observe_join: 5ms, observe_leave: 300ms, repetitions: 2}}",
   },
   {
      name = "switch with room for 300 groups that floods the rest", receivers = 2, monitor = true,
         rate = 1e9,
      size = 64, latency = 20000, groups = 300, tests = { "group_capacity" },
      written = "snooping: {groups: 300, unregistered: flood}", keys = "{capacity_max: 1000, capacity_rounds: 2}",
   },
   {
      name = "switch with room for 77 groups of MLDv2", receivers = 2, six = true, rate = 1e10, size = 256,
      latency = 20000, groups = 77, tests = { "group_capacity" },
      written = "snooping: {groups: 77, unregistered: drop}", keys = "{capacity_max: 200, version: mldv2}",
   },
   {
      name = "switch whose engine serves two burdening ports first", receivers = 2, burden = 2,
      in_step = true, rate = 1e9, size = 64, capacity = 3e6, latency = 20000,
      tests = { "burdened_latency", "burdened_join_delay" },
      written = "capacity: 3Mfps, latency: 20us, snooping: {unregistered: drop}",
      keys = "{latency_load: 20%, burden_load: 20%, membership: {load: 20%, observe_join: 5ms, repetitions: 2}}",
   },
   {
      name = "switch with three burdening ports out of step with the source", receivers = 2, burden = 3,
      rate = 1e9, size = 256, capacity = 2e6, latency = 10000,
      tests = { "burdened_latency", "burdened_join_delay" },
      written = "capacity: 2Mfps, latency: 10us, snooping: {unregistered: drop}",
      keys = "{latency_load: 37%, burden_load: 31%, membership: {load: 53%, observe_join: 5ms, repetitions: 2}}",
   },
   {
      name = "router with tunnels by GRE", receivers = 3, rate = 1e9, size = 64, ingress = 24, egress = 24,
      tests = { "encapsulation", "re_encapsulation" },
      written = "snooping: {unregistered: drop}, tunnels: {ingress: gre, egress: gre}",
      keys = "{tunnel: {ingress: gre, egress: gre}}",
   },
   {
      name = "router that opens IP in IP with an engine for copies", receivers = 2, rate = 1e9, size = 64,
      capacity = 2e6, ingress = 20, tests = { "decapsulation" },
      written = "capacity: 2Mfps, snooping: {unregistered: drop}, tunnels: {ingress: ipip}",
      keys = "{tunnel: {ingress: ipip}}",
   },
   {
      name = "router with tunnels by GRE with a key over IPv6", receivers = 2, six = true, rate = 1e9,
      size = 256, ingress = 48, egress = 48, tests = { "encapsulation", "re_encapsulation" },
      written = "snooping: {unregistered: drop}, tunnels: {ingress: gre-key, egress: gre-key, key: 77}",
      keys = "{tunnel: {ingress: gre-key, egress: gre-key, key: 77}, version: mldv2}",
   },
   {
      name = "router that forwards a tunnel to all others by itself", receivers = 2, rate = 1e9,
      size = 512, ingress = 28, egress = 20, tests = { "encapsulation", "re_encapsulation" },
      written = "tunnels: {ingress: gre-key, egress: ipip, key: 4294967295}",
      keys = "{tunnel: {ingress: gre-key, egress: ipip, key: 4294967295, joins: device}}",
   },
   {
      name = "switch of lines alone with a full burden", receivers = 2, burden = 4, rate = 1e9,
      size = 128, six = true, latency = 5000, tests = { "burdened_latency" },
      written = "latency: 5us, snooping: {unregistered: drop}",
      keys = "{latency_load: 90%, burden_load: 100%, version: mldv2}",
   },
}

local function ports_of(device)
   local list = {}
   for i = 1, 1 + device.receivers + (device.monitor and 1 or 0) + (device.burden or 0) do
      local address = device.six and (", ipv6: 2001:2::%d/64"):format(i) or ""
      if device.ingress then
         address = (device.six and ", ipv6: 2001:2:0:%d::2/64, gateway6: 2001:2:0:%d::1"
            or ", ipv4: 198.18.%d.2/24, gateway: 198.18.%d.1"):format(i, i)
      end
      list[i] = ("p%d: {device: wire%d%s}"):format(i, i - 1, address)
   end
   return table.concat(list, ", "), #list
end

--- The text of a device's plan.
function M.plan(device)
   local ports, n = ports_of(device)
   local keys = { device.keys:sub(2, -2), ("frame_sizes: [%d]"):format(device.size),
      device.monitor and "monitor: p" .. n or nil }
   keys[#keys + 1] = device.burden
      and ("burden: [%s]"):format(("p1, p2, p3, p4"):sub(1, 4 * device.burden - 2)) or nil
   local tests = {}
   for _, test in ipairs(device.tests) do
      tests[#tests + 1] = test ~= "queries" and test or nil
   end
   keys[#keys + 1] = ("tests: [%s]"):format(table.concat(tests, ", "))
   local text = PLAN:format(device.name, ports, ("%.0fbps"):format(device.rate), BUFFER, device.written,
      "KEYS",
      TRIAL * 1e3, device.forget or "10ms")
   return (text:gsub("  KEYS\n", function()
      return M.lines(keys)
   end))
end

-- "a: 1, b: {c: 2, d: 3}" as lines of YAML.
function M.lines(keys)
   local out = {}
   for _, text in ipairs(keys) do
      local depth, from = 0, 1
      for i = 1, #text + 1 do
         local char = text:sub(i, i)
         depth = depth + (char:find "[%[{]" and 1 or char:find "[%]}]" and -1 or 0)
         if depth == 0 and (char == "," or i == #text + 1) then
            out[#out + 1] = "  " .. text:sub(from, i - 1):match "^%s*(.*)$" .. "\n"
            from = i + 1
         end
      end
   end
   return table.concat(out)
end

--- A plan of four ports, short, but for the keys of the switch.
M.FOUR = [[
test: rfc3918
ports: {a: {device: wire0}, b: {device: wire1}, c: {device: wire2}, d: {device: wire3}}
reference_switch: {latency: 20us, buffer: 16, %s}
rfc3918:
  frame_sizes: [64]
  trial: 50ms
  search_trial: 10ms
  report_rate: 20kfps
  probe_rate: 20kfps
  join_wait: 10ms
  forget: 10ms
  learning_wait: 10ms
  drain: 10ms
  settle: 0
]]

--- Measure a plan. @return results.rfc3918, session
function M.measure_plan(plan)
   local tester, results = assert(Tester.open(plan)), {}
   local session = Session.new {
      tester = tester, retries = 0, phases = plan.rfc3918, sink = function() end, say = function() end,
   }
   local ok, why = pcall(method.run, plan, tester, session, results)
   tester:close()
   assert(ok, why)
   return results.rfc3918, session
end

--- Measure a device.
function M.measure(device)
   local plan, errors = plans.load_text(M.plan(device), "x.yaml")
   assert(plan, errors and tostring(errors[1]))
   return M.measure_plan(plan)
end

--- What was measured beside the truth: list of { what =, truth =, measured =, low =, high = }.
function M.checks(device, results)
   local list = {}
   for _, test in ipairs(device.tests) do
      for _, check in ipairs(FIGURES[test](device, results)) do
         list[#list + 1] = check
      end
   end
   return list
end

return M
