-- SPDX-License-Identifier: BSD-3-Clause

-- Runs of the Y.1564 plans against the reference device, for the specs that look at their results.
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local scratch = require "scratch"
local Session = require "framegauge.trial.session"
local Tester = require "framegauge.tester"
local uv = require "luv"
local y1564 = require "framegauge.methods.y1564.method"

local M = {}

M.CONFIGS = debug.getinfo(1, "S").source:match "^@(.*)tests/lua/" .. "configs/"

--- Run a plan with settings.
-- @return the services by name, exit status, the whole result
function M.run(name, ...)
   local path = scratch.path()
   local words = {
      ("'%s' run '%sy1564-%s-reference.yaml' --out '%s'"):format(uv.exepath(), M.CONFIGS, name, path),
   }
   for _, word in ipairs { ... } do
      words[#words + 1] = word:sub(1, 2) == "--" and word or ("--set '%s'"):format(word)
   end
   local output, status = scratch.shell(table.concat(words, " ") .. " 2>&1")
   return M.of(path, output, status)
end

--- The result of a run. @param path, output, status  its folder, what it printed, its exit status
-- @return as run()
function M.of(path, output, status)
   assert(status == 0 or status == 1, output)
   local result, services = json.decode(scratch.read(path .. "/result.json")), {}
   for _, service in ipairs(result.results.y1564.services) do
      services[service.name] = service
   end
   return services, status, result, path
end

--- Measure by a plan in this process, for a third of what a run of the program costs: without reports and
-- without an exit status.
-- @return the services by name
function M.measure(name, ...)
   local o = { sets = {} }
   for _, word in ipairs { ... } do
      o.quick = o.quick or word == "--quick"
      o.sets[#o.sets + 1] = word ~= "--quick" and word or nil
   end
   local plan, errors = plans.load(("%sy1564-%s-reference.yaml"):format(M.CONFIGS, name), o)
   assert(plan, errors and tostring(errors[1]))
   local tester, results, services = assert(Tester.open(plan)), {}, {}
   local session = Session.new { tester = tester, retries = 0, phases = plan.y1564, sink = function() end }
   local ok, why = pcall(y1564.run, plan, tester, session, results)
   tester:close()
   assert(ok, why)
   for _, service in ipairs(results.y1564.services) do
      services[service.name] = service
   end
   return services
end

--- The row of a step.
function M.step_of(service, name, direction)
   local found
   for _, row in ipairs(service.configuration) do
      found = row.step == name and row.direction == (direction or "east->west") and row or found
   end
   return found
end

return M
