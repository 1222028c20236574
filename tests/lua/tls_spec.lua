-- SPDX-License-Identifier: BSD-3-Clause

-- Tests over TLS between two ports of the reference device, both ends ours: what the line and the plan allow,
-- and what a plan may not ask for.
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local schema = require "result_schema"
local scratch = require "scratch"
local uv = require "luv"

local CONFIG = debug.getinfo(1, "S").source:match "^@(.*)tests/lua/" .. "configs/l4-tls-reference.yaml"

local function run(...)
   local path, sets = scratch.path(), {}
   for i, set in ipairs { ... } do
      sets[i] = ("--set '%s'"):format(set)
   end
   local output, status = scratch.shell(("'%s' run '%s' --out '%s' %s 2>&1"):format(uv.exepath(), CONFIG,
      path, table.concat(sets, " ")))
   assert.equal(0, status, output)
   return json.decode(scratch.read(path .. "/result.json")).results.l4, path, output
end

local PLAN = [[
test: l4
ports: {east: {device: wire0}, west: {device: wire1}}
l4: {tests: [TLS_CC], tls: {%s}}
]]

local function problem(tls)
   local plan, problems = plans.load_text(PLAN:format(tls), "tls")
   assert.is_nil(plan)
   return problems[1].where or problems[1].key or "", tostring(problems[1])
end

