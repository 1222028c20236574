-- SPDX-License-Identifier: BSD-3-Clause

--- What stands at the top: which device, the verdict, the figures to remember, and the circumstances.
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local notes = require "framegauge.report.notes"
local tables = require "framegauge.report.html.tables"
local units = require "framegauge.text.units"
local views = require "framegauge.report.view"

local M = {}

local function view_of(result)
   return views.of(result.plan.test)
end

local function device(result)
   return result.plan.device_under_test or {}
end

--- The title of the page.
function M.title(result)
   return ("%s: %s"):format(device(result).name or result.plan.name, view_of(result).NAME)
end

local VERDICTS = {
   valid = { "good", "Every figure is the device's",
      "Whenever a load decided, the tester had offered it as intended and lost nothing itself." },
   ["tester-limited"] = { "warning", "Some figures are limits of the tester",
      "They are marked tester-limited: the device may well do better." },
   fail = { "bad", "The device failed",
      "It fell short of a criterion of the plan, and the tester had offered what it should." },
   invalid = { "bad", "Some figures could not be measured",
      "They are marked invalid, each with its reasons." },
   incomplete = { "warning", "The run was interrupted", "Here is what was measured until then." },
}

local function expectations(result)
   local items, failed = {}, 0
   for i, expectation in ipairs(result.expectations) do
      local word = expectation.met == nil and "not decided" or expectation.met and "met" or "not met"
      failed = failed + (expectation.met == false and 1 or 0)
      items[i] = h.li { "Criterion ", h.code { expectation.text }, ": ", formatters.verdict(word),
         expectation.row and (" %s: %s"):format(expectation.row, expectation.figure or "no figure"),
         expectation.reason and (" (%s)"):format(expectation.reason) }
   end
   return #items > 0 and h.ul { items }, failed
end

local function verdict(result)
   local state = result.interrupted and "incomplete" or result.outcome == "fail" and "fail" or result.validity
   local list, failed = expectations(result)
   if failed > 0 then
      state = result.interrupted and "incomplete" or result.validity
   end
   local look, title, text = unpack(VERDICTS[state])
   if failed > 0 then
      look, title = "bad", ("The device fell short of %s"):format(
         failed == 1 and "an expectation" or formatters.plural(failed, "expectation"))
      text = VERDICTS[state][2] .. ". " .. text
   elseif list and state == "valid" then
      title = "The device met what was expected"
      text = VERDICTS.valid[2] .. ". " .. text
   elseif state == "fail" and result.validity ~= "valid" then
      text = text .. " " .. VERDICTS[result.validity][2] .. ". " .. VERDICTS[result.validity][3]
   end
   return h.div { class = "verdictbox " .. look, h.strong { title }, h.p { text }, list }
end

local function warning(title, text)
   return h.div { class = "verdictbox warning", h.strong { title }, h.p { text } }
end

local function conformance(result)
   local c = result.conformance
   return c and not c.conforms and warning("Not conforming to " .. c.standard, table.concat(c.notes, "; ")
      .. ".")
end

-- Loads of the plan beyond what the tester carries.
local function beyond(result)
   local text = notes.beyond(result.calibration)
   return text and warning("Beyond the calibration", text)
end

local function tiles(result)
   local out = {}
   for i, tile in ipairs(view_of(result).tiles(result)) do
      local label, figure, unit, remark = unpack(tile, 1, 4)
      out[i] = h.div {
         h.dt { label }, h.dd { h.span { h.b { figure }, " ", unit }, remark and h.small { remark } },
      }
   end
   return #out > 0 and h.dl { class = "tiles", out }
end

local function facts(result, moment)
   local dut = device(result)
   return tables.facts {
      { "Device", dut.name and h.bdi { dut.name } },
      { "Firmware", dut.firmware and h.bdi { dut.firmware } },
      { "Filters", dut.filters and h.bdi { dut.filters }, full = true },
      { "Notes", dut.notes and h.bdi { dut.notes }, full = true },
      { "Plan", result.plan.name },
      { "Tests", view_of(result).test_names(result) },
      { "Trials", formatters.count(#result.trials) },
      { "Begun", formatters.begun(moment) },
      { "Took", moment.elapsed_s and units.format_time(moment.elapsed_s) },
      { "Tester", moment.host },
   }
end

--- The element.
function M.build(result, moment)
   return h.header {
      h.p { class = "eyebrow", view_of(result).NAME },
      h.h1 { h.bdi { device(result).name or result.plan.name } },
      result.plan.description and h.p { class = "lead", h.bdi { result.plan.description } },
      verdict(result), conformance(result), beyond(result), tiles(result), facts(result, moment),
   }
end

return M
