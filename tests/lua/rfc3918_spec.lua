-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 3918 held against reference switches with snooping: every figure within a bound that follows from the
-- method.
local expect = require "framegauge.methods.expect"
local groups = require "framegauge.traffic.groups"
local method = require "framegauge.methods.rfc3918.method"
local octets = require "framegauge.core.octets"
local page = require "rfc3918_page"
local plans = require "framegauge.plan"
local scratch = require "scratch"
local trials = require "framegauge.methods.rfc3918.trials"
local truth = require "rfc3918_truth"

local FOUR = [[
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

local function plan_of(switch, ...)
   local plan, errors = plans.load_text(FOUR:format(switch), "x.yaml", { sets = { ... } })
   assert(plan, errors and tostring(errors[1]))
   return plan
end

local function run(...)
   return truth.measure_plan(plan_of(...))
end

local function wrong(...)
   local _, errors = plans.load_text(FOUR:format "rate: 1Gbps", "x.yaml", { sets = { ... } })
   return errors and tostring(errors[1]) or ""
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
      assert.same({ source = "a", receivers = { "b", "c", "d" } }, trials.roles(plan_of "rate: 1Gbps"))
      assert.same({ source = "a", receivers = { "b", "c" }, monitor = "d" },
         trials.roles(plan_of("rate: 1Gbps", "rfc3918.monitor=d")))
      assert.same({ source = "c", receivers = { "a" } },
         trials.roles(plan_of("rate: 1Gbps", "rfc3918.source=c", "rfc3918.receivers=[a]")))
   end)

   it("is told what does not fit", function()
      assert.truthy(wrong("rfc3918.source=zz"):find("there is no port 'zz'", 1, true))
      assert.truthy(wrong("rfc3918.source=a", "rfc3918.receivers=[a]"):find("a has another role", 1, true))
      assert.truthy(wrong("rfc3918.version=mldv2"):find("mldv2 over IPv4", 1, true))
      assert.truthy(wrong("rfc3918.first_group=225.128.0.5"):find("looks like a group of the local", 1, true))
      assert.truthy(wrong("rfc3918.first_group=ff1e::1"):find("of another version of IP", 1, true))
      assert.equal("", wrong())
   end)

   it("says where it departs from the RFC", function()
      local found = method.conformance(plan_of("rate: 1Gbps", "rfc3918.tests=[group_capacity,latency]"))
      assert.is_false(found.conforms)
      assert.truthy(table.concat(found.notes, "\n"):find("without a port that watches", 1, true))
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
   end)

   it("is no answer when it forwards before a port has joined", function()
      local row = run("mac_table: {size: 64}", "rfc3918.tests=[join_delay]",
         "rfc3918.membership.methods=[new]",
         "rfc3918.membership.observe_join=5ms").join_delay[1]
      assert.equal("not-applicable", row.validity)
      assert.truthy(row.reasons[1]:find("floods groups that it does not know", 1, true))
   end)

   it("is invalid when a port stays a member", function()
      local rows = run("snooping: {unregistered: drop, leave_delay: 1s}", "rfc3918.tests=[group_matrix]",
         "rfc3918.matrix_max=20").group_matrix
      assert.same({ "valid", "invalid" }, { rows[1].validity, rows[2].validity })
      assert.truthy(rows[2].reasons[1]:find("a port is still a member", 1, true))
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
      local results, session = run("snooping: {unregistered: drop, querier: true, query_interval: 1s, "
         .. "membership_time: 2600ms}", "rfc3918.tests=[group_matrix]", "rfc3918.matrix_max=10",
         "rfc3918.trial=5s", "rfc3918.matrix_load=1%")
      assert.same({ "valid", 0, {} }, { results.group_matrix[1].validity, results.group_matrix[1].loss_ratio,
         results.group_matrix[1].reasons })
      assert.is_true(session.trials[1].members.queries >= 5 * 3)
      assert.is_true(session.trials[1].members.answers >= 5 * 30)
   end)

   it("can be expected of", function()
      local plan = plan_of("snooping: {unregistered: drop}", "rfc3918.tests=[aggregated]")
      local results = { rfc3918 = (truth.measure_plan(plan)) }
      local one = assert(expect.parse("throughput>=99%", plan))
      assert.is_not_nil(one)
      assert.is_true(results.rfc3918.aggregated[1].throughput_percent > 99)
   end)
end)
