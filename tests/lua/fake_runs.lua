-- SPDX-License-Identifier: BSD-3-Clause

--- Folders of runs of one plan, `lab`, each with a throughput.
local fake_result = require "fake_result"
local json = require "framegauge.text.json"
local scratch = require "scratch"

local M = {}

local DAY = "2026-03-%02dT09:00:00Z"

--- Add a run whose throughput is known to +- 0.05 %.
-- @param o  validity, plan, firmware, where they are not "valid", "lab", "1.0"
function M.add(root, name, day, fps, o)
   local result = fake_result()
   local row = result.results.throughput[1]
   row.throughput_fps, row.validity = fps, o and o.validity or "valid"
   row.uncertainty = { throughput_fps = {
      kind = "interval", low = fps * 0.9995, high = fps * 1.0005, coverage = 0.95, components = {},
   } }
   result.results = { throughput = { row } }
   result.interrupted, result.plan.name = false, o and o.plan or "lab"
   result.plan.device_under_test = { name = "SW-9", firmware = o and o.firmware or "1.0" }
   local folder = root .. "/" .. name
   scratch.shell(("mkdir -p '%s'"):format(folder))
   scratch.write(folder .. "/result.json", json.encode(result))
   scratch.write(folder .. "/run.json", json.encode { started = DAY:format(day), host = "tester" })
end

--- A folder with a run for each figure: run-01, run-02 ... @param o  by the number of the run
function M.of(figures, o)
   local root = scratch.path()
   scratch.shell(("mkdir '%s'"):format(root))
   for day, fps in ipairs(figures) do
      M.add(root, ("run-%02d"):format(day), day, fps, o and o[day])
   end
   return root
end

return M