describe("a test over TLS", function()
   local rows, path

   setup(function()
      rows, path = run("l4.duration=100ms", "l4.omit=20ms")
   end)

   teardown(scratch.remove)

   it("fills the line with a stream but for the bytes of its records", function()
      assert.equal("TLS_STREAM", rows[1].test)
      assert.near(0.9402 * 1e9, rows[1].theoretical, 1e5) -- 1448 of 1538 bytes, 16384 of 16406
      assert.near(rows[1].theoretical, rows[1].goodput_bps, 2e-3 * rows[1].theoretical)
      assert.near(1 + 22 / 16384, rows[1].tls.overhead_ratio, 1e-3) -- and handshakes
   end)

   it("has a handshake for each connection, one round trip long", function()
      local cc = rows[3]
      assert.equal("TLS_CC", cc.test)
      assert.equal(cc.opened, cc.tls.full_handshakes)
      assert.equal(cc.opened, cc.closed)
      assert.near(213e3, cc.tls.handshake.mean_ns, 5e3) -- twice 100 us, and two flights
      assert.near(200e3, cc.setup.mean_ns, 5e3)
   end)

   it("says what was agreed on, and that cryptography took no time", function()
      for _, row in ipairs(rows) do
         assert.same({ "TLSv1.3", "TLS_AES_128_GCM_SHA256", "x25519", "http/1.1", "0" }, { row.tls.version,
            row.tls.cipher, row.tls.group, row.tls.alpn, row.tls.crypto_time })
         assert.equal("valid", row.validity)
         assert.equal(0, row.tls.failed_handshakes + row.tls.bad_records + row.tls.truncated)
      end
   end)

   it("gives rows that the schema knows", function()
      assert.is_true(schema.validate(path .. "/result.json"))
   end)

   it("leaves the certificate of its authority, the same for the same seed", function()
      local _, again = run("l4.tests=[TLS_CC]", "l4.duration=10ms", "l4.omit=0s")
      local text = scratch.read(path .. "/ca.pem")
      assert.truthy(text:match "^%-%-%-%-%-BEGIN CERTIFICATE%-%-%-%-%-\n")
      assert.equal(text, scratch.read(again .. "/ca.pem"))
      local output, status = scratch.shell(("openssl x509 -in '%s/ca.pem' -noout -subject -ext basicConstraints 2>&1"):format(path))
      assert.equal(0, status, output)
      assert.truthy(output:find("Framegauge test authority", 1, true), output)
      assert.truthy(output:find("CA:TRUE", 1, true), output)
   end)

   it("resumes sessions by tickets, in both versions", function()
      for _, version in ipairs { "1.2", "1.3" } do
         local row = run("l4.tests=[TLS_CRR]", "l4.duration=50ms", "l4.omit=0s", "l4.connections=1",
            "l4.tls.resume=ticket", ('l4.tls.versions=["%s"]'):format(version))[1]
         assert.equal("TLSv" .. version, row.tls.version)
         assert.equal(1, row.tls.full_handshakes)
         assert.equal(row.opened - 1, row.tls.resumed_handshakes)
         assert.is_true(row.opened > 20)
      end
   end)

   -- TCP, TLS and the request are a round trip of 200 us each; early data saves the trip of TLS
   it("saves a round trip by early data, and none where it is refused", function()
      local early = { "l4.tests=[TLS_CRR]", "l4.duration=50ms", "l4.omit=10ms", "l4.connections=1",
         "l4.tls.resume=ticket", "l4.tls.early_data=1KiB" }
      local row = run(unpack(early))[1]
      local t = row.tls
      assert.equal("valid", row.validity)
      assert.near(400e3, row.first_byte.mean_ns, 30e3)
      assert.is_true(t.early_data_offered > 50)
      assert.equal(row.opened - 1, t.early_data_offered)
      assert.same({ t.early_data_offered, 100 * t.early_data_offered, 0 }, { t.early_data_accepted,
         t.early_data_bytes, t.early_data_replayed })
      early[#early + 1] = "l4.tls.refuse_early_data=1"
      row = run(unpack(early))[1]
      assert.equal("valid", row.validity)
      assert.near(600e3, row.first_byte.mean_ns, 40e3)
      assert.equal(row.opened - 1, row.tls.early_data_offered)
      assert.equal(0, row.tls.early_data_accepted + row.tls.early_data_bytes)
   end)

   it("serves and counts tickets that are used again", function()
      local t = run("l4.tests=[HTTPS]", "l4.duration=30ms", "l4.omit=0s", "l4.connections=1",
         "l4.http.requests=1", "l4.tls.resume=ticket", "l4.tls.early_data=1KiB",
         "l4.tls.reuse_tickets=true")[1].tls
      assert.is_true(t.early_data_accepted > 10)
      assert.equal(t.early_data_accepted - 1, t.early_data_replayed)
   end)

   it("asks the client for a certificate, and keeps a log of keys", function()
      local keys = scratch.path()
      local row = run("l4.tests=[TLS_CC]", "l4.duration=20ms", "l4.omit=0s", "l4.tls.client_certificate=true",
         "l4.tls.certificate=ed25519", "l4.tls.key_log=" .. keys)[1]
      local _, lines = scratch.read(keys):gsub("CLIENT_TRAFFIC_SECRET_0 ", "")
      assert.equal("valid", row.validity)
      assert.equal(row.tls.full_handshakes, lines)
   end)

   it("names the key whose file libssl does not take", function()
      local empty = scratch.path()
      scratch.write(empty, "")
      local output, status = scratch.shell(("'%s' run '%s' --out '%s' --set l4.tls.ca_file='%s' 2>&1"):format(uv.exepath(), CONFIG, scratch.path(), empty))
      assert.not_equal(0, status)
      assert.truthy(output:find("l4.tls.ca_file: libssl", 1, true), output)
   end)
end)

describe("a search for connections over TLS", function()
   teardown(scratch.remove)

   local function seek(test, ...)
      return run("l4.campaign=connection-rate", "l4.tests=[" .. test .. "]", "l4.duration=500ms",
         "l4.omit=100ms", "l4.search.search_trial=300ms", "l4.search.resolution=5%", "l4.search.max=400",
         "reference_device.capacity=1kfps", ...)[1]
   end

   -- of the client: SYN, ClientHello, Finished with what follows, and the last ACK
   it("finds as many as the device has frames for", function()
      for test, figure in pairs { TLS_CC = "connections_per_s", TLS_CRR = "transactions_per_s" } do
         local row = seek(test)
         assert.near(1000 / 4, row[figure], 0.05 * 1000 / 4)
         assert.equal("valid", row.validity)
         assert.is_true(row.load <= row.upper_load and #row.fell_short > 0)
         assert.equal(0, row.tls.failed_handshakes)
      end
   end)

   it("needs to be told where to begin, because no line tells", function()
      local output, status = scratch.shell(("'%s' run '%s' --out '%s' --set l4.campaign=connection-rate --set 'l4.tests=[TCP_CC, TLS_CC]' 2>&1"):format(uv.exepath(), CONFIG, scratch.path()))
      assert.not_equal(0, status)
      assert.truthy(output:find("l4.search.max: missing, and what a line allows of TLS_CC", 1, true), output)
   end)
end)

describe("a plan of TLS", function()
   it("needs a suite of each version, and one that the certificate signs for", function()
      local where, text = problem('versions: ["1.3"], ciphers: [ECDHE-RSA-AES128-GCM-SHA256]')
      assert.truthy(text:find("no cipher suite is of TLS 1.3", 1, true), where .. text)
      where, text = problem('versions: ["1.2"], certificate: rsa2048, ciphers: [ECDHE-ECDSA-AES128-GCM-SHA256]')
      assert.truthy(text:find("no cipher suite of TLS 1.2 signs with rsa2048", 1, true), where .. text)
   end)

   it("needs the curve of the certificate among the groups in TLS 1.2", function()
      local _, text = problem('versions: ["1.2"], groups: [x25519]')
      assert.truthy(text:find("TLS 1.2 needs the curve of the certificate (p256)", 1, true), text)
   end)

   it("has early data with tickets of TLS 1.3", function()
      local _, text = problem "early_data: 100"
      assert.truthy(text:find("early data needs a session to resume", 1, true), text)
      _, text = problem 'early_data: 100, resume: ticket, versions: ["1.2"]'
      assert.truthy(text:find("early data is of TLS 1.3", 1, true), text)
   end)

   it("has a certificate and its key together, and records of a size", function()
      local _, text = problem "certificate_file: cert.pem"
      assert.truthy(text:find("a certificate and its key belong together", 1, true), text)
      _, text = problem "record: 63"
      assert.truthy(text:find("a record of 63 bytes", 1, true), text)
   end)
end)
