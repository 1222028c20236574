-- SPDX-License-Identifier: BSD-3-Clause
local Database = require "framegauge.core.sqlite"
local fake_runs = require "fake_runs"
local history_truth = require "history_truth"
local Index = require "framegauge.history.index"
local json = require "framegauge.text.json"
local scratch = require "scratch"
local trend = require "framegauge.history.trend"
local uv = require "luv"

local EXPECT = "lab --expect 'no regression'"

local function with_index(root, fn, o)
   local index = Index.open(root, o)
   local ok, err = pcall(fn, index)
   index:close()
   assert(ok, err)
end

local function folders(root)
   local list = {}
   with_index(root, function(index)
      for i, run in ipairs(index:runs()) do
         list[i] = run.folder
      end
   end)
   return table.concat(list, " ")
end

-- The command: its exit status and what it prints.
local function command(root, arguments)
   local text, status = scratch.shell(("'%s' history --in '%s' %s 2>&1"):format(uv.exepath(), root,
      arguments))
   return status, text
end

describe("the index of runs", function()
   teardown(scratch.remove)

   it("follows the folders: new, changed and removed runs", function()
      local root = fake_runs.of { 100000, 100100 }
      assert.equal("run-01 run-02", folders(root))
      fake_runs.add(root, "later/run-03", 3, 100050)
      fake_runs.add(root, "run-01", 1, 99000)
      scratch.shell(("rm -r '%s/run-02'"):format(root))
      assert.equal("run-01 later/run-03", folders(root))
      with_index(root, function(index)
         assert.equal(99000, index:figures("run-01")[1].value)
         assert.equal("SW-9", index:runs("lab")[1].device)
         assert.same({}, index:runs "other")
      end)
   end)

   it("is made again when it is missing, damaged, or of another version", function()
      local root = fake_runs.of { 100000, 100100 }
      local path = root .. "/" .. Index.FILE
      assert.equal("run-01 run-02", folders(root))
      os.remove(path)
      assert.equal("run-01 run-02", folders(root))
      scratch.write(path, "this is no database, and long enough to be looked at as one")
      assert.equal("run-01 run-02", folders(root))
      local whole = scratch.read(path)
      scratch.write(path, whole:sub(1, 4096) .. ("\255"):rep(#whole - 4096))
      assert.equal("run-01 run-02", folders(root))
      local db = Database.open(path)
      db:run "DROP TABLE figures"
      db:run "PRAGMA user_version = 99"
      db:close()
      assert.equal("run-01 run-02", folders(root))
   end)

   it("lets others run while many runs are read", function()
      local root, paused = fake_runs.of { 100000, 100100, 100200 }, 0
      local function count()
         paused = paused + 1
      end
      with_index(root, function() end, { pause = count })
      assert.equal(3, paused)
      with_index(root, function() end, { pause = count })
      assert.equal(3, paused)
   end)

   it("reports a result that cannot be read, and reads the others", function()
      local root = fake_runs.of { 100000 }
      scratch.shell(("mkdir '%s/broken'"):format(root))
      scratch.write(root .. "/broken/result.json", "{")
      local status, text = command(root, "")
      assert.equal(0, status)
      assert.matches("run%-01", text)
      assert.matches("Not read: broken: .*is not the result of a run", text)
   end)

   it("rolls back what a failed transaction wrote", function()
      local db = Database.open ":memory:"
      db:run "CREATE TABLE t (x)"
      assert.has_error(function()
         db:transaction(function()
            db:run("INSERT INTO t VALUES (?)", 1)
            db:run "INSERT INTO nowhere VALUES (1)"
         end)
      end)
      assert.same({}, db:run "SELECT * FROM t")
      db:run("INSERT INTO t VALUES (?), (?), (?)", "a'b", nil, 0.1)
      assert.same({ { x = "a'b" }, {}, { x = 0.1 } }, db:run "SELECT * FROM t")
      db:close()
   end)
end)

describe("the history of a plan", function()
   teardown(scratch.remove)

   local GOOD = { 100000, 100010, 99990, 100005, 100000, 99995 }

   local function with(...)
      local list = { unpack(GOOD) }
      for _, fps in ipairs { ... } do
         list[#list + 1] = fps
      end
      return list
   end

   it("finds where a level changed, with the firmware of both sides", function()
      local o = { [7] = { firmware = "2.0" }, [8] = { firmware = "2.0" } }
      local root = fake_runs.of(with(98000, 98010), o)
      with_index(root, function(index)
         local series = trend.of(index:points "lab")
         assert.equal(1, #series)
         local change = series[1].changes[1]
         assert.same({ 1, 7, "worse", 2, "firmware 2.0, before 1.0" },
            { #series[1].changes, change.at, change.mark, change.runs, change.device })
         assert.near(-2, change.change_percent, 0.02)
      end)
   end)

   it("leaves out what is not the device's", function()
      local root = fake_runs.of(with(50000), { [7] = { validity = "tester-limited" } })
      local status, text = command(root, "lab --trend --expect 'no regression'")
      assert.equal(0, status)
      assert.matches("1 without a change. Left out, because not the device's: 1 figure", text)
   end)

   it("takes no difference for a change that the uncertainties leave open", function()
      assert.equal(0, (command(fake_runs.of(with(99905)), EXPECT)))
   end)

   it("tells levels apart by the bounds that face each other", function()
      local points = {}
      for i = 1, 20 do
         local value = i <= 10 and 100 or 90
         points[i] = { valid = "yes", value = value, low = i <= 10 and 100 or 84, high = i <= 10 and 106 or 90,
            side = ">=", title = "Throughput", name = "64 bytes", figure = "throughput_fps", run = {} }
      end
      local change = trend.of(points)[1].changes[1]
      assert.same({ 11, "worse" }, { change.at, change.mark })
   end)

   it("lets a CI job fail at a new regression, and not for ever", function()
      local status, text = command(fake_runs.of(with(98000)), EXPECT)
      assert.equal(1, status)
      assert.matches("Regression: Throughput, 64 bytes, both directions: Throughput was 100000 and is 98000",
         text)
      assert.equal(0, (command(fake_runs.of(with(102000)), "lab.yaml --expect 'no regression'")))
      assert.equal(1, (command(fake_runs.of(with(98000, 98000, 98000, 98000, 98000)), EXPECT)))
      local old = fake_runs.of(with(98000, 98000, 98000, 98000, 98000, 98000))
      assert.equal(0, (command(old, EXPECT)))
   end)

   it("is exported, one line for each figure of each run", function()
      local root, path = fake_runs.of(GOOD), scratch.path()
      assert.equal(0, (command(root, ("--csv '%s'"):format(path))))
      local text = scratch.read(path)
      assert.equal(1 + #GOOD, select(2, text:gsub("\n", "")))
      assert.matches("2026%-03%-01T09:00:00Z,lab,rfc2544,run%-01,SW%-9,1.0,,Throughput,", text)
      local _, listed = command(root, "lab --trend --json")
      assert.equal(#GOOD, #json.decode(listed).series[1].points)
   end)

   it("names what is wrong with the command line", function()
      local root = fake_runs.of(GOOD)
      for arguments, message in pairs {
         ["other --trend"] = "there is no run of other; there are runs of: lab",
         ["lab --expect fps"] = "history: --expect takes 'no regression', not 'fps'",
         ["--trend"] = "history: --trend and --expect need the name of a plan",
      } do
         local status, text = command(root, arguments)
         assert.equal(2, status)
         assert.matches(message, text, 1, true)
      end
      assert.equal(2, (command(root .. "/none", "")))
   end)

   it("is as good as its page says", function()
      assert.equal(history_truth.page(),
         scratch.read(scratch.PROJECT .. "docs/explanation/change-points.md"))
   end)

   it("answers from an index of many runs without reading them", function()
      local root = fake_runs.of(GOOD)
      assert.matches("run%-01", folders(root))
      local path = root .. "/run-01/result.json"
      scratch.shell(("cp -p '%s' '%s.old'"):format(path, path))
      scratch.write(path, (" "):rep(uv.fs_stat(path).size))
      scratch.shell(("touch -r '%s.old' '%s'"):format(path, path))
      assert.matches("run%-01", folders(root))
   end)
end)
