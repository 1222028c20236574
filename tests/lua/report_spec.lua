-- SPDX-License-Identifier: BSD-3-Clause
local ansi = require "framegauge.text.ansi"
local conformance = require "framegauge.methods.rfc2544.conformance"
local csv = require "framegauge.text.csv"
local fake_plan = require "fake_plan"
local fields = require "framegauge.methods.rfc2544.result"
local Folder = require "framegauge.report.folder"
local format = require "framegauge.text.format"
local json = require "framegauge.text.json"
local progress = require "framegauge.text.progress"
local scratch = require "scratch"
local show = require "framegauge.text.show"
local text = require "framegauge.report.text"

local function row(o)
   local r = {
      frame_size = 64, direction = "both", validity = "valid", limited_by = "loss", reasons = {},
      theoretical_fps = 1488095, throughput_fps = 899541.8017578125, throughput_percent = 60.44921875,
      throughput_l1_mbps = 604.49209, throughput_l2_mbps = 460.5654025, upper_fps = 900995.01953125,
      resolution_fps = 1488.095,
      loss_tolerance_ratio = 0, trial_s = 60, trials = 12, lower_trial = 12, upper_trial = 9,
      evidence = { late = 0, refused = 3, tester_drops = 0, poll_gap_max_ns = 12000 },
      latency = {
         count = 1000, min_ns = 20000, mean_ns = 20512.5, p50_ns = 20479, p99_ns = 20991, p999_ns = 21250,
         max_ns = 21250, source = "wire", error_bound_ns = 8, definition = "first bit to first bit (FIFO)",
      },
   }
   for key, value in pairs(o or {}) do
      r[key] = value
      if value == "none" then
         r[key] = nil
      end
   end
   return r
end

describe("numbers for people", function()
   it("have digits where a rate is slow", function()
      local function written(key, value)
         return (show.write({ key, "number" }, value))
      end
      assert.equal("0.5", written("load_fps", 0.5))
      assert.equal("0.000277", written("load_fps", 1 / 3600))
      assert.equal("9.99", written("load_fps", 9.999))
      assert.equal("3", written("load_fps", 3))
      assert.equal("0", written("load_fps", 0))
      assert.equal("123", written("load_fps", 123.9))
      assert.equal("0.000336", written("offered_l1_mbps", 0.000336))
      assert.equal("0.00", written("offered_l1_mbps", 0))
      assert.equal("1.50", written("offered_l1_mbps", 1.5))
      assert.matches("  0.5 fps  ", progress.line {
         test = "traffic", trial = 1, of = 1, load_fps = 0.5, missing = 0, elapsed_s = 0,
      }, 1, true)
   end)

   it("are never made better than they are", function()
      assert.equal("1,488,095", format.count(1488095.9))
      assert.equal("1,000.00", format.decimal(999.998, 2))
      assert.equal("0.05", format.decimal(0.05, 2))
      assert.equal("-0.40", format.decimal(-0.3994, 2)) -- latency below zero: a cut-through device, LIFO
      assert.equal("-1,234.50", format.decimal(-1234.5, 2))
      assert.equal("0.00", format.decimal(-0.001, 2))
      assert.equal("1 frame, 2 frames", format.plural(1, "frame") .. ", " .. format.plural(2, "frame"))
      assert.equal("0:07 12:34 1:02:03",
         format.clock(7) .. " " .. format.clock(754) .. " " .. format.clock(3723))
   end)
end)

