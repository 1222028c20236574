-- SPDX-License-Identifier: BSD-3-Clause

-- A device that forwards its first frames and swallows all others: what waits then is a failure, exactly.
local json = require "framegauge.text.json"
local kinds = require "framegauge.methods.l4.plan.kinds"
local schema = require "result_schema"
local scratch = require "scratch"
local uv = require "luv"

local CONNECTIONS = 20
local PLAN = [[
test: l4
ports: {a: {device: wire0, ipv4: 198.18.1.2/24}, b: {device: wire1, ipv4: 198.18.1.3/24}}
reference_device: {rate: 100Mbps, loss_every: 40000000, loss_run: 39998000}
l4: {tests: [TCP_RR, TCP_CRR, HTTP, HTTPS, UDP_RR], duration: 600ms, drain: 1900ms, connections: %d,
     timeout: 1s}
]]

-- @return the rows by test, the exit status, what was printed, the folder
local function run(...)
   local folder = scratch.path()
   local plan = scratch.path()
   scratch.write(plan, PLAN:format(CONNECTIONS))
   local words = { ("'%s' run '%s' --out '%s'"):format(uv.exepath(), plan, folder), ... }
   local output, status = scratch.shell(table.concat(words, " ") .. " 2>&1")
   local rows = {}
   for _, row in ipairs(json.decode(scratch.read(folder .. "/result.json")).results.l4) do
      rows[row.test] = row
   end
   return rows, status, output, folder
end

describe("a device that swallows all but its first frames", function()
   teardown(scratch.remove)

   local rows, status, output, folder

   setup(function()
      rows, status, output, folder = run("--expect 'TCP_RR.failures<=0'", "--expect 'HTTP.outstanding<=0'")
   end)

   it("has a failure for each connection that waits", function()
      for _, test in ipairs { "TCP_RR", "TCP_CRR", "HTTP", "HTTPS", "UDP_RR" } do
         local failures = rows[test].failures
         assert.equal(CONNECTIONS, failures.expired + failures.no_answer, test)
         assert.equal(0, failures.aborted + failures.reset + failures.lost + failures.bad_response, test)
         if test ~= "UDP_RR" then
            assert.equal(0, rows[test].outstanding + rows[test].open, test)
         end
      end
   end)

   it("has the time that they waited among its percentiles", function()
      for _, test in ipairs { "TCP_RR", "HTTP", "UDP_RR" } do
         local times = rows[test].transaction
         assert.equal(rows[test].failures.expired, times.at_least)
         assert.is_true(times.max_ns >= 1e9)
      end
      assert.is_truthy(output:find("≥ ", 1, true))
      assert.is_true(schema.validate(folder .. "/result.json"))
   end)

   it("does not meet what is expected of it", function()
      assert.equal(1, status, output)
      assert.is_truthy(output:find "TCP_RR%.failures<=0[^\n]*not met")
      assert.is_truthy(output:find "HTTP%.outstanding<=0[^\n]*: met")
   end)

   it("fails where it swallows all, with the kinds of failure", function()
      local dead, ended, text, its_folder = run("--set reference_device.loss_run=40000000",
         "--set 'l4.tests=[TCP_RR, HTTP, UDP_RR]'", "--expect 'HTTP.failures<=0'")
      assert.equal(1, ended, text)
      for _, row in pairs(dead) do
         assert.same({ "valid", "fail" }, { row.validity, row.outcome })
         assert.is_truthy(row.reasons[1]:find "^nothing came through: %d+ [en]")
      end
      assert.equal(CONNECTIONS, dead.HTTP.failures.no_answer)
      assert.is_truthy(text:find "HTTP%.failures<=0: not met")
      assert.is_true(schema.validate(its_folder .. "/result.json"))
   end)

   it("shows what still waits when the trial is over", function()
      local short = run("--set l4.timeout=10s", "--set 'l4.tests=[TCP_RR]'", "--set l4.drain=200ms")
      assert.equal(CONNECTIONS, short.TCP_RR.outstanding)
      assert.equal(CONNECTIONS, short.TCP_RR.open)
      assert.equal(0, short.TCP_RR.failures.expired)
      assert.equal(CONNECTIONS, short.TCP_RR.transaction.at_least)
   end)
end)

-- The tests with failures of another kind, with more than one for each connection, or without a failure.
local OTHERWISE = {
   FTP = function(row) return row.failures.bad_response end, -- a session each
   DNS_TCP = function(row) return row.failures.expired / 16 end, -- dns.pipeline
   DNS_TLS = function(row) return row.failures.expired / 16 end,
   DNS_HTTPS = function(row) return row.failures.expired / 16 end,
   PAGE = function(row) return row.failures.expired end, -- further connections had no answer
   UDP_STREAM = function(row) return row.lost > 0 and CONNECTIONS end,
}

describe("every test through a device that swallows all but its first frames", function()
   teardown(scratch.remove)

   it("has a failure for all that waits", function()
      local names = kinds.names()
      local rows = run(("--set 'l4.tests=[%s]'"):format(table.concat(names, ", ")), "--set l4.http.streams=1",
         "--set l4.drain=3500ms", -- a handshake has another time for itself
         "--set l4.tls.handshake_timeout=1s", "--set 'l4.page.objects=[2000, 1000]'",
         "--set 'l4.ftp={timeout: 1s, body: 1000}'")
      for _, name in ipairs(names) do
         local row = rows[name]
         local failures = row.failures
         local n = (OTHERWISE[name] or function() -- a handshake of TLS in which nothing came is aborted
            return failures.expired + failures.no_answer + failures.aborted + failures.reset
         end)(row)
         assert.same({ name, CONNECTIONS, 0 }, { name, n, row.outstanding or 0 })
         assert.equal(name == "FTP" and CONNECTIONS or 0, failures.bad_response, name)
      end
   end)
end)
