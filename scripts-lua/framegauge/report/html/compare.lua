-- SPDX-License-Identifier: BSD-3-Clause

--- The page of a comparison (framegauge.report.compare): two runs, what is different between their plans, and
-- every figure of both. Like report.html it needs nothing from elsewhere.
local about = require "framegauge.report.html.about"
local compare = require "framegauge.report.compare"
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local html = require "framegauge.report.html"
local html_tables = require "framegauge.report.html.tables"
local tables = require "framegauge.core.tables"

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

local FACTS = {
   { "Folder", function(run) return run.folder end },
   { "Plan", function(run) return run.result.plan.name end },
   { "Begun", function(run) return formatters.begun(run.moment) end },
   { "Validity", function(run) return formatters.verdict(run.result.validity) end },
   { "Framegauge", function(run) return run.result.generator and run.result.generator.version end },
}

for i, one in ipairs(about.FACTS) do
   table.insert(FACTS, 3 + i, { one[1], function(run) return about.text(run.result.plan, one) end })
end

-- What the runs of one side have, each once.
local function fact_of(runs, fact)
   local texts = {}
   for _, run in ipairs(runs) do
      local text = fact(run)
      texts[#texts + 1] = text and not tables.contains(texts, text) and text or nil
   end
   return #texts > 1 and h.ul { tables.map(texts, function(text) return h.li { text } end) } or texts[1]
end

local function runs_table(before, after)
   local lines = {}
   for _, fact in ipairs(FACTS) do
      local old, new = fact_of(before, fact[2]), fact_of(after, fact[2])
      lines[#lines + 1] = (old or new) and { fact[1], old, new } or nil
   end
   local function column(heading, i)
      return { heading, "", function(line) return line[i] end, left = true }
   end
   return html_tables.build { caption = #before > 1 and "The runs" or "The two runs", class = "wrapped",
      rows = lines, columns = { column("", 1), column("Before", 2), column("After", 3) } }
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
      for _, sentence in ipairs(compare.one_sided(found, one)) do
         parts[#parts + 1] = h.p { sentence }
      end
   end
   return html.simple(("Comparison: %s"):format(after[1].result.plan.name), {
      verdict(found), runs_table(before, after), differences(found) or {},
      h.h2 { "Figures" }, h.p { EXPLANATION }, found.runs and h.p { compare.test(found) } or {}, parts,
      h.footer { "Made by Framegauge from result.json of these runs, which hold these figures unrounded." },
   })
end
