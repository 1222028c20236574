-- SPDX-License-Identifier: BSD-3-Clause
local fake_result = require "fake_result"
local jtl = require "framegauge.report.jtl"
local scratch = require "scratch"

local STARTED = { started = "2026-03-14T09:30:00Z" }
local STARTED_MS = 1773480600000

-- The samples of a result, read as CSV by somebody else: list of { column = text }.
local READ = [[
import csv, sys
for line in csv.DictReader(open(sys.argv[1], newline="")):
    print("|".join(line[column] for column in sys.argv[2:]))
]]

local function samples(result, moment, ...)
   local path, script = scratch.path(), scratch.path()
   scratch.write(path, jtl.text(result, moment))
   scratch.write(script, READ)
   local output, status = scratch.shell(("/usr/bin/python3 '%s' '%s' %s 2>&1"):format(script, path,
      table.concat({ ... }, " ")))
   assert.equal(0, status, output)
   return output
end

local function throughput_only(o)
   local result = fake_result(o)
   result.results = { throughput = result.results.throughput }
   return result
end

local function with_trials(result)
   for i, trial in ipairs(result.trials) do
      trial.frame_size = i == 1 and 64 or 1518
   end
   return result
end

describe("result.jtl", function()
   teardown(scratch.remove)

   it("has the columns of JMeter in JMeter's order", function()
      assert.equal("timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,Latency,IdleTime,Connect",
         (jtl.text(fake_result(), {}):match "[^\n]*"))
   end)

   it("has a sample for each row, one after the other, with the bytes of its trials", function()
      local first = "throughput: 64 bytes, both directions|true|0|valid"
      local second = "throughput: 1518 bytes, both directions|true|0|valid"
      assert.equal(("%d|60000|%s|%d|%d\n%d|60000|%s|%d|%d\n"):format(STARTED_MS, first, 1998 * 64, 2000 * 64,
            STARTED_MS + 60000, second, 1998 * 1518, 2000 * 1518),
         samples(with_trials(throughput_only()), STARTED, "timeStamp", "elapsed", "label", "success",
            "responseCode", "responseMessage", "bytes", "sentBytes"))
   end)

   it("has the bytes of datagrams that were sent, in streams and as requests", function()
      for size, setting in pairs { [1000] = { datagram = 1000 }, [64] = { request = 64 } } do
         local result = throughput_only()
         for i, trial in ipairs(result.trials) do
            trial.frame_size = i == 1 and 64 or 1518
            trial.sides, trial.setting = { { apps = { { total = { octets_out = 0, octets_in = 0,
               datagrams_out = 7, datagram_octets_in = 300 } } } } }, setting
         end
         assert.equal(("300|%d\n"):format(7 * size):rep(2), samples(result, {}, "bytes", "sentBytes"))
      end
   end)

   it("counts from 1970 without run.json", function()
      assert.equal("0\n60000\n", samples(with_trials(throughput_only()), {}, "timeStamp"))
   end)

   it("shares the trials that rows share out among them", function()
      local result = fake_result()
      result.results = { frame_loss = result.results.frame_loss }
      result.results.frame_loss[2].trial = 1
      assert.equal("30000|63936\n30000|63936\n", samples(result, {}, "elapsed", "bytes"))
   end)

   it("fails what fell short, with the status of a run", function()
      local result = throughput_only { expectations = {
         { text = "throughput>=95%@1518", met = false, row = "1518", figure = "9 fps",
            limit = "at least 10" },
         { text = "loss<=1%", reason = "nothing was measured" }, { text = "throughput>=1%", met = true },
      } }
      assert.equal("true|0|valid|\nfalse|1|fail|the device fell short of throughput>=95%@1518: 899541 frames/s\nfalse|1|fail|1518: 9 fps, not at least 10\n"
         .. "false|3|criterion|not decided: nothing was measured\ntrue|0|valid|\n",
         samples(result, {}, "success", "responseCode", "responseMessage", "failureMessage"))
      assert.matches("criteria: throughput>=95%@1518\n", samples(result, {}, "label"), 1, true)
   end)

   it("takes nothing for a success that is not the device's", function()
      local result = throughput_only { validity = "invalid" }
      local one, other = unpack(result.results.throughput)
      one.validity, one.reasons = "tester-limited", { 'too "slow", 3 late' }
      other.validity, other.reasons = "invalid", { "link\ndown" }
      assert.equal('false|3|tester-limited|tester-limited: too "slow", 3 late\n'
         .. "false|3|invalid|invalid: link\ndown\n",
         samples(result, {}, "success", "responseCode", "responseMessage", "failureMessage"))
   end)

   it("leaves out what does not apply, and what an interrupted run never came to", function()
      local result = fake_result()
      result.results = { reset = result.results.reset }
      assert.equal("", samples(result, {}, "label"))
      result = throughput_only { validity = "incomplete", interrupted = true }
      result.results.throughput[2] = nil
      assert.equal("throughput: 64 bytes, both directions\n", samples(result, {}, "label"))
   end)

   it("has no time of nothing, by which JMeter would divide", function()
      local result = throughput_only()
      result.trials = {}
      assert.equal("1\n1\n", samples(result, {}, "elapsed"))
   end)
end)
