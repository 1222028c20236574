-- SPDX-License-Identifier: BSD-3-Clause

-- What HTTP asks for, and which answers are good: heads, ranges and statuses, through the reference device.
local scratch = require "scratch"
local wire = require "l4_wire"

local KEYS = "tests: [HTTP], duration: 200ms, drain: 300ms, connections: 10, http: {body: 5000}"

-- @return the row of HTTP, the exit status, what was printed
local function run(...)
   local rows, status, output = wire.run(KEYS, ...)
   return rows[1], status, output
end

describe("HTTP", function()
   teardown(scratch.remove)

   it("asks for ranges and heads, as fast as the line takes them", function()
      for _, set in ipairs { "l4.http.range=100-", "l4.http.head=true" } do
         local row, status, output = run(set)
         assert.equal(0, status, output)
         assert.is_true(row.theoretical_percent > 99, set)
         assert.is_nil(row.bad_responses)
      end
   end)

   it("takes answers for good by their status", function()
      local row, status = run("l4.http.range=5000-", "l4.http.statuses=[416]")
      assert.same({ 0, "valid", 0 }, { status, row.validity, row.failures.bad_response })
      row, status = run("l4.http.statuses=[404]")
      assert.same({ 1, "fail", 0 }, { status, row.outcome, row.transactions_per_s })
      assert.is_true(row.bad_responses.http_other > 0)
   end)

   it("asks for nothing that cannot be", function()
      for set, message in pairs {
         ["l4.http.range=9-3"] = "a body of 5000 bytes has no bytes 9-3; expected http.statuses: [416]",
         ["l4.http.range=0-1,5-6"] = "'0-1,5-6' is no range of bytes; expected as 0-99, 100- or -50",
         ["l4.http={range: 0-9, head: true}"] = "a range is of GET alone",
         ["l4.http={post: 10, head: true}"] = "a request is HEAD or POST",
         ["l4={tests: [HTTP2], http: {range: 0-9}}"] = "HTTP2 asks for no ranges; expected HTTP or HTTPS",
         ["l4.http.statuses=[100]"] = "l4.http.statuses[1]",
      } do
         local output, status = wire.call(KEYS, "check", set)
         assert.equal(2, status, output)
         assert.is_truthy(output:find(message, 1, true), output)
      end
   end)
end)
