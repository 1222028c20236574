-- SPDX-License-Identifier: BSD-3-Clause

-- Configurations of the Open Traffic Generator API: what they become, and every fault with its path.
local Captures = require "framegauge.services.otg.captures"
local config = require "framegauge.services.otg.config"
local frame = require "framegauge.traffic.frame"
local octets = require "framegauge.core.octets"
local read = require "framegauge.services.otg.read"
local schema = require "framegauge.services.otg.schema"
local uv = require "luv"

local PLACES = { ["veth-a"] = 1, ["veth-z"] = 2 }

local function env(o)
   return {
      locate = function(location) return PLACES[location] or tonumber(location) end,
      max_lag = 1e-3, inner_fcs = true,
      locations = function() return { "veth-a", "veth-z" } end,
      line_rate = function() return 1e9 end, capture_mask = o and o.capture_mask or "compare",
   }
end

local function translate(value, o)
   local found = read.found()
   local out = config.read(value, env(o), found)
   return out, found
end

-- Two ports, and a flow of these headers; more replaces keys of the flow.
local function plan_of(packet, more)
   local flow = {
      name = "f1", tx_rx = { port = { tx_name = "p1", rx_names = { "p2" } } }, packet = packet,
      size = { fixed = 128 }, rate = { pps = 50 }, metrics = { enable = true },
      duration = { fixed_packets = { packets = 100 } },
   }
   for key, value in pairs(more or {}) do
      flow[key] = value ~= "none" and value or nil
   end
   return {
      ports = { { name = "p1", location = "veth-a" }, { name = "p2", location = "veth-z" } },
      layer1 = { { name = "l1", port_names = { "p1", "p2" }, speed = "speed_1_gbps" } },
      flows = { flow },
   }
end

local function stream_of(packet, more)
   local out, found = translate(plan_of(packet, more))
   assert.same({}, found.errors)
   return out.streams[1], found.warnings
end

local function errors_of(packet, more)
   local _, found = translate(plan_of(packet, more))
   return found.errors
end

-- Bytes of a frame of the flow, from one on, as hexadecimal digits.
local function bytes(stream, number, from, count)
   local size = stream.cycle[1]
   return octets.hex(frame.make(stream.templates[size], 1, number, 0):sub(from + 1, from + count))
end

local UDP = {
   { ethernet = { src = { value = "00:00:01:01:01:01" } } },
   { ipv4 = { src = { value = "1.1.1.1" }, dst = { value = "1.1.1.2" } } },
   { udp = { src_port = { value = 5000 }, dst_port = { value = 6000 } } },
}

