-- SPDX-License-Identifier: BSD-3-Clause

-- The first screen of a report: tiles, boxes of verdicts and the summary answer whether the device is good.
local fake_result = require "fake_result"
local files = require "framegauge.report.files"
local fixture = require "fixture"
local formatters = require "framegauge.report.html.formatters"
local html = require "framegauge.report.html"
local scratch = require "scratch"
local show = require "framegauge.text.show"
local small_runs = require "small_runs"
local tables = require "framegauge.core.tables"
local views = require "framegauge.report.view"

local function text_of(page)
   return (page:gsub("<style>.-</style>", ""):gsub("<[^>]*>", ""))
end

describe("the box of criteria", function()
   it("says what was judged, how many rows of it passed, and what was not judged", function()
      local result = fake_result { outcome = "pass" }
      for _, row in ipairs(result.results.throughput) do
         row.outcome = "pass"
      end
      local page = text_of(html.page(result, {}))
      assert.matches(("The device met its criteria.*Throughput: %d of %d passed.*Not judged: Latency; "):format(
         #result.results.throughput, #result.results.throughput), page)
   end)

   it("names the service of a failure", function()
      local result = files.read(scratch.read(fixture.run(small_runs.of "y1564") .. "/result.json"))
      local service = result.results.y1564.services[1]
      local row = service.configuration[1]
      row.outcome, row.reasons, result.outcome = "fail", { "too slow" }, "fail"
      assert.matches("too slow: Configuration test, " .. service.name .. ", ", text_of(html.page(result, {})), 1, true)
   end)

   for _, name in ipairs { "oam", "replay", "convergence", "rfc2889", "rfc8239", "y1564" } do
      it("says what a row that passed has, where the method judges by itself: " .. name, function()
         local result, judged = files.read(scratch.read(fixture.run(small_runs.of(name)) .. "/result.json")), 0
         result.outcome, result.expectations = "pass", {}
         local page = text_of(html.page(result, {}))
         for _, one in ipairs(views.tables(result)) do
            local _, of = formatters.passed(one.lines)
            if of > 0 and not one.inner then
               judged = judged + 1
               assert.matches((": %d passed ("):format(of) .. one.passes .. ")", page:gsub("%d+ of ", ""), 1, true)
            end
         end
         assert.is_true(judged > 0 or name == "convergence") -- whose plan has no limit
      end)
   end

   it("says how to have a device judged where nothing is", function()
      assert.matches("No criterion was setNo figure is judged. Criteria are set in the plan (criteria) or by --expect.",
         text_of(html.page(fake_result {}, {})), 1, true)
   end)
end)

describe("words and units of a page", function()
   it("are names of protocols as their standards write them", function()
      local test = formatters.test
      assert.same({ "TWAMP Light", "HTTP throughput", "PDV", "fully meshed" },
         { test "twamp_light", test "rfc9411.http_throughput", test "pdv", test "fully_meshed" })
   end)

   it("have the room of a queue with its unit", function()
      local page = html.page(files.read(scratch.read(fixture.run(small_runs.of "l4") .. "/result.json")), {})
      assert.is_nil(page:find("&quot;unit&quot;", 1, true))
      assert.matches("queues</th><td>1,000 frames", page, 1, true)
   end)

   it("have frames as their plan has them", function()
      local page = html.page(files.read(scratch.read(fixture.run(small_runs.of "traffic") .. "/result.json")), {})
      assert.matches("frame</th><td>[ethernet, {vlan: {id: 100, priority: 5}}, {ipv4: {dscp: 46}}, {udp: {destination: 16384}}]<", page, 1, true)
      local bytes = { { at = 30, octets = 2, text = "{at: 30, value: 7}" } }
      local result = fake_result {}
      result.plan.streams = { { name = "s", bytes = bytes } }
      assert.matches("bytes</th><td>[{at: 30, value: 7}]<", html.page(result, {}), 1, true)
      bytes[1].text = nil -- a result of an earlier version
      assert.matches("bytes</th><td>[{&quot;at&quot;:30,", html.page(result, {}), 1, true)
   end)

   it("name the frames that a service lost though all probes were answered", function()
      local row = { test = "loss", direction = "a->b", validity = "valid", sent = 20, lost = 0, loss_ratio = 0,
         service = { forward_lost = 3, backward_lost = 1 }, round_trip = { p50_ns = 1000 } }
      local tiles = require("framegauge.methods.oam.report").tiles { results = { oam = { row } } }
      assert.same({ "Service", "4", "frames lost" }, { unpack(tiles[3], 1, 3) })
   end)
end)

describe("the first screen of a method with several tests", function()
   for _, name in ipairs { "rfc2889", "rfc3918", "rfc8239", "rfc9411", "rfc9693" } do
      local function result()
         return files.read(scratch.read(fixture.run(small_runs.of(name)) .. "/result.json"))
      end

      it("has a tile for each test: " .. name, function()
         local found = result()
         local tiles = require("framegauge.methods." .. name .. ".report").tiles(found)
         assert.equal(#found.plan[name].tests, #tiles)
         local text = table.concat(tables.joined(unpack(tiles)), " ")
         for _, tile in ipairs(tiles) do -- a remark says what the title does not
            assert.is_nil((tile[4] or ""):lower():find(tile[1]:lower(), 1, true), tile[4])
         end
         assert.is_nil(text:find "%f[%w]1 %l%l%l+[^s]s%f[%W]" or text:find "%.%d* bytes", text) -- 1 egresses
      end)

      -- RFC 2889: the patterns are in one table, the others have tiles alone
      local _ = name ~= "rfc2889" and it("has a figure of each test in its summary: " .. name, function()
         local found = result()
         local page = html.summary(found, {}):match "<h2>Summary</h2>(.*)"
         for _, one in ipairs(views.tables(found)) do
            if one.lines[1] and not one.inner then
               local columns = show.columns(one.record, "summary", one.lines)
               local figures = tables.map(columns, function(column)
                  return not column.id and column.kind ~= "validity" and column or nil
               end)
               assert.is_true(#figures > 0, one.name)
               assert.matches(one.title, page, 1, true)
            end
         end
      end)
   end

   it("has the worst row of a test, not the first", function()
      local row = { validity = "valid", object = 1024 }
      local found = { results = { rfc9411 = {
         connections = { setmetatable({ connections_per_s = 500 }, { __index = row }),
            setmetatable({ connections_per_s = 90, object = 65536 }, { __index = row }) },
         latency = { setmetatable({ ttfb = { mean_ns = 1000 } }, { __index = row }),
            setmetatable({ ttfb = { mean_ns = 2500 }, object = 65536 }, { __index = row }) },
      } } }
      local tiles = require("framegauge.methods.rfc9411.report").tiles(found)
      assert.same({ "90", "connections/s", "64 KiB" }, { unpack(tiles[1], 2) })
      assert.same({ "2.5 us", "to the first byte", "64 KiB" }, { unpack(tiles[2], 2) })
   end)
end)
