-- SPDX-License-Identifier: BSD-3-Clause

-- Pages between two ports of the reference device, both ends ours: what round trips, rate and dependencies
-- make of the time that a page takes, whatever is lost; pages out of HAR files; what a plan may not ask for.
local compare = require "framegauge.report.compare"
local har = require "framegauge.methods.l4.plan.har"
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local report = require "framegauge.report"
local schema = require "result_schema"
local scratch = require "scratch"
local uv = require "luv"

local CONFIG = scratch.PROJECT .. "configs/l4-page-reference.yaml"
local TESTS = { "PAGE", "TLS_PAGE", "PAGE2", "PAGE3" }
-- Bytes of a full frame with FCS, and of these the payload.
local FRAME = { PAGE = 1518, TLS_PAGE = 1518, PAGE2 = 1518, PAGE3 = 1498 }
local PAYLOAD = { PAGE = 1448, TLS_PAGE = 1448, PAGE2 = 1448, PAGE3 = 1418 }
-- Round trips before the document is asked for: of TCP, of TLS, or of QUIC.
local BEFORE = { PAGE = 1, TLS_PAGE = 2, PAGE2 = 2, PAGE3 = 1 }

local function run(...)
   local path, sets = scratch.path(), {}
   for i, set in ipairs { "l4.tests=[" .. table.concat(TESTS, ",") .. "]", ... } do
      sets[i] = ("--set '%s'"):format(set)
   end
   local output, status = scratch.shell(("'%s' run '%s' --out '%s' %s 2>&1"):format(uv.exepath(), CONFIG,
      path, table.concat(sets, " ")))
   assert.equal(0, status, output)
   return json.decode(scratch.read(path .. "/result.json")).results.l4, path
end

-- A path without anything but its round trip, and the line.
local function on_a_fast_path(objects, ...)
   return run("reference_device.bandwidth=1Gbps", "l4.duration=3s", "l4.page.objects=" .. objects, ...)
end

local RTT = 20e6 -- ns, of the plan

local function in_round_trips(row)
   return row.page.load.p50_ns / RTT
end

-- Mean time of a page in one of its parts, ns.
local function part(row, name)
   return row.page[name .. "_ratio"] * row.page.load.mean_ns
end