describe("a flow of the API", function()
   it("has the defaults of the API and not ours", function()
      local stream = stream_of(UDP)
      assert.equal("000000000000" .. "000001010101" .. "0800", bytes(stream, 0, 0, 14))
      assert.equal("4500006e0000000040117769" .. "01010101" .. "01010102",
         (bytes(stream, 0, 14, 20):gsub("4011....", "40117769")))
      assert.equal("13881770005a", bytes(stream, 0, 34, 6))
      assert.equal(("00"):rep(60), bytes(stream, 0, 42, 60)) -- the payload
      assert.same({ fps = 50, frames = 100, max_lag = 3600 }, stream.load)
   end)

   it("changes fields in step, each with a period of its own, and counters wrap", function()
      local stream = stream_of { {}, { choice = "ipv4" }, {
         udp = {
            src_port = { values = { 1, 2, 3 } },
            dst_port = { increment = { start = 65534, step = 1, count = 4 } },
         },
      } }
      local seen = {}
      for i = 0, 4 do
         seen[i + 1] = bytes(stream, i, 34, 4)
      end
      assert.same({ "0001fffe", "0002ffff", "00030000", "00010001", "0002fffe" }, seen)
   end)

   it("counts addresses up and down", function()
      local up = stream_of { { ethernet = { src = { increment = {
         start = "00:00:00:00:00:ff", step = "00:00:00:00:00:02", count = 3 } } } },
         { ipv4 = { dst = { decrement = { start = "10.0.0.0", step = "0.0.0.1", count = 2 } } } },
            { choice = "udp" } }
      assert.equal("0000000000ff", bytes(up, 3, 6, 6))
      assert.equal("000000000103", bytes(up, 2, 6, 6))
      assert.equal("09ffffff", bytes(up, 1, 30, 4))
      local six = stream_of { {}, { ipv6 = { src = { increment = {
         start = "2001:2::ffff:ffff:ffff:ffff", step = "::1", count = 2 } } } }, { choice = "udp" } }
      assert.equal("20010002000000010000000000000000", bytes(six, 1, 22, 16))
   end)

   it("draws random values once, from a range, with a seed", function()
      local packet = { {}, { ipv4 = { src = { random = {
         min = "10.0.0.1", max = "10.0.0.9", seed = 7, count = 5 } } } }, { choice = "udp" } }
      local one, other, seen = stream_of(packet), stream_of(packet), {}
      for i = 0, 9 do
         local source = bytes(one, i, 26, 4)
         assert.equal(source, bytes(other, i, 26, 4))
         assert.equal(source, bytes(one, i % 5, 26, 4))
         local last = tonumber(source:sub(7), 16)
         assert.is_true(source:sub(1, 6) == "0a0000" and last >= 1 and last <= 9)
         seen[source] = true
      end
      assert.is_true(next(seen, next(seen)) ~= nil) -- more than one value
   end)

   it("says lengths and checksums as they are given", function()
      local stream = stream_of {
         {}, { ipv4 = { header_checksum = { generated = "bad" } } },
         { udp = { length = { value = 38 }, checksum = { custom = 5 } } },
      }
      assert.equal("00260005", bytes(stream, 0, 38, 4))
      local good = stream_of { {}, { ipv4 = {} }, { udp = {} } }
      assert.not_equal(bytes(good, 0, 24, 2), bytes(stream, 0, 24, 2))
   end)

   it("composes fields that share bytes", function()
      local tcp = stream_of { {}, { ipv4 = {
         priority = { raw = { value = 0xb9 } }, dont_fragment = { value = 1 },
            more_fragments = { values = { 0, 1 } },
      } }, { tcp = { ctl_syn = { value = 1 }, ctl_ack = { values = { 0, 1 } }, ecn_ns = { value = 1 } } } }
      assert.equal("45b9", bytes(tcp, 0, 14, 2))
      assert.equal("40", bytes(tcp, 0, 20, 1))
      assert.equal("60", bytes(tcp, 1, 20, 1))
      assert.equal("5102", bytes(tcp, 0, 46, 2))
      assert.equal("5112", bytes(tcp, 1, 46, 2))
   end)

   it("tags and labels", function()
      local stream = stream_of { {}, { vlan = { id = { value = 5 } } }, { vlan = { id = { value = 6 },
         cfi = { value = 1 } } },
         { mpls = {} }, { ipv4 = {} } }
      assert.equal("8100" .. "0005" .. "8100" .. "1006" .. "8847" .. "00010140" .. "45", bytes(stream, 0, 12,
         15))
      local last = stream_of { {}, { vlan = {} }, { custom = { bytes = "0xdead be:ef" } } }
      assert.equal("8100" .. "0000" .. "ffff" .. "deadbeef", bytes(last, 0, 12, 10))
   end)

   it("puts headers that lib/frame does not have as bytes", function()
      local gtp = stream_of { {}, { ipv4 = {} }, { udp = { dst_port = { value = 2152 } } },
         { gtpv1 = { teid = { increment = { start = 1, count = 2 } }, message_type = { value = 255 } } },
            { ipv4 = {} } }
      assert.equal("30ff0000" .. "00000002" .. "45", bytes(gtp, 1, 42, 9))
      local ppp = stream_of { {}, { ppp = {} }, { ipv4 = {} } }
      assert.equal("ffff" .. "ff030021" .. "45", bytes(ppp, 0, 12, 7))
      local pause = stream_of { { pfcpause = { pause_class_3 = { value = 0x1234 } } } }
      assert.equal("0180c2000001" .. "000000000000" .. "8808" .. "0101" .. "0000" .. "000000000000" .. "1234",
         bytes(pause, 0, 0, 26))
   end)

   it("leaves the last bytes of an inner frame to its FCS", function()
      local stream = stream_of({
         {}, { ipv6 = {} }, { udp = { dst_port = { value = 4789 } } }, { vxlan = { vni = { value = 1000 } } },
         {}, { ipv4 = {} }, { tcp = {} },
      }, { size = { fixed = 256 } })
      assert.equal("00c6", bytes(stream, 0, 18, 2)) -- 198
      assert.equal("00c6", bytes(stream, 0, 58, 2))
      assert.equal("00a4", bytes(stream, 0, 86, 2)) -- 198 - 8 - 8 - 14 - 4
   end)

   it("has sizes and a payload", function()
      local mix = stream_of(UDP, { size = { weight_pairs = { custom = {
         { size = 92, weight = 25.2 }, { size = 560, weight = 24.8 }, { size = 600, weight = 50 } } } } })
      local count = {}
      for _, size in ipairs(mix.cycle) do
         count[size] = (count[size] or 0) + 1 / #mix.cycle
      end
      assert.near(0.252, count[92], 1e-3)
      assert.near(0.248, count[560], 1e-3)
      assert.near(0.5, count[600], 1e-3)
      local steps = stream_of(UDP, { size = { increment = { start = 64, ["end"] = 200, step = 100 } } })
      assert.same({ 64, 164 }, steps.cycle)
      local down = stream_of(UDP, { payload = { choice = "decrement_byte" } })
      assert.equal("fffefd", bytes(down, 0, 42, 3))
      local once = stream_of(UDP, { payload = { fixed = { pattern = "abcd", ["repeat"] = false } } })
      assert.equal("abcd0000", bytes(once, 0, 42, 4))
   end)

   it("needs room for the test signature", function()
      local tcp = { {}, { ipv4 = {} }, { tcp = {} } }
      local stream, warnings = stream_of(tcp, { size = "none" })
      assert.same({ 76 }, stream.cycle)
      assert.truthy(warnings[1]:find '^flows%[0%] "f1"%.size: none given; 76')
      local errors = errors_of(tcp, { size = { fixed = 64 } })
      assert.same({ 'flows[0] "f1".size.fixed: 64 is too small; at least 76 for the headers and the test signature' },
         errors)
   end)

   it("has rates at layer 1", function()
      local frames = 1e8 / ((1518 + 20) * 8)
      for _, rate in ipairs { { percentage = 10 }, { bps = "100000000" }, { mbps = 100 } } do
         local stream = stream_of(UDP, { rate = rate, size = { fixed = 1518 },
            duration = { fixed_seconds = { seconds = 2 } } })
         assert.near(frames, stream.load.fps, 1e-6)
         assert.equal(2, stream.load.seconds)
      end
      local burst = stream_of(UDP, { rate = { percentage = 100 }, size = { fixed = 64 }, duration = {
         burst = { bursts = 3, packets = 10, inter_burst_gap = { microseconds = 100 } } } }).load
      assert.same({ 10, 30 }, { burst.burst, burst.frames })
      assert.near(10 / (9 * 672e-9 + 72 * 8e-9 + 100e-6), burst.fps, 1e-3)
      assert.truthy(errors_of(UDP, { rate = { gbps = 2 } })[1]:find "more than the line carries")
      assert.same({ 'flows[0] "f1".rate: 0 sends nothing' }, errors_of(UDP, { rate = { percentage = 0 } }))
   end)
end)

