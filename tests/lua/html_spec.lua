-- SPDX-License-Identifier: BSD-3-Clause
local ansi = require "framegauge.text.ansi"
local fake_result = require "fake_result"
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local html = require "framegauge.report.html"
local plans = require "framegauge.plan"
local lines = require "framegauge.report.chart.lines"
local notes = require "framegauge.report.notes"
local result_schema = require "result_schema"
local scale = require "framegauge.report.chart.scale"
local scratch = require "scratch"
local terminal = require "framegauge.report.text"

local MOMENT = {
   started = "2026-03-14T09:30:00Z", elapsed_s = 75, host = "tester7", kernel = "Linux 6.1", cpu = "CPU",
   cpus = 8, command_line = { "framegauge", "run", "lab.yaml" },
}

-- What a strict parser finds: the page's text, and how often each element is there.
local function parse(page)
   local path = scratch.path()
   local file = assert(io.open(path, "wb"))
   file:write(page)
   file:close()
   local script = [[
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
print("".join(text for element in root.iter() if element.tag != "style" for text in element.itertext()))
]]
   local text, status = scratch.shell(("/usr/bin/python3 -c '%s' '%s' 2>&1"):format(script, path))
   assert.equal(0, status, text)
   return text
end

local function count(text, what)
   return select(2, text:gsub(what, "%0"))
end

describe("the row that a tile shows", function()
   it("is a valid one before others, whatever their figures", function()
      local list = { { x = 5, validity = "invalid" }, { x = 2, validity = "valid" }, { x = 1, validity = "valid" },
         { x = 9, validity = "tester-limited" }, { validity = "invalid" } }
      assert.equal(list[2], formatters.largest(list, "x"))
      assert.equal(list[2], formatters.largest(list, function(row) return row.x end))
      assert.equal(list[3], formatters.worst(list, "x", ">="))
      assert.is_nil(formatters.largest({ list[5] }, "x"))
   end)
end)

describe("the reasons of rows", function()
   it("name mixes as they are called", function()
      local function row(size)
         return { frame_size = size, direction = "both", validity = "invalid", reasons = { "why" } }
      end
      assert.matches("<li>64, 512 bytes, imix, both: ", h.render(formatters.reasons { row "imix", row(512), row(64) }), 1, true)
      assert.matches("<li>emix, both: ", h.render(formatters.reasons { row "emix" }), 1, true)
   end)
end)

