-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 3918 held against reference switches with snooping: every figure within a bound that follows from the
-- method.
local groups = require "framegauge.traffic.groups"
local held = require "held"
local method = require "framegauge.methods.rfc3918.method"
local octets = require "framegauge.core.octets"
local page = require "rfc3918_page"
local plans = require "framegauge.plan"
local result = require "framegauge.methods.rfc3918.result"
local scratch = require "scratch"
local tables = require "framegauge.core.tables"
local trials = require "framegauge.methods.rfc3918.trials"
local truth = require "rfc3918_truth"

local function plan_of(switch, ...)
   local plan, errors = plans.load_text(truth.FOUR:format(switch), "x.yaml", { sets = { ... } })
   assert(plan, errors and tostring(errors[1]))
   return plan
end

local function run(...)
   return truth.measure_plan(plan_of(...))
end

local function wrong(...)
   local _, errors = plans.load_text(truth.FOUR:format "rate: 1Gbps", "x.yaml", { sets = { ... } })
   return errors and tostring(errors[1]) or ""
end

-- The settings that give each port a network of its own, with the switch as its gateway.
local function routed(...)
   local sets = { ... }
   for i, name in ipairs { "a", "b", "c", "d" } do
      sets[#sets + 1] = ("ports.%s.ipv4=198.18.%d.2/24"):format(name, i)
      sets[#sets + 1] = ("ports.%s.gateway=198.18.%d.1"):format(name, i)
   end
   return unpack(sets)
end

for _, device in ipairs(truth.DEVICES) do
   describe("a " .. device.name, function()
      local results
      local function measured()
         results = results or truth.measure(device)
         return results
      end

      it("is measured within the bounds of the method", function()
         for _, check in ipairs(truth.checks(device, measured())) do
            assert.is_true(check.measured and check.measured >= check.low and check.measured <= check.high,
               ("%s: %s is not within %s and %s (truth %s)"):format(check.what, tostring(check.measured),
                  check.low,
                  check.high, check.truth))
         end
         for _, rows in pairs(measured()) do
            for _, row in ipairs(rows) do
               assert.same({ "valid", {} }, { row.validity, row.reasons })
            end
         end
      end)

      it("stands in docs/explanation/truth.md as it was measured", function()
         local text = page.section(device, measured(), {})
         assert.matches(text, scratch.read(scratch.PROJECT .. "docs/explanation/truth.md"), 1, true)
      end)
   end)
end

-- The order in which frames leave: the streams of a trial as they are asked for, by the first bit of each
-- frame. "m1" is of the first group, "u1" to the first receiver.
local function order(plan, n, frames)
   local asked
   local tester = { ports = {}, max_fps = function() return 1e6 end }
   for i, port in ipairs(plan.ports) do
      tester.ports[i] = { name = port.name, line_rate = 1e9, mac = ("02:00:00:00:00:%02x"):format(i) }
   end
   local c = trials.context(plan, tester, { trials = {}, trial = function(_, ask) asked = ask end },
      "mixed_class", 64)
   trials.make(c, { n = n, fps = 1000, seconds = 1, unicast = plan.rfc3918.unicast_share })
   local all, sent = {}, { load = true, unicast = true }
   for _, stream in ipairs(asked.streams) do
      local kind, to = stream.name:match "^(%S+) .*%->(%S+)"
      for k = 0, sent[kind] and not stream.copies_of and frames or -1 do
         all[#all + 1] = { stream.delay + k / stream.loads[1].fps, kind == "load" and "m" .. k % n + 1
            or "u" .. to:byte() - ("a"):byte() }
      end
   end
   table.sort(all, function(a, b) return a[1] < b[1] end)
   local names = {}
   for i = 1, frames do
      names[i] = all[i][2]
   end
   return table.concat(names, " ")
end

describe("a load of two classes", function()
   it("takes groups and receivers in turn, each class in its own", function()
      assert.equal("m1 u1 m2 u2 m3 u3 m4 u1 m5 u2 m6 u3 m1", order(plan_of "rate: 1Gbps", 6, 13))
      assert.equal("m1 m2 u1 m3 m4 m5 u2 m1 m2 m3 u3 m4", order(plan_of("rate: 1Gbps",
         "rfc3918.unicast_share=25%"), 5, 12))
   end)

   it("costs the engine a copy for each receiver, or one", function()
      local row = run("capacity: 2Mfps, snooping: {unregistered: drop}", "rfc3918.tests=[mixed_class]",
         "rfc3918.unicast_share=25%").mixed_class[1]
      assert.near(800000, row.throughput_fps, 1.01e-3 * 1488095)
      assert.near(200000, row.unicast_fps, 1.01e-3 * 1488095)
   end)
end)

describe("a switch of lines alone", function()
   it("gives every receiver what the line of the source carries", function()
      local row = run("snooping: {unregistered: drop}", "rfc3918.tests=[aggregated]").aggregated[1]
      assert.same({ 1488095, 3 * 1488095 }, { row.throughput_fps, row.aggregate_fps })
   end)

   it("is known to the time between two frames where these are far apart", function()
      local row = run("snooping: {unregistered: drop, join_delay: 100us}", "rfc3918.tests=[join_delay]",
         "rfc3918.membership.methods=[known]", "rfc3918.membership.load=0.6725%",
         "rfc3918.membership.observe_join=5ms", "rfc3918.membership.repetitions=3").join_delay[1]
      assert.near(1e5, row.resolution_ns, 100)
      assert.is_true(row.delay_min_ns >= 120e3 - 2 and row.delay_max_ns <= 220e3 + 2)
   end)
end)

describe("groups", function()
   it("follow one another, and have the MAC addresses of the RFCs", function()
      local list, macs = groups.list(octets.ipv4 "239.1.1.254", 3)
      assert.same({ octets.ipv4 "239.1.1.254", octets.ipv4 "239.1.1.255", octets.ipv4 "239.1.2.0" }, list)
      assert.equal("01:00:5e:01:02:00", octets.mac_text(macs[3]))
      assert.equal("33:33:00:01:00:01", octets.mac_text(groups.mac(octets.ipv6 "ff1e::1:1")))
   end)

   it("must not look like those of the local network", function()
      assert.equal("225.128.0.5 looks like a group of the local network to a switch",
         (groups.problem(octets.ipv4 "225.128.0.5", 1, 4)))
      assert.equal("198.18.0.1 is no multicast group", (groups.problem(octets.ipv4 "198.18.0.1", 1, 4)))
      assert.is_nil(groups.problem(octets.ipv4 "239.1.1.1", 1000, 4))
   end)
end)

describe("a plan for RFC 3918", function()
   it("gives ports their roles", function()
      local function roles(...)
         return trials.roles(plan_of("rate: 1Gbps", ...))
      end
      assert.same({ source = "a", receivers = { "b", "c", "d" }, burden = {} }, roles())
      assert.same({ source = "a", receivers = { "b", "c" }, monitor = "d", burden = {} },
         roles "rfc3918.monitor=d")
      assert.same({ source = "c", receivers = { "a" }, burden = {} },
         roles("rfc3918.source=c", "rfc3918.receivers=[a]"))
      assert.same({ source = "c", receivers = { "d" }, burden = { "a", "b" } },
         roles("rfc3918.tests=[burdened_latency]", "rfc3918.burden=[a,b]"))
   end)

   it("is told what does not fit", function()
      assert.truthy(wrong("rfc3918.source=zz"):find("there is no port 'zz'", 1, true))
      assert.truthy(wrong("rfc3918.source=a", "rfc3918.receivers=[a]"):find("a has another role", 1, true))
      assert.truthy(wrong("rfc3918.version=mldv2"):find("mldv2 over IPv4", 1, true))
      assert.truthy(wrong("rfc3918.first_group=225.128.0.5"):find("looks like a group of the local", 1, true))
      assert.truthy(wrong("rfc3918.first_group=ff1e::1"):find("of another version of IP", 1, true))
      assert.truthy(wrong("rfc3918.tests=[burdened_latency]"):find("a test is to be burdened", 1, true))
      assert.truthy(wrong("rfc3918.tests=[group_matrix]", "rfc3918.matrix_first=50", "rfc3918.matrix_max=20")
         :find("matrix_max: fewer than the 50 groups of matrix_first; expected at least 50", 1, true))
      assert.equal("", wrong("rfc3918.matrix_first=50", "rfc3918.matrix_max=20"))
      assert.truthy(wrong("rfc3918.capacity_step=5"):find("the search halves an interval", 1, true))
      assert.truthy(wrong("rfc3918.tests=[burdened_join_delay]", "rfc3918.burden=[c,d]",
         "rfc3918.receivers=[d]"):find("d has another role", 1, true))
      assert.truthy(wrong("rfc3918.tests=[burdened_join_delay]", "rfc3918.burden=[c,d]",
         "rfc3918.source=a", "rfc3918.monitor=b"):find("no port is left to receive", 1, true))
      assert.equal("", wrong())
   end)

   it("has tunnels between networks, and no longer frames than these carry", function()
      local function has(text, ...)
         assert.matches(text, wrong(...), 1, true)
      end
      local tests, tunnels = "rfc3918.tests=[encapsulation]", "reference_switch.tunnels.egress=gre"
      assert.equal("", wrong(routed(tests, tunnels)))
      has("ports.a.gateway: missing", tests)
      has("ports.a.gateway: missing: its tunnel ends there", tunnels)
      has("the source and the receivers are in one network", routed(tunnels))
      has("some through tunnels and others without", routed(tunnels, "rfc3918.tests=[encapsulation,latency]"))
      has("1495 bytes, and 24 of a tunnel, are longer than the MTU of 1500; expected at most 1494",
         routed(tests, tunnels, "rfc3918.frame_sizes=[1495]"))
      assert.equal("", wrong(routed(tests, tunnels, "rfc3918.frame_sizes=[1494]")))
      has("1495 bytes, and 28 of a tunnel", routed("rfc3918.tests=[decapsulation]", tunnels,
         "rfc3918.tunnel.ingress=gre-key", "rfc3918.frame_sizes=[1495]"))
      has("tunnels of the reference switch have no tags", routed(tests, tunnels, "ports.a.vlan=5"))
      has("with queues behind each ingress", routed(tests, tunnels, "reference_switch.queues=input"))
   end)

   it("is estimated with as many groups in the matrix as the capacity before it may find", function()
      local function trials_of(...)
         local plan = plan_of("rate: 1Gbps", "rfc3918.capacity_max=500", "rfc3918.matrix_step=100", ...)
         for _, part in ipairs(method.parts(plan, { max_fps = function() return 1e6 end })) do
            if part.test == "rfc3918.group_matrix" then
               return part.trials
            end
         end
      end
      assert.equal(1, trials_of "rfc3918.tests=[group_matrix]") -- of 10 groups; 110 are more than 100
      assert.equal(1, trials_of "rfc3918.tests=[group_matrix, group_capacity]")
      assert.equal(5, trials_of "rfc3918.tests=[group_capacity, group_matrix]")
      assert.equal(2, trials_of("rfc3918.tests=[group_capacity, group_matrix]", "rfc3918.matrix_max=200"))
   end)

   it("says where it departs from the RFC", function()
      local found = method.conformance(plan_of("rate: 1Gbps", "rfc3918.tests=[group_capacity,latency]"))
      assert.is_false(found.conforms)
      assert.truthy(table.concat(found.notes, "\n"):find("without a port that watches", 1, true))
   end)
end)

-- The trials of a search for the group capacity: how many groups, passed or failed.
local function steps_of(row)
   return table.concat(tables.map(row.iterations, function(one)
      return one.groups .. (one.passed and " P" or " F")
   end), " ")
end

describe("a device that is slower than the frames that verify", function()
   it("gets fewer of them a second, and its throughput is known", function()
      -- a frame to each of 10 groups: 20,000 a second; the engine carries 1,411 of them to three receivers
      local slow = "rate: 100Mbps, capacity: 4233fps, snooping: {unregistered: drop}"
      local row = run(slow, "reference_switch.buffer=4", "rfc3918.frame_sizes=[1024]", "rfc3918.trial=200ms",
         "rfc3918.search_trial=20ms", "rfc3918.resolution=1%").aggregated[1]
      assert.same({ "valid", "loss" }, { row.validity, row.limited_by })
      assert.near(1411, row.throughput_fps, row.resolution_fps + 20)
   end)

   it("is not asked for ever: a group that is missing stays so", function()
      local row = run("snooping: {groups: 8, unregistered: drop}", "rfc3918.resolution=10%").aggregated[1]
      assert.equal("invalid", row.validity)
      assert.truthy(row.reasons[1]:find("did not get the frames of 2 of 10 groups", 1, true))
      -- 20,000 a second take 0.5 ms of the 10 of the load: halved four times, before the 13 of the search
      assert.equal(13 + 4, row.trials)
   end)
end)

describe("a device that does not do it right", function()
   it("seems to have room for any number of groups when it floods and nobody watches", function()
      local row = run("snooping: {groups: 20}", "rfc3918.tests=[group_capacity]",
         "rfc3918.capacity_max=64").group_capacity[1]
      assert.same({ 64, "maximum", true }, { row.groups, row.limited_by, row.floods_unknown })
      assert.truthy(row.reasons[1]:find("no port watches for that", 1, true))
      row = run("snooping: {groups: 20}", "rfc3918.tests=[group_capacity]", "rfc3918.capacity_max=64",
         "rfc3918.monitor=d").group_capacity[1]
      assert.same({ 20, "flooded" }, { row.groups, row.limited_by })
      assert.equal("32 F 16 P 24 F 20 P 22 F 21 F", steps_of(row))
   end)

   it("has no known room for groups when frames come faster than it copies them", function()
      local row = run("capacity: 2kfps, snooping: {groups: 20, unregistered: drop}",
         "rfc3918.tests=[group_capacity]", "rfc3918.capacity_max=64").group_capacity[1]
      assert.same({ "missing", "invalid" }, { row.limited_by, row.validity })
      assert.truthy(row.reasons[#row.reasons]:find("lower rfc3918.capacity_load", 1, true))
      row = run("capacity: 2kfps, snooping: {groups: 20, unregistered: drop}",
         "rfc3918.tests=[group_capacity]", "rfc3918.capacity_max=64",
         "rfc3918.capacity_load=0.02%").group_capacity[1]
      assert.same({ 20, "missing", "valid" }, { row.groups, row.limited_by, row.validity })
   end)

   it("has as many groups where they are added as the RFC has it, to a step", function()
      local function climbed(most)
         return run("snooping: {groups: 20, unregistered: drop}", "rfc3918.tests=[group_capacity]",
            "rfc3918.capacity_search=step", "rfc3918.capacity_step=8", "rfc3918.capacity_max=" .. most)
            .group_capacity[1]
      end
      local row = climbed(64)
      assert.same({ 16, "missing", "8 P 16 P 24 F 24 F" }, { row.groups, row.limited_by, steps_of(row) })
      local bounds = tables.find(result.CAPACITY.rows, 1, "groups").uncertainty(row)
      assert.same({ 16, 24 }, { bounds.low, bounds.high })
      row = climbed(20)
      assert.same({ 20, "maximum", "8 P 16 P 20 P" }, { row.groups, row.limited_by, steps_of(row) })
   end)

   it("is no answer when it forwards before a port has joined", function()
      local row = run("mac_table: {size: 64}", "rfc3918.tests=[join_delay]",
         "rfc3918.membership.methods=[new]",
         "rfc3918.membership.observe_join=5ms").join_delay[1]
      assert.equal("not-applicable", row.validity)
      assert.truthy(row.reasons[1]:find("floods groups that it does not know", 1, true))
   end)

   it("has a trial of the matrix and names its source where it holds fewer groups than the first", function()
      local results = run("snooping: {groups: 5, unregistered: drop}", "rfc3918.monitor=a",
         "rfc3918.tests=[group_capacity,group_matrix]", "rfc3918.capacity_max=8")
      assert.same({ 5, "b" }, { results.group_capacity[1].groups, results.group_capacity[1].source })
      assert.equal(1, #results.group_matrix)
      assert.same({ 10, "b" }, { results.group_matrix[1].groups, results.group_matrix[1].source })
   end)

   -- a port leaves, and the switch asks for as long as the next trial takes
   -- as long as the other receiver is a member the device knows the group
   it("is not said to flood where a port is still a member", function()
      local function joins(switch)
         return run("rate: 100Mbps, mac_table: {size: 64}" .. switch, "rfc3918.tests=[join_delay]",
            "rfc3918.forget=10ms", "rfc3918.membership.repetitions=2").join_delay
      end
      local slow = ", snooping: {groups: 100, unregistered: %s, fast_leave: false, last_member_interval: 1s, last_member_count: 2}"
      local dropping, flooding = joins(slow:format "drop"), joins(slow:format "flood")
      for _, row in ipairs { dropping[1], dropping[2], flooding[2] } do
         assert.equal("invalid", row.validity)
         assert.equal("frames came before the port had joined: it is still a member from a trial before; raise rfc3918.forget", row.reasons[1])
      end
      local known = joins("")[2]
      assert.equal("not-applicable", known.validity)
      assert.matches("floods groups that other ports have joined", known.reasons[1])
   end)

   it("has no leave delay when it floods the group again", function()
      local row = run("rate: 100Mbps, snooping: {groups: 100, unregistered: flood}",
         "rfc3918.tests=[leave_delay]").leave_delay[1]
      assert.equal("not-applicable", row.validity)
      assert.truthy(row.reasons[1]:find("forgets the group when the last port leaves", 1, true))
   end)

   it("is invalid when a port stays a member", function()
      local rows = run("snooping: {unregistered: drop, leave_delay: 1s}", "rfc3918.tests=[group_matrix]",
         "rfc3918.matrix_max=20").group_matrix
      assert.same({ "valid", "invalid" }, { rows[1].validity, rows[2].validity })
      assert.truthy(rows[2].reasons[1]:find("a port is still a member", 1, true))
   end)

   it("is invalid when it does not encapsulate", function()
      local row = truth.measure_plan(plan_of("snooping: {unregistered: drop}", routed(
         "rfc3918.tests=[encapsulation]", "reference_switch.tunnels.egress=none"))).encapsulation[1]
      assert.same({ "invalid", 64 }, { row.validity, row.egress[1].size })
      assert.truthy(row.reasons[1]:find("b got frames of 64 bytes, not of 88", 1, true))
   end)

   it("is invalid when it floods what came in a tunnel as it came", function()
      local plan = plan_of("snooping: {unregistered: drop}", routed("rfc3918.tests=[re_encapsulation]",
         "reference_switch.tunnels.egress=gre", "rfc3918.tunnel.joins=device", "rfc3918.search_trial=1ms",
         "rfc3918.resolution=10%", "ports.a.gateway_mac=02:00:00:00:00:99"))
      local row = truth.measure_plan(plan).re_encapsulation[1]
      assert.same({ "invalid", 88 }, { row.validity, row.forwarded_size })
      assert.truthy(row.reasons[1]:find("b got frames that are not addressed to it", 1, true))
   end)

   it("is invalid when it does not know the tunnel of the source", function()
      local row = truth.measure_plan(plan_of("snooping: {unregistered: drop}", routed(
         "rfc3918.tests=[decapsulation]", "reference_switch.tunnels.ingress=gre-key",
         "reference_switch.tunnels.key=1", "rfc3918.tunnel.ingress=gre-key", "rfc3918.tunnel.key=2",
         "rfc3918.search_trial=1ms", "rfc3918.resolution=10%"))).decapsulation[1]
      assert.equal("invalid", row.validity)
      assert.truthy(row.reasons[1]:find("did not get the frames of 10 of 10 groups", 1, true))
   end)

   it("is invalid when it does not know the addresses of the burden", function()
      local row = run("mac_table: {size: 1}, snooping: {unregistered: drop}",
         "rfc3918.tests=[burdened_latency]", "rfc3918.burden=[a,b]", "rfc3918.latency_trial=5ms",
         "rfc3918.latency_repetitions=1").burdened_latency[1]
      assert.equal("invalid", row.validity)
      assert.truthy(row.reasons[1]:find("does not know the addresses", 1, true))
   end)

   it("shows that it lost frames with the burden only", function()
      local row = run("capacity: 1Mfps, snooping: {unregistered: drop}", "rfc3918.tests=[burdened_latency]",
         "rfc3918.burden=[a,b]", "rfc3918.burden_load=50%", "rfc3918.latency_load=20%",
         "rfc3918.latency_trial=5ms", "rfc3918.latency_repetitions=1").burdened_latency[1]
      assert.equal("invalid", row.validity)
      assert.truthy(row.reasons[1]:find("with the burden: ", 1, true))
      assert.is_true(row.burden_loss_ratio > 0.3)
   end)

   it("is invalid when the load is too much for a delay", function()
      local row = run("capacity: 1Mfps, snooping: {unregistered: drop}", "rfc3918.tests=[join_delay]",
         "rfc3918.membership.methods=[known]", "rfc3918.membership.observe_join=5ms",
         "rfc3918.membership.load=50%").join_delay[1]
      assert.equal("invalid", row.validity)
      assert.truthy(row.reasons[1]:find("the load is too much", 1, true))
   end)
end)

describe("the ports of the tester", function()
   it("stay members while the device asks", function()
      local results, session = run("snooping: {unregistered: drop, querier: true, query_interval: 1s, membership_time: 2600ms}", "rfc3918.tests=[group_matrix]", "rfc3918.matrix_max=10",
         "rfc3918.trial=5s", "rfc3918.matrix_load=1%")
      assert.same({ "valid", 0, {} }, { results.group_matrix[1].validity, results.group_matrix[1].loss_ratio,
         results.group_matrix[1].reasons })
      assert.is_true(session.trials[1].members.queries >= 5 * 3)
      assert.is_true(session.trials[1].members.answers >= 5 * 30)
   end)

   it("can be expected of", function()
      local plan = plan_of("snooping: {unregistered: drop}", "rfc3918.tests=[aggregated]")
      local results = { rfc3918 = (truth.measure_plan(plan)) }
      assert.is_true(held.met("throughput>=99%", plan, results))
      assert.is_false(held.met("throughput>=100.1%@aggregated", plan, results))
   end)
end)
