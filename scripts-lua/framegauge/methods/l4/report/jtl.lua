-- SPDX-License-Identifier: BSD-3-Clause

--- Trials of TCP and UDP as JMeter reads results: a JTL file in CSV, a line for each trial. JMeter has a
-- sample for each request; here a line stands for all of a trial, which its columns SampleCount and
-- ErrorCount say.
local csv = require "framegauge.text.csv"

local M = {}

M.COLUMNS = {
   "timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType", "success",
   "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "Latency", "IdleTime", "Connect",
   "SampleCount", "ErrorCount",
}

local DAYS_BEFORE = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 }

-- Milliseconds since 1970 of "2026-11-20T12:34:56Z"; 0 of nothing.
local function milliseconds(text)
   local y, mo, d, h, mi, s = (text or ""):match "^(%d+)%-(%d+)%-(%d+)T(%d+):(%d+):(%d+)"
   if not y then
      return 0
   end
   local before = tonumber(y) - (tonumber(mo) < 3 and 1 or 0) -- the last year whose February is over
   local leaps = math.floor(before / 4) - math.floor(before / 100) + math.floor(before / 400) - 477
   local days = (y - 1970) * 365 + leaps + DAYS_BEFORE[tonumber(mo)] + d - 1
   return ((days * 24 + h) * 60 + mi) * 60000 + s * 1000
end

local function mean_ms(times)
   return times and math.floor(times.mean_ns / 1e6 + 0.5) or 0
end

local function errors_of(client)
   local sum = client.total.expired + client.total.refused
   for why, n in pairs(client.total.ended) do
      sum = sum + (why ~= "closed" and n or 0)
   end
   return sum
end

local function line_of(trial, at)
   local client, good = trial.sides[1].apps[1], trial.validity == "valid"
   local samples, errors = client.total.transactions, errors_of(client)
   local connections = trial.setting.connections or 1
   return {
      timeStamp = at,
      elapsed = samples > 0 and mean_ms(client.transaction) or math.floor(trial.duration_s * 1000),
      label = trial.title or trial.test, responseCode = good and "200" or trial.validity,
      responseMessage = trial.validity, threadName = trial.test .. " " .. trial.trial, dataType = "bin",
      success = good and errors == 0, failureMessage = table.concat(trial.reasons, "; "),
      bytes = client.total.octets_in + client.total.datagram_octets_in, sentBytes = client.total.octets_out,
      grpThreads = connections, allThreads = connections, Latency = mean_ms(client.first_byte), IdleTime = 0,
      Connect = mean_ms(client.setup), SampleCount = math.max(1, samples + errors), ErrorCount = errors,
   }
end

--- The text of the file.
-- @param trials   of the result
-- @param started  when the run was begun, as run.json has it; nil: times count from 1970
function M.text(trials, started)
   local rows, at = {}, milliseconds(started)
   for _, trial in ipairs(trials) do
      if trial.sides then
         rows[#rows + 1] = line_of(trial, at)
      end
      at = at + math.floor(trial.duration_s * 1000)
   end
   return csv.text(M.COLUMNS, rows)
end

return M
