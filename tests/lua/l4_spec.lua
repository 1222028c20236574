-- SPDX-License-Identifier: BSD-3-Clause

-- The battery through the reference device: the figures are what its line, its delay and its faults allow.
local cases = require "framegauge.methods.l4.test"
local held = require "held"
local json = require "framegauge.text.json"
local schema = require "result_schema"
local scratch = require "scratch"
local theory = require "framegauge.traffic.l4.theory"
local uv = require "luv"
local wire = require "l4_wire"

local CONFIG = debug.getinfo(1, "S").source:match "^@(.*)tests/lua/" .. "configs/l4-battery-reference.yaml"

-- Run the battery with settings. @return the rows by test, exit status, the whole result, its folder
local function run(tests, ...)
   local path = scratch.path()
   local words = {
      ("'%s' run '%s' --quick --out '%s' --set 'l4.tests=[%s]'"):format(uv.exepath(), CONFIG, path, tests),
   }
   for _, set in ipairs { ... } do
      words[#words + 1] = ("--set '%s'"):format(set)
   end
   local output, status = scratch.shell(table.concat(words, " ") .. " 2>&1")
   assert.equal(0, status, output)
   local result, rows = json.decode(scratch.read(path .. "/result.json")), {}
   for _, row in ipairs(result.results.l4) do
      rows[row.test] = row
      assert.equal("valid", row.validity)
      assert.equal(0, row.wrong_bytes)
   end
   return rows, status, result, path
end

local function near(expected, value, share)
   assert.near(expected, value, share * expected)
end

local RATE, LATENCY = 1e9, 20e-6

-- Seconds of an exchange of packets of these sizes (with FCS) through the device, which stores them.
local function round_trip(...)
   local seconds = 0
   for _, frame in ipairs { ... } do
      seconds = seconds + LATENCY + math.max(frame, 64) * 8 / RATE
   end
   return seconds
end

describe("connections of which there are so many", function()
   it("are accounted for, those that were still open too", function()
      local function sentence(o)
         local row = { test = "TCP_CC", connections_per_s = 10, opened = 100, closed = 100, open = 0,
            wrong_bytes = 0,
            parameters = { connections = 100, load = { cycles = 1 } }, validity = "valid",
            failures = { refused = 0, no_answer = 0, reset = 0, lost = 0, aborted = 0, expired = 0,
               bad_response = 0 } }
         for key, value in pairs(o) do
            row[key] = value
         end
         return cases.sentence(row):match "; (.*)"
      end
      assert.equal("100 connections opened, 100 closed, nothing failed", sentence {})
      assert.equal("100 connections opened, 90 closed, 4 reset, 1 without an answer in time, 5 still open when the drain was over", sentence { closed = 90, open = 5,
         failures = { refused = 0, no_answer = 0, reset = 4, lost = 0, aborted = 0, expired = 1,
            bad_response = 0 } })
   end)
end)

describe("the notes of a report", function()
   it("speak of bits and of what is possible only where a row has them", function()
      local function notes(row)
         local list = {}
         require("framegauge.methods.l4.report").notes({ results = { l4 = { row } } }, function(text)
            list[#list + 1] = text and text:match "^%w+"
         end)
         return list
      end
      assert.same({}, notes { test = "PAGE", pages_per_s = 3 })
      assert.same({}, notes { test = "PAGE" })
      assert.same({ "Bits" }, notes { test = "FTP", goodput_bps = 3 })
      assert.same({ "Possible" }, notes { test = "TCP_RR", transactions_per_s = 3, round_trip_limit = 4 })
   end)
end)

describe("the line's most", function()
   local ts = { mtu = 1500, timestamps = true, request = 1, response = 1, datagram = 1472 }

   it("is that of the tables", function()
      near(1373626, theory.rr(1e9, "ipv4", ts), 1e-6)
      near(1488095, theory.udp_rr(1e9, "ipv4", ts), 1e-6)
      local o = { mtu = 1500, timestamps = true, request = 128, response = 128 }
      near(573394, theory.rr(1e9, "ipv4", o), 1e-6)
      -- SYN 98, request or response 91, FIN or ACK 90 bytes each way, and one ACK more if it goes alone
      near(1e9 / 8 / (98 + 91 + 90), theory.crr(1e9, "ipv4", ts), 1e-6)
      ts.handshake_ack_alone = true
      near(1e9 / 8 / (98 + 91 + 2 * 90), theory.crr(1e9, "ipv4", ts), 1e-6)
      near(941.48e6, theory.stream(1e9, "ipv4", ts), 1e-5)
      near(957.09e6, theory.udp_stream(1e9, "ipv4", ts), 1e-5)
      near(928.48e6, theory.stream(1e9, "ipv6", ts), 1e-5)
   end)
end)

describe("the battery", function()
   teardown(scratch.remove)

   it("fills the line with streams, and takes a round trip for each transaction", function()
      local rows, _, _, path = run "TCP_STREAM, TCP_MAERTS, TCP_RR, TCP_CRR, TCP_CC, UDP_STREAM, UDP_RR"
      near(941.48e6, rows.TCP_STREAM.goodput_bps, 1e-3)
      near(941.48e6, rows.TCP_MAERTS.goodput_bps, 1e-3)
      near(957.03e6, rows.UDP_STREAM.received_bps, 1e-3)
      assert.equal(0, rows.UDP_STREAM.lost)
      -- of a byte each way: 71 bytes with time stamps and FCS; a tester's step takes 0.1 us
      near(1 / round_trip(71, 71), rows.TCP_RR.transactions_per_s, 0.01)
      near(1 / round_trip(64, 64), rows.UDP_RR.transactions_per_s, 0.01)
      -- request, FIN and response carry the ACKs; only a next SYN waits for the last one, of a client's FIN
      local ack = 90 * 8 / RATE
      near(1 / round_trip(78, 78, 71, 71, 70, 70), rows.TCP_CRR.transactions_per_s, 0.01)
      near(1 / (round_trip(78, 78, 70, 70) + ack), rows.TCP_CC.connections_per_s, 0.01)
      for _, row in pairs(rows) do
         near(100, row.theoretical_percent, 0.02) -- of the line or of the round trip
         assert.equal(0, row.retransmitted_segments)
         for _, n in pairs(row.failures) do
            assert.equal(0, n)
         end
      end
      assert.is_true(schema.validate(path .. "/result.json"))
   end)

   it("asks for pages and posts them", function()
      for _, set in ipairs { "l4.http.body=20000", "l4.http.post=20000", "l4.http.requests=1" } do
         local rows = run("HTTP", set, "l4.connections=8")
         assert.is_true(rows.HTTP.transactions_per_s > 1000)
         for _, n in pairs(rows.HTTP.failures) do
            assert.equal(0, n)
         end
      end
   end)

   it("does so over IPv6, and in a VLAN", function()
      local rows = run("TCP_STREAM, TCP_RR", "ports.east={device: wire0, ipv6: \"2001:2::2/64\", vlan: 7}",
         "ports.west={device: wire1, ipv6: \"2001:2::3/64\", vlan: 7}")
      near(926.1e6, rows.TCP_STREAM.goodput_bps, 1e-3)
      near(1 / round_trip(95, 95), rows.TCP_RR.transactions_per_s, 0.01)
   end)

   it("does so through a router", function()
      local rows = run("TCP_STREAM",
         "ports.east={device: wire0, ipv4: 198.18.1.2/24, gateway: 198.18.1.1}",
         "ports.west={device: wire1, ipv4: 198.19.1.2/24, gateway: 198.19.1.1}")
      near(941.48e6, rows.TCP_STREAM.goodput_bps, 1e-3)
   end)

   it("has as many transactions more as there are connections, up to what the line carries", function()
      local rows = run("TCP_RR, UDP_RR", "l4.connections=10")
      near(10 / round_trip(71, 71), rows.TCP_RR.transactions_per_s, 0.02)
      near(10 / round_trip(64, 64), rows.UDP_RR.transactions_per_s, 0.02)
      rows = run("TCP_RR, UDP_RR", "l4.connections=200")
      near(1373626, rows.TCP_RR.transactions_per_s, 0.01)
      near(1488095, rows.UDP_RR.transactions_per_s, 0.01)
      for _, row in pairs(rows) do
         near(100, row.theoretical_percent, 0.01)
         assert.is_true(row.round_trip_limit > row.theoretical)
      end
   end)

   it("counts pauses, connects and closes where it says what the round trip allows", function()
      local function rows_of(...)
         local rows, status, output = wire.run("duration: 400ms, drain: 100ms, connections: 5, tests: [TCP_RR, HTTP, HTTP2]", ...)
         assert.equal(0, status, output)
         return rows, output
      end
      for close, tests in pairs { fin = "[TCP_RR, HTTP, HTTP2]", reset = "[TCP_RR, HTTP]" } do
         for _, row in ipairs(rows_of("l4.tests=" .. tests, "l4.load={think: 1ms, think_max: 3ms, requests: 4}", "l4.http.requests=4",
            "l4.http.streams=2", "l4.http.body=64", "l4.close=" .. close)) do
            assert.is_true(row.round_trip_limit < row.theoretical, row.test)
            -- a connection of HTTP/2 has more round trips than its transactions
            near(100, row.theoretical_percent, row.test == "HTTP2" and 0.15 or 0.06)
         end
      end
      for _, load in ipairs { "{per_second: 100}", "{cycles: 1, requests: 2}", "{hold: true, requests: 2}" } do
         for _, row in ipairs(rows_of("l4.load=" .. load, "l4.duration=50ms")) do
            assert.is_nil(row.round_trip_limit, load)
         end
      end
   end)

   it("loses nothing of a stream where the path loses segments", function()
      local rows = run("TCP_STREAM, TCP_RR", "reference_device.loss_random=1%", "l4.duration=2s")
      assert.is_true(rows.TCP_STREAM.retransmitted_segments > 0)
      assert.is_true(rows.TCP_STREAM.goodput_bps > 50e6)
      assert.is_true(rows.TCP_RR.retransmitted_segments > 0)
   end)

   it("counts lost datagrams, and requests without an answer", function()
      local rows = run("UDP_STREAM, UDP_RR", "reference_device.loss_every=100", "l4.datagram_rate=10kfps",
         "l4.timeout=1ms")
      near(0.01, rows.UDP_STREAM.loss_ratio, 0.02)
      assert.is_true(rows.UDP_RR.failures.expired > 0)
      -- both ways each hundredth is lost; the rest takes a round trip, these the time-out
      local lost = 2 / 100
      near(1 / (round_trip(64, 64) + lost * 1e-3), rows.UDP_RR.transactions_per_s, 0.05)
   end)

   it("is limited by the window, where that is small", function()
      local rows = run("TCP_STREAM", "reference_device.latency=5ms", "l4.tcp.receive_buffer=64KiB",
         "l4.duration=2s", "l4.omit=1s")
      near(65535 * 8 / 10.01e-3, rows.TCP_STREAM.goodput_bps, 0.03)
   end)

   it("gives the same bytes for the same plan", function()
      local _, _, _, one = run("TCP_STREAM, TCP_CRR, UDP_RR", "reference_device.loss_random=0.5%",
         "l4.timeout=10ms")
      local _, _, _, other = run("TCP_STREAM, TCP_CRR, UDP_RR", "reference_device.loss_random=0.5%",
         "l4.timeout=10ms")
      assert.equal(scratch.read(one .. "/result.json"), scratch.read(other .. "/result.json"))
      assert.equal(scratch.read(one .. "/l4.csv"), scratch.read(other .. "/l4.csv"))
   end)

   -- a record of a trial as framegauge.tester.l4.record makes it, as far as it is looked at
   local function record(role_seconds, total)
      local sides = {}
      for i, seconds in ipairs(role_seconds) do
         sides[i] = { station = { busy_s = seconds }, apps = { { total = total[i] } } }
      end
      return { sides = sides }
   end

   it("reckons the processor's time for a unit of work as netperf does", function()
      -- netperf's manual: 13.9 % of two processors and 15,262.48 transactions/s are 18.2 us each
      local busy, n = 0.139 * 2 * 10, 152625
      local rr = cases.demand({ test = "TCP_RR" }, {
         record({ busy / 2, busy }, { { transactions = n }, { transactions = 0 } }),
         record({ busy / 2, busy }, { { transactions = n }, { transactions = 0 } }),
      })
      assert.near(18.21, rr.server_us, 0.01)
      assert.near(18.21 / 2, rr.client_us, 0.01)
      assert.equal("transaction", rr.per)
      -- 25 % of eight processors for 9,400 Mbit/s: 1.743 us for each 1024 bytes
      local stream = cases.demand({ test = "TCP_STREAM" }, {
         record({ 2 }, { { octets_out = 9.4e9 / 8, octets_in = 0 } }),
      })
      assert.near(1.743, stream.client_us, 0.001)
      assert.is_nil(stream.server_us)
      assert.equal("KiB", stream.per)
   end)

   it("says nothing of the processor's time on the virtual wire", function()
      local rows = run "TCP_RR"
      assert.is_nil(rows.TCP_RR.service_demand)
      assert.is_nil(cases.demand({ test = "TCP_RR" }, { record({}, {}) }))
   end)
end)

describe("TCP between ports in real time", function()
   local PLAN = [[
test: l4
ports:
  east: {device: "memif:%s,server", ipv4: 198.18.1.2/24, line_rate: 10Gbps}
  west: {device: "memif:%s", ipv4: 198.18.1.3/24, line_rate: 10Gbps}
l4: {tests: [TCP_RR], duration: 200ms, omit: 0s}
]]

   -- a clock of their own would begin or end it at another time, as far off as the machine's clocks are apart
   it("lasts as long as the trial", function()
      local plan, out, socket = scratch.path(), scratch.path(), os.tmpname() -- in /tmp: its path has no space
      os.remove(socket)
      local file = assert(io.open(plan, "w"))
      file:write(PLAN:format(socket, socket))
      file:close()
      local output, status = scratch.shell(("'%s' run '%s' --out '%s' 2>&1"):format(uv.exepath(), plan, out))
      local row = json.decode(scratch.read(out .. "/result.json")).results.l4[1]
      assert.equal(row.validity == "valid" and 0 or 3, status, output) -- a busy machine limits the tester
      assert.is_true(row.transactions_per_s > 0 or row.validity ~= "valid") -- and may keep it from all
   end)

   local function run_for(...)
      local path = scratch.path()
      local words = { ("'%s' run '%s' --quick --out '%s'"):format(uv.exepath(), CONFIG, path), ... }
      local output, status = scratch.shell(table.concat(words, " ") .. " 2>&1")
      return status, output, path
   end

   it("is held against what is expected of the device", function()
      local some = "--set 'l4.tests=[TCP_STREAM, TCP_RR]'"
      local status, output = run_for(some, "--expect 'TCP_STREAM.goodput>=930Mbps'",
         "--expect 'TCP_RR.transactions>=1000'", "--expect 'TCP_RR.failures<=0'")
      assert.equal(0, status, output)
      local path
      status, output, path = run_for(some, "--expect 'TCP_STREAM.goodput>=950Mbps'")
      assert.equal(1, status, output)
      assert.matches("the device fell short of TCP_STREAM.goodput&gt;=950Mbps",
         scratch.read(path .. "/junit.xml"), 1, true)
      for text, why in pairs {
         ["HTTP.goodput>=1Mbps"] = "subject 'HTTP'", ["TCP_RR.speed>=1"] = "no figure 'speed'",
         ["TCP_RR.transactions<=1"] = "criterion with >=", ["TCP_RR.transactions>=many"] = "no number",
         ["balance.share>=30%"] = "subject 'balance'",
      } do
         status, output = run_for(some, "--expect '" .. text .. "'")
         assert.equal(2, status)
         assert.matches(why, output, 1, true)
      end
   end)

   it("is held against how flows should be spread", function()
      local plan = { test = "l4", ports = { { name = "a" } },
         l4 = { campaign = "balance", tests = { "UDP_STREAM" }, balance = { address = "198.18.0.9" } } }
      local row = { test = "UDP_STREAM", validity = "valid", flows = 64, flows_split = 0, loss_ratio = 0,
         reordered = 0,
         paths = { { share = 0.4 }, { share = 0.35 }, { share = 0.25 } } }
      local function met(text)
         return (held.met(text, plan, { l4 = { row } }))
      end
      assert.is_true(met "balance.share>=25%")
      assert.is_false(met "balance.share>=30%")
      assert.is_true(met "balance.split<=0%")
      row.flows_split, row.reordered, row.loss_ratio = 16, 1, 0.01
      assert.is_false(met "balance.split<=20%")
      assert.is_false(met "balance.reordered<=0")
      assert.is_true(met "balance.loss<=1%")
      row.validity = "tester-limited"
      assert.is_nil(met "balance.share>=25%")
      assert.is_nil(met "balance.share>=30%")
      assert.is_nil(met "balance.loss<=1%")
   end)
end)
