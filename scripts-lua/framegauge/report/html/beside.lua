-- SPDX-License-Identifier: BSD-3-Clause

--- The page of runs side by side (framegauge.report.beside). Like report.html it needs no other file.
local about = require "framegauge.report.html.about"
local beside = require "framegauge.report.beside"
local h = require "framegauge.text.xml"
local html = require "framegauge.report.html"
local html_tables = require "framegauge.report.html.tables"
local tables = require "framegauge.core.tables"

--- The text of the page.
-- @param runs  list of { folder = its name, result = result.json, read, moment = run.json, read }
return function(runs)
   local names = beside.names(tables.field(runs, "folder"))
   local columns, parts = beside.columns(names), {}
   local differences = beside.differences(tables.field(runs, "result"))
   for i, one in ipairs(beside.tables(tables.field(runs, "result"))) do
      parts[i] = html_tables.build { caption = one.title, class = "wrapped", columns = columns,
         rows = one.lines }
   end
   return html.simple(("%d runs: %s"):format(#runs, runs[1].result.plan.test), {
      about.runs("The runs", tables.map(runs, function(run, i) return { names[i], { run } } end)),
      differences and h.p { differences } or {},
      h.h2 { "Figures" }, parts,
      h.footer { "Made by Framegauge from result.json of these runs, which hold these figures unrounded." },
   })
end
