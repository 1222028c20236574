-- SPDX-License-Identifier: BSD-3-Clause

--- The page of a comparison (framegauge.report.compare): two runs, what is different between their plans, and
-- every figure of both. Like report.html it needs nothing from elsewhere.
local about = require "framegauge.report.html.about"
local compare = require "framegauge.report.compare"
local h = require "framegauge.text.xml"
local html = require "framegauge.report.html"
local html_tables = require "framegauge.report.html.tables"

local EXPLANATION = "A change is called better or worse where it is more than the resolution: what both runs together leave open. A figure is not judged where one of the runs does not have it, or where it is not the device's (tester-limited, invalid). A row that no longer passes or is no longer valid is worse; of several runs, where all were good before and none is after."

local function verdict(found)
   local problem = compare.problem(found)
   local title = problem or "No figure is worse"
   if found.worse > 0 then
      title = found.worse == 1 and "One figure is worse" or ("%d figures are worse"):format(found.worse)
   end
   local look = found.worse > 0 and "bad" or problem and "warning" or "good"
   return h.div { class = "verdictbox " .. look,
      h.strong { title }, h.p { compare.counted(found) } }
end

local function differences(found)
   local items = {}
   for i, sentence in ipairs(found.differences) do
      items[i] = h.li { sentence }
   end
   return #items > 0 and { h.h2 { "The plans differ" }, h.ul { items } }
end

--- The text of the page.
-- @param found          of framegauge.report.compare
-- @param before, after  lists of { folder = its name, result = result.json, read, moment = run.json, read }
return function(found, before, after)
   local parts, columns = {}, compare.columns(found)
   for _, one in ipairs(found.tables) do
      parts[#parts + 1] = one.lines[1] and html_tables.build { caption = one.title, class = "wrapped",
         columns = columns, rows = one.lines } or nil
      for _, sentence in ipairs(compare.remarks(found, one)) do
         parts[#parts + 1] = h.p { sentence }
      end
   end
   return html.simple(("Comparison: %s"):format(after[1].result.plan.name), {
      verdict(found),
      about.runs(#before > 1 and "The runs" or "The two runs", { { "Before", before }, { "After", after } }),
      differences(found) or {},
      h.h2 { "Figures" }, h.p { EXPLANATION }, found.runs and h.p { compare.test(found) } or {}, parts,
      h.footer { "Made by Framegauge from result.json of these runs, which hold these figures unrounded." },
   })
end
