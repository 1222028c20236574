-- SPDX-License-Identifier: BSD-3-Clause

--- A result that was damaged or that comes from elsewhere, and a capture that found no room: what the program
-- says of them, and its exit status.
local files = require "framegauge.report.files"
local json = require "framegauge.text.json"
local plain = require "framegauge.text.plain"
local report = require "framegauge.report"
local scratch = require "scratch"
local shell = require "framegauge.core.shell"
local uv = require "luv"

local PLAN = [[
test: traffic
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 100Mbps, time: free}
streams: {voice: {size: 200, rate: 1000fps}}
traffic: {duration: 200ms}
]]

local function framegauge(...)
   return scratch.shell(shell.command({ uv.exepath(), ... }) .. " 2>&1")
end

describe("a result", function()
   local folder, whole, output, status

   setup(function()
      local path = scratch.path()
      uv.fs_mkdir(path, 448)
      folder = path .. "/run"
      scratch.write(path .. "/plan.yaml", PLAN)
      output, status = framegauge("run", path .. "/plan.yaml", "--out", folder, "--capture", "west=/dev/full")
      whole = scratch.read(folder .. "/result.json")
   end)

   -- What a command says of the result after a change. @return words, exit status
   local function reported(change, command, ...)
      local result = json.decode(whole)
      change(result)
      scratch.write(folder .. "/result.json", json.encode(result))
      return framegauge(command or "report", folder, ...)
   end

   it("is complete where a capture had no room, and the status says so", function()
      assert.matches("Captured on west in /dev/full: %d+ of 201 frames. Not complete: ", output)
      assert.matches("cannot be written: No space left on device.", output, 1, true)
      assert.not_matches("too slowly", output)
      assert.equal(4, status)
   end)

   it("that was damaged is refused with its file and key", function()
      for words, change in pairs {
         ["trials: 5 is no list"] = function(r) r.trials = 5 end,
         ["trials[1].directions: missing"] = function(r) r.trials[1].directions = nil end,
         ["trials[1].directions: 0 entries, not at least 1"] = function(r) r.trials[1].directions = {} end,
         ['results.traffic[1].latency.mean_ns: "x" is no number'] = function(r)
            r.results.traffic[1].latency.mean_ns = "x"
         end,
         ["ports: missing"] = function(r) r.ports = nil end,
         ['results.traffic[1].validity: "fine" is no known word'] = function(r)
            r.results.traffic[1].validity = "fine"
         end,
         ["results.traffic: 7 is no list"] = function(r) r.results.traffic = 7 end,
         ["trials[1].tx: missing"] = function(r) r.trials[1].tx = nil end,
         ["plan.test: no test of this program"] = function(r) r.plan.test = "nope" end,
         ["plan.ports: missing"] = function(r) r.plan.ports = nil end,
         ["plan.traffic: missing"] = function(r) r.plan.traffic = nil end,
         ["plan.streams: missing"] = function(r) r.plan.streams = nil end,
         ["plan.lab: 7 is no record"] = function(r) r.plan.lab = 7 end,
      } do
         for command, more in pairs { report = "", compare = folder } do
            local said, code = reported(change, command, more)
            assert.matches("framegauge: " .. folder .. "/result.json is damaged: " .. words, said, 1, true)
            assert.equal(2, code)
         end
      end
   end)

   it("is not called damaged where the program itself fails", function()
      scratch.write(folder .. "/result.json", whole)
      local render = files.render
      finally(function() files.render = render end)
      files.render = function() return nil + 1 end -- luacheck: ignore
      local done, err = pcall(report.write, folder)
      assert.is_false(done)
      assert.matches("damaged_result_spec.lua:%d+: attempt to perform arithmetic", tostring(err))
      assert.not_matches("is damaged", tostring(err), 1, true)
   end)

   it("cannot send control characters to a terminal", function()
      local said, code = reported(function(r)
         r.results.traffic[1].direction = "\27[31meast\194\155->west\226\128\174"
      end)
      assert.equal(0, code)
      assert.matches("?[31meast?->west?", said, 1, true)
      assert.not_matches("\27", said)
      said = framegauge("run", folder .. "/plan.yaml", "--out", folder .. "2", "--capture",
         "east=" .. scratch.path() .. "\27[31m\194\155.pcap")
      assert.matches("Captured on east in", said, 1, true)
      assert.not_matches("\27", said)
      assert.not_matches("\194\155", said)
      assert.not_matches("\27", (framegauge("compare", "no\27]0;x\7", folder)))
   end)
end)

describe("plain text", function()
   it("keeps line ends, tabs and letters", function()
      assert.equal("é\tö\n?", plain.text "é\tö\n\27")
      assert.equal("a?b?c?d—e", plain.text "a\226\128\174b\226\129\166c\216\156d—e")
      assert.same({ ["a?"] = { "?" }, n = 1 }, plain.value { ["a\1"] = { "\127" }, n = 1 })
   end)
end)
