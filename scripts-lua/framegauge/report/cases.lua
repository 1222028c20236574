-- SPDX-License-Identifier: BSD-3-Clause

--- The rows of RFC 2544's tests as test cases (framegauge.report.junit).
local expect = require "framegauge.expect"
local outcome = require "framegauge.report.outcome"
local tests = require "framegauge.report.html.tests"

local M = {}

local function name_of(row)
   local direction = row.direction == "both" and "both directions" or tostring(row.direction)
   local which = row.goal and ", goal " .. row.goal
      or row.load_percent and (", %.4g %% load"):format(row.load_percent)
      or row.burst_frames and (", bursts of %d frames"):format(row.burst_frames) or ""
   return ("%s bytes, %s%s"):format(row.frame_size, direction, which)
end

-- Trials serve all rows of their frame size; each row has its share of their time.
local function seconds_of(result, name, row)
   local sum, rows = 0, 0
   for _, trial in ipairs(result.trials) do
      if trial.test == result.plan.test .. "." .. name and trial.frame_size == row.frame_size then
         sum = sum + trial.duration_s
      end
   end
   for _, other in ipairs(result.results[name]) do
      rows = rows + (other.frame_size == row.frame_size and 1 or 0)
   end
   return sum / rows
end

local function measured(row)
   return row.throughput_fps and ("%.0f frames/s"):format(math.floor(row.throughput_fps)) or "no load passed"
end

-- What a case is besides its name; empty when all is well.
local function outcome_of(result, name, row)
   local short = name == "throughput" and expect.short_of(result, row)
   if short then
      return {
         failure = ("the device fell short of %s: %s"):format(short, measured(row)), type = "expectation",
      }
   end
   return outcome(row)
end

-- Frame sizes that a test of an interrupted run has no row for; a reset is made with the smallest only.
local function missing(result, name)
   local there, list = {}, {}
   for _, row in ipairs(result.results[name] or {}) do
      there[row.frame_size] = true
   end
   local sizes = result.interrupted and result.plan.rfc2544.frame_sizes or {}
   for _, size in ipairs(name == "reset" and #sizes > 0 and { math.min(unpack(sizes)) } or sizes) do
      list[#list + 1] = not there[size] and size or nil
   end
   return list
end

-- Whether the plan asks for a test.
local function is_wanted(result, name)
   for _, test in ipairs(result.plan.rfc2544.tests) do
      if test == name then
         return true
      end
   end
   return false
end

local function cases_of(result, name)
   local cases = {}
   for i, row in ipairs(result.results[name] or {}) do
      cases[i] = outcome_of(result, name, row)
      cases[i].name, cases[i].seconds = name_of(row), seconds_of(result, name, row)
   end
   for _, size in ipairs(missing(result, name)) do
      cases[#cases + 1] = {
         name = size .. " bytes", seconds = 0, skipped = "the run was interrupted before it",
      }
   end
   return cases
end

--- A suite for each test.
function M.suites(result)
   local suites = {}
   for _, test in ipairs(tests) do
      if result.results[test.name] or result.interrupted and is_wanted(result, test.name) then
         suites[#suites + 1] = { name = test.name, cases = cases_of(result, test.name) }
      end
   end
   return suites
end

return M