describe("a request of the API", function()
   it("takes 64-bit numbers as text, and no other text", function()
      assert.equal(50, stream_of(UDP, { rate = { pps = "50" } }).load.fps)
      assert.same({ 'flows[0] "f1".rate.pps: -1 is out of range; expected at least 1' },
         errors_of(UDP, { rate = { pps = -1 } }))
      assert.same({ 'flows[0] "f1".rate.pps: "x" is not a number' }, errors_of(UDP, { rate = { pps = "x" } }))
   end)

   it("names every fault at once", function()
      local plan = plan_of(UDP, { tx_rx = { port = { tx_name = "p1", rx_names = { "p9" } } } })
      plan.layer1[1].speed = "fast"
      local _, found = translate(plan)
      assert.equal(2, #found.errors)
      assert.truthy(found.errors[1]:find '^layer1%[0%] "l1"%.speed: "fast" is not one of')
      assert.truthy(found.errors[2]:find '^flows%[0%] "f1"%.tx_rx%.port%.rx_names%[0%]: "p9" is no port')
      plan = plan_of(UDP)
      plan.flow, plan.flows = plan.flows, nil
      assert.same({ "flow: unknown key; did you mean 'flows'?" }, select(2, translate(plan)).errors)
   end)

   it("takes the alternative that is there, and no other than the choice says", function()
      local port = { tx_name = "p1", rx_names = { "p2" } }
      assert.same({}, errors_of(UDP, { tx_rx = { port = port } }))
      assert.same({ 'flows[0] "f1".tx_rx.choice: is device, but only port is there' },
         errors_of(UDP, { tx_rx = { choice = "device", port = port } }))
      assert.same({ 'flows[0] "f1".tx_rx.port.tx_name: is required' }, errors_of(UDP, { tx_rx = {} }))
      assert.same({ 'flows[0] "f1".size: has no choice, and several alternatives: fixed, increment' },
         errors_of(UDP, { size = { fixed = 64, increment = {} } }))
   end)

   it("refuses what it cannot do", function()
      local plan = plan_of(UDP)
      plan.devices = { { name = "d1", bgp = {} } }
      plan.egress_only_tracking, plan.events = { {} }, { dp_events = { enable = true } }
      plan.flows[1].packet[4] = { rsvp = {} }
      local _, found = translate(plan)
      table.sort(found.errors)
      assert.same({
         'devices[0] "d1".bgp: not supported', "egress_only_tracking: not supported",
         "events.dp_events.enable: not supported",
         'flows[0] "f1".packet[3].rsvp: not supported',
      }, found.errors)
      plan.flows[1].packet[4] = nil
   end)

   it("keeps the number of what follows something that cannot be read", function()
      local plan = plan_of(UDP)
      plan.flows[2] = plan.flows[1]
      plan.flows[1] = "auto"
      plan.flows[2].size = { weight_pairs = { custom = 65536 } }
      local _, found = translate(plan)
      assert.same({ 'flows[0]: "auto" is not an object',
         'flows[1] "f1".size.weight_pairs.custom: 65536 is not a list' },
         found.errors)
   end)

   it("shows the beginning of a long name in a path", function()
      local plan = plan_of(UDP)
      plan.flows[1].name, plan.flows[1].size = ("n"):rep(100000), { fixed = "x" }
      local _, found = translate(plan)
      assert.truthy(found.errors[1]:find '^flows%[0%] "n+"%.size%.fixed: ')
      assert.is_true(#found.errors[1] < 400)
   end)

   it("counts the streams that flows over many ports need", function()
      local plan = { ports = {}, lags = {}, flows = {} }
      for i = 1, 2 do
         plan.lags[i] = { name = "g" .. i, protocol = { static = {} }, ports = {} }
         for k = 1, 20 do
            local name = ("p%d.%d"):format(i, k)
            table.insert(plan.ports, { name = name, location = tostring(20 * i + k) })
            plan.lags[i].ports[k] = { port_name = name, ethernet = { name = name .. ".eth",
               mac = "00:00:00:00:00:01" } }
         end
      end
      for i = 1, 40 do
         plan.flows[i] = { name = "f" .. i, metrics = { enable = true },
            tx_rx = { port = { tx_name = "g1", rx_names = { "g2", "p2.1" } } } }
      end
      local state, found = translate(plan)
      assert.same({}, found.errors)
      assert.same({ 20, 20, 2, 20e9 }, { #state.streams[1].rx, #state.streams[1].tx.members,
         #state.streams[1].rx_places, state.streams[1].tx.line_rate })
      plan.flows[41] = { name = "f41", tx_rx = { port = { tx_name = "p1.1" } } }
      assert.same({ "flows: 16001 streams, one of each flow for each pair of ports that send and receive it; at most 16000" }, select(2, translate(plan)).errors)
   end)

   it("finds names that are taken and locations that are not there", function()
      local plan = plan_of(UDP)
      plan.ports[2].location = "eth9"
      plan.captures = { { name = "f1", port_names = { "p1" } } }
      local _, found = translate(plan)
      assert.truthy(found.errors[1]:find '^flows%[0%] "f1"%.name: is taken by captures%[0%]')
      assert.truthy(found.errors[2]:find 'location: "eth9" is no port of the tester; expected one of ')
   end)

   it("makes filters of captures", function()
      local function filter(filters, mask)
         local plan = plan_of(UDP)
         plan.captures = { { name = "c", port_names = { "p2" }, filters = filters } }
         return translate(plan, { capture_mask = mask }).captures.p2.filter
      end
      assert.is_nil(filter {})
      assert.is_nil(filter { { ethernet = { src = {} } } })
      assert.equal("(ether[26] & 0xff = 0x01 and ether[27] & 0xff = 0x01 and ether[28] & 0xff = 0x01 and ether[29] & 0xff = 0x02)", filter { { choice = "ethernet" },
            { ipv4 = { src = { value = "01010102" } } } })
      assert.equal("not (ether[1] & 0x0f = 0x05)",
         filter { { custom = { offset = 12, bit_length = 4, value = "5", negate = true } } })
      assert.equal("(ether[0] & 0xf0 = 0x50)", filter({ { custom = { value = "55", mask = "0f" } } },
         "ignore"))
      assert.equal("(ether[0] & 0x0f = 0x05)", filter { { custom = { value = "55", mask = "0f" } } })
   end)

   it("writes captures, which may be large, below TMPDIR", function()
      local before, folder = uv.os_tmpdir(), assert(uv.fs_mkdtemp "/tmp/framegauge-otg-spec-XXXXXX")
      local captures = Captures.new({}, { p2 = { port = { place = 2 } } }, {})
      uv.os_setenv("TMPDIR", folder)
      local path = captures:path "p2"
      uv.os_setenv("TMPDIR", before)
      captures:close()
      assert.equal(folder, path:match "^(.*)/[^/]*/2%.pcap$")
      assert.is_true(uv.fs_rmdir(folder))
   end)
end)

describe("the schema", function()
   it("has the numbers of the protobuf fields", function()
      local function number(message, field)
         return schema.message(message).by_name[field].number
      end
      local function pattern(message, field, key)
         return number(schema.message(message).by_name[field].type, key)
      end
      assert.equal(9, number("Flow", "egress_packet"))
      assert.same({ 4, 6, 7 }, { pattern("FlowEthernet", "dst", "auto"), pattern("FlowEthernet", "dst",
         "increment"),
         pattern("FlowEthernet", "dst", "decrement") })
      assert.same({ 5, 8, 9 }, { pattern("FlowIpv4", "src", "increment"), pattern("FlowIpv4", "src", "auto"),
         pattern("FlowIpv4", "src", "random") })
      assert.equal(8, pattern("FlowUdp", "src_port", "random"))
   end)
end)
