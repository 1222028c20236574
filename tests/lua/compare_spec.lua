-- SPDX-License-Identifier: BSD-3-Clause
local beside = require "framegauge.report.beside"
local compare = require "framegauge.report.compare"
local fake_runs = require "fake_runs"
local fixture = require "fixture"
local json = require "framegauge.text.json"
local scratch = require "scratch"
local uncertainty = require "framegauge.report.uncertainty"
local uv = require "luv"

local CONFIG = scratch.PROJECT .. "configs/rfc2544-reference.yaml"

local function result(rows, plan)
   plan = plan or {}
   plan.test = "rfc2544"
   return { plan = plan, results = rows }
end

-- The throughput of a size, known to a share of it.
local function throughput(fps, share, validity, size)
   return { throughput = { {
      frame_size = size or 64, direction = "both", throughput_fps = fps, validity = validity or "valid",
      uncertainty = { throughput_fps = { low = fps, high = fps * (1 + share) } },
   } } }
end

local function only(found)
   assert.equal(1, #found.tables)
   assert.equal(1, #found.tables[1].lines)
   return found.tables[1].lines[1]
end

describe("a comparison", function()
   it("calls 1 % less worse at a resolution of 0.1 %, and the same at 2 %", function()
      local fine = compare.of(result(throughput(100000, 0.001)), result(throughput(99000, 0.001)))
      assert.same({ "worse", 1 }, { only(fine).mark, fine.worse })
      local coarse = compare.of(result(throughput(100000, 0.02)), result(throughput(99000, 0.02)))
      assert.same({ "same", 0 }, { only(coarse).mark, coarse.worse })
      assert.near(-1, only(fine).change_percent, 1e-9)
      assert.near(99, only(fine).resolution, 1e-6) -- what 99,000 leaves open above it
   end)

   it("does not judge latencies of different definitions", function()
      local function latency(ns, definition)
         return result { latency = { {
            frame_size = 64, direction = "a->b", latency_mean_ns = ns, definition = definition,
            validity = "valid", reasons = {}, error_bound_ns = 8,
         } } }
      end
      local found = compare.of(latency(-1980, "lifo"), latency(2110, "fifo"))
      assert.same({ "not judged", 0, "LIFO before, FIFO after" }, { only(found).mark, found.worse,
         only(found).definitions })
      assert.matches("Latency, not judged, because .* the same %(LIFO before, FIFO after%): 64 bytes, a%->b%.",
         compare.remarks(found, found.tables[1])[1])
      assert.equal("worse", only(compare.of(latency(2000, "fifo"), latency(3000, "fifo"))).mark)
      for definition, name in pairs { lifo = "LIFO", fifo = "FIFO" } do
         local points = compare.figures(latency(2110, definition))
         assert.equal(1, #points)
         assert.matches(", " .. name .. "$", points[1].name) -- a series of its own in a history
      end
   end)

   it("knows on which side a figure is better", function()
      local more = compare.of(result(throughput(99000, 0.001)), result(throughput(100000, 0.001)))
      assert.equal("better", only(more).mark)
      local function loss(lost)
         return result { frame_loss = { {
            frame_size = 64, direction = "a->b", load_percent = 100, loss_ratio = lost / 1e6,
            validity = "valid",
            uncertainty = { loss_ratio = { low = (lost - 20) / 1e6, high = (lost + 22) / 1e6 } },
         } } }
      end
      assert.equal("worse", only(compare.of(loss(100), loss(200))).mark)
      assert.equal("better", only(compare.of(loss(200), loss(100))).mark)
      assert.equal("same", only(compare.of(loss(100), loss(110))).mark)
   end)

   it("takes the sides of two intervals that face each other", function()
      -- at most 102,000 before, and at least 103,000 after
      local risen = only(compare.of(result(throughput(100000, 0.02)), result(throughput(103000, 0.02))))
      assert.equal("better", risen.mark)
      assert.near(2000, risen.resolution, 1e-6)
   end)

   it("does not judge a figure that the tester limited, but its verdict", function()
      local limited = compare.of(result(throughput(100000, 0.001)),
         result(throughput(50000, 0.001, "tester-limited")))
      local lines = limited.tables[1].lines
      assert.same({ "verdict", "worse", "valid", "tester-limited" },
         { lines[1].figure, lines[1].mark, lines[1].before_text, lines[1].after_text })
      assert.same({ "throughput_fps", "not judged" }, { lines[2].figure, lines[2].mark })
      assert.equal(1, limited.worse)
      assert.equal(0, compare.of(result(throughput(1, 0, "tester-limited")), result(throughput(2, 0))).worse)
      assert.equal(0, compare.of(result(throughput(1, 0, "not-applicable")),
         result(throughput(1, 0, "invalid"))).worse)
   end)

   it("calls pass to fail worse, whatever the figures, and fail to pass better", function()
      local function row(outcome)
         local found = throughput(100000, 0.001)
         found.throughput[1].outcome = outcome
         return result(found)
      end
      local fallen = compare.of(row "pass", row "fail")
      assert.same({ 1, "worse", "same" }, { fallen.worse, fallen.tables[1].lines[1].mark,
         fallen.tables[1].lines[2].mark })
      local risen = compare.of(row "fail", row "pass")
      assert.same({ 0, "better" }, { risen.worse, risen.tables[1].lines[1].mark })
      local function criterion(met)
         local one = row()
         one.expectations = { { text = "throughput>=1fps", met = met } }
         return one
      end
      assert.equal(1, compare.of(criterion(true), criterion(false)).worse)
      assert.equal(1, compare.of(criterion(true), criterion(nil)).worse)
      assert.equal(0, compare.of(criterion(false), criterion(true)).worse)
   end)

   it("names rows that one run alone has, and says when nothing was compared", function()
      local other = compare.of(result(throughput(100000, 0.001)), result(throughput(1, 0, nil, 128)))
      local only_one = other.tables[1]
      assert.same({ 1, 1, 0, 0 }, { #only_one.only_before, #only_one.only_after, other.worse, other.judged })
      local text = compare.text(other, false, tostring)
      assert.matches("only in the first run: 64 bytes", text, 1, true)
      assert.matches("only in the second run: 128 bytes", text, 1, true)
      assert.matches("Nothing could be compared", text, 1, true)
      assert.is_nil(compare.problem(compare.of(result(throughput(1, 0)), result(throughput(1, 0)))))
   end)

   it("takes the resolution of a figure whose uncertainty is not known", function()
      local function goodput(bps)
         return { plan = { test = "l4" }, results = { l4 = {
            { test = "TCP_STREAM", direction = "a->b", goodput_bps = bps, validity = "valid" } } } }
      end
      assert.equal("worse", only(compare.of(goodput(941e6), goodput(120e6))).mark)
      assert.equal("better", only(compare.of(goodput(120e6), goodput(941e6))).mark)
      local same = only(compare.of(goodput(941e6), goodput(930e6)))
      assert.equal("same", same.mark)
      assert.near(0.05 * (941e6 + 930e6), same.resolution, 1)
   end)

   it("leaves out no row, whatever tells rows of a method apart", function()
      local function stream(test, bps)
         return {
            test = test, direction = "a->b", goodput_bps = bps, validity = "valid",
               uncertainty = { goodput_bps = { low = bps - 1e6, high = bps + 1e6 } },
         }
      end
      local function tests(goodput)
         return { plan = { test = "l4" }, results = { l4 = {
            stream("TCP_STREAM", 9e8), stream("TCP_MAERTS", goodput), stream("TCP_MAERTS", goodput),
         } } }
      end
      local found = compare.of(tests(9e8), tests(8e8))
      assert.same({ 3, 2 }, { #found.tables[1].lines, found.worse })
      assert.matches("Better: 0. Worse: 2. The same within the resolution of both runs: 1. Changed: 0. Not judged: 0.", compare.text(found, false, tostring), 1, true)
      local function services(lost)
         local function service(name, ratio)
            return { name = name, configuration = {}, performance = { {
               direction = "a->b", tx = 1e6, loss_ratio = ratio, validity = "valid", failed = {},
               uncertainty = { loss_ratio = { low = ratio, high = ratio + 1e-5 } },
            } } }
         end
         return { plan = { test = "y1564" },
            results = { y1564 = { services = { service("voice", 0), service("video", lost) } } } }
      end
      local worse = compare.of(services(0), services(0.01))
      assert.same({ 2, 1 }, { #worse.tables[1].lines, worse.worse })
      assert.matches("video", worse.tables[1].lines[2].name)
   end)

   it("tells two devices apart where the bounds of their parameters do not overlap", function()
      local function device(min_fps, max_fps, direction)
         local row = { direction = direction or "a->b", validity = "valid", remarks = {},
            capacity = { fps = (min_fps + max_fps) / 2, min_fps = min_fps, max_fps = max_fps, coverage = 1 },
            buffer = { min_frames = 7, coverage = 1 } }
         local plan, results = { test = "characterise" }, { characterisation = { row } }
         uncertainty.add(plan, results, {}, {})
         return { plan = plan, results = results }
      end
      local apart = only(compare.of(device(1000, 1010), device(1020, 1040)))
      assert.same({ "Capacity", "better", 1005, 1030 }, { apart.heading, apart.mark, apart.before,
         apart.after })
      assert.equal("worse", only(compare.of(device(1020, 1040), device(1000, 1010))).mark)
      assert.equal("same", only(compare.of(device(1000, 1021), device(1020, 1040))).mark)
      -- between ports of other names
      assert.equal("better", only(compare.of(device(1000, 1010), device(1020, 1040, "x->y"))).mark)
   end)

   it("names what is different in the plans", function()
      local found = compare.of(result({}, { name = "a", rfc2544 = { drain = 2 } }),
         result({}, { name = "a", rfc2544 = { drain = 1, retries = 0 } }))
      assert.same({ "rfc2544.drain was 2 s and is 1 s", "rfc2544.retries was nothing and is 0" },
         found.differences)
   end)
end)

describe("runs side by side", function()
   it("have a column each, with every row that any of them has", function()
      local one, other = result(throughput(90000, 0.1)), result(throughput(80000, 0.1, "tester-limited"))
      other.results.throughput[2] = throughput(7000, 0.1, nil, 1518).throughput[1]
      local lines = beside.tables({ one, other, one })[1].lines
      local function line(i) return { lines[i].name, lines[i].heading, unpack(lines[i], 1, 3) } end
      assert.same({ "64 bytes, both directions", "Throughput", "90,000", ">=80,000", "90,000" }, line(1))
      assert.same({ "64 bytes, both directions", "Verdict", "valid", "tester-limited", "valid" }, line(2))
      assert.same({ "1518 bytes, both directions", "Throughput", nil, "7,000" }, line(3))
      assert.same({ "a", "b" }, beside.names { "/x/a", "y/b/" })
      assert.same({ "/x/a", "y/a" }, beside.names { "/x/a", "y/a" })
   end)
end)

describe("framegauge compare", function()
   teardown(scratch.remove)

   local function shell(command, ...)
      return scratch.shell(("'%s' %s 2>&1"):format(uv.exepath(), command:format(...)))
   end

   it("fails where a run is worse, and prints what is", function()
      local before, after = scratch.path(), scratch.path()
      for folder, capacity in pairs { [before] = "900kfps", [after] = "890kfps" } do
         local output, status = shell("run '%s' --quick --set reference_device.capacity=%s --out '%s' --set 'rfc2544.frame_sizes=[64]'", CONFIG, capacity, folder)
         assert.equal(0, status, output)
      end
      local output, status = shell("compare '%s' '%s'", before, after)
      assert.equal(1, status, output)
      assert.matches("64 bytes, both directions +Throughput, frames/s +899,%d+ +890,%d+ +%-%S+ +%-1.%d+ ",
         output)
      assert.matches("reference_device.capacity was 900000 and is 890000", output, 1, true)
      output, status = shell("compare '%s' '%s'", before, before)
      assert.equal(0, status, output)
      output, status = shell("compare '%s' '%s'", after, before)
      assert.equal(0, status, output)
      assert.matches("better", output)
   end)

   it("writes a page of its own with every figure", function()
      local root, path = fake_runs.of({ 100000, 98000 }, { [2] = { firmware = "<2&0>" } }), scratch.path()
      local output, status = shell("compare '%s/run-01' '%s/run-02' --html '%s'", root, root, path)
      assert.equal(1, status, output)
      assert.matches("Worse: 1.", output, 1, true)
      local page = scratch.read(path)
      for _, words in ipairs {
         "<!DOCTYPE html>", "One figure is worse", ">100,000<", ">98,000<", ">-2,000<", ">-2.00<",
         '<span class="verdict bad">worse</span>', "&lt;2&amp;0&gt;", "2026-03-02 09:00 UTC",
         'device_under_test.firmware was &quot;1.0&quot; and is', "default-src &#39;none&#39;",
      } do
         assert.matches(words, page, 1, true)
      end
      for _, words in ipairs { "<script", "http://", "https://", "src=" } do
         assert.is_nil(page:find(words, 1, true), words)
      end
      output, status = shell("compare '%s/run-01' '%s/run-02' --html /nowhere/page.html", root, root)
      assert.equal(4, status)
      assert.matches("cannot write /nowhere/page.html", output, 1, true)
   end)

   it("has a sister that prints many runs side by side, and a page of them", function()
      local root = fake_runs.of({ 100000, 98000, 97000 }, { [2] = { firmware = "<2&0>" } })
      local page = scratch.path()
      local output, status = shell("report '%s' --html '%s'", root, page)
      assert.equal(0, status, output)
      assert.matches("Figure +run%-01 +run%-02 +run%-03", output)
      assert.matches("Throughput, frames/s +100,000 +98,000 +97,000", output)
      local text = scratch.read(page)
      assert.matches("&lt;2&amp;0&gt;", text, 1, true)
      assert.matches("97,000", text, 1, true)
      local differs = "The plans differ: device_under_test.firmware."
      assert.matches(differs, text, 1, true)
      assert.matches(differs, output, 1, true)
      output, status = shell("report '%s/run-01' --html '%s'", root, page)
      assert.equal(2, status, output)
      local bin = scratch.path() -- a browser takes no other file for a page
      scratch.shell(("mkdir '%s' '%s/tmp'"):format(bin, bin))
      scratch.write(bin .. "/chromium", [[#!/bin/sh
for word; do
   case $word in --print-to-pdf=*) pdf=${word#*=} ;; file://*.html) page=${word#file://} ;; esac
done
cp "$page" "$pdf"
]])
      output, status = scratch.shell(("chmod +x '%s/chromium'; PATH='%s':/usr/bin:/bin TMPDIR='%s/tmp' '%s' report '%s' --pdf '%s/out.pdf' 2>&1; ls '%s/tmp'"):format(
         bin, bin, bin, uv.exepath(), root, bin, bin))
      assert.equal(text, scratch.read(bin .. "/out.pdf"))
      assert.same({ 0, nil }, { status, output:match "framegauge%-%S+" })
      output, status = shell("report '%s/run-01' '%s/none'", root, root)
      assert.equal(2, status)
      assert.matches("no result: .*/none/result.json.*framegauge report %-%-help", output)
   end)

   it("fails with a status of its own when no figure could be compared", function()
      local root = fake_runs.of({ 100000, 98000 }, { [2] = { firmware = "2" } })
      local path = root .. "/run-02/result.json"
      local changed = scratch.read(path):gsub('"frame_size": *64', '"frame_size": 128')
      scratch.write(path, changed)
      local output, status = shell("compare '%s/run-01' '%s/run-02'", root, root)
      assert.equal(3, status, output)
      assert.matches("Nothing could be compared", output, 1, true)
   end)

   it("is not decided where a run was interrupted, and refuses one that was damaged", function()
      local good, copy = fixture.run "traffic", scratch.path()
      scratch.shell(("cp -r '%s' '%s'"):format(good, copy))
      local path = copy .. "/result.json"
      local whole = scratch.read(path)
      local function compared(change)
         local damaged = json.decode(whole)
         change(damaged)
         scratch.write(path, json.encode(damaged))
         local output, status = shell("compare '%s' '%s'", good, copy)
         return status, output
      end
      local status, output = compared(function(r) r.interrupted = true end)
      assert.equal(3, status, output)
      assert.matches("Worse: 0%. .*A run was interrupted", output)
      for key, change in pairs {
         ["results.traffic[1]: \"x\" is no record"] = function(r) r.results.traffic[1] = "x" end,
         ["results.traffic[1].loss_ratio: \"x\" is no number"] = function(r)
            r.results.traffic[1].loss_ratio = "x"
         end,
         ["results.traffic[1].validity: \"maybe\" is no known word"] = function(r)
            r.results.traffic[1].validity = "maybe"
         end,
         ["plan.test: no test of this program"] = function(r) r.plan = nil end,
      } do
         status, output = compared(change)
         assert.equal(2, status, output)
         assert.matches(path .. " is damaged: " .. key, output, 1, true)
      end
   end)

   it("refuses plans whose laboratory or device is none, as its sister does", function()
      local root, page = fake_runs.of { 100000, 98000 }, scratch.path()
      local path = root .. "/run-02/result.json"
      local whole = scratch.read(path)
      for key, value in pairs { lab = 7, device_under_test = { name = 7 }, name = { "x" } } do
         local damaged = json.decode(whole)
         damaged.plan[key] = value
         scratch.write(path, json.encode(damaged))
         for _, command in ipairs { "compare", "report" } do
            local output, status = shell("%s '%s/run-01' '%s/run-02' --html '%s'", command, root, root, page)
            assert.equal(2, status, output)
            assert.matches(path .. " is damaged: ", output, 1, true)
         end
      end
   end)

   it("says so when there is nothing to compare", function()
      local output, status = shell("compare /nowhere /nowhere")
      assert.equal(2, status)
      assert.matches("no result: /nowhere/result.json.*framegauge compare %-%-help", output)
   end)
end)