describe("JSON", function()
   it("writes declared keys first and sorts the others", function()
      assert.equal('{"z":1,"a":2,"b":3}', json.encode({ b = 3, a = 2, z = 1 }, { order = { "z" } }))
   end)

   it("writes whole numbers plainly and others with the digits that bring them back", function()
      local values = {
         0, -0, 1e15, -42, 9007199254740991, 0.1, 1 / 3, 73.33984375, 1e300, 5e-324, 234.96200000000002,
      }
      assert.equal("[0,0,1000000000000000,-42,9007199254740991,0.1,0.3333333333333333,73.33984375,1e+300,4.94065645841247e-324,234.96200000000002]", json.encode(values))
      assert.same(values, json.decode(json.encode(values)))
   end)

   it("refuses what JSON has no word for", function()
      for _, value in ipairs { 1 / 0, 0 / 0, function() end } do
         assert.has_error(function()
            json.encode { value }
         end)
      end
   end)

   it("knows null, empty lists and empty objects", function()
      assert.equal('{"a":null,"b":[],"c":{}}', json.encode { a = json.null, b = {}, c = json.object {} })
   end)

   it("escapes text", function()
      local nasty = 'quote " backslash \\ line\nbell \7 delete \127 é'
      assert.equal(nasty, json.decode(json.encode { nasty })[1])
      assert.matches("\\u0007", json.encode { nasty }, 1, true)
   end)

   it("is the same text whatever the order the keys were set in", function()
      local one, other = {}, {}
      for i = 1, 100 do
         one["key" .. i], other["key" .. 101 - i] = i, 101 - i
      end
      assert.equal(json.encode(one), json.encode(other))
   end)

   it("orders objects by their own keys and ranks, whatever those before had", function()
      local ranked = json.object({ a = 1, b = 2 }, { b = 1, a = 2 })
      local list = { { a = 1, b = 2 }, { b = 3, c = 4 }, ranked, { b = 5, a = 6 }, { c = 7, b = 8 } }
      local written = '[{"a":1,"b":2},{"b":3,"c":4},{"b":2,"a":1},{"a":6,"b":5},{"b":8,"c":7}]'
      assert.equal(written, json.encode(list))
      assert.equal(written, (json.encode(list, { pretty = true }):gsub("%s", "")))
   end)

   it("means the same when it is indented", function()
      local value = { a = { 1, { b = "c" }, {} }, d = { e = { f = true } } }
      assert.same(value, json.decode(json.encode(value, { pretty = true })))
   end)
end)

