-- SPDX-License-Identifier: BSD-3-Clause

-- The campaign transports on the reference device: what headers leave of a line and of limited bits of
-- frames, worked out here from the formats; which frames are lost, drawn here again; what windows and losses
-- make of it; and what a plan may not ask for.
local api = require "framegauge.core.api"
local cases = require "framegauge.methods.l4.sweep"
local ffi = require "ffi"
local interrupted = require "interrupted"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local method = require "framegauge.methods.l4.method"
local plans = require "framegauge.plan"
local schema = require "result_schema"
local scratch = require "scratch"
local Tester = require "framegauge.tester"
local uv = require "luv"

local CONFIG = scratch.PROJECT .. "configs/l4-transports-%s.yaml"

-- Run a plan with settings. @return its rows, its folder, what was printed
local function run(name, ...)
   local path, sets = scratch.path(), {}
   for i, set in ipairs { ... } do
      sets[i] = set:match "^%-%-" and set or ("--set '%s'"):format(set)
   end
   local output, status = scratch.shell(("'%s' run '%s' --out '%s' %s 2>&1"):format(uv.exepath(),
      CONFIG:format(name), path, table.concat(sets, " ")))
   assert.is_true(status == 0 or status == 3 and output:find "tester%-limited" ~= nil, output)
   return json.decode(scratch.read(path .. "/result.json")).results.l4, path, output
end

local function load(keys, device)
   return plans.load_text(([[
test: l4
ports: {east: {device: wire0, ipv4: 198.18.1.2/24}, west: {device: wire1, ipv4: 198.18.1.3/24}}
reference_device: {%s}
l4: {campaign: transports, %s}
]]):format(device or "rate: 1Gbps", keys), "transports", {})
end

-- Payload bits of each that a line or a limit of bits of frames carries . Ethernet takes 18
-- bytes of a frame and 20 between frames, IPv4 20, TCP with time stamps 32, UDP 8. A record of 16 KiB has 22
-- bytes beside. A packet of QUIC: flags 1, ID 8, number 1, tag 16, and of STREAM type 1, ID 1, offset 4,
-- length 2.
local function share(test, datagram, between)
   if test:match "^QUIC" then
      return (datagram - 34) / (datagram + 28 + 18 + between)
   end
   return 1448 / (1518 + between) * (test:match "^TLS" and 16384 / 16406 or 1)
end

