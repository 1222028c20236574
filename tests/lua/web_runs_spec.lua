-- SPDX-License-Identifier: BSD-3-Clause
local fake_runs = require "fake_runs"
local json = require "framegauge.text.json"
local runs = require "framegauge.web.runs"
local scratch = require "scratch"
local uv = require "luv"

-- What the program prints, read as JSON.
local function printed(arguments, ...)
   local text = scratch.shell(("'%s' %s"):format(uv.exepath(), arguments:format(...)))
   return json.decode(text)
end

local function answer(object)
   return json.decode(json.encode(object))
end

-- The status with which the page refuses.
local function refusal(fn, ...)
   local ok, err = pcall(fn, ...)
   return not ok and (err.http_status or err.status)
end

describe("earlier runs on the page", function()
   local root

   setup(function()
      root = fake_runs.of({ 100000, 100010, 99990, 100005, 100000, 99995, 98000, 98010 },
         { [7] = { firmware = "2.0" }, [8] = { firmware = "2.0" } })
      scratch.shell(("mkdir -p '%s/broken'"):format(root))
      scratch.write(root .. "/broken/result.json", "{")
   end)
   teardown(scratch.remove)

   it("are listed, the newest first", function()
      local list = runs.list(root)
      assert.equal(8, #list)
      assert.same({ run = "run-08", plan = "lab", test = "rfc2544", started = "2026-03-08T09:00:00Z",
         device = "SW-9", firmware = "2.0", validity = list[1].validity, outcome = list[1].outcome }, list[1])
      assert.same({}, runs.list(root .. "/nowhere"))
   end)

   it("are gathered by device and firmware, the last first", function()
      local list = runs.devices(root)
      assert.equal(2, #list)
      assert.same({ device = "SW-9", firmware = "2.0", plan = "lab", test = "rfc2544", runs = 2,
         run = "run-08", started = "2026-03-08T09:00:00Z", validity = list[1].validity,
         outcome = list[1].outcome }, list[1])
      assert.same({ "1.0", 6, "run-06" }, { list[2].firmware, list[2].runs, list[2].run })
      assert.same({}, runs.devices(root .. "/nowhere"))
   end)

   it("have the history that the program prints", function()
      local found = answer(runs.history(root, "lab"))
      assert.same(printed("history lab --in '%s' --trend --json", root), found)
      local change = found.series[1].changes[1]
      assert.same({ 1, 7, "worse", "run-07", "firmware 2.0, before 1.0" },
         { #found.series, change.at, change.mark, change.folder, change.device })
   end)

   it("are compared as the program does", function()
      local found = answer(runs.compare(root, "run-06", "run-07"))
      assert.same(printed("compare '%s/run-06' '%s/run-07' --json", root, root), found)
      local line = found.tables[1].lines[1]
      assert.same({ 1, "worse", 99995, 98000 }, { found.worse, line.mark, line.before, line.after })
      assert.equal(0, runs.compare(root, "run-01", "run-02").worse)
   end)

   it("are only those of the index", function()
      fake_runs.add(root, ".hidden", 9, 1)
      local name = root:match "[^/]+$"
      for _, folder in ipairs {
         "", ".", "..", "broken", ".hidden", "run-01/../run-02", "../" .. name .. "/run-01",
      } do
         assert.equal(404, refusal(runs.compare, root, "run-01", folder), folder)
         assert.equal(404, refusal(runs.compare, root, folder, "run-01"), folder)
      end
      assert.equal(404, refusal(runs.history, root, "other"))
      assert.equal(404, refusal(runs.history, root .. "/nowhere", "lab"))
   end)
end)
