-- SPDX-License-Identifier: BSD-3-Clause

--- Datagrams that were lost where the tester did not send as it should have.
local datagrams = require "framegauge.methods.l4.datagrams"
local report = require "framegauge.methods.l4.report"

local function client(o)
   return {
      total = { datagrams_out = 1800, expired = o.expired or 0 },
      measured = { datagrams_out = o.sent or 1800 }, measured_s = 1,
      off_schedule = o.off_schedule or 0, lag_max_ns = o.lag_max_ns or 0,
   }
end

local function server(came)
   return { total = { datagrams_in = came, datagrams_out = 0 }, off_schedule = 0, lag_max_ns = 0 }
end

describe("a stream of datagrams", function()
   it("is the tester's own doing where those that came due while it was held up left at once", function()
      local held = client { off_schedule = 62, lag_max_ns = 35.04e6 }
      assert.same({ "client: 273 datagrams lost, but 62 left up to 35.0 ms late and close together, or not at all" }, datagrams.limits("UDP_STREAM", 1800, held, server(1527)))
      assert.same({}, datagrams.limits("UDP_STREAM", 1800, held, server(1800)))
      local once = client { off_schedule = 1, lag_max_ns = 1e6 }
      assert.same({}, datagrams.limits("UDP_STREAM", 1800, once, server(1527)))
   end)

   it("is judged so of queries that were not answered, where nobody knows what the server saw", function()
      local held = client { off_schedule = 62, lag_max_ns = 35e6, expired = 2 }
      assert.same({ "client: 2 requests lost, but 62 left up to 35.0 ms late and close together, or not at all" }, datagrams.limits("DNS", 1800, held, nil))
      assert.same({}, datagrams.limits("DNS", 1800, client { off_schedule = 62 }, nil))
   end)

   it("is not judged where it had no schedule", function()
      assert.same({}, datagrams.limits("UDP_STREAM", nil, client { off_schedule = 62 }, server(1527)))
   end)

   it("has a sentence on what was lost, came again or came out of order, as goodput shows none of it", function()
      local function sentences(row)
         local list, rows = {}, {}
         for i = 1, row.times or 1 do
            rows[i] = row
         end
         row.test, row.datagrams, row.validity = row.test or "UDP_STREAM", 40704, "valid"
         report.notes({ results = { l4 = rows } }, function(text) list[#list + 1] = text end)
         return list
      end
      assert.same({}, sentences { lost = 0, duplicates = 0, reordered = 0 })
      assert.same({ "UDP_STREAM: of 40,704 datagrams 814 lost, 5,699 duplicate, 3,256 out of order." },
         sentences { lost = 814, duplicates = 5699, reordered = 3256 })
      assert.same({ "PING: of 40,704 requests 1 duplicate." }, sentences { test = "PING", lost = 0, duplicates = 1 })
      local many = sentences { lost = 1, times = 12 }
      assert.same({ 11, "The same in 2 more rows." }, { #many, many[11] })
   end)

   it("is limited where fewer than it should have been were sent", function()
      assert.same({ "client: 1700 datagrams a second were sent instead of 1800" },
         datagrams.limits("UDP_STREAM", 1800, client { sent = 1700 }, server(1527)))
   end)
end)
