-- SPDX-License-Identifier: BSD-3-Clause
local datagrams = require "framegauge.methods.l4.datagrams"
local iperf = require "framegauge.methods.l4.iperf3"
local json = require "framegauge.text.json"
local reports = require "framegauge.traffic.l4.iperf3_reports"
local results = require "framegauge.tester.iperf3.results"
local words = require "framegauge.tester.iperf3.output"

local function count(o)
   local c = { octets = 0, datagrams = 0, lost = 0, out_of_order = 0, retransmits = 0, jitter_ms = 0,
      from = 0, to = 2 }
   for key, value in pairs(o) do
      c[key] = value
   end
   return c
end

local function test(o)
   local t = { kind = "test", udp = false, reverse = false, both = false, client = false,
      address = "198.18.1.1", port = 40000, parallel = 1, length = 1000, omit = 0, time = 2, rate = 0 }
   for key, value in pairs(o or {}) do
      t[key] = value
   end
   return t
end

local function result(sent, ours, theirs, udp)
   return { kind = "result", udp = udp == true, stream = 1, sent = sent, ours = count(ours),
      theirs = count(theirs) }
end

local DONE = { kind = "end", ending = "done", refusal = 0 }

-- A client that has sent datagrams in two streams and received as many.
local function both_ways()
   local sent = { octets = 1000, datagrams = 10 }
   return { iperf = {
      test { client = true, udp = true, both = true },
      result(true, sent, { octets = 700, datagrams = 9, lost = 2, jitter_ms = 1 }, true),
      result(true, sent, { octets = 1000, datagrams = 10, jitter_ms = 3 }, true),
      result(false, { octets = 500, datagrams = 5, to = 4 }, { octets = 600, datagrams = 6 }, true),
      DONE,
   } }
end

