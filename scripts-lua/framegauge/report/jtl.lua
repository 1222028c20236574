-- SPDX-License-Identifier: BSD-3-Clause

--- result.jtl: the result for JMeter, one sample for each row and criterion, in the order of junit.xml.
--
-- A sample succeeds only when its figure is the device's and all requested figures are there; its response
-- code is the exit status that the row alone would give. Rows that an interrupted run did not reach, and
-- tests that do not apply to the device, have no samples. `elapsed` is the time of the row's trials by the
-- tester's clock, at least 1 ms because JMeter divides by it. Rows that share trials each get a part of their
-- time, so a sample begins where the one before it ended.
local cases = require "framegauge.report.cases"
local csv = require "framegauge.text.csv"
local format = require "framegauge.text.format"

local M = {}

-- In the order of JMeter, which reads its columns only in this order.
local COLUMNS = {
   "timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType", "success",
   "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "Latency", "IdleTime", "Connect",
}

-- Exit statuses, as cli/exit.lua has them.
local CODES = { expectation = "1", criterion = "1" }

local function rounded(x)
   return math.floor(x + 0.5)
end

local function sample(suite, case, at, number)
   local why = case.failure or case.error
   return {
      timeStamp = rounded(at), elapsed = math.max(1, rounded(case.seconds * 1000)),
      label = ("%s: %s"):format(suite, case.name),
      responseCode = why and (case.failure and CODES[case.type] or "3") or "0",
      responseMessage = why and (case.failure and "fail" or case.type) or "valid",
      threadName = ("framegauge 1-%d"):format(number), dataType = "text", success = not why,
      failureMessage = why, bytes = rounded(case.rx_bytes), sentBytes = rounded(case.tx_bytes),
      grpThreads = 1, allThreads = 1, Latency = 0, IdleTime = 0, Connect = 0,
   }
end

--- The text of result.jtl.
-- @param result  result.json, read, without nulls
-- @param moment  run.json, read, without nulls; empty without run.json: then times count from 1970
function M.text(result, moment)
   local samples, at = {}, (format.epoch(moment.started or "") or 0) * 1000
   for _, suite in ipairs(cases.suites(result)) do
      for _, case in ipairs(suite.cases) do
         samples[#samples + 1] = not case.skipped and sample(suite.name, case, at, #samples + 1) or nil
         at = at + case.seconds * 1000
      end
   end
   return csv.text(COLUMNS, samples)
end

return M
