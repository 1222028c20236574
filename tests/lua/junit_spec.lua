-- SPDX-License-Identifier: BSD-3-Clause
local fake_result = require "fake_result"
local files = require "framegauge.report.files"
local Folder = require "framegauge.report.folder"
local json = require "framegauge.text.json"
local junit = require "framegauge.report.junit"
local report = require "framegauge.cli.report"
local reports = require "framegauge.report"
local scratch = require "scratch"

-- The form as Jenkins has it: which element may hold which, and with which attributes.
local CHECK = [[
import sys, xml.etree.ElementTree as tree
form = {
    "testsuites": ("testsuite", "name time tests failures disabled errors"),
    "testsuite": ("properties testcase system-out system-err",
                  "name tests failures errors time disabled skipped timestamp hostname id package"),
    "testcase": ("skipped error failure system-out system-err", "name assertions time classname status"),
    "failure": ("", "type message"), "error": ("", "type message"), "skipped": ("", ""),
}
def check(element):
    children, attributes = (text.split() for text in form[element.tag])
    assert set(element.attrib) <= set(attributes), element.attrib
    for child in element:
        assert child.tag in children, child.tag
        check(child)
root = tree.parse(sys.argv[1]).getroot()
check(root)
for suite in root:
    cases = suite.findall("testcase")
    assert int(suite.get("tests")) == len(cases)
    for attribute, tag in ("failures", "failure"), ("errors", "error"), ("skipped", "skipped"):
        assert int(suite.get(attribute)) == len(suite.findall("testcase/" + tag)), attribute
    print(*(suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")))
]]

--- The suites in words, after they were held against the form.
local function suites(result, moment)
   local path, script = scratch.path(), scratch.path()
   local text = junit.text(result, moment or {})
   scratch.write(path, text)
   scratch.write(script, CHECK)
   local output, status = scratch.shell(("/usr/bin/python3 '%s' '%s' 2>&1"):format(script, path))
   assert.equal(0, status, output)
   return output, text
end

local function throughput_only(o)
   local result = fake_result(o)
   result.results = { throughput = result.results.throughput }
   return result
end

describe("junit.xml", function()
   teardown(scratch.remove)

   it("has a suite for each test and a case for each row", function()
      local output = suites(fake_result(), { started = "2026-03-14T09:30:00Z", host = "tester7" })
      assert.equal(table.concat({
         "framegauge.rfc2544.throughput 2 0 0 0", "framegauge.rfc2544.latency 1 0 0 0",
         "framegauge.rfc2544.frame_loss 2 0 0 0", "framegauge.rfc2544.back_to_back 1 0 0 0",
         "framegauge.rfc2544.system_recovery 1 0 0 0", "framegauge.rfc2544.reset 1 0 0 1",
         "framegauge.rfc2544.bursty_traffic 2 0 0 0", "",
      }, "\n"), output)
   end)

   it("fails the rows that fell short of an expectation, and no others", function()
      local result = throughput_only {
         expectations = {
            { text = "throughput>=50%", met = true }, { text = "throughput>=95%@1518", met = false },
         },
      }
      local output, text = suites(result)
      assert.equal("framegauge.rfc2544.throughput 2 1 0 0\nframegauge.rfc2544.criteria 2 1 0 0\n", output)
      local line = text:match "[^\n]*1518 bytes, both directions[^\n]*"
      assert.matches("the device fell short of throughput&gt;=95%@1518: 899541 frames/s", line, 1, true)
   end)

   it("calls an error what is not decided, with the reason, the row and its figure", function()
      local _, text = suites(throughput_only { expectations = {
         { text = "throughput>=95%", reason = "tester-limited" },
         { text = "throughput>=50%", met = false, row = "64 bytes", figure = "40 %", limit = ">= 50%" },
      } })
      assert.matches('message="not decided: tester-limited" type="criterion"', text, 1, true)
      assert.matches('message="64 bytes: 40 %, not &gt;= 50%" type="criterion"', text, 1, true)
   end)

   it("calls an error what is not the device's", function()
      local result = throughput_only { validity = "tester-limited" }
      local one, other = unpack(result.results.throughput)
      one.validity, one.reasons = "tester-limited", { "too <slow>" }
      other.validity, other.reasons = "invalid", { "link" }
      local output, text = suites(result)
      assert.equal("framegauge.rfc2544.throughput 2 0 2 0\n", output)
      assert.matches('message="tester-limited: too &lt;slow&gt;" type="tester-limited"', text, 1, true)
   end)

   it("skips what an interrupted run never came to", function()
      local result = throughput_only { validity = "incomplete", interrupted = true }
      result.results.throughput[2] = nil
      assert.equal("framegauge.rfc2544.throughput 2 0 0 1\n", (suites(result)))
   end)

   it("skips tests it never came to, the reset with its one frame size", function()
      local result = throughput_only { validity = "incomplete", interrupted = true }
      result.plan.rfc2544.tests = { "throughput", "latency", "reset" }
      assert.equal("framegauge.rfc2544.throughput 2 0 0 0\nframegauge.rfc2544.latency 2 0 0 2\n"
         .. "framegauge.rfc2544.reset 1 0 0 1\n", (suites(result)))
   end)

   it("shares the time of the trials among the rows of their frame size", function()
      local result = fake_result()
      for _, trial in ipairs(result.trials) do
         trial.test, trial.frame_size = "rfc2544.frame_loss", 64
      end
      result.results.frame_loss[2].trial = 2
      local _, text = suites(result)
      assert.matches('name="64 bytes, east-&gt;west, 100 % load" time="60.000"', text, 1, true)
      assert.matches('name="64 bytes, east-&gt;west, 90 % load" time="60.000"', text, 1, true)
      assert.matches('rfc2544.frame_loss" skipped="0" tests="2" time="120.000"', text, 1, true)
   end)

   it("has hostile names as text", function()
      local result = throughput_only()
      result.plan.name, result.results.throughput[1].direction = [["><x/>]], "a&b->\27"
      assert.equal("framegauge.rfc2544.throughput 2 0 0 0\n", (suites(result)))
   end)
end)

describe("framegauge report", function()
   teardown(scratch.remove)

   local function folder_with(result)
      local folder = assert(Folder.create(scratch.path()))
      folder:write("result.json", json.encode(result))
      return folder.path
   end

   local function quietly(path)
      local stdout, printed = io.stdout, {}
      rawset(io, "stdout", { write = function(_, ...) printed[#printed + 1] = table.concat { ... } end })
      local ok, status = pcall(report.main, { path })
      rawset(io, "stdout", stdout)
      return ok, status, table.concat(printed)
   end

   it("makes every file again from result.json alone, the same each time", function()
      local path = folder_with(fake_result())
      local ok, status, printed = quietly(path)
      assert.is_true(ok, status)
      assert.equal(0, status)
      assert.matches("Throughput\n.*" .. path:gsub("%p", "%%%0") .. "\n$", printed)
      local before = {}
      for _, file in ipairs(files.render(reports.read(path), {})) do
         assert.equal(file[2], scratch.read(path .. "/" .. file[1]), file[1])
         before[file[1]] = file[2]
      end
      assert.is_truthy(before["report.html"] and before["junit.xml"] and before["throughput.csv"])
   end)

   it("takes when and where from run.json, and does without", function()
      local path = folder_with(fake_result())
      scratch.write(path .. "/run.json",
         '{"host": "tester7", "started": "2026-03-14T09:30:00Z", "ended": null}')
      assert.is_true((quietly(path)))
      assert.matches("tester7", scratch.read(path .. "/report.html"), 1, true)
      for _, damaged in ipairs { '{"host": "ben', '{"started": 1e300}', '{"captures": [7]}', "[1]" } do
         scratch.write(path .. "/run.json", damaged)
         assert.is_true((quietly(path)), damaged)
         assert.is_nil(scratch.read(path .. "/report.html"):find("tester7", 1, true))
      end
   end)

   it("says what is no result, with status 2", function()
      local bad = folder_with(fake_result())
      for text, message in pairs {
         ["{"] = "is not the result of a run", ["[]"] = "is not the result of a run",
         ['{"schema_version": 99}'] = "has version 99 of its schema, this program reads version 1",
      } do
         scratch.write(bad .. "/result.json", text)
         local ok, err = quietly(bad)
         assert.is_false(ok)
         assert.equal(2, err.status)
         assert.matches(message, tostring(err), 1, true)
      end
      local _, err = quietly(scratch.path())
      assert.equal(2, err.status)
   end)
end)
