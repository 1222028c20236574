-- SPDX-License-Identifier: BSD-3-Clause

--- Datagrams that were lost where the tester did not send as it should have.
local datagrams = require "framegauge.methods.l4.datagrams"
local fixture = require "fixture"
local json = require "framegauge.text.json"
local report = require "framegauge.methods.l4.report"
local result_rows = require "framegauge.methods.l4.result"
local rows = require "framegauge.text.rows"
local scratch = require "scratch"

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
         local list, same = {}, {}
         for i = 1, row.times or 1 do
            same[i] = row
         end
         row.test, row.datagrams, row.validity = row.test or "UDP_STREAM", 40704, "valid"
         report.notes({ results = { l4 = same } }, function(text) list[#list + 1] = text end)
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
      local again = client { sent = 1800 }
      again.measured.bad_cookie = 100 -- queries that were sent once more
      assert.same({ "client: 1700 datagrams a second were sent instead of 1800" }, datagrams.limits("DNS", 1800, again, nil))
   end)
end)

describe("a row of l4 that lacks one of several figures", function()
   -- @return what is wrong with the first row that has a key, once it has no other
   local function lacks(plan, key, other)
      local result = json.decode(scratch.read(fixture.run(plan, "--quick") .. "/result.json"))
      for _, row in ipairs(result.results.l4) do
         local inside = row.page or row
         if inside[key] ~= nil then
            assert.is_nil(rows.wrong(row, result_rows.ROW, "l4"))
            inside[other] = nil
            return rows.wrong(row, result_rows.ROW, "l4")
         end
      end
   end

   it("is refused: losses of an unknown number, and a part of a page's time", function()
      assert.equal("l4.datagrams: missing beside lost, datagrams, loss_ratio",
         lacks("l4-ping", "lost", "datagrams"))
      assert.equal("l4.page.waiting_ratio: missing beside setup_ratio, waiting_ratio, transfer_ratio, think_ratio",
         lacks("l4-page", "setup_ratio", "waiting_ratio"))
   end)
end)
