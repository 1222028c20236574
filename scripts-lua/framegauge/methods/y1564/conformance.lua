-- SPDX-License-Identifier: BSD-3-Clause

--- Whether a plan makes all of Y.1564's tests at full length, and where not.
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

local SHORTEST_STEP, SHORTEST_PERFORMANCE = 5, 15 * 60 -- seconds
local NEEDED = { "step-load", "policing" }

local function of_configuration(o, add)
   if o.trial < SHORTEST_STEP then
      add("short steps of the configuration test (%s; usual are 5 s to 60 s)", units.format_time(o.trial))
   end
   for _, test in ipairs(NEEDED) do
      if not tables.contains(o.tests, test) then
         add("the configuration test is without %s", test)
      end
   end
end

--- { standard =, conforms = whether it does, notes = list of what it does not }
function M.of(plan)
   local o, notes = plan.y1564, {}
   local function add(...)
      notes[#notes + 1] = string.format(...)
   end
   for _, test in ipairs { "configuration", "performance" } do
      if not tables.contains(o.tests, test) then
         add("no service %s test", test)
      end
   end
   if tables.contains(o.tests, "configuration") then
      of_configuration(o.configuration, add)
   end
   if tables.contains(o.tests, "performance") and o.performance.duration < SHORTEST_PERFORMANCE then
      add("short performance test (%s; 15 min, 2 h or 24 h by M.2110)",
         units.format_time(o.performance.duration))
   end
   return { standard = "ITU-T Y.1564", conforms = #notes == 0, notes = notes }
end

return M
