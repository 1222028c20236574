-- SPDX-License-Identifier: BSD-3-Clause

--- A plan's data on its device and laboratory, and the data of runs, for lists and tables of facts.
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local html_tables = require "framegauge.report.html.tables"
local tables = require "framegauge.core.tables"

local M = {}

-- { name, group of the loaded plan, key, whether it takes a line of its own }
local FACTS = {
   { "Device", "device_under_test", "name" }, { "Firmware", "device_under_test", "firmware" },
   { "Serial number", "device_under_test", "serial" }, { "Laboratory", "lab", "name" },
   { "Operator", "lab", "operator" }, { "Filters", "device_under_test", "filters", true },
   { "Notes", "device_under_test", "notes", true },
}

-- The text of a fact, or nil.
local function text_of(plan, fact)
   return (plan[fact[2]] or {})[fact[3]]
end

--- The facts of a plan, as framegauge.report.html.tables.facts() takes them, and further ones.
function M.facts(plan, ...)
   local list = { ... }
   for i, fact in ipairs(FACTS) do
      local text = text_of(plan, fact)
      table.insert(list, i, { fact[1], text and h.bdi { text }, full = fact[4] })
   end
   return list
end

-- Of a run in a table of several.
local OF_RUN = {
   { "Folder", function(run) return run.folder end },
   { "Plan", function(run) return run.result.plan.name end },
   { "Started", function(run) return formatters.begun(run.moment) end },
   { "Validity", function(run) return formatters.verdict(run.result.validity) end },
   { "Framegauge", function(run) return run.result.generator and run.result.generator.version end },
}

for i, one in ipairs(FACTS) do
   table.insert(OF_RUN, 3 + i, { one[1], function(run) return text_of(run.result.plan, one) end })
end

-- The values of several runs, each once.
local function fact_of(runs, fact)
   local texts = {}
   for _, run in ipairs(runs) do
      local text = fact(run)
      texts[#texts + 1] = text and not tables.contains(texts, text) and text or nil
   end
   return #texts > 1 and h.ul { tables.map(texts, function(text) return h.li { text } end) } or texts[1]
end

--- A table of runs, with a column for each of these lists of them.
-- @param sides  list of { heading, list of { folder = its name, result = of result.json, moment = of
--               run.json } }
function M.runs(caption, sides)
   local lines, columns = {}, { { "", "", function(line) return line.name end, left = true } }
   for i, side in ipairs(sides) do
      columns[i + 1] = { side[1], "", function(line) return line[i] end, left = true }
   end
   for _, fact in ipairs(OF_RUN) do
      local line, is_known = { name = fact[1] }, false
      for i, side in ipairs(sides) do
         line[i] = fact_of(side[2], fact[2])
         is_known = is_known or line[i] ~= nil
      end
      lines[#lines + 1] = is_known and line or nil
   end
   return html_tables.build { caption = caption, class = "wrapped", rows = lines, columns = columns }
end

return M
