-- SPDX-License-Identifier: BSD-3-Clause

-- HTTP/3 between two ports of the reference device, both ends ours: what the line and the delay allow, what a
-- loss costs one stream and not the others, and what a plan may not ask for.
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local schema = require "result_schema"
local scratch = require "scratch"
local uv = require "luv"

local CONFIG = scratch.PROJECT .. "configs/l4-http3-reference.yaml"
local PAYLOAD, LINE = 1418, 1518 -- bytes of a stream in a full packet, and of the line that it takes

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

describe("a test over HTTP/3", function()
   teardown(scratch.remove)

   it("answers all requests, and says of which protocol", function()
      local rows, path = run()
      local row = rows[2]
      assert.same({ "HTTP3", "valid", 0, "h3", "1" },
         { row.test, row.validity, row.wrong_bytes, row.quic.alpn, row.quic.version })
      assert.is_nil(row.bad_responses)
      assert.is_true(row.transactions_per_s > 90000)
      assert.equal(0, row.quic.client.undecryptable + row.quic.server.undecryptable)
      assert.is_true(schema.validate(path .. "/result.json"))
   end)

   it("takes a round trip for a request, and what its bytes take of the line", function()
      local octets = 2 ^ 18
      local row = run("l4.tests=[HTTP3]", "l4.http.streams=1", "l4.http.body=" .. octets, "l4.connections=1",
         "l4.duration=100ms", "reference_device.latency=1ms")[1]
      local line = octets / PAYLOAD * LINE * 8 -- ns at 1 Gbit/s
      assert.near(2e6 + line, row.transaction.p50_ns, 0.02 * (2e6 + line))
      assert.equal(0, row.quic.server.packets_lost)
   end)

   it("saves a round trip by early data, and none where it is refused", function()
      local early = { "l4.tests=[HTTP3]", "l4.connections=1", "l4.http.streams=1", "l4.http.requests=2",
         "l4.tls.resume=ticket", "l4.tls.early_data=16KiB", "reference_device.latency=1ms" }
      local row = run(unpack(early))[1]
      assert.equal("valid", row.validity)
      assert.near(2e6, row.first_byte.mean_ns, 1e5)
      assert.is_true(row.quic.early_data_offered > 10)
      assert.equal(row.quic.early_data_offered, row.quic.early_data_accepted)
      early[#early + 1] = "l4.tls.refuse_early_data=1"
      row = run(unpack(early))[1]
      assert.near(4e6, row.first_byte.mean_ns, 1e5)
      assert.equal(0, row.quic.early_data_accepted)
      assert.is_nil(row.bad_responses)
   end)

   it("fills the line but for the bytes of its packets, frames and fields", function()
      local row = run("l4.tests=[HTTP3]", "l4.http.body=16KiB", "l4.http.streams=4")[1]
      local share = row.transactions_per_s * 2 ^ 14 * 8 / 1e9
      assert.is_true(share <= PAYLOAD / LINE)
      assert.near(PAYLOAD / LINE, share, 0.01)
      assert.near(1e9 * PAYLOAD / LINE / (2 ^ 14 * 8), row.theoretical, 1)
   end)

   it("knows no limit of the line where it does not know the bytes of a response", function()
      local base = { "l4.tests=[HTTP3]", "l4.http.body=16KiB", "l4.duration=20ms", "l4.omit=0s" }
      for _, set in ipairs { "l4.http.head=true", "l4.http.any_body=true" } do
         local row = run(set, unpack(base))[1]
         assert.is_true(row.transactions_per_s > 0)
         assert.equal(json.null, row.theoretical)
         assert.is_true(row.theoretical_percent <= 100) -- of the round trip
      end
      assert.equal(json.null, run("l4.http.any_body=true", "l4.tests=[HTTP2]", unpack(base, 2))[1].theoretical)
   end)

   it("has no stream wait for what another one has lost, as TCP has", function()
      local rows = run("reference_device.loss_every=200", "l4.duration=100ms")
      local tcp, quic = rows[1], rows[2]
      assert.same({ "valid", "valid" }, { tcp.validity, quic.validity })
      assert.is_true(quic.quic.server.packets_lost > 20)
      assert.is_true(quic.transactions_per_s > tcp.transactions_per_s)
      assert.is_true(tcp.hol_ns > 1e6)
      assert.is_nil(quic.hol_ns) -- nothing that could be measured
   end)

   it("counts as lost what the device has lost", function()
      local q = run("l4.tests=[HTTP3]", "l4.http.body=100KiB", "reference_device.loss_every=100",
         "l4.omit=0s")[1].quic
      local lost = q.server.packets_out - q.client.packets_in
      assert.is_true(lost > 100)
      assert.is_true(q.server.packets_lost <= lost)
      assert.is_true(q.server.packets_lost > 0.9 * lost) -- a few had acknowledgements alone
      assert.equal(0, q.server.packets_spurious)
   end)

   it("gives the same result again, to the byte", function()
      local short = { "l4.tests=[HTTP3]", "l4.duration=20ms", "l4.omit=0s", "l4.http.requests=20" }
      local _, one = run(unpack(short))
      local _, other = run(unpack(short))
      assert.equal(scratch.read(one .. "/result.json"), scratch.read(other .. "/result.json"))
   end)

   it("refuses what QUIC has not, and more streams than there is room for", function()
      local function problem(set)
         local plan, problems = plans.load_text(([[
test: l4
ports: {east: {device: wire0, ipv4: 198.18.1.2/24}, west: {device: wire1, ipv4: 198.18.1.3/24}}
reference_device: {rate: 1Gbps}
l4: {tests: [HTTP3], %s}
]]):format(set), "http3", {})
         assert.is_nil(plan)
         return tostring(problems[1])
      end
      assert.matches("l4.tls.versions.*QUIC has TLS 1.3 alone", problem 'tls: {versions: ["1.2"]}')
      assert.matches("l4.quic.certificate.*ed25519", problem "quic: {certificate: p256}")
      assert.matches("l4.http.streams.*5000000 requests at a time on 1000000 connections.*at most 4000000",
         problem "connections: 1000000, http: {streams: 5}")
   end)
end)
