-- SPDX-License-Identifier: BSD-3-Clause

-- HTTP/2 between two ports of the reference device, both ends ours: what the line allows, what streams and
-- windows change, and what a plan may not ask for.
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local schema = require "result_schema"
local scratch = require "scratch"
local uv = require "luv"

local CONFIG = debug.getinfo(1, "S").source:match "^@(.*)tests/lua/" .. "configs/l4-http2-reference.yaml"

local function run(...)
   local path, sets = scratch.path(), {}
   for i, set in ipairs { "l4.duration=50ms", "l4.omit=10ms", ... } do
      sets[i] = ("--set '%s'"):format(set)
   end
   local output, status = scratch.shell(("'%s' run '%s' --out '%s' %s 2>&1"):format(uv.exepath(), CONFIG,
      path, table.concat(sets, " ")))
   assert.equal(0, status, output)
   return json.decode(scratch.read(path .. "/result.json")).results.l4, path
end

describe("a test over HTTP/2", function()
   teardown(scratch.remove)

   it("fills the line with responses, where HTTP/1.1 waits a round trip for each", function()
      local rows, path = run()
      for i, test in ipairs { "HTTP", "HTTP2", "HTTPS", "HTTPS2" } do
         assert.same({ test, "valid", 0 }, { rows[i].test, rows[i].validity, rows[i].wrong_bytes })
         assert.is_nil(rows[i].bad_responses)
         assert.equal(test:find "2$" ~= nil, rows[i].parameters.tcp.nodelay)
      end
      -- full segments, 1538 bytes of the line each. Requests are in segments of their own, at most one for
      -- each of these, and the server sends an ACK, 90 bytes, for every second one at most (RFC 5681, 4.2)
      assert.is_true(rows[2].theoretical_percent >= 100 * 1538 / (1538 + 90 / 2))
      assert.is_true(rows[2].theoretical_percent < 100.5)
      assert.is_true(rows[2].transactions_per_s > 5 * rows[1].transactions_per_s)
      assert.equal("h2", rows[4].tls.alpn)
      -- the line limits, not 16 KiB of each of 32 streams in a round trip
      assert.is_true(rows[4].theoretical < rows[2].theoretical)
      assert.near(99.5, rows[4].theoretical_percent, 1)
      assert.same({ 0, 0 }, { rows[2].hol_ns, rows[4].hol_ns })
      assert.is_nil(rows[1].hol_ns)
      assert.is_true(schema.validate(path .. "/result.json"))
   end)

   it("takes as long as HTTP/1.1 with one stream", function()
      local rows = run("l4.tests=[HTTP, HTTP2]", "l4.http.streams=1")
      assert.near(rows[1].transaction.mean_ns, rows[2].transaction.mean_ns, 2000)
   end)

   it("is limited by a window to one in each round trip", function()
      local row = run("l4.tests=[HTTP2]", "l4.http.streams=1", "l4.http.body=1MiB", "l4.http.window=65535",
         "l4.connections=1", "l4.duration=300ms", "l4.omit=0s", "reference_device.latency=2ms")[1]
      -- half of it at a time: the update comes when half is used
      local round_trips = 2 ^ 20 / (65535 / 2)
      assert.is_true(row.transaction.mean_ns > round_trips / 2 * 4e6)
      assert.is_true(row.transaction.mean_ns < 2 * round_trips * 4e6)
   end)

   -- a frame, whose 12 segments leave the server together: 131 us on one line, the last one 4 us on the
   -- other, and then a round trip of 4 ms
   it("says how long a stream waited for its window", function()
      local frames, each = 8, 4e6 + 131e3 + 4e3
      local row = run("l4.tests=[HTTP2]", "l4.http.streams=1", "l4.http.window=16KiB", "l4.connections=1",
         "l4.http.body=" .. 16384 * frames, "l4.duration=3s", "l4.omit=1s", "reference_device.latency=2ms")[1]
      local waits = row.transactions_per_s * 2 * (frames - 1)
      assert.near(each * waits, row.flow_blocked.stream_ns, 0.03 * each * waits)
      assert.equal(0, row.flow_blocked.connection_ns)
   end)

   it("says how long a connection waited for its window", function()
      local row = run("l4.tests=[HTTP2]", "l4.http.streams=4", "l4.http.window=65535", "l4.connections=1",
         "l4.http.body=1MiB", "l4.duration=3s", "l4.omit=1s", "reference_device.latency=2ms",
         "l4.tcp.nodelay=false")[1] -- all segments are full
      -- what is not sending, at 1 Gbit/s with 1538 bytes of the line for 1448, is waiting
      local sending = row.transactions_per_s * 2 ^ 20 * 8 * 1538 / 1448 / 1e9
      assert.near((1 - sending) * 2e9, row.flow_blocked.connection_ns, 0.03 * 2e9)
   end)

   it("sends what nobody needs, as often as it is told, and counts connections that end by it", function()
      local row = run("l4.tests=[HTTP2]", "l4.http.flood.frame=rst", "l4.http.flood.rate=500",
         "l4.connections=4", "l4.duration=1s", "l4.omit=0s")[1]
      assert.near(4 * 500, row.flood_frames, 8)
      assert.is_nil(row.bad_responses)
      row = run("l4.tests=[HTTP2]", "l4.http.flood.frame=ping", "l4.http.flood.rate=10000",
         "l4.connections=1", "l4.duration=1s", "l4.omit=0s")[1]
      assert.near(10, row.bad_responses.goaway, 1) -- 1,001 frames each
      assert.near(10000, row.flood_frames, 100)
   end)

   it("waits for a delayed acknowledgement only where Nagle's algorithm is asked for", function()
      local sets = { "l4.tests=[HTTP2, HTTPS2]", "l4.http.streams=1", "l4.http.body=2000", "l4.connections=1",
         "l4.duration=300ms", "l4.omit=0s" }
      for _, row in ipairs(run(unpack(sets))) do
         assert.is_true(row.transaction.max_ns < 2e6, row.test)
      end
      sets[1], sets[#sets + 1] = "l4.tests=[HTTPS2]", "l4.tcp.nodelay=false"
      assert.is_true(run(unpack(sets))[1].transaction.max_ns >= 40e6)
   end)

   it("leaves open in a plan whether Nagle's algorithm is off only where its tests differ in that", function()
      local function nodelay_of(tests)
         return assert(plans.load_text(([[
test: l4
ports: {east: {device: wire0, ipv4: 198.18.1.2/24}, west: {device: wire1, ipv4: 198.18.1.3/24}}
l4: {tests: [%s]}
]]):format(tests), "http2", {})).l4.tcp.nodelay
      end
      assert.is_false(nodelay_of "TCP_RR, HTTPS")
      assert.is_nil(nodelay_of "TCP_RR, HTTPS2")
      assert.is_nil(nodelay_of "TCP_RR, HTTP2")
   end)

   it("has no flood in its parameters where nothing is flooded", function()
      assert.is_nil(run("l4.tests=[HTTP2]")[1].parameters.http.flood)
   end)

   it("refuses a flood of a test that has none", function()
      local plan, problems = plans.load_text([[
test: l4
ports: {east: {device: wire0, ipv4: 198.18.1.2/24}, west: {device: wire1, ipv4: 198.18.1.3/24}}
l4: {tests: [HTTP2, HTTP3], http: {flood: {frame: empty}}}
]], "http2", {})
      assert.is_nil(plan)
      assert.matches("l4.tests%[2%].*HTTP3 sends no flood", tostring(problems[1]))
      assert.matches("l4.http.flood.frame.*a request with a body", tostring(problems[2]))
   end)

   it("refuses more streams than there is room for", function()
      local plan, problems = plans.load_text([[
test: l4
ports: {east: {device: wire0, ipv4: 198.18.1.2/24}, west: {device: wire1, ipv4: 198.18.1.3/24}}
l4: {tests: [HTTP2], connections: 1000000, http: {streams: 5}, load: {addresses: 16}}
]], "http2", {})
      assert.is_nil(plan)
      assert.matches("l4.http.streams.*5000000 requests at a time on 1000000 connections.*at most 4000000",
         tostring(problems[1]))
   end)
end)