describe("CSV", function()
   it("has a line for each row and nothing where nothing is known", function()
      local lines = {}
      local rows = { row(), row { throughput_fps = "none", latency = "none", direction = 'a,"b"' } }
      for line in csv.rows(fields.THROUGHPUT, rows):gmatch "[^\n]+" do
         lines[#lines + 1] = line
      end
      assert.matches("^frame_size,direction,theoretical_fps,throughput_fps,.*,latency_min_ns,", lines[1])
      assert.matches("64,both,1488095,899541.8017578125,60.44921875,604.49209,460.5654025,900995.01953125,1488.095,loss,0,60,12,12,9,valid,,,1000,20000,20512.5,20479,20991,21250,21250,wire,8,first bit to first bit (FIFO),0,3,0,,12000", lines[2], 1, true)
      assert.matches('^64,"a,""b""",1488095,,', lines[3])
      assert.matches(",valid,,,,,,,,,,,,,0,3,0,,12000$", lines[3])
      assert.is_nil(lines[1]:find("goal", 1, true))
      local goal = row { goal = "ndr", conditional_fps = 899000, regular = false }
      assert.matches(",ndr,.*,899000,false,1488.095,", csv.rows(fields.THROUGHPUT, { goal }))
   end)

   it("quotes a field with a comma, a quote or the end of a line in it (RFC 4180, 2.6)", function()
      assert.equal('a\n"1,2"\n"12"""\n"1\n2"\n1 2\n',
         csv.text({ "a" }, { { a = "1,2" }, { a = '12"' }, { a = "1\n2" }, { a = "1 2" } }))
   end)
end)

describe("the result folder", function()
   teardown(scratch.remove)

   it("is made with the folders above it", function()
      local folder = assert(Folder.create(scratch.path() .. "/a/b/c"))
      folder:write("x", "hello\n")
      assert.equal("hello\n", scratch.read(folder.path .. "/x"))
   end)

   it("appends lines and replaces whole files", function()
      local folder = assert(Folder.create(scratch.path()))
      folder:append("lines", "one")
      folder:append("lines", "two")
      assert.equal("one\ntwo\n", scratch.read(folder.path .. "/lines"))
      folder:write("whole", "1")
      folder:write("whole", "2")
      assert.equal("2", scratch.read(folder.path .. "/whole"))
      folder:close()
      assert.equal("lines\nwhole\n", scratch.shell(("ls '%s'"):format(folder.path)))
   end)

   it("never takes a folder that is not empty, or a file", function()
      local path = scratch.path()
      assert.is_true((Folder.is_free(path)))
      local folder = assert(Folder.create(path))
      assert.is_true((Folder.is_free(path)))
      folder:write("x", "mine")
      local made, message = Folder.create(path)
      assert.is_nil(made)
      assert.matches("is not empty", message)
      assert.is_false((Folder.is_free(path .. "/x")))
      made, message = Folder.create(path .. "/x/y")
      assert.is_nil(made)
      assert.matches("cannot create the result folder", message)
   end)

   it("has a name of its own by default", function()
      local path = Folder.default_path("my plan/7", 0)
      assert.matches("^framegauge%-runs/my_plan_7%-%d%d%d%d%d%d%d%d%-%d%d%d%d%d%d$", path)
   end)
end)

describe("conformance", function()
   it("holds for the procedure of the RFC", function()
      assert.same({ standard = "RFC 2544", conforms = true, notes = {} },
         conformance.of(fake_plan { frame_sizes = { 64, 128, 256, 512, 1518 } }))
   end)

   it("looks at every goal of a search, and at trials that are repeated", function()
      local function notes(throughput)
         return table.concat(conformance.of(fake_plan {
            frame_sizes = { 64, 128, 256, 512, 1518 }, throughput = throughput,
         }).notes, "\n")
      end
      local rfc2544 = { name = "a", final_trial = 60, loss_ratio = 0, exceed_ratio = 0 }
      local pdr = { name = "b", final_trial = 1, loss_ratio = 0.005, exceed_ratio = 0.5 }
      assert.equal("", notes { search = "mlr", goals = { rfc2544 } })
      assert.equal("short trials (1 s; section 24 asks for 60 s)\n"
         .. "loss tolerated (0.5 %; section 26.1 allows none)\n"
         .. "trials with loss repeated (section 26.1 has the load lowered)",
         notes { search = "mlr", goals = { rfc2544, pdr } })
      assert.equal("", notes { search = "tst009", loss_verify_trials = 1 })
      assert.matches("^trials with loss repeated", notes { search = "tst009", loss_verify_trials = 2 })
   end)

   it("asks of each test what the RFC asks of it, and nothing of those not made", function()
      local full = {
         latency = { trial = 120, tag_after = 60, repetitions = 20 }, frame_loss = { trial = 60 },
         back_to_back = { limit = 2, repetitions = 50 }, system_recovery = { overload = 60 },
         reset = { after = 15 }, bursty_traffic = { trial = 60, burst_frames = { 16, 64, 256, 1024 } },
         frame_sizes = { 64, 128, 256, 512, 1518 },
      }
      local function notes(test, group)
         local o = setmetatable({ tests = { test }, throughput = { trial = 60 }, [test] = group }, {
            __index = full,
         })
         for key, value in pairs(full) do
            o[key] = o[key] or value
         end
         return table.concat(conformance.of(fake_plan(o)).notes, "\n")
      end
      for _, test in ipairs {
         "latency", "frame_loss", "back_to_back", "system_recovery", "reset", "bursty_traffic",
      } do
         assert.equal("", notes(test, full[test]))
      end
      assert.equal("short latency trials (1 s; section 26.2 asks for 120 s)\n"
         .. "first tagged frame soon after the start (0 s; section 26.2 asks for 60 s)\n"
         .. "few latency trials (2; section 26.2 asks for 20)",
         notes("latency", { trial = 1, tag_after = 0, repetitions = 2 }))
      assert.matches("short frame loss trials", notes("frame_loss", { trial = 59 }))
      assert.equal("short limit of the bursts (1 s; section 26.4 asks for 2 s)\n"
         .. "few burst searches (49; section 26.4 asks for 50)",
         notes("back_to_back", { limit = 1, repetitions = 49 }))
      assert.matches("short overload", notes("system_recovery", { overload = 1 }))
      assert.matches("reset soon after the start", notes("reset", { after = 14 }))
      assert.equal("short trials of bursts (1 s; section 24 asks for 60 s)\n"
         .. "no bursts of 256 frames (section 21)",
         notes("bursty_traffic", { trial = 1, burst_frames = { 16, 64, 1024 } }))
   end)

   it("asks for full trials of the search for a throughput, whichever test makes it", function()
      local plan = fake_plan { tests = { "latency" }, throughput = { trial = 1 } }
      assert.matches("short trials %(1 s", table.concat(conformance.of(plan).notes, "\n"))
      plan.rfc2544.latency = { rate = {}, trial = 120, tag_after = 60, repetitions = 20 }
      assert.is_nil(table.concat(conformance.of(plan).notes, "\n"):find("short trials", 1, true))
   end)

   it("names what is short of it", function()
      local plan = fake_plan { settle = 0, throughput = { trial = 1, loss_tolerance = 0.005 } }
      local notes = table.concat(conformance.of(plan).notes, "\n")
      assert.matches("^short trials %(1 s; section 24 asks for 60 s%)", notes)
      for _, what in ipairs { "short waits", "fewer than five frame sizes", "loss tolerated (0.5 %" } do
         assert.matches(what, notes, 1, true)
      end
   end)
end)

describe("the table", function()
   local function render(rows, o)
      local result = {
         plan = fake_plan {},
         results = { throughput = rows }, trials = { { time = "wire-free" } }, expectations = {},
         interrupted = false,
         conformance = { standard = "RFC 2544", conforms = false, notes = { "short trials (1 s; section 24 asks for 60 s)" } },
      }
      for key, value in pairs(o or {}) do
         result[key] = value
      end
      return text.render(result, ansi.new(false))
   end

   it("shows rates, layers, share, trials and verdict of each frame size", function()
      local slow = row { frame_size = 1518, validity = "tester-limited", reasons = { "too slow" } }
      local out = render { row(), slow }
      local first = "   64  both         1,488,095     899,541    60.45   604.49   460.57      12  valid\n"
      assert.matches(first, out, 1, true)
      assert.matches(" 1518  both         1,488,095   >=899,541    60.45   604.49 ", out, 1, true)
      assert.matches("1518 bytes, both directions: tester-limited: too slow.", out, 1, true)
      assert.matches("not conforming to RFC 2544: short trials", out, 1, true)
      assert.matches("Measured in wire time, free-running.", out, 1, true)
      assert.matches("0 late, 3 refused, 0 dropped, lag 0 s, gap 12 us", out, 1, true)
      assert.matches("first bit to first bit (FIFO), timestamps by wire, error at most 8 ns", out, 1, true)
   end)

   it("fits 100 columns, at 400 Gb/s and with long names too", function()
      local out = render { row {
         direction = "west->east", theoretical_fps = 595238095, throughput_fps = 595238095,
         throughput_l1_mbps = 4e5,
         throughput_l2_mbps = 304761.9, throughput_percent = 100, validity = "tester-limited",
      } }
      for line in out:gmatch "[^\n]+" do
         assert.is_true(#line <= 100, line)
      end
   end)

   it("has a row for each goal of a search, within 100 columns", function()
      local out = render {
         row { goal = "ndr", conditional_fps = 899000, regular = true },
         row {
            goal = "rfc2544", direction = "west->east", validity = "tester-limited", regular = false,
            throughput_fps = 595238095, conditional_fps = 595238095, frame_size = 16128,
         },
      }
      assert.matches("Goal +Throughput +of line +Conditional", out)
      assert.matches("\n   64  both +ndr +899,541 +60.45 +899,000 +regular ", out)
      assert.matches(" irregular ", out, 1, true)
      assert.is_nil(out:find("Irregular", 1, true))
      assert.matches("Irregular (RFC 9971): the highest load passed",
         render { row { goal = "ndr", regular = false, limited_by = "maximum" } }, 1, true)
      for line in out:gmatch "[^\n]+" do
         assert.is_true(#line <= 100, line)
      end
   end)

   it("says what is not known", function()
      local out = render { row {
         throughput_fps = "none", theoretical_fps = "none", throughput_percent = "none", latency = "none",
         throughput_l1_mbps = "none", throughput_l2_mbps = "none",
      } }
      local first = "64  both                 -  none found        -        -        -      12  valid"
      assert.matches(first, out, 1, true)
      assert.is_nil(out:find("Latency", 1, true))
   end)

   it("is there without rows, and tells how expectations fared", function()
      local out = render({}, {
         interrupted = true, trials = {},
         expectations = { { text = "a", met = true, row = "64 bytes", figure = "3 us" },
            { text = "b", met = false }, { text = "c", reason = "invalid" } },
      })
      assert.matches("Criterion a: met (64 bytes; 3 us).\nCriterion b: not met.\n"
         .. "Criterion c: not decided (invalid).\n", out, 1, true)
      assert.matches("interrupted: only what was measured", out)
   end)

   it("is coloured only when asked", function()
      local result = {
         plan = fake_plan {},
         results = { throughput = { row() } }, trials = {}, expectations = {}, interrupted = false,
         conformance = { standard = "RFC 2544", conforms = true, notes = {} },
      }
      local plain = text.render(result, ansi.new(false))
      local coloured = text.render(result, function(word, how)
         return "<" .. how .. ">" .. word .. "</>"
      end)
      assert.equal(plain, (coloured:gsub("<%a*/?>", ""):gsub("</>", "")))
      assert.matches("<good>valid", coloured, 1, true)
   end)
end)
