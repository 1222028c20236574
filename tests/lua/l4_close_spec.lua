-- SPDX-License-Identifier: BSD-3-Clause

-- How clients end their connections: by FIN, by RST, or by a FIN with their last request.
local scratch = require "scratch"
local wire = require "l4_wire"

local KEYS = "duration: 200ms, drain: 300ms, connections: 20, load: {requests: 4}"

-- @return the rows by test; all are without a failure
local function run(...)
   local list, status, output = wire.run(KEYS, ...)
   local rows = {}
   assert.equal(0, status, output)
   for _, row in ipairs(list) do
      for why, n in pairs(row.failures) do
         assert.equal(0, n, row.test .. ": " .. why)
      end
      assert.same({ "valid", 0, row.opened }, { row.validity, row.open + row.outstanding, row.closed })
      rows[row.test] = row
   end
   return rows
end

describe("clients", function()
   teardown(scratch.remove)

   it("end connections by RST, as fast as the line takes the segments that are left", function()
      local rows = run("l4.close=reset", "l4.tests=[TCP_CRR, TCP_CC, TCP_RR, HTTP, TLS_CRR]")
      for _, test in ipairs { "TCP_CRR", "TCP_CC", "HTTP" } do
         assert.is_true(rows[test].theoretical_percent > 99.5, test)
      end
      assert.equal("reset", rows.TCP_RR.parameters.close)
   end)

   it("wait for no delayed acknowledgement of GOAWAY or close_notify before their RST", function()
      local rows = run("l4.close=reset", "l4.tests=[HTTP2, TLS_CRR]", "l4.http.requests=4")
      assert.is_true(rows.HTTP2.theoretical_percent > 90)
      -- the line takes 8,000; with 40 ms for each it is 20 connections / 40 ms
      assert.is_true(rows.TLS_CRR.transactions_per_s > 10 * 20 / 0.04)
   end)

   it("half-close with their last request, and get the whole answer", function()
      local rows = run("l4.close=half-close", "l4.tests=[TCP_CRR, TCP_RR, HTTP]", "l4.http.body=20000",
         "l4.response=20000")
      for _, row in pairs(rows) do
         assert.is_true(row.transactions_per_s > 500, row.test)
      end
   end)

   it("half-close without a failure where the stop comes before the handshake ends", function()
      local rows = run("l4.close=half-close", "l4.tests=[HTTP]", "l4.load.rate=200", "l4.connections=100",
         "reference_device.latency=20ms")
      assert.is_true(rows.HTTP.opened > 0)
   end)

   it("are refused where a connection cannot end so", function()
      for set, message in pairs {
         ["l4.tests=[QUIC_RR]"] = "QUIC_RR does not close by reset; expected TCP_STREAM, TCP_MAERTS",
         ["l4.tests=[UDP_RR]"] = "UDP_RR does not close by reset",
         ["l4.tests=[FTP]"] = "FTP does not close by reset",
      } do
         local output, status = wire.call(KEYS, "check", "l4.close=reset", set)
         assert.equal(2, status, output)
         assert.is_truthy(output:find(message, 1, true), output)
      end
      local output = wire.call(KEYS, "check", "l4.close=half-close", "l4.tests=[TCP_STREAM]")
      assert.is_truthy(output:find("TCP_STREAM does not close by half-close; expected TCP_RR, TCP_CRR or HTTP", 1, true), output)
      output = wire.call(KEYS, "check", "l4.close=half-close", "l4.tests=[HTTP]", "l4.http.requests=0")
      assert.is_truthy(output:find("no request of HTTP is the last one", 1, true), output)
   end)
end)