describe("a page", function()
   teardown(scratch.remove)

   it("whose objects wait for each other takes a round trip for each", function()
      local rows = on_a_fast_path "[100, {size: 100, after: 1}, {size: 100, after: 2}, {size: 100, after: 3}]"
      for i, test in ipairs(TESTS) do
         local row = rows[i]
         assert.same({ test, "valid", 0, 0 }, { row.test, row.validity, row.wrong_bytes, row.page.failed })
         assert.near(BEFORE[test] + 4, in_round_trips(row), 0.02)
         assert.near(BEFORE[test] + 1, row.first_byte.p50_ns / RTT, 0.02)
         assert.is_true(row.page.loaded >= 3e9 / (RTT * (BEFORE[test] + 6)))
         assert.equal(400, row.page.bytes)
         assert.near(BEFORE[test], part(row, "setup") / RTT, 0.02)
         assert.near(4, part(row, "waiting") / RTT, 0.02)
         assert.same({ 0, 0 }, { part(row, "transfer"), part(row, "think") })
         for n, object in ipairs(row.page.objects) do
            assert.near(BEFORE[test] + n - 1, object.asked_ns / RTT, 0.02)
            assert.near(BEFORE[test] + n, object.first_byte_ns / RTT, 0.02)
            assert.near(BEFORE[test] + n, object.end_ns / RTT, 0.02)
         end
      end
   end)

   it("with many objects of one document takes what its connections and streams allow", function()
      local rows = on_a_fast_path("[" .. ("100, "):rep(12) .. "100]")
      -- HTTP/1.1, six connections: one asks on, five open. Over TCP 1, 6 and 5 objects come in the rounds
      -- behind the document; over TLS, which takes a round more to open, 1, 1, 6 and 4
      local rounds = { PAGE = 3, TLS_PAGE = 4, PAGE2 = 1, PAGE3 = 1 }
      for i, test in ipairs(TESTS) do
         assert.near(BEFORE[test] + 1 + rounds[test], in_round_trips(rows[i]), 0.05)
      end
      local one = on_a_fast_path("[" .. ("100, "):rep(12) .. "100]", "l4.tests=[PAGE]",
         "l4.page.connections=1")[1]
      assert.near(1 + 1 + 12, in_round_trips(one), 0.05)
   end)

   it("waits as long as its objects do", function()
      local rows = on_a_fast_path "[100, {size: 100, think: 7ms}, {size: 100, after: 2, think: 30ms}]"
      for i, test in ipairs(TESTS) do
         assert.near((BEFORE[test] + 3) * RTT + 37e6, rows[i].page.load.p50_ns, 0.02 * RTT)
         assert.near(37e6, part(rows[i], "think"), 1e3)
         assert.near(3, part(rows[i], "waiting") / RTT, 0.02)
      end
   end)

   it("takes what its bytes take of the path", function()
      local octets, rtt = 2 ^ 20, 2e6
      local rows = run("reference_device.latency=1ms", "reference_device.bandwidth=10Mbps", "l4.duration=5s",
         "reference_device.buffer=4096", ("l4.page.objects=[1, %d]"):format(octets))
      for i, test in ipairs(TESTS) do
         local bytes = octets / PAYLOAD[test] * FRAME[test] * 8 / 10e6 * 1e9
         local expected = (BEFORE[test] + 2) * rtt + bytes
         -- records of TLS and heads take some more
         assert.near(expected, rows[i].page.load.p50_ns, 0.005 * expected)
         assert.is_true(rows[i].page.load.min_ns > expected - rtt)
         -- nothing of a record of 16 KiB can be read before all of its twelve segments have come
         local record = (test == "TLS_PAGE" or test == "PAGE2") and 11 * FRAME[test] * 8 / 10e6 * 1e9 or 0
         assert.near(BEFORE[test] * rtt, part(rows[i], "setup"), 0.05 * rtt)
         assert.near(2 * rtt + record, part(rows[i], "waiting"), 0.15 * rtt)
         assert.near(bytes - record, part(rows[i], "transfer"), 0.005 * expected)
         assert.near((BEFORE[test] + 1) * rtt, rows[i].first_byte.p50_ns, 0.15 * rtt)
      end
   end)

   it("comes to the byte where frames are lost", function()
      local rows, path = run("reference_device.loss_every=30", "l4.duration=15s", "l4.connections=2")
      for _, row in ipairs(rows) do
         assert.same({ "valid", 0, 0 }, { row.validity, row.wrong_bytes, row.page.failed })
         assert.is_nil(row.bad_responses)
         assert.is_true(row.page.loaded > 5)
      end
      assert.is_true(schema.validate(path .. "/result.json"))
   end)

   it("is shown object by object", function()
      local rows, path = run("l4.duration=1s", "l4.tests=[PAGE,PAGE3]")
      local objects = rows[1].page.objects
      assert.equal(15, #objects)
      for _, object in ipairs(objects) do
         assert.is_true(object.ready_ns <= object.asked_ns and object.asked_ns < object.first_byte_ns
            and object.first_byte_ns <= object.end_ns)
         assert.is_true(object.connection >= 1 and object.connection <= 6)
      end
      assert.same({ "data.json", "app.js" }, { objects[7].name, objects[7].after })
      assert.near(objects[3].end_ns + 5e6, objects[7].ready_ns, 1)
      assert.is_nil(rows[2].page.objects[1].connection)
      local html = scratch.read(path .. "/report.html")
      assert.matches('id="page%-1%-title"', html)
      assert.matches('id="page%-2%-title"', html)
      assert.matches("photo%-8%.jpg, 61%.44 kB", html)
   end)

   it("can be expected to take no longer than so", function()
      local function status(expected)
         return select(2, scratch.shell(("'%s' run '%s' --out '%s' --set l4.duration=1s --set 'l4.tests=[PAGE3]' --expect 'PAGE3.%s' 2>&1"):format(uv.exepath(), CONFIG,
            scratch.path(), expected)))
      end
      assert.equal(0, status "load<=500ms")
      assert.equal(1, status "load<=400ms") -- it takes 452
      assert.equal(0, status "page_setup<=5%") -- a round trip, 20 ms
      assert.equal(1, status "page_setup<=4%")
      assert.equal(0, status "page_setup>=4%") -- neither side is better
   end)

   it("is neither better nor worse where its time has other shares", function()
      local path = select(2, run("l4.duration=1s", "l4.tests=[PAGE]"))
      local before, after = report.read(path), report.read(path)
      local page = after.results.l4[1].page
      page.setup_ratio, page.waiting_ratio, page.transfer_ratio = 0.6, 0.3, 0.1
      local found = compare.of(before, after)
      assert.same({ 0, 3 }, { found.worse, compare.counts(found)[compare.CHANGED] })
   end)

   it("is reported without its shares, as earlier results have it", function()
      local path = select(2, run("l4.duration=1s", "l4.tests=[PAGE]"))
      local function reported()
         local output, status = scratch.shell(("'%s' report '%s' 2>&1"):format(uv.exepath(), path))
         assert.equal(0, status, output)
         return scratch.read(path .. "/report.html")
      end
      assert.matches("Of the time of all pages", reported(), 1, true)
      local result = json.decode(scratch.read(path .. "/result.json"))
      for _, key in ipairs { "setup_ratio", "waiting_ratio", "transfer_ratio", "think_ratio" } do
         result.results.l4[1].page[key] = nil
      end
      scratch.write(path .. "/result.json", json.encode(result))
      assert.not_matches("Of the time of all pages", reported(), 1, true)
   end)

   it("is the same again, to the byte", function()
      local function result()
         local _, path = run "l4.duration=1s"
         -- the heap of QUIC rounds up as it has room, and other tests had it before
         return (scratch.read(path .. "/result.json"):gsub('"memory[a-z_]*": %d+', ""))
      end
      assert.equal(result(), result())
   end)
end)

-- --- HAR files

local function entry(o)
   return {
      pageref = o.page or "page_1", startedDateTime = ("2026-11-20T12:00:%06.3fZ"):format(o.at / 1000),
      time = o.took, _initiator = o.by and { type = "parser", url = o.by } or nil,
      request = { method = "GET", url = o.url }, _fromCache = o.cache,
      response = { status = o.status or 200, bodySize = o.size, content = { size = o.unpacked or 0 },
         _transferSize = o.transferred },
   }
end

local function har_file(entries, loaded)
   local path = scratch.path()
   scratch.write(path, json.encode { log = {
      version = "1.2", pages = { { id = "page_1", pageTimings = { onLoad = loaded or -1 } } },
      entries = entries,
   } })
   return path
end

describe("a HAR file", function()
   local document = { url = "https://fg.test/", at = 0, took = 100, size = 5000 }

   it("says of what a page is made, and what waits for what", function()
      local list = assert(har.read(har_file({
         entry(document),
         entry { url = "https://fg.test/a/app.js?v=2", at = 150, took = 200, size = -1, transferred = 70000,
            unpacked = 300000 },
         entry { url = "https://fg.test/style.css", at = 80, took = 70, size = 900, by = "https://fg.test/" },
         entry { url = "data:image/png;base64,AA", at = 90, took = 0, size = 1 },
         entry { url = "https://fg.test/cached.png", at = 95, took = 1, size = 1, cache = "disk" },
         entry { url = "https://fg.test/font", at = 355, took = 20, size = -1, unpacked = 40000,
            by = "https://fg.test/style.css" },
         entry { url = "https://fg.test/late", at = 360, took = 20, size = 10 },
         entry { url = "https://fg.test/of-another-page", at = 360, took = 20, size = 10, page = "page_2" },
         entry { url = "https://fg.test/poll", at = 900, took = 20, size = 10 },
      }, 500)))
      local got = {}
      for i, o in ipairs(list) do
         got[i] = ("%s %d after %d, %.0f ms"):format(o.name, o.size, o.after, o.think * 1000)
      end
      assert.same({
         "fg.test 5000 after 0, 0 ms",
         "style.css 900 after 1, 0 ms", -- its document was not over when it began
         "app.js 70000 after 2, 0 ms", -- nothing said why: style.css was over last
         "font 40000 after 2, 205 ms", -- the browser said so, whatever else was over
         "late 10 after 3, 10 ms",
      }, got)
   end)

   it("is loaded as a list of objects is", function()
      local path = har_file { entry(document),
         entry { url = "https://fg.test/a", at = 110, took = 10, size = 3000 } }
      local row = run("l4.tests=[PAGE]", "l4.duration=1s", "l4.page={har: " .. path .. "}")[1]
      assert.same({ "fg.test", "a" }, { row.page.objects[1].name, row.page.objects[2].name })
      assert.near(10e6, row.page.objects[2].ready_ns - row.page.objects[1].end_ns, 1)
      assert.equal(8000, row.page.bytes)
   end)

   it("that cannot be read as often as needed is refused", function()
      local pipe = scratch.path()
      scratch.shell(("mkfifo '%s'"):format(pipe))
      for _, path in ipairs { "/dev/zero", pipe } do
         local output, status = scratch.shell(("'%s' check '%s' --set 'l4.page={har: %s}' 2>&1"):format(
            uv.exepath(), CONFIG, path))
         assert.equal(2, status)
         assert.matches(('l4.page.har: "%s" is no regular file; expected the path of a file'):format(path), output,
            1, true)
         assert.is_nil(output:find "nothing to load") -- what the group lacks then says nothing
      end
   end)

   it("that is none is refused with its entry", function()
      local function fault(entries)
         return select(2, har.read(har_file(entries)))
      end
      local empty = scratch.path()
      scratch.write(empty, "<html>")
      assert.matches("is no HAR file: no JSON", select(2, har.read(empty)))
      scratch.write(empty, "[1]")
      assert.matches("is no HAR file: no log.entries", select(2, har.read(empty)))
      assert.matches("/nowhere: No such file", select(2, har.read "/nowhere"))
      assert.matches("nothing in it came by HTTP", fault {})
      local bad = entry(document)
      bad.startedDateTime = "yesterday"
      assert.matches("entry 2: no startedDateTime and time", fault { entry(document), bad })
      assert.matches("entry 1: neither response.bodySize nor",
         fault { entry { url = "http://a/", at = 0, took = 1, size = -1, unpacked = -1 } })
      bad = entry(document)
      bad.request.url = 7
      assert.matches("entry 1: no request.url", fault { bad })
   end)
end)

describe("a plan with pages", function()
   local function problem(set, tests)
      local plan, problems = plans.load_text(([[
test: l4
ports: {east: {device: wire0, ipv4: 198.18.1.2/24}, west: {device: wire1, ipv4: 198.18.1.3/24}}
reference_device: {rate: 1Gbps}
l4:
  tests: [%s]
  %s
]]):format(tests or "PAGE", set), "pages", {})
      return plan and "" or tostring(problems)
   end

   it("is refused with the place of what is wrong", function()
      assert.equal("", problem "page: {objects: [1, 2, {size: 3, name: c, after: 2}, {size: 4, after: c}]}")
      assert.matches("l4.page: PAGE has nothing to load; expected either objects or har",
         problem "page: {connections: 2}")
      assert.matches("l4.page: objects and a HAR file", problem "page: {objects: [1], har: x}")
      assert.matches("l4.page.har: /nowhere: No such file", problem "page: {har: /nowhere}")
      assert.matches("pages:6:%d+: l4.page.objects%[2%].after: there is no object x; expected the name of an object, 1 to 2 or none",
         problem "page: {objects: [1, {size: 1, after: x}]}")
      assert.matches("l4.page.objects%[2%].after: object 2 waits for itself",
         problem "page: {objects: [1, {size: 1, after: 3}, {size: 1, after: 2}]}")
      assert.matches("l4.page.objects%[1%].after: the document waits for another object",
         problem "page: {objects: [{size: 1, after: 2}, 1]}")
      assert.matches("l4.page.objects: 501 given; expected at most 500",
         problem("page: {objects: [" .. ("1, "):rep(500) .. "1]}"))
      assert.matches("l4.load.think: PAGE3 loads a page after the other",
         problem("load: {think: 1s}\n  page: {objects: [1]}", "PAGE3"))
      assert.matches("l4.http.post: PAGE asks by GET; expected 0",
         problem "http: {post: 5}\n  page: {objects: [1]}")
      assert.matches("l4.connections: 10000000 objects at a time; expected at most 4000000, of 100 each",
         problem("connections: 100000\n  page: {objects: [" .. ("1, "):rep(99) .. "1]}"))
      assert.matches("l4.load.cycles", problem("load: {cycles: 2}\n  page: {objects: [1]}", "TLS_PAGE"))
      assert.equal("", problem("load: {cycles: 2}", "HTTP"))
   end)
end)
