-- SPDX-License-Identifier: BSD-3-Clause

-- Several runs against several: the spread is known, and a change is more than it explains.
local compare = require "framegauge.report.compare"
local compare_truth = require "compare_truth"
local fake_runs = require "fake_runs"
local json = require "framegauge.text.json"
local scratch = require "scratch"
local tables = require "framegauge.core.tables"
local uv = require "luv"

-- Runs with a throughput each, known to +- 10 frames/s. @param o  more fields of each row
local function runs(list, o)
   return tables.map(list, function(fps)
      local row = { frame_size = 64, direction = "both", throughput_fps = fps, validity = "valid",
         uncertainty = { throughput_fps = { low = fps - 10, high = fps + 10 } } }
      for key, value in pairs(o or {}) do
         row[key] = value
      end
      return { plan = { test = "rfc2544" }, results = { throughput = { row } } }
   end)
end

local function only(before, after)
   local found = compare.of(before, after)
   assert.equal(1, #found.tables[1].lines)
   return found.tables[1].lines[1]
end

describe("several runs against several", function()
   teardown(scratch.remove)

   it("find what their page says", function()
      local page = scratch.read(scratch.PROJECT .. "docs/explanation/several-runs.md")
      assert.matches(compare_truth.line("two values", 3), page, 1, true) -- one of its lines, which are alike
   end)

   it("tell a step from their spread, with the chance of its distribution", function()
      local before = runs { 1000, 1100, 1200 }
      local same = only(before, runs { 900, 1000, 1100 }) -- t = 1.22, 4 degrees of freedom
      assert.same({ "same", -100, 20 }, { same.mark, same.change, same.resolution })
      assert.near(0.2879, same.chance, 1e-4)
      local worse = only(before, runs { 700, 800, 900 }) -- t = 3.67
      assert.near(0.02131, worse.chance, 1e-5)
      assert.same({ "worse", 1100, 800 }, { worse.mark, worse.before, worse.after })
      assert.equal("better", only(runs { 700, 800, 900 }, before).mark)
   end)

   it("ask more of each figure where there are more", function()
      local function with_others(list, count)
         local all = runs(list)
         for i, one in ipairs(all) do
            for size = 1, count do
               one.results.throughput[size + 1] = runs({ 1000 + i })[1].results.throughput[1]
               one.results.throughput[size + 1].frame_size = 64 + size
            end
         end
         return all
      end
      local function found(count)
         return compare.of(with_others({ 1000, 1100, 1200 }, count), with_others({ 700, 800, 900 }, count))
      end
      assert.same({ 1, 0 }, { found(1).worse, found(2).worse }) -- 0.0213 times 2, and times 3
      assert.near(0.0639, found(2).tables[1].lines[1].adjusted, 1e-4)
   end)

   it("call no change one that the resolution hides, and any other where no run varies", function()
      assert.equal("same", only(runs { 1000, 1000, 1000 }, runs { 985, 985, 985 }).mark)
      assert.equal("worse", only(runs { 1000, 1000, 1000 }, runs { 979, 979, 979 }).mark)
   end)

   it("leave out what is not the device's, and do not judge what is left of too few", function()
      local after = runs { 700, 800, 900, 5 }
      after[4].results.throughput[1].validity = "tester-limited"
      local found = compare.of(runs { 1000, 1100, 1200 }, after)
      local verdict, figure = found.tables[1].lines[1], found.tables[1].lines[2]
      assert.same({ "changed", "valid (3)", "valid (3), tester-limited (1)" },
         { verdict.mark, verdict.before_text, verdict.after_text })
      assert.same({ "worse", { 700, 800, 900 } }, { figure.mark, figure.after_values })
      after[1].results.throughput[1].validity = "invalid"
      assert.equal("not judged", compare.of(runs { 1000, 1100, 1200 }, after).tables[1].lines[2].mark)
   end)

   it("call a verdict worse that all had and none has", function()
      local pass, fail = { outcome = "pass" }, { outcome = "fail" }
      local before, after = runs({ 1, 1, 1 }, pass), runs({ 1, 1, 1 }, fail)
      assert.equal("worse", compare.of(before, after).tables[1].lines[1].mark)
      assert.equal("better", compare.of(after, before).tables[1].lines[1].mark)
      after[1] = runs({ 1 }, pass)[1]
      local some = compare.of(before, after)
      assert.same({ "changed", 0 }, { some.tables[1].lines[1].mark, some.worse })
      assert.equal(1, #compare.of(before, before).tables[1].lines)
   end)

   local function shell(command, ...)
      return scratch.shell(("'%s' %s 2>&1"):format(uv.exepath(), command:format(...)))
   end

   it("are given as lists or as folders that hold them, and make text, JSON and a page", function()
      local before, after = fake_runs.of { 100000, 99000, 101000 }, fake_runs.of { 90000, 91000, 92000 }
      local page = scratch.path()
      local output, status = shell("compare '%s' '%s' --html '%s'", before, after, page)
      assert.equal(1, status, output)
      assert.matches("Throughput, frames/s +100,000 +1,000 +91,000 +1,000 +%-9,000 +%-9.00 +%S+ +0.0008 +worse", output)
      assert.matches("3 runs before, 3 after. Figures are medians.", output, 1, true)
      assert.matches("Worse: 1. Not shown to differ: ", output, 1, true)
      for _, words in ipairs { "One figure is worse", ">0.0008<", "run-02", "Welch", ">1,000<" } do
         assert.matches(words, scratch.read(page), 1, true)
      end
      local listed = shell("compare --before '%s'/run-0? --after '%s'/run-01 '%s'/run-02 '%s'/run-03",
         before, after, after, after)
      assert.equal(output, listed)
      local found = json.decode((shell("compare '%s' '%s' --json", before, after)))
      assert.same({ before = 3, after = 3 }, found.runs)
   end)

   it("are three at least on each side, and of one test", function()
      local root = fake_runs.of { 100000, 99000, 101000 }
      for _, wrong in ipairs {
         { "--before '%s'/run-01 '%s'/run-02 --after '%s'",
            "2 against 3 runs: to know their spread, give 3" },
         { "'%s' '%s'/run-01 --all", "3 against 1 runs" },
         { "'%s'", "give BEFORE and AFTER" }, { "--before '%s'", "give BEFORE and AFTER" },
         { "'%s' '%s' --before '%s' --after '%s'", "give BEFORE and AFTER" },
      } do
         local output, status = shell("compare " .. wrong[1]:gsub("%%s", root))
         assert.equal(2, status, output)
         assert.matches(wrong[2], output, 1, true)
      end
   end)

   it("find a reference device that loses more, and none that loses as before", function()
      local function three(seeds, loss)
         local root = scratch.path()
         scratch.shell(("mkdir '%s'"):format(root))
         for i, seed in ipairs(seeds) do
            local output, status = shell("run '%sconfigs/traffic-reference.yaml' --set traffic.duration=200ms --set reference_device.rate=100Mbps --set reference_device.loss_every=0 --set reference_device.loss_random=%s --set reference_device.seed=%d --set streams.back.rate=10%% --out '%s/run-%d'", scratch.PROJECT, loss, seed, root, i)
            assert.equal(0, status, output)
         end
         return root
      end
      local before = three({ 1, 2, 3 }, "0.5%")
      local output, status = shell("compare '%s' '%s'", before, three({ 4, 5, 6 }, "0.5%"))
      assert.equal(0, status, output)
      output, status = shell("compare '%s' '%s'", before, three({ 7, 8, 9 }, "5%"))
      assert.equal(1, status, output)
      assert.matches("[Ll]oss[^\n]+worse", output)
   end)
end)