describe("an element", function()
   it("escapes content and attributes, and nothing of ours", function()
      local text = h.render(h.p { title = [["'<]], "a<b&c ", h.b { "bold" }, false, { 1, nil, " 2" } })
      assert.equal("<p title=\"&quot;&#39;&lt;\">a&lt;b&amp;c <b>bold</b>1 2</p>", text)
   end)

   it("replaces what XML may not hold", function()
      assert.equal("a\239\191\189b\239\191\189\n", h.escape "a\27b\0\n")
   end)
end)

describe("a scale", function()
   local function texts(one)
      local list = {}
      for i, tick in ipairs(one.ticks) do
         list[i] = tick[2]
      end
      return table.concat(list, ",")
   end

   it("ends at a round number and writes round ones", function()
      local linear = scale.linear(1488095)
      assert.equal("0,500 k,1 M,1.5 M", texts(linear))
      assert.equal(0.5, linear(750000))
      assert.equal("0,0.2,0.4,0.6,0.8,1", texts(scale.linear(0)))
   end)

   it("is logarithmic where small values would lie flat", function()
      local wide = scale.fitting(1, 10000)
      assert.equal("1,10,100,1 k,10 k", texts(wide))
      assert.equal(0.5, wide(100))
      assert.equal("100 k,200 k,500 k,1 M,2 M,5 M", texts(scale.fitting(120e3, 4.9e6)))
      assert.equal(0.5, scale.fitting(2000, 10000)(5000))
   end)

   it("writes frame sizes that have room, and takes a single one", function()
      assert.equal("64,128,1518", texts(scale.points({ 64, 128, 1518, 1522 }, 0.05)))
      assert.equal(0.5, scale.points({ 64 }, 0.05)(64))
   end)
end)

describe("a chart of lines", function()
   it("has those in its legend that have a name", function()
      local function draw(name)
         return h.render(lines.draw { id = "c", title = "t", description = "d", caption = "c",
            rows = { { a = 1, b = 2 }, { a = 2, b = 3 } }, x = { of = "a", label = "x", scale = "exact" },
            y = { label = "y" }, lines = { { y = "b", plain = true, name = name } },
            say = function() return "" end })
      end
      assert.equal(1, count(draw "line", "h26\""))
      assert.equal(0, count(draw(nil), "h26\""))
   end)
end)

describe("the page", function()
   teardown(scratch.remove)

   it("is made of a result that can occur", function()
      local _, text = fake_result()
      local path = scratch.path()
      local file = assert(io.open(path, "wb"))
      file:write(text)
      file:close()
      local valid, wrong = result_schema.validate(path)
      assert.is_true(valid, wrong)
   end)

   it("is well-formed and says what was found, in all six tests", function()
      local text = parse(html.page(fake_result(), MOMENT))
      for _, what in ipairs {
         "Valid: the tester was not the limit",
         "899,541", "60.45", "604.49", "20.10", "39.50", "26,000", "6,911.00",
         "120.000",
         "no load passes without loss", "Mbit/s", "DPDK 99.1", "1.2.3", "2026-03-14 09:30 UTC", "tester7",
         "198.18.1.2/24", "1 Gbit/s L1", "kept to the procedure of RFC 2544", "a note", "0.0001",
      } do
         assert.matches(what, text, 1, true)
      end
   end)

   it("needs nothing from elsewhere and no script", function()
      local page = html.page(fake_result(), MOMENT)
      for _, what in ipairs { "https?:", "src=", "<script", "<link", "url%(", "@import", "javascript" } do
         assert.equal(0, count(page, what), what)
      end
   end)

   it("has the laboratory, its logo and the device's serial number at its head", function()
      local logo, nasty = scratch.path(), "<b>R. & \"D\"</b>"
      scratch.write(logo, "\137PNG\r\n\26\n" .. ("x"):rep(100))
      local result, wires = fake_result(), "test: rfc2544\nports: {a: {device: wire0}, b: {device: wire1}}"
      local function plan_with(picture)
         return plans.load_text(wires, "mine", { sets = { "lab.logo=" .. picture, "lab.operator=" .. nasty,
            "dut.serial=SN-7" } })
      end
      local plan = assert(plan_with(logo))
      result.plan.lab, result.plan.device_under_test = plan.lab, plan.device_under_test
      for _, page in ipairs { html.page(result, MOMENT), html.summary(result, MOMENT) } do
         assert.matches('src="data:image/png;base64,iVBORw0KGgp4', page, 1, true)
         assert.matches("Operator" .. nasty, parse(page), 1, true)
         assert.equal(0, count(page, "<b>R%."))
         assert.matches("SN-7", page, 1, true)
      end
      for _, image in ipairs { "https://example.com/x.png", "data:text/html;base64,PHA+", 7,
         "data:image/gif;base64,PHA+", "data:image/png;base64,x\" onerror=\"" } do
         result.plan.lab = { name = "mine", image = image }
         assert.equal(0, count(html.page(result, MOMENT), "<img"), image)
      end
      scratch.write(logo, "GIF89a")
      assert.matches("is no picture; expected a PNG, JPEG or SVG file", tostring(select(2, plan_with(logo))[1]),
         1, true)
      for text, is_svg in pairs {
         ["<svg/>"] = true, ["\239\187\191<?xml version='1.0'?>\n<!-- <p> --><!DOCTYPE svg>\n<svg xmlns='x'>"] = true,
         ["<!DOCTYPE svg [\n<!ENTITY a '>'>\n]><svg>"] = true, ["<html><body><svg width='1'></svg>"] = false,
         ["<!-- <svg> --><p>"] = false, ["<!-- <svg>"] = false, ["x<svg>"] = false, ["<svgs>"] = false,
      } do
         scratch.write(logo, text)
         assert.equal(is_svg, plan_with(logo) ~= nil, text)
      end
      assert.matches('"/dev/zero" is no regular file; expected', tostring(select(2, plan_with "/dev/zero")[1]), 1,
         true)
      scratch.write(logo, "<svg>" .. ("x"):rep(128 * 1024))
      assert.matches("is too large", tostring(select(2, plan_with(logo))[1]), 1, true)
      assert.matches(logo .. "0: No such file", tostring(select(2, plan_with(logo .. "0"))[1]), 1, true)
   end)

   it("takes no name for markup", function()
      local nasty = [[</title></h1><script>alert("1")</script>&amp;'"]] .. "\27[31m"
      local result = fake_result()
      result.plan.device_under_test = { name = nasty, firmware = nasty, notes = nasty }
      result.plan.description, result.ports[1].device = nasty, nasty
      result.trials[1].validity, result.trials[1].reasons = "invalid", { nasty }
      result.expectations = { { text = nasty, met = false } }
      local page = html.page(result, { host = nasty, command_line = { nasty } })
      assert.equal(0, count(page, "<script"))
      assert.matches([[</title></h1><script>alert("1")</script>&amp;'"]], parse(page), 1, true)
   end)

   it("is the same for the same result", function()
      assert.equal(html.page(fake_result(), MOMENT), html.page(fake_result(), MOMENT))
   end)

   it("has only the tests that were run", function()
      local result = fake_result()
      result.results = { throughput = result.results.throughput }
      local page = html.page(result, {})
      assert.matches("Latency at the throughput", page, 1, true)
      for _, what in ipairs { "Frame loss rate", "Back%-to", "System recovery", "section 26.2", "Reset" } do
         assert.equal(0, count(page, what), what)
      end
      result.results = { frame_loss = fake_result().results.frame_loss }
      assert.equal(0, count(parse(html.page(result, {})), "Throughput"))
   end)

   it("is there for a run that measured nothing", function()
      local page = html.page(fake_result {
         results = { throughput = {} }, trials = {}, validity = "incomplete", interrupted = true,
      }, {})
      assert.matches("The run was interrupted", parse(page), 1, true)
   end)

   it("tells first when the figures are not the device's or too low", function()
      for title, fields in pairs {
         ["The tester limited some results"] = { validity = "tester-limited" },
         ["Some figures could not be measured"] = { validity = "invalid" },
         ["The device fell short of a criterion"] = { expectations = { { text = "a", met = false } } },
         ["The device met its criteria"] = { expectations = { { text = "a", met = true } } },
         ["Not all criteria are decided"] = { expectations = { { text = "a", reason = "invalid" } } },
         ["No criterion was set"] = {},
      } do
         assert.matches(title, parse(html.page(fake_result(fields), {})), 1, true)
      end
   end)

   it("has two boxes, and in the second each criterion with its row, figure and verdict", function()
      local page = parse(html.page(fake_result { expectations = {
         { text = "throughput>=95%", met = false, row = "64 bytes", figure = "60 %" } } }, {}))
      assert.matches("Valid: the tester was not the limit", page, 1, true)
      assert.matches("Criterion throughput>=95%: not met (64 bytes: 60 %)", page, 1, true)
   end)

   it("has in the second what the device failed by, each reason once, and at most six", function()
      local result = fake_result { outcome = "fail" }
      local row = result.results.throughput[1]
      for i = 1, 9 do
         result.results.throughput[i] = setmetatable({ outcome = "fail",
            reasons = { i < 3 and "latency 8 us is above 1 us" or "reason " .. i } }, { __index = row })
      end
      result.results.bursty_traffic[1].outcome, result.results.bursty_traffic[1].reasons = "fail", { "in bursts" }
      local box = parse(html.page(result, {})):match "The device failed(.-)Throughput at"
      assert.matches("latency 8 µs is above 1 µs: Throughput, 64 bytes, both directions; and 1 more", box, 1, true)
      assert.matches("in bursts: .*And 3 more%.", box)
   end)

   it("says in words what ended a search, and separates thousands of an interval", function()
      local result = fake_result()
      result.results.throughput[2].limited_by = "maximum"
      result.results.bursty_traffic[1].interval_ns = 6811412
      local page = html.page(result, {})
      assert.matches('<td class="left">not reached</td>', page, 1, true)
      assert.matches(" every 6,811.41 µs", page, 1, true)
   end)

   local function first_screen(change)
      local result = fake_result()
      change(result)
      return assert(parse(html.page(result, MOMENT)):match "^(.-)Started")
   end

   it("has the worst direction in its tiles, named, and none that hides a failure", function()
      local page = first_screen(function(result)
         local row = result.results.latency[1]
         local other = setmetatable({ direction = "west->east", latency_mean_ns = 35060 }, { __index = row })
         row.direction, row.latency_mean_ns = "east->west", 20060
         result.results.latency = { row, other }
         local bursts = result.results.bursty_traffic
         for _, one in ipairs(bursts) do
            one.direction, one.burst_frames, one.frame_size = "east->west", 1024, 64
         end
         bursts[2].direction, bursts[2].interval_ns, bursts[2].validity = "west->east", nil, "valid"
      end)
      assert.matches("35.06", page, 1, true)
      assert.matches("the worst: west → east", page, 1, true)
      assert.is_nil(page:find("20.06", 1, true))
      assert.matches("no interval passes without loss; the worst: west → east", page, 1, true)
   end)

   it("does not call a device bad of which nothing was measured", function()
      local page = first_screen(function(result)
         result.validity = "tester-limited"
         result.results = { throughput = result.results.throughput }
         for _, row in ipairs(result.results.throughput) do
            row.validity, row.throughput_fps, row.throughput_percent = "tester-limited", nil, nil
         end
      end)
      assert.matches("Nothing was measured of the device", page, 1, true)
      assert.matches("not measured", page, 1, true)
      assert.is_nil(page:find("0 of ", 1, true))
   end)

   it("has duplicate frames and frames out of order, which no loss shows, and so has the terminal", function()
      local result = fake_result()
      for _, one in ipairs(result.trials) do
         one.directions = { { direction = "east->west", duplicates = 1, reordered = 0 },
            { direction = "west->east", duplicates = 3, reordered = 600 } }
         for _, d in ipairs(one.directions) do
            setmetatable(d, { __index = fake_result().trials[1].directions[1] })
         end
      end
      assert.same({ "east->west: 2 duplicate frames arrived in 2 trials; they count as received once, not as lost.",
         "west->east: 6 duplicate frames and 1,200 frames out of order arrived in 2 trials; they count as received once, not as lost." }, notes.disorder(result.trials))
      for _, page in ipairs { html.page(result, {}), terminal.render(result, ansi.new(false)) } do
         assert.matches("6 duplicate frames and 1,200 frames out of order", page, 1, true)
      end
      assert.same({}, notes.disorder(fake_result().trials))
   end)

   it("can be read without seeing: captions, headings of columns and rows, titles of charts", function()
      local page = html.page(fake_result(), MOMENT)
      assert.equal(count(page, "<table"), count(page, "<caption>"))
      assert.equal(count(page, "<figure "), count(page, "<desc "))
      assert.equal(count(page, "<figure "), count(page, 'role="img"'))
      assert.equal(0, count(page, "<th>") + count(page, "<th [^>]-class=\"[^\"]*\">"))
      local seen = {}
      for id in page:gmatch ' id="([^"]+)"' do
         assert.is_nil(seen[id], id)
         seen[id] = true
      end
   end)

   it("holds thousands of trials", function()
      local result = fake_result()
      for i = 1, 3000 do
         result.trials[i] = setmetatable({ trial = i }, { __index = result.trials[1 + i % 2] })
      end
      local few, many = #html.page(fake_result(), MOMENT), #html.page(result, MOMENT)
      assert.is_true((many - few) / 3000 < 500, (many - few) / 3000)
   end)

   it("shows the first of thousands of streams and uncertainties, and where all are", function()
      local result, known = fake_result(), { low = 1, high = 2, coverage = 0.95, components = {} }
      local rows = result.results.throughput
      result.plan.streams = {}
      for i = 1, 3000 do
         result.plan.streams[i] = { name = "stream" .. i }
         rows[i] = setmetatable({ uncertainty = { throughput_fps = known } }, { __index = rows[1] })
      end
      local page = html.page(result, MOMENT)
      assert.equal(100, count(page, "stream%d+"))
      assert.equal(1000, count(page, "95 %%"))
      local text = parse(page)
      assert.matches("and 2,900 moreplan.yaml has them all", text, 1, true)
      assert.matches("And 2,000 more: result.json has them all.", text, 1, true)
   end)
end)

describe("a table", function()
   local build = require("framegauge.report.html.tables").build

   -- A table of n columns, all of the same number of characters; the first two name the row.
   local function page_of(n, characters)
      local columns = {}
      for i = 1, n do
         columns[i] = { ("c%d"):format(i), "", function() return ("7"):rep(characters) end, id = i <= 2 }
      end
      return h.render(build { caption = "t", columns = columns, rows = { { reasons = { "so" } } },
         below = function() return "why" end })
   end

   it("that is wide is set small on paper, and on a page on its side", function()
      local function class_of(...)
         return page_of(...):match "<table(.-)>"
      end
      assert.equal("", class_of(8, 10))
      assert.equal(' class="dense"', class_of(11, 9))
      assert.equal(' class="dense broad"', class_of(11, 12))
      assert.equal(' class="dense"', class_of(22, 4))
   end)

   it("has a text below several rows once, at its end, with a letter at these rows", function()
      local texts = { "why", "so", "why" }
      local page = h.render(build { caption = "t", columns = { { "c", "", function(row) return row[1] end } },
         rows = { { "first", 1 }, { "second", 2 }, { "third", 3 } },
         below = function(row) return texts[row[2]] end })
      assert.equal("firstasecondsothirda\na why", (page:match "<tbody>(.*)</tbody>":gsub("<tr class=.below.><td[^>]*><span><sup>",
         "\n%0"):gsub("<[^>]*>", "")))
   end)

   it("that is too wide becomes several, each with what names the row", function()
      assert.is_nil(page_of(11, 12):find("(1 of", 1, true))
      local parts = {}
      for part in page_of(40, 8):gmatch '<div [^>]*class="scroll short"[^>]*>(.-)</div>' do
         local names = {}
         for name in part:gmatch '<th scope="col">(.-)</th>' do
            names[#names + 1] = name
         end
         assert.same({ "c1", "c2" }, { names[1], names[2] })
         assert.equal(#names, select(2, part:gsub("7777", "")) / 2)
         parts[#parts + 1] = table.concat(names, " ", 3) .. (part:find("why", 1, true) and " why" or "")
      end
      local wanted = {}
      for i = 3, 40 do
         wanted[#wanted + 1] = "c" .. i
      end
      assert.equal(3, #parts)
      assert.equal((table.concat(wanted, " ")), (table.concat(parts, " "):gsub(" why", "")))
      assert.matches("why", parts[1])
      assert.is_nil(parts[2]:find("why", 1, true))
   end)

   it("has the largest rate error of the trials of a test, also where that is too slow", function()
      local result = fake_result()
      for i, ppm in ipairs { -500, 100 } do
         result.trials[i].offered_fps = result.trials[i].intended_fps * (1 + ppm * 1e-6)
      end
      assert.matches("<td>−500</td>", html.page(result, MOMENT):match "The tester over all trials.-</table>", 1, true)
   end)

   it("of trials sums up the losses of more directions than a line has room for", function()
      local trials = require("framegauge.trial.result").TRIAL
      local function losses(n)
         local trial = { lost = 3, directions = {} }
         for i = 1, n do
            trial.directions[i] = { lost = i == n and 2 or i == 1 and 1 or 0 }
         end
         for _, row in ipairs(trials.rows) do
            if row.col == "by direction" then
               return row.of(trial)
            end
         end
      end
      assert.equal("1 + 0 + 0 + 2", losses(4))
      assert.equal("2 of 5, at most 2", losses(5))
   end)
end)
