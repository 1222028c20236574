-- SPDX-License-Identifier: BSD-3-Clause

-- The test PING through the reference device, which repeats, loses and delays as it is told.
local l4_wire = require "l4_wire"
local plans = require "framegauge.plan"
local scratch = require "scratch"

local RATE = 100e6

local function run(keys, ...)
   local rows, status, output = l4_wire.run("tests: [PING], duration: 200ms, " .. keys, ...)
   return rows[1], status, output
end

describe("PING", function()
   teardown(scratch.remove)

   it("has to fit into the MTU in the version of IP that its peer has", function()
      local function problem(size, test, kind)
         local _, errors = plans.load_text(([[
test: l4
isolated_network: true
ports: {a: {device: "kernel:veth0", ipv4: 198.18.1.2/24, gateway: 198.18.1.1, ipv6: "2001:2::2/64", gateway6: "2001:2::1"},
   b: {device: "kernel:veth1", ipv4: 198.18.2.3/24, gateway: 198.18.2.1, ipv6: "2001:2:0:2::3/64", gateway6: "2001:2:0:2::1"}}
l4: {tests: [%s], datagram: %d, ping: {size: %d}, peer: {kind: %s, ipv6: "2001:2::1"}}
]]):format(test, size, size, kind), "x.yaml", {})
         return tostring((errors or {})[1])
      end
      for test, kind in pairs { PING = "discard", UDP_STREAM = "iperf3" } do
         assert.matches("do not fit into an MTU of 1500; expected at most 1452", problem(1472, test, kind), 1, true)
         assert.is_nil(problem(1452, test, kind):find "MTU")
      end
   end)

   it("has what the line takes of a flood, by size and version of IP", function()
      for size, octets in pairs { [0] = 64, [18] = 64, [56] = 102, [1472] = 1518 } do
         local row = run(("connections: 128, ping: {size: %d}"):format(size))
         assert.equal("valid", row.validity)
         assert.near(RATE / (8 * (octets + 20)), row.theoretical, 1e-6 * row.theoretical)
         assert.is_true(row.theoretical_percent > 99 and row.theoretical_percent <= 100,
            tostring(row.theoretical_percent))
         assert.same({ 0, 0, 0, 0 }, { row.lost, row.duplicates, row.reordered, row.wrong_bytes })
      end
   end)

   it("measures the round trip that the device has", function()
      local row = run("ping: {interval: 1ms}", "reference_device.latency=150us")
      -- the device has a frame when its last bit is there, and the tester when its first one is
      local line = 2 * 102 * 8 / RATE * 1e9
      assert.equal(200, row.datagrams)
      assert.near(300e3 + line, row.transaction.min_ns, 200)
      assert.near(300e3 + line, row.transaction.max_ns, 200)
   end)

   it("counts what does not come back", function()
      -- of ten requests nine arrive, and of ten replies nine
      local row = run("connections: 500, ping: {interval: 1ms}, timeout: 100ms",
         "reference_device.loss_every=10")
      assert.equal(200, row.datagrams)
      assert.equal(38, row.lost)
      assert.equal(38, row.failures.expired)
      assert.near(0.19, row.loss_ratio, 1e-9)
   end)

   it("counts a second reply to a request, and takes it for no other", function()
      local row = run("connections: 10, ping: {interval: 1ms}", "reference_device.duplicate.every=10")
      -- of 200 requests 20 come twice: 220 replies, and 22 of these come twice
      assert.equal(0, row.lost)
      assert.equal(42, row.duplicates)
      assert.equal(200, row.transactions_per_s * 0.2)
   end)

   it("tells a reply that came too late from one that never came", function()
      local row = run("connections: 2, ping: {interval: 1ms}, timeout: 2ms", "reference_device.latency=2ms",
         "reference_device.loss_every=10")
      assert.equal(0, row.transactions_per_s)
      assert.equal(row.datagrams, row.lost)
      assert.near(0.81 * row.datagrams, row.ping_replies.late, 2)
      assert.is_nil(row.ping_replies.duplicates)
   end)

   it("takes a reply for late however many requests its slot has sent since", function()
      -- a request each 2 ms, and a reply after 160 ms
      local row = run("connections: 1, timeout: 2ms", "reference_device.latency=80ms")
      assert.is_true((row.ping_replies.late or 0) > 10, tostring(row.ping_replies.late))
      assert.is_nil(row.ping_replies.malformed)
   end)

   it("does not count a request as lost that waits for less than the timeout at the end", function()
      local row = run("connections: 500, ping: {interval: 1ms}, timeout: 1s, drain: 10ms",
         "reference_device.latency=80ms")
      assert.equal(0, row.lost)
      assert.equal(0, row.failures.expired)
      assert.is_true(row.outstanding > 100 and row.outstanding < row.datagrams)
   end)

   it("goes over IPv6 as far as the MTU allows", function()
      local keys = "campaign: mtu-sweep, connections: 64, tests: [PING], duration: 50ms, sweep: {mtu: [300, 1500, 9000]}"
      local rows = l4_wire.run(keys, "ports.a.ipv6=2001:2::2/64", "ports.b.ipv6=2001:2::3/64")
      local seen = {}
      for i, row in ipairs(rows) do
         seen[i] = row.case
         assert.near(RATE / (8 * (row.parameters.mtu + 38)), row.theoretical, 1e-6 * row.theoretical)
         assert.is_true(row.theoretical_percent > 90, row.case)
         assert.is_nil(row.theoretical_legacy)
      end
      assert.same({ "IPv4, MTU 300", "IPv4, MTU 1500", "IPv4, MTU 9000", "IPv6, MTU 1500", "IPv6, MTU 9000" },
         seen)
   end)

   it("is refused where a request does not fit", function()
      local output, status = l4_wire.call("tests: [PING], ping: {size: 1473}", "check")
      assert.equal(2, status)
      assert.matches("l4%.ping%.size: echo requests with 1473 bytes do not fit into an MTU of 1500; expected at most 1472", output)
   end)
end)
