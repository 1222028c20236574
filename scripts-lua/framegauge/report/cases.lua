-- SPDX-License-Identifier: BSD-3-Clause

--- The rows of a result as test cases: for junit.xml and result.jtl.
local criteria = require "framegauge.methods.common.criteria"
local mixes = require "framegauge.core.mixes"
local show = require "framegauge.text.show"
local tables = require "framegauge.core.tables"
local verdict = require "framegauge.text.verdict"
local views = require "framegauge.report.view"

local M = {}

-- Numbers of the trials a row is of; without any the row shares the trials of its test and frame size.
local function trials_of(result, table_name, row)
   if type(row.trials) == "table" or row.trial then
      return row.trial and { row.trial } or row.trials
   end
   local numbers = {}
   for i, trial in ipairs(result.trials) do
      local same = trial.test == result.plan.test .. "." .. table_name and trial.frame_size == row.frame_size
      numbers[#numbers + 1] = same and i or nil
   end
   return numbers
end

-- Bytes of frames, or of payload over TCP and UDP, that a trial sent and received; 0 where its record has no
-- such counts.
local function bytes_of(trial)
   if trial.sides then
      local total = trial.sides[1].apps[1].total
      local datagram = trial.setting.datagram or trial.setting.request or 0
      return total.octets_out + total.datagrams_out * datagram,
         total.octets_in + total.datagram_octets_in
   end
   local size = mixes.mean(trial.frame_size) or 0
   return size * (trial.tx or 0), size * (trial.rx or 0)
end

-- The share of each row of a table in its trials: list of { seconds =, tx_bytes =, rx_bytes = }.
local function costs_of(result, one)
   local shared, costs = {}, {}
   for i, row in ipairs(one.lines) do
      costs[i] = trials_of(result, one.name, row)
      for _, number in ipairs(costs[i]) do
         shared[number] = (shared[number] or 0) + 1
      end
   end
   for i, numbers in ipairs(costs) do
      local cost = { seconds = 0, tx_bytes = 0, rx_bytes = 0 }
      for _, number in ipairs(numbers) do
         local trial = result.trials[number]
         if trial then
            local tx, rx = bytes_of(trial)
            cost.seconds = cost.seconds + trial.duration_s / shared[number]
            cost.tx_bytes = cost.tx_bytes + tx / shared[number]
            cost.rx_bytes = cost.rx_bytes + rx / shared[number]
         end
      end
      costs[i] = cost
   end
   return costs
end

local function case_of(result, one, row, i)
   local short, case = criteria.short_of(result, one, row), verdict.case(row)
   if short then
      case = { failure = ("the device fell short of %s%s"):format(short, one.measured and ": "
         .. one.measured(row) or ""),
         type = "expectation" }
   end
   case.name = show.case(one, row, i)
   return case
end

-- The suite of the criteria of a result, a case for each. An undecided criterion is an error.
local function of_criteria(result)
   return { name = "criteria", cases = tables.map(result.expectations, function(one)
      local case = { name = one.text, seconds = 0, tx_bytes = 0, rx_bytes = 0 }
      if one.met == nil then
         case.error, case.type = "not decided: " .. (one.reason or "unknown"), "criterion"
      elseif not one.met then
         case.failure, case.type = ("%s: %s, not %s"):format(one.row or "", one.figure or "no figure",
            one.limit or one.text), "criterion"
      end
      return case
   end) }
end

--- The suites of a result, its criteria at the end: list of { name =, cases = list of { name =, seconds =,
-- tx_bytes =, rx_bytes =, and one of failure =, error =, skipped = (a sentence), with the first two type =
-- } }. Cases that an interrupted run did not reach have no bytes.
function M.suites(result)
   local view, suites, by_name = views.of(result.plan.test), {}, {}
   local function add(name, case)
      if not by_name[name] then
         by_name[name] = { name = name, cases = {} }
         suites[#suites + 1] = by_name[name]
      end
      table.insert(by_name[name].cases, case)
   end
   for _, one in ipairs(views.tables(result)) do
      local costs = not one.inner and costs_of(result, one)
      for i, row in ipairs(costs and one.lines or {}) do
         local case = case_of(result, one, row, i)
         for key, value in pairs(costs[i]) do
            case[key] = value
         end
         add(one.suite and (row[one.suite] or one.suite) or one.name, case)
      end
      for _, name in ipairs(result.interrupted and view.missing(result, one.name) or {}) do
         add(one.name, { name = name, seconds = 0, skipped = "the run was interrupted before it" })
      end
   end
   suites[#suites + 1] = result.expectations[1] and of_criteria(result)
   return suites
end

return M