describe("a test with iperf3", function()
   it("has the receiver's figure, of each direction by itself", function()
      assert.equal(1700 * 8 / 2, iperf.figure(both_ways()))
      assert.equal(500 * 8 / 4, iperf.figure(both_ways(), true))
      local reverse = { iperf = { test { client = true, reverse = true },
         result(false, { octets = 3000 }, { octets = 4000 }), DONE } }
      assert.equal(3000 * 8 / 2, iperf.figure(reverse))
      assert.is_nil(iperf.figure(reverse, true))
      assert.equal(0, iperf.figure { iperf = { DONE } })
   end)

   it("counts as lost what is missing, also behind the last that came", function()
      local row = {}
      datagrams.figures(row, both_ways())
      assert.same({ sent_bps = 2000 * 8 / 2, datagrams = 20, lost = 3, loss_ratio = 0.15, reordered = 0,
         jitter_ns = 2e6 }, row)
      row = {}
      datagrams.figures(row, { iperf = { DONE } }) -- nobody has told: nothing is claimed
      assert.same({}, row)
   end)

   it("is held against the tester where that did not send enough", function()
      assert.is_nil(iperf.too_slow(10, both_ways()))
      assert.equal("client: 10 datagrams a second were sent instead of 20", iperf.too_slow(20, both_ways()))
      assert.is_nil(iperf.too_slow(nil, both_ways()))
   end)

   it("says why there is no result", function()
      assert.is_nil(iperf.failure(both_ways()))
      assert.equal("iperf3: no server has answered", iperf.failure { iperf = {} })
      local gone = { kind = "end", ending = "gone" }
      local busy = { kind = "end", ending = "refused", refusal = 121 }
      local refused = { kind = "end", ending = "refused", refusal = 20 }
      assert.equal("iperf3: no server has answered", iperf.failure { iperf = { gone } })
      assert.equal("iperf3: the server has closed the connection",
         iperf.failure { iperf = { test { client = true }, gone } })
      assert.equal("iperf3: the server is busy with another test", iperf.failure { iperf = { busy } })
      assert.equal("iperf3: the server rejects the test, error 20 of iperf3",
         iperf.failure { iperf = { test { client = true }, refused } })
   end)

   it("asks for what the plan has", function()
      local client = {}
      iperf.fill(client, "UDP_STREAM", { seed = 7, omit = 1, duration = 3, connections = 4, datagram = 500,
         datagram_rate = 1000, tcp = {}, peer = { direction = "both" } })
      assert.equal(36, #client.host)
      assert.same({ udp = true, omit = 1, time = 2, num = 0, blockcount = 0, parallel = 4, len = 500,
         bandwidth = 1e6, bidirectional = true, udp_counters_64bit = 1, pacing_timer = 1000,
         client_version = "3.12" }, json.decode(client.params))
      iperf.fill(client, "TCP_MAERTS", { seed = 7, omit = 0, duration = 0.5, connections = 1,
         tcp = { mss = 900 }, peer = { direction = "forward" } })
      assert.same({ tcp = true, omit = 0, time = 0.5, num = 0, blockcount = 0, parallel = 1, len = 131072,
         reverse = true, MSS = 900, pacing_timer = 1000, client_version = "3.12" },
         json.decode(client.params))
   end)
end)

describe("what iperf3 has told", function()
   it("has no retransmissions that the peer does not know", function()
      local out = json.decode(results.text { test(), result(false, { octets = 1 }, { octets = 2 }), DONE })
      assert.equal(0, out["end"].sum_sent.retransmits)
      local other = result(false, { octets = 1 }, { octets = 2 })
      other.theirs.retransmits = nil
      out = json.decode(results.text { test(), other, result(false, { octets = 1 }, { octets = 2 }), DONE })
      assert.same({ 4 }, { out["end"].sum_sent.bytes, out["end"].sum_sent.retransmits })
   end)

   it("is summed with the mean of the jitters and the longest time", function()
      local sum = reports.sum { count { octets = 1, jitter_ms = 1 },
         count { octets = 2, jitter_ms = 2, to = 3 } }
      assert.same({ 3, 1.5, 0, 3 }, { sum.octets, sum.jitter_ms, sum.from, sum.to })
   end)

   it("has iperf3's field names, with the sender and the receiver whichever we are", function()
      local function sums(list)
         local out = json.decode(results.text(list))["end"]
         return { out.sum_sent.bytes, out.sum_received.bytes, out.sum_sent_bidir_reverse
            and out.sum_sent_bidir_reverse.bytes, out.sum_received_bidir_reverse
            and out.sum_received_bidir_reverse.bytes }
      end
      local received = result(false, { octets = 1 }, { octets = 2 })
      local sent = result(true, { octets = 3 }, { octets = 4 })
      assert.same({ 2, 1 }, sums { test(), received, DONE })
      assert.same({ 3, 4 }, sums { test { reverse = true }, sent, DONE })
      assert.same({ 2, 1, 3, 4 }, sums { test { both = true }, received, sent, DONE })
      assert.same({ 3, 4 }, sums { test { client = true }, sent, DONE })
      assert.same({ 2, 1 }, sums { test { client = true, reverse = true }, received, DONE })
      assert.same({ 3, 4, 2, 1 }, sums { test { client = true, both = true }, sent, received, DONE })
      local lossy = result(false, { datagrams = 8, lost = 2 }, { datagrams = 8 }, true)
      local sum = json.decode(results.text { test { udp = true }, lossy, DONE })["end"].sum_received
      assert.same({ 8, 2, 25 }, { sum.packets, sum.lost_packets, sum.lost_percent })
   end)

   it("has an interval of all streams for each second", function()
      local function second(stream, from)
         return { kind = "interval", udp = false, stream = stream, sent = false, omitted = from == 0,
            ours = count { octets = 100 * stream, from = from, to = from + 1 } }
      end
      local out = json.decode(results.text { test { parallel = 2 }, second(1, 0), second(3, 0), second(1, 1),
         second(3, 1), DONE })
      assert.equal(2, #out.intervals)
      assert.same({ 400, true, 3200 }, { out.intervals[1].sum.bytes, out.intervals[1].sum.omitted,
         out.intervals[1].sum.bits_per_second })
      assert.same({ 1, 3 }, { out.intervals[2].streams[1].socket, out.intervals[2].streams[2].socket })
      assert.is_nil(out.error)
   end)

   it("says how a test failed", function()
      local out = json.decode(results.text { { kind = "end", ending = "gone" } })
      assert.equal("the client has disconnected", out.error)
      assert.equal("rejected: SCTP is not supported", words.ending { ending = "refused", refusal = 18 })
      assert.equal("rejected: error 999", words.ending { ending = "refused", refusal = 999 })
   end)

   it("is shown by stream, and in sum where there are several", function()
      local lines = words.result({ result(false, { octets = 1e6, to = 1 }, { octets = 1e6 }),
         result(false, { octets = 1e6, to = 1 }, { octets = 1e6 }) }, true)
      assert.equal("[  1] rx   0.00-1.00   s        1 MB      8 Mbit/s; the client sent 1 MB", lines[1])
      assert.equal("[SUM] rx   0.00-1.00   s        2 MB     16 Mbit/s", lines[3])
      assert.equal(
         "198.18.1.1 port 40000: UDP, 1 stream both directions, 2 s, datagrams of 1000 bytes, 1 Mbit/s each",
         words.test(test { udp = true, both = true, rate = 1e6 }))
   end)
end)

describe("a server of iperf3 that is late", function()
   local late = { datagrams = 40, octets = 40000, left_out = 60 }

   it("says what it did not send, and that this is its own limit", function()
      local text = table.concat(words.result({ result(true, late, {}, true) }, true), "\n")
      assert.matches("tester%-limited: 60 datagrams too late to be sent %(host%.max_lag%)", text)
      local told = json.decode(results.text { test { udp = true, reverse = true },
         result(true, late, {}, true), DONE })
      assert.equal(60, told["end"].sum_sent.not_sent)
      text = table.concat(words.result({ result(true, { datagrams = 40 }, {}, true) }, true), "\n")
      assert.is_nil(text:find("tester", 1, true))
   end)
end)
