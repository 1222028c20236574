-- SPDX-License-Identifier: BSD-3-Clause

--- What a plan says of its device and of its laboratory, for lists of facts.
local h = require "framegauge.text.xml"

local M = {}

-- { name, group of the loaded plan, key, whether it takes a line of its own }
M.FACTS = {
   { "Device", "device_under_test", "name" }, { "Firmware", "device_under_test", "firmware" },
   { "Serial number", "device_under_test", "serial" }, { "Laboratory", "lab", "name" },
   { "Operator", "lab", "operator" }, { "Filters", "device_under_test", "filters", true },
   { "Notes", "device_under_test", "notes", true },
}

--- The text of a fact, or nil.
function M.text(plan, fact)
   return (plan[fact[2]] or {})[fact[3]]
end

--- The facts of a plan, as framegauge.report.html.tables.facts() takes them, and further ones.
function M.facts(plan, ...)
   local list = { ... }
   for i, fact in ipairs(M.FACTS) do
      local text = M.text(plan, fact)
      table.insert(list, i, { fact[1], text and h.bdi { text }, full = fact[4] })
   end
   return list
end

return M
