-- SPDX-License-Identifier: BSD-3-Clause

-- DNS through the reference device: figures are what its line, its delay and its faults allow.
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local scratch = require "scratch"
local uv = require "luv"

local CONFIG = scratch.PROJECT .. "configs/l4-dns-reference.yaml"

local LIMITED = 3 -- exit status of a row that is tester-limited

-- @return the row of a test that ends with this exit status
local function run_with(expected, ...)
   local path = scratch.path()
   local words = { ("'%s' run '%s' --quick --out '%s'"):format(uv.exepath(), CONFIG, path) }
   for _, set in ipairs { ... } do
      words[#words + 1] = ("--set '%s'"):format(set)
   end
   local output, status = scratch.shell(table.concat(words, " ") .. " 2>&1")
   assert.is_true(status == expected, output)
   return json.decode(scratch.read(path .. "/result.json")).results.l4[1]
end

local function run(...)
   return run_with(0, ...)
end

local function sum(answers)
   return answers.noerror + (answers.nxdomain or 0)
end

local function wrong(...)
   local text = scratch.read(CONFIG)
   for _, set in ipairs { ... } do
      local key, value = set:match "^(%w+)=(.*)$"
      local n
      text, n = text:gsub("    " .. key .. ": [^\n]*", "    " .. key .. ": " .. value)
      text = n > 0 and text or text .. ("    %s: %s\n"):format(key, value)
   end
   local _, errors = plans.load_text(text, "x.yaml")
   return errors and tostring(errors[1]) or ""
end

describe("DNS", function()
   teardown(scratch.remove)

   it("takes the time of the path", function()
      local row = run()
      assert.equal("valid", row.validity)
      assert.equal(0, row.wrong_bytes)
      assert.equal(1, row.answered_ratio)
      -- two latencies of 100 us, and frames of 64 and more bytes that are stored
      assert.near(201.7e3, row.transaction.mean_ns, 0.5e3)
      assert.near(64 / 201.7e-6, row.transactions_per_s, 0.02 * 64 / 201.7e-6)
      assert.near(0.01, row.dns_answers.nxdomain / sum(row.dns_answers), 0.005)
   end)

   it("has queries that are due whatever is answered", function()
      local row = run "l4.dns.rate=20000"
      assert.near(20000, row.transactions_per_s, 10)
      assert.near(201.7e3, row.transaction.mean_ns, 0.5e3)
   end)

   it("counts what was not answered, and what was answered twice", function()
      local row = run("reference_device.loss_every=50", "l4.timeout=20ms")
      assert.equal(row.failures.expired, math.floor(row.failures.expired))
      -- a query is lost on the way there or back: 1 of 50 frames each way
      assert.near(1 - 0.02 - 0.98 * 0.02, row.answered_ratio, 0.004)
      row = run("reference_device.duplicate.random=10%", "l4.dns.rate=20000")
      assert.equal(1, row.answered_ratio)
      assert.is_true(row.dns_answers.duplicates > 0.1 * sum(row.dns_answers))
   end)

   it("takes the time of the path over TCP and TLS", function()
      local rows = {}
      for _, test in ipairs { "DNS_TCP", "DNS_TLS" } do
         for _, latency in ipairs { 100, 900 } do
            local row = run("l4.tests=" .. test, "l4.dns.pipeline=1", "l4.dns.text=64", "l4.connections=16",
               ("reference_device.latency=%dus"):format(latency))
            assert.equal("valid", row.validity)
            assert.equal(0, row.wrong_bytes)
            assert.equal(1, row.answered_ratio)
            -- two latencies, and frames of 90 to 200 bytes that are stored, each way twice
            assert.near(2 * latency * 1e3 + 2.3e3, row.transaction.mean_ns, 0.6e3)
            assert.near(16e9 / row.transaction.mean_ns, row.transactions_per_s,
               0.01 * row.transactions_per_s)
            assert.equal(row.dns_answers.queries, sum(row.dns_answers))
            rows[#rows + 1] = row
         end
      end
      assert.equal("dot", rows[3].tls.alpn)
      assert.is_true(rows[3].transaction.mean_ns > rows[1].transaction.mean_ns)
   end)

   it("asks over HTTPS by GET and POST, and gets every byte where frames are lost", function()
      for _, post in ipairs { "false", "true" } do
         local row = run("l4.tests=DNS_HTTPS", "l4.dns.pipeline=1", "l4.dns.text=64", "l4.connections=16",
            "reference_device.latency=900us", "l4.dns.post=" .. post)
         assert.same({ "valid", 0, 1, "h2" }, { row.validity, row.wrong_bytes, row.answered_ratio, row.tls.alpn })
         -- two latencies, and frames of 150 to 300 bytes that are stored, each way twice
         assert.near(2 * 900e3 + 4.5e3, row.transaction.mean_ns, 2e3)
         assert.is_true(row.dns_answers.queries > 1000)
      end
      local row = run("l4.tests=DNS_HTTPS", "reference_device.loss_every=50", "l4.timeout=10s",
         "l4.connections=16", "l4.drain=10s", "l4.dns.text=3000", "l4.dns.requests=50")
      assert.same({ 1, 0, 0 }, { row.answered_ratio, row.wrong_bytes, row.failures.bad_response })
      assert.is_true(row.retransmitted_segments > 20)
   end)

   it("has many queries at a time on a connection, or a connection for each", function()
      local row = run("l4.tests=DNS_TCP", "l4.connections=2", "l4.dns.pipeline=8")
      -- a frame carries eight queries
      assert.near(16 / 205e-6, row.transactions_per_s, 0.03 * 16 / 205e-6)
      assert.equal(2, row.opened)
      row = run("l4.tests=DNS_TCP", "l4.connections=2", "l4.dns.requests=1")
      assert.equal(row.opened, sum(row.dns_answers))
      assert.equal(row.opened, row.closed)
      -- a handshake, and the answer
      assert.near(404e3, row.first_byte.mean_ns, 2e3)
      assert.near(202e3, row.transaction.mean_ns, 1e3)
   end)

   it("has queries over TCP that are due whatever is answered", function()
      local row = run("l4.tests=DNS_TCP", "l4.dns.rate=20000", "l4.connections=4")
      assert.equal("valid", row.validity)
      assert.near(20000, row.transactions_per_s, 10)
      assert.near(202e3, row.transaction.mean_ns, 0.5e3)
      -- more than two connections with one query at a time can
      row = run_with(LIMITED, "l4.tests=DNS_TCP", "l4.dns.rate=20000", "l4.connections=2",
         "l4.dns.pipeline=1")
      assert.equal("tester-limited", row.validity)
      assert.truthy(row.reasons[1]:find("queries a second were sent instead of 20000", 1, true))
   end)

   it("loses no query over TCP where frames are lost", function()
      local row = run("l4.tests=DNS_TCP", "reference_device.loss_every=50", "l4.timeout=10s",
         "l4.connections=16", "l4.drain=10s")
      assert.equal(1, row.answered_ratio)
      assert.equal(0, row.wrong_bytes)
      assert.equal(0, row.failures.expired)
      assert.is_true(row.retransmitted_segments > 20)
   end)

   it("asks over TCP for what was truncated, which takes three times as long", function()
      local long = { "l4.dns.type=TXT", "l4.dns.text=2000", "l4.connections=8", "l4.dns.nxdomain=0%" }
      local row = run(unpack(long))
      assert.equal("valid", row.validity)
      assert.equal(1, row.answered_ratio)
      assert.equal(row.dns_answers.truncated, row.dns_answers.asked_again)
      assert.near(3 * 201.7e3 + 19e3, row.transaction.min_ns, 5e3) -- 2,000 bytes take 16 us of a line
      row = run("l4.dns.fallback=false", unpack(long))
      assert.near(201.7e3, row.transaction.mean_ns, 0.5e3)
      assert.is_nil(row.dns_answers.asked_again)
   end)

   it("refuses names outside of its zone", function()
      local row = run("l4.dns.zone=FG.test.", "l4.dns.nxdomain=0%")
      assert.is_nil(row.dns_answers.other_rcode)
      assert.is_true(row.dns_answers.noerror > 100)
      row = run("l4.dns.zone=h1.fg.test", "l4.dns.name=h{0..9}.fg.test", "l4.dns.nxdomain=0%")
      local waiting = 100 -- queries at a time
      assert.near(9 * row.dns_answers.noerror, row.dns_answers.other_rcode, waiting)
      assert.equal(0, row.wrong_bytes)
   end)

   it("sends and keeps cookies, and gets none but its own", function()
      local row = run "l4.dns.cookies=on"
      assert.is_nil(row.dns_answers.bad_cookie)
      assert.same({ 1, 0 }, { row.answered_ratio, row.wrong_bytes })
      assert.equal(sum(row.dns_answers), row.dns_answers.cookies)
      row = run "l4.dns.cookies=required"
      assert.same({ 1, 0, 64 }, { row.answered_ratio, row.wrong_bytes, row.dns_answers.bad_cookie })
      assert.equal(sum(row.dns_answers) + 64, row.dns_answers.cookies)
      assert.is_nil(row.dns_answers.wrong_cookie)
      assert.is_nil(run().dns_answers.cookies)
   end)

   it("is told what cannot be asked", function()
      assert.equal("", wrong())
      assert.truthy(wrong("edns=0", "cookies=on"):find("cookies are an option of EDNS", 1, true))
      local check = "'%s' check '%s' --set 'l4.tests=[DNS_HTTPS]' --set l4.dns.cookies=required 2>&1"
      assert.truthy(scratch.shell(check:format(require("luv").exepath(), CONFIG))
         :find("BADCOOKIE is answered over UDP alone", 1, true))
      assert.truthy(wrong("zone=a..b"):find("'a..b' is no name", 1, true))
      assert.truthy(wrong("name=h..test"):find("'h..test' is no name", 1, true))
      assert.truthy(wrong("name=h{5..1}.test"):find("{5..1} is not 1 to 1,000,000 numbers", 1, true))
      assert.truthy(wrong("edns=100"):find("100 is less than every message may have", 1, true))
      assert.truthy(wrong("type=SPF"):find("SPF", 1, true))
      assert.truthy(wrong("pipeline=0"):find("l4.dns.pipeline", 1, true))
      assert.truthy(wrong("queries=/nowhere"):find("/nowhere cannot be read", 1, true))
      local path = scratch.path()
      scratch.write(path, "; a comment\nh1.fg.test A\nh2.fg.test\n")
      assert.truthy(wrong("queries=" .. path):find(path .. ":3: expected a name and a type", 1, true))
      scratch.write(path, "h1.fg.test a\n\nH2.FG.TEST aaaa\n")
      assert.equal("", wrong("queries=" .. path))
   end)
end)
