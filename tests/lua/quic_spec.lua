-- SPDX-License-Identifier: BSD-3-Clause

-- QUIC through the reference device: figures are what its line, its delay and its faults allow.
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local schema = require "result_schema"
local scratch = require "scratch"
local uv = require "luv"

local CONFIG = scratch.PROJECT .. "configs/l4-quic-reference.yaml"

-- @return the rows, the folder
local function run(...)
   local path = scratch.path()
   local words = { ("'%s' run '%s' --out '%s'"):format(uv.exepath(), CONFIG, path) }
   for _, set in ipairs { ... } do
      words[#words + 1] = ("--set '%s'"):format(set)
   end
   local output, status = scratch.shell(table.concat(words, " ") .. " 2>&1")
   assert.is_true(status == 0, output)
   return json.decode(scratch.read(path .. "/result.json")).results.l4, path
end

local PLAN = [[
test: l4
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps}
l4: {tests: [QUIC_CC], %s}
]]

local function problem(set)
   local plan, problems = plans.load_text(PLAN:format(set), "quic")
   assert.is_nil(plan)
   return tostring(problems[1])
end

describe("a test over QUIC", function()
   local rows, path

   setup(function()
      rows, path = run()
   end)

   teardown(scratch.remove)

   it("fills the line with a stream but for the bytes of its packets", function()
      for i = 1, 2 do
         -- 1418 of 1518 bytes of a frame with preamble and gap
         assert.near(1418 / 1518 * 1e9, rows[i].theoretical, 1)
         assert.near(rows[i].theoretical, rows[i].goodput_bps, 2e-3 * rows[i].theoretical)
         assert.equal("valid", rows[i].validity)
      end
   end)

   it("has a handshake for each connection, one round trip long", function()
      local cc = rows[5]
      assert.equal("QUIC_CC", cc.test)
      assert.equal(cc.opened, cc.closed)
      assert.equal(cc.opened, cc.quic.handshakes)
      assert.near(224e3, cc.quic.handshake.mean_ns, 2e3) -- twice 100 us, and two frames of 1514 bytes
      assert.equal(cc.quic.handshake.mean_ns, cc.setup.mean_ns)
      assert.near(4 / 437e-6, cc.connections_per_s, 0.02 * 4 / 437e-6)
   end)

   it("says what was agreed on, and that cryptography took no time", function()
      for _, row in ipairs(rows) do
         assert.same({ "1", "TLS_AES_128_GCM_SHA256", "X25519", "perf", "0" }, { row.quic.version,
            row.quic.cipher, row.quic.group, row.quic.alpn, row.quic.crypto_time })
         assert.equal(0, row.quic.failed + row.quic.client.packets_lost + row.quic.server.packets_lost)
         assert.equal(0, row.quic.client.undecryptable + row.quic.server.undecryptable)
      end
   end)

   it("gives rows that the schema knows", function()
      assert.is_true(schema.validate(path .. "/result.json"))
   end)

   it("gives the same result again, to the byte", function()
      local short = { "l4.tests=[QUIC_CRR]", "l4.duration=20ms", "l4.omit=0s", "l4.tls.resume=ticket",
         "l4.tls.early_data=1KiB" }
      local _, one = run(unpack(short))
      local _, other = run(unpack(short))
      assert.equal(scratch.read(one .. "/result.json"), scratch.read(other .. "/result.json"))
   end)

   it("counts as lost what the device has lost", function()
      local row = run("l4.tests=[QUIC_STREAM]", "reference_device.loss_every=100", "l4.omit=0s")[1]
      local q = row.quic
      assert.equal("valid", row.validity)
      assert.equal(q.client.packets_out - q.server.packets_in, q.client.packets_lost)
      assert.is_true(q.client.packets_lost >= 50)
      assert.equal(0, q.client.packets_spurious)
   end)

   it("takes a round trip more when the server validates addresses", function()
      local row = run("l4.tests=[QUIC_CC]", "l4.quic.retry=true", "l4.duration=30ms")[1]
      assert.near(437e3, row.quic.handshake.mean_ns, 4e3)
      assert.equal(row.quic.handshakes, row.quic.retries)
   end)

   it("resumes sessions by tickets", function()
      local row = run("l4.tests=[QUIC_CRR]", "l4.duration=30ms", "l4.omit=0s", "l4.connections=1",
         "l4.tls.resume=ticket")[1]
      assert.equal("valid", row.validity)
      assert.is_true(row.opened > 20)
      assert.equal(row.opened - 1, row.quic.resumed_handshakes)
      assert.equal(0, row.quic.early_data_offered)
   end)

   -- handshake and request are a round trip of 200 us each, or one for both
   it("saves a round trip by early data, and none where it is refused", function()
      local early = { "l4.tests=[QUIC_CRR]", "l4.duration=30ms", "l4.omit=5ms", "l4.connections=1",
         "l4.tls.resume=ticket", "l4.tls.early_data=1KiB" }
      local row = run(unpack(early))[1]
      local q = row.quic
      assert.equal("valid", row.validity)
      assert.near(220e3, row.first_byte.mean_ns, 20e3)
      assert.is_true(q.early_data_offered > 50)
      assert.equal(row.opened - 1, q.resumed_handshakes)
      assert.same({ row.opened - 1, row.opened - 1, 100 * (row.opened - 1) }, { q.early_data_offered,
         q.early_data_accepted, q.early_data_bytes })
      early[#early + 1] = "l4.tls.refuse_early_data=1"
      row = run(unpack(early))[1]
      assert.equal("valid", row.validity)
      assert.near(430e3, row.first_byte.mean_ns, 30e3)
      assert.equal(row.opened - 1, row.quic.early_data_offered)
      assert.equal(0, row.quic.early_data_accepted + row.quic.early_data_bytes)
   end)

   it("takes to new keys when it is told to", function()
      local q = run("l4.tests=[QUIC_STREAM]", "l4.quic.key_update_every=500", "l4.connections=1")[1].quic
      assert.is_true(q.client.key_updates >= 1)
      assert.near(q.client.key_updates, q.server.key_updates, 1)
      assert.equal(0, q.client.undecryptable + q.server.undecryptable)
   end)

   it("marks datagrams, and counts CE of the path at both ends", function()
      local q = run("l4.tests=[QUIC_STREAM]", "l4.quic.ecn=true", "reference_device.mark_ce.every=500",
         "l4.omit=0s")[1].quic
      assert.equal("validated", q.ecn)
      for _, ends in ipairs { { q.client, q.server }, { q.server, q.client } } do
         assert.equal(ends[1].ect_out, ends[2].ect_in + ends[2].ce_in)
         assert.is_true(ends[2].ce_in > 0, json.encode(q))
         assert.equal(0, ends[1].ecn_failed)
      end
      assert.near(q.server.ce_in, q.client.ce_counted, 4) -- the last ones behind the last ACK of four streams
      assert.equal(0, q.client.packets_lost)
   end)

   it("finds a path that bleaches", function()
      local q = run("l4.tests=[QUIC_STREAM]", "l4.quic.ecn=true", "reference_device.bleach.every=1",
         "l4.connections=2")[1].quic
      assert.same({ "failed validation", 2, 2 }, { q.ecn, q.client.ecn_failed, q.server.ecn_failed })
      assert.same({ 0, 0 }, { q.client.ect_in, q.server.ect_in })
      assert.is_nil(run("l4.tests=[QUIC_CC]", "l4.duration=20ms", "l4.omit=0s")[1].quic.ecn)
   end)

   it("keeps logs of the first connections, with every packet", function()
      local found, folder = run("l4.tests=[QUIC_RR]", "l4.quic.qlog=1", "l4.duration=20ms", "l4.omit=0s",
         "l4.connections=1")
      local q, groups = found[1].quic, {}
      for _, role in ipairs { "client", "server" } do
         local text, sent, came = scratch.read(("%s/trial-1-%s-1.sqlog"):format(folder, role)), 0, 0
         for record in text:gmatch "\30([^\n]*)\n" do -- RFC 7464
            local event = json.decode(record)
            if event.trace then
               assert.equal(role, event.trace.vantage_point.type)
               groups[#groups + 1] = event.trace.common_fields.group_id
            elseif event.data.header and event.data.header.packet_type == "1RTT" then
               sent = sent + (event.name == "transport:packet_sent" and 1 or 0)
               came = came + (event.name == "transport:packet_received" and 1 or 0)
            end
         end
         assert.same({ q[role].packets_out, q[role].packets_in }, { sent, came })
         assert.is_true(sent > 10)
      end
      assert.same({ groups[1], groups[1] }, groups)
      assert.equal(0, json.decode(scratch.read(folder .. "/trials.jsonl")).sides[1].apps[1].quic.qlog_lost)
   end)

   it("shakes hands over a long way, by IPv6 and by ChaCha20 as well", function()
      for set, handshake in pairs {
         ["reference_device={rate: 10Mbps, latency: 750ms}"] = 1.5024e9,
         ["l4.tls.ciphers=[TLS_CHACHA20_POLY1305_SHA256]"] = 224e3,
         ["ports={east: {device: wire0, ipv6: \"2001:2::2/64\"}, west: {device: wire1, ipv6: \"2001:2::3/64\"}}"] = 224e3,
      } do
         local row = run("l4.tests=[QUIC_CRR]", "l4.duration=5s", "l4.omit=0s", "l4.load.cycles=1",
            "l4.connections=1", set)[1]
         assert.equal(1, row.quic.handshakes, set)
         assert.near(handshake, row.quic.handshake.mean_ns, 4e3, set)
         assert.same({ 1, 0, 0 }, { row.closed, row.wrong_bytes, row.quic.client.closed_with_error }, set)
      end
   end)

   it("says what a plan has wrong", function()
      assert.truthy(problem("quic: {certificate: p256}"):find("ed25519 or one of RSA", 1, true))
      assert.truthy(problem("quic: {max_datagram: 1473}"):find("at most 1472", 1, true))
      assert.truthy(problem("mtu: 1200"):find("at least 1228", 1, true))
      assert.truthy(problem('tls: {versions: ["1.2"]}'):find("QUIC has TLS 1.3 alone", 1, true))
      assert.truthy(problem("tls: {ciphers: [ECDHE-RSA-AES128-GCM-SHA256]}"):find("of TLS 1.3", 1, true))
   end)

   it("goes on from other ports, with new IDs or as behind a NAT", function()
      for _, key in ipairs { "migrate_every", "rebind_every" } do
         local row = run("l4.tests=[QUIC_RR]", ("l4.quic.%s=100ms"):format(key), "l4.duration=500ms",
            "l4.connections=1")[1]
         local q = row.quic
         assert.equal("valid", row.validity)
         assert.is_true(q.client.migrations >= 3, json.encode(q))
         assert.equal(q.client.migrations, q.server.migrations)
         assert.equal(0, q.client.paths_failed + q.server.paths_failed)
         assert.is_true(q.migration_gap.min_ns >= 200e3) -- twice 100 us
      end
      assert.matches("rebind_every.*one of", problem "quic: {migrate_every: 1s, rebind_every: 1s}")
   end)

   it("asks for another version, and says what the server named", function()
      local folder = scratch.path()
      local output, status = scratch.shell(("'%s' run '%s' --out '%s' --set 'l4.tests=[QUIC_CC]' --set l4.quic.offer=0x1a2a3a4a --set l4.duration=50ms --set l4.omit=0s 2>&1"):format(
         uv.exepath(), CONFIG, folder))
      assert.equal(1, status, output) -- nothing came through
      local q = json.decode(scratch.read(folder .. "/result.json")).results.l4[1].quic
      assert.equal("0x00000001 0x2a3a4a5a", q.offered_versions)
      assert.equal(q.failed, q.versions_refused)
      assert.equal(0, q.handshakes)
      assert.matches("8 hexadecimal digits", problem "quic: {offer: 12}")
   end)
end)