describe("the campaign transports", function()
   teardown(scratch.remove)

   it("fills a line but for the headers of each transport", function()
      for _, datagram in ipairs { 1452, 1252 } do
         local rows = run("reference", "reference_device.rate=1Gbps", "l4.transports.delays=[1ms]",
            "l4.transports.losses=[0%]", "l4.transports.queues=[2000]", "l4.repetitions=1", "l4.omit=400ms",
            "l4.duration=600ms", "l4.quic.max_datagram=" .. datagram)
         for _, row in ipairs(rows) do
            local expected = 1e9 * share(row.test, datagram, 20)
            assert.equal("valid", row.validity)
            assert.near(expected, row.transport.theoretical_bps, 1e-9 * expected)
            assert.near(expected, row.goodput_bps, 0.02 * expected)
         end
         local ratio = share("QUIC", datagram, 20) / share("TLS", datagram, 20)
         assert.near(ratio, rows[3].transport.tls_ratio, 0.004)
         assert.near(datagram == 1452 and 0.994 or 0.984, ratio, 2e-3)
      end
   end)

   it("fills what a path forwards of bits of frames, both ways of a plan", function()
      local rows = run("reference", "reference_device.rate=1Gbps", "l4.transports.delays=[2ms]",
         "l4.tests=[TCP_MAERTS, TLS_MAERTS, QUIC_MAERTS]", "l4.transports.losses=[0%]",
         "l4.transports.rates=[{data: 20Mbps, back: 2Mbps}]", "l4.repetitions=1", "l4.omit=500ms",
         "l4.duration=1500ms")
      for _, row in ipairs(rows) do
         local expected = 20e6 * share(row.test, 1452, 0)
         assert.near(expected, row.transport.theoretical_bps, 1e-9 * expected)
         assert.near(expected, row.goodput_bps, 0.02 * expected)
      end
   end)

   it("has responses of HTTP beside each other, by streams", function()
      local rows = run("reference", "l4.tests=[HTTP, HTTPS, HTTP2, HTTPS2, HTTP3]",
         "reference_device.rate=1Gbps", "l4.transports.delays=[0s]", "l4.transports.losses=[0%]",
         "l4.transports.streams=[1, 8]", "l4.http.body=10KiB", "l4.http.requests=0",
         "l4.repetitions=1", "l4.omit=100ms", "l4.duration=500ms")
      assert.equal(2 + 3 * 2, #rows)
      for _, row in ipairs(rows) do
         local t = row.transport
         assert.equal("valid", row.validity)
         assert.near(row.transactions_per_s * 8 * 10240, t.goodput_bps, 0.01 * t.goodput_bps)
         assert.is_true(t.theoretical_percent <= 100.1, row.test .. row.case .. t.theoretical_percent)
         if row.parameters.http.streams == 8 then
            assert.is_true(t.theoretical_percent > 97, row.test .. t.theoretical_percent)
         end
         assert.equal(json.null, t.window_bps)
      end
      local base, http3 = rows[4], rows[8] -- HTTP2 and HTTP3 with 8 streams
      assert.same({ "HTTP2", "HTTP3" }, { base.test, http3.test })
      assert.near(http3.transport.goodput_bps / base.transport.goodput_bps, http3.transport.tcp_ratio, 1e-9)
   end)

   it("judges HTTP in the clear on a path that loses, since it keeps what is beyond a gap", function()
      local rows = run("reference", "l4.tests=[HTTP2, HTTPS2, HTTP3]", "l4.transports.delays=[1ms]",
         "l4.transports.losses=[2%]", "l4.http.body=10KiB", "l4.http.requests=0", "l4.repetitions=2",
         "l4.omit=100ms", "l4.duration=500ms", "--expect 'HTTP3.tls_ratio>=0'")
      assert.same({ "valid", "valid", "valid" },
         { rows[1].validity, rows[2].validity, rows[3].validity })
      assert.is_true(rows[3].transport.tcp_ratio > 0)
      assert.near(1, rows[1].transport.goodput_bps / rows[2].transport.goodput_bps, 0.25)
      assert.is_true(rows[3].transport.tls_ratio > 0)
   end)

   -- The draws of the device, by the published generator (splitmix64) and the rule of fg_device.h: the number
   -- of frames lost of the first n that enter on a side.
   local function mix(z)
      z = bit.bxor(z, bit.rshift(z, 30)) * 0xbf58476d1ce4e5b9ULL
      z = bit.bxor(z, bit.rshift(z, 27)) * 0x94d049bb133111ebULL
      return bit.bxor(z, bit.rshift(z, 31))
   end

   local function lost_of(n, seed, draw, side, loss)
      local state = seed * 2ULL + draw * 0xd1342543de82ef95ULL + side
      local limit, lost = ffi.cast("uint64_t", loss * 2 ^ 64), 0
      for _ = 1, n do
         state = state + 0x9e3779b97f4a7c15ULL
         lost = lost + (mix(state) < limit and 1 or 0)
      end
      return lost
   end

   it("loses the same frames by their number in all tests of a path and repetition", function()
      local plan = assert(load("tests: [TCP_STREAM, TLS_STREAM, QUIC_STREAM], duration: 200ms, repetitions: 2, quic: {certificate: ed25519}, tls: {certificate: ed25519}, drain: 100ms,transports: {delays: [0s, 4ms], losses: [2%]}", "rate: 1Gbps, seed: 9"))
      local tester, seen, results = assert(Tester.open(plan)), {}, {}
      local session = { say = function() end }
      local reset, draw = tester.wires.reset, nil
      -- before a trial with the number of its draws, and behind it
      function tester.wires.reset(wires, number)
         local out = ffi.new "struct fg_device_counters"
         for side = 0, draw and 1 or -1 do
            api.C.fg_device_read_counters(wires.list[1], side, out)
            seen[#seen + 1] = { draw = draw, side = side, lost = tonumber(out.lost_on_path),
               received = tonumber(out.received) }
         end
         draw = number
         return reset(wires, number)
      end
      function session.trial(_, ask)
         return ask.make(ask)
      end
      job.run(function()
         method.run(plan, tester, session, results)
      end)
      tester:close()
      assert.equal(2 * 3 * 2 * 2, #seen)
      local different, draws = {}, {}
      for _, one in ipairs(seen) do
         assert.is_true(one.received > 20, one.received)
         assert.equal(lost_of(one.received, 9, one.draw, one.side, 0.02), one.lost)
         different[one.received], draws[one.draw] = true, true
      end
      assert.same({ true, true }, draws)
      assert.is_true(next(different, next(different)) ~= nil) -- tests send different numbers of frames
      assert.equal(6, #results.l4)
   end)

   it("puts the formulas of window and loss beside each, and comes near them in the long run", function()
      local rows = run("reference", "l4.transports.delays=[50ms]", "l4.transports.losses=[1%]",
         "l4.repetitions=1", "l4.duration=120s", "l4.omit=20s", "l4.tcp.congestion=newreno",
         "l4.quic.congestion=reno", "l4.tests=[TCP_STREAM, QUIC_STREAM]")
      local tcp, quic = rows[1], rows[2]
      local expected = 8 * 1448 / 0.05 * math.sqrt(1.5 / 0.01)
      assert.near(expected, tcp.transport.loss_bps, 1)
      assert.near(expected / 1448 * 1418, quic.transport.loss_bps, 1)
      assert.near(8 * 2 ^ 24 / 0.05, tcp.transport.window_bps, 1)
      for _, row in ipairs(rows) do
         assert.near(expected, row.goodput_bps, 0.2 * expected)
         assert.is_true(row.transport.retransmitted_bytes > 100 * 1000)
      end
      local cubic = run("reference", "l4.transports.delays=[50ms]", "l4.transports.losses=[0.1%]",
         "l4.repetitions=1", "l4.duration=500ms", "l4.omit=0s", "l4.tests=[TCP_STREAM]")[1].transport
      local window = (0.4 * 3.7 / 1.2) ^ 0.25 * (0.05 / 0.001) ^ 0.75
      local reno = math.sqrt(1.5 / 0.001)
      assert.near(8 * 1448 / 0.05 * math.max(window, reno), cubic.loss_bps, 1)
   end)

   it("has ratios with their interval and a chart, and goes on where it ended", function()
      local rows, path, output = run("reference", "--expect 'QUIC_STREAM.tls_ratio>=0.2'",
         "l4.duration=500ms", "l4.omit=100ms", "l4.transports.delays=[10ms]",
         "l4.transports.losses=[0.5%, {bursts: {begin: 0.2%, end: 25%}}]")
      assert.truthy(output:find("tls_ratio", 1, true))
      local sum, squares = 0, 0
      for i = 1, 3 do
         local ratio = rows[3].figures[i] / rows[2].figures[i]
         sum, squares = sum + ratio, squares + ratio * ratio
      end
      local deviation = math.sqrt((squares - sum * sum / 3) / 2)
      assert.near(sum / 3, rows[3].transport.tls_ratio, 1e-9)
      assert.near(4.303 * deviation / math.sqrt(3), rows[3].transport.tls_ratio_confidence, 1e-3)
      assert.near(0.002 / 0.252, rows[4].parameters.path.loss_ratio, 1e-9)
      assert.equal(json.null, rows[4].transport.loss_bps)
      local page = scratch.read(path .. "/report.html")
      assert.truthy(page:find("Goodput against loss: 100 Mbit/s, 10 ms", 1, true))
      assert.is_nil(page:find("nan", 1, true))
      assert.is_true(schema.validate(path .. "/result.json"))
      local half = interrupted(path, 7)
      local text, status = scratch.shell(("'%s' run --resume '%s' 2>&1"):format(uv.exepath(), half))
      assert.equal(0, status, text)
      local function read(folder) -- libngtcp2's memory follows from what the process did before
         return (scratch.read(folder .. "/result.json"):gsub('"memory[%w_]*": %d+', ""))
      end
      assert.is_true(read(path) == read(half))
   end)

   it("has a chart against the round trip where it alone differs, and none of one path", function()
      local function page(delays)
         local _, path = run("reference", "l4.tests=[TCP_STREAM, QUIC_STREAM]", "l4.transports.losses=[0%]",
            "l4.transports.delays=" .. delays, "l4.repetitions=1", "l4.omit=0s", "l4.duration=100ms")
         return scratch.read(path .. "/report.html")
      end
      local several = page "[1ms, 2ms, 4ms]"
      assert.truthy(several:find("Goodput against round trip: 100 Mbit/s, queue of 100 frames", 1, true))
      assert.truthy(several:find("QUIC, 4 ms: ", 1, true))
      assert.is_nil(several:find("Goodput against loss", 1, true))
      assert.is_nil(page("[1ms]"):find("Goodput against", 1, true))
   end)

   it("tries each path with each test, and says so before", function()
      local plan = assert(load("tests: [TCP_STREAM, QUIC_STREAM], transports: {delays: [0s, 10ms],losses: [0%, 1%], rates: [1Gbps, {data: 20Mbps, back: 2Mbps}], reorders: [0%, 2%], queues: [50]}"))
      assert.equal(2 * 2 * 2 * 2 * 2, #cases.cases(plan))
      local text = method.outlook(plan)
      assert.truthy(text:find("QUIC_STREAM, 20/2 Mbit/s, 10 ms, 1 % lost, 2 % reordered: 1 trial of 10 s",
         1, true), text)
      assert.equal(5 * 5, #cases.cases(assert(load "tests: [TCP_STREAM]")))
   end)

   it("refuses what is no path that it could set, and what would not be compared", function()
      local function problem(keys, device)
         local plan, problems = load(keys, device)
         assert.is_nil(plan)
         return tostring(problems[1])
      end
      assert.matches("reference_device.latency: the campaign transports sets it.*l4.transports in its place",
         problem("tests: [TCP_STREAM]", "latency: 1ms"))
      assert.matches("l4.transports.rates.*2 Gbit/s is more than the line carries.*at most reference_device.rate", problem "tests: [TCP_STREAM], transports: {rates: [2Gbps]}")
      assert.matches("l4.transports.rates.*as fast both ways.*less than",
         problem "tests: [TCP_STREAM], transports: {rates: [{data: 1Gbps, back: 2Mbps}]}")
      assert.matches("l4.transports.losses.*at random and in bursts",
         problem "tests: [TCP_STREAM], transports: {losses: [{random: 1%, bursts: {begin: 1%, end: 50%}}]}")
      assert.matches("l4.tests.*payload of HTTP goes the other way than TCP_STREAM's",
         problem "tests: [TCP_STREAM, HTTP]")
      assert.matches("l4.tests.*UDP_STREAM is no part of transports.*TCP_STREAM",
         problem "tests: [UDP_STREAM]")
      local plan, problems = plans.load_text([[
test: l4
isolated_network: true
ports: {east: {device: "kernel:a", ipv4: 198.18.1.2/24},
  west: {device: "kernel:b", ipv4: 198.18.1.3/24}}
l4: {campaign: transports, tests: [TCP_STREAM]}
]], "kernel", {})
      assert.is_nil(plan)
      assert.matches("kernel:5:.*l4.campaign: transports sets delay, loss and rate.*no reference device.*wire0", tostring(problems[1]))
   end)
end)
