-- SPDX-License-Identifier: BSD-3-Clause

--- The head of the page: the device, the verdict, the headline figures, and the circumstances.
local about = require "framegauge.report.html.about"
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local notes = require "framegauge.report.notes"
local tables = require "framegauge.report.html.tables"
local tables_of = require "framegauge.core.tables"
local show = require "framegauge.text.show"
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
   valid = { "sound", "Valid: the tester was not the limit",
      "In every trial that decided, the tester sent the full load and lost no frame itself." },
   ["tester-limited"] = { "warning", "The tester limited some results",
      "They are marked tester-limited: the device may well do better." },
   fail = { "bad", "The device failed",
      "A criterion was not met, and the tester was not the cause." },
   invalid = { "bad", "Some figures could not be measured",
      "They are marked invalid, each with its reasons." },
   incomplete = { "warning", "The run was interrupted", "Here is what was measured until then." },
}

local NOTHING = "Nothing was measured of the device"

-- Is any figure the device's?
local function is_any_valid(result)
   return tables_of.any(views.tables(result), function(one)
      return tables_of.find(one.lines, "validity", "valid")
   end)
end

-- Can the figures be trusted?
local function trust(result)
   local look, title, text = unpack(VERDICTS[result.interrupted and "incomplete" or result.validity])
   if not result.interrupted and result.validity ~= "valid" and not is_any_valid(result) then
      title = NOTHING
   end
   return h.div { class = "verdictbox " .. look, h.strong { title }, h.p { text } }
end

local MOST = 6 -- reasons that are listed

local function criterion(one)
   local word = one.met == nil and "not decided" or one.met and "met" or "not met"
   return h.li { "Criterion ", h.code { one.text }, ": ", formatters.verdict(word),
      one.row and (" (%s: %s)"):format(one.row, one.figure or "no figure"),
      one.reason and (" (%s)"):format(one.reason) }
end

-- The device's failures: each reason with the first of its rows; the first of each table before the second
-- ones.
local function failures(result)
   local ranks = {}
   for _, one in ipairs(views.tables(result)) do
      local rank = 0
      for _, group in ipairs(notes.grouped(one.lines, function(row)
         return show.whole_name(one, row, row.trial)
      end)) do
         if group.word == "fail" then
            rank = rank + 1
            ranks[rank] = ranks[rank] or {}
            table.insert(ranks[rank], h.li { formatters.words(group.reason), ": ", one.title, ", ",
               formatters.words(group.names[1]), #group.names > 1 and ("; and %d more"):format(#group.names - 1) })
         end
      end
   end
   local all = tables_of.joined(unpack(ranks))
   local items = { unpack(all, 1, MOST) }
   items[#items + 1] = #all > MOST and h.li { ("And %d more."):format(#all - MOST) } or nil
   return items
end

-- The tests that the method itself judged, and those that it did not.
local function judged(result)
   local items, others = {}, {}
   for _, one in ipairs(views.tables(result)) do
      local passed, of = formatters.passed(one.lines)
      if of > 0 and not one.inner then
         items[#items + 1] = h.li { one.title, (": %s of %s passed"):format(formatters.count(passed),
            formatters.count(of)), one.passes and (" (%s)"):format(one.passes) }
      elseif one.lines[1] and not one.inner then
         others[#others + 1] = one.title
      end
   end
   items[#items + 1] = items[1] and others[1] and h.li { "Not judged: ", table.concat(others, "; ") } or nil
   return items
end

-- Did the device meet its criteria, the method's and the plan's?
local function criteria(result)
   local items, failed, open = failures(result), 0, 0
   for _, one in ipairs(result.expectations) do
      items[#items + 1] = criterion(one)
      failed, open = failed + (one.met == false and 1 or 0), open + (one.met == nil and 1 or 0)
   end
   local look, title, text
   if failed > 0 then
      look, title = "bad", "The device fell short of " .. (failed == 1 and "a criterion"
         or ("%d criteria"):format(failed))
   elseif result.outcome == "fail" then
      look, title, text = unpack(VERDICTS.fail)
   elseif open > 0 then
      look, title = "warning", "Not all criteria are decided"
   elseif result.expectations[1] or result.outcome == "pass" then
      look, title = "good", "The device met its criteria"
      tables_of.append(items, judged(result))
   else
      text = { "No figure is judged. Criteria are set in the plan (", h.code { "criteria" }, ") or by ",
         h.code { "--expect" }, "." }
   end
   return h.div { class = "verdictbox " .. (look or "idle"), h.strong { title or "No criterion was set" },
      text and h.p { text }, items[1] and h.ul { items } }
end

local function warning(title, content)
   return h.div { class = "verdictbox warning", h.strong { title }, content }
end

local function conformance(result)
   local c = result.conformance
   return c and not c.conforms and warning("Not conforming to " .. c.standard,
      h.ul { tables_of.map(c.notes, function(note) return h.li { note } end) })
end

-- Loads of the plan beyond what the tester carries.
local function beyond(result)
   local text = notes.beyond(result.calibration)
   return text and warning("Beyond the calibration", h.p { text })
end

-- A figure that is not the device's is marked, and an invalid one is not shown.
local function tile_of(tile)
   local label, figure, unit, remark = unpack(tables_of.map(tile, function(text)
      return type(text) == "string" and formatters.words(text) or text
   end), 1, 4)
   local validity = tile.row and tile.row.validity or "valid"
   if validity == "invalid" then
      figure, unit = "not measured", ""
   elseif validity ~= "valid" then
      remark = validity .. ((remark or "") ~= "" and ", " .. remark or "")
   end
   return h.div {
      h.dt { label }, h.dd { h.span { h.b { figure }, " ", unit }, remark and h.small { remark } },
   }
end

local function tiles(result)
   local out = tables_of.map(view_of(result).tiles(result), tile_of)
   return #out > 0 and h.dl { class = "tiles", out }
end

-- A result may come from elsewhere: only a picture that the plan's reader makes is shown.
local PICTURES = { png = true, jpeg = true, ["svg+xml"] = true }

local function logo(result)
   local lab = result.plan.lab or {}
   local kind = type(lab.image) == "string" and lab.image:match "^data:image/([%w+]+);base64,[%w+/]+=*$"
   return PICTURES[kind] and h.img { class = "logo", src = lab.image, alt = lab.name or "the laboratory's logo" }
end

local function facts(result, moment)
   return tables.facts(about.facts(result.plan,
      { "Plan", result.plan.name },
      { "Tests", view_of(result).test_names(result) },
      { "Trials", formatters.count(#result.trials) },
      { "Started", formatters.begun(moment) },
      { "Duration", moment.elapsed_s and units.format_time(moment.elapsed_s) },
      { "Tester", moment.host }
   ))
end

--- The element.
function M.build(result, moment)
   return h.header {
      logo(result),
      h.p { class = "eyebrow", view_of(result).NAME },
      h.h1 { h.bdi { device(result).name or result.plan.name } },
      result.plan.description and h.p { class = "lead", h.bdi { result.plan.description } },
      trust(result), criteria(result),
      tiles(result), conformance(result), beyond(result), facts(result, moment),
   }
end

return M
