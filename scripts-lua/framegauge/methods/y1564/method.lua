-- SPDX-License-Identifier: BSD-3-Clause

--- ITU-T Y.1564, Ethernet service activation: first each service by itself, step by step (configuration),
-- then all of them at once (performance). docs/explanation/y1564.md says how, and where a choice was made.
--
-- Results are a list of services, each with its steps, its performance and a verdict.
local configuration = require "framegauge.methods.y1564.configuration"
local format = require "framegauge.text.format"
local outlook = require "framegauge.methods.common.outlook"
local paths = require "framegauge.methods.y1564.plan.paths"
local performance = require "framegauge.methods.y1564.performance"
local steps = require "framegauge.methods.y1564.steps"
local suite = require "framegauge.methods.common.suite"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"
local verdict = require "framegauge.text.verdict"

local M = {}

M.TITLE = "Y.1564"

local function wants(plan, test)
   return tables.contains(plan.y1564.tests, test)
end

--- What criteria can be about: its services.
function M.subjects(plan)
   return { { key = "service", values = tables.field(plan.y1564.services, "name") } }
end

function M.directions(plan, _, named)
   return tables.map(paths.of(plan), function(one)
      return (named.service or one.name) == one.name and one.direction or nil
   end)
end

--- Its tests, as a person names them.
function M.scope(plan)
   return format.plural(#plan.y1564.services, "service")
end

-- Every trial in the order they are made.
local function asks_of(plan, tester)
   local list, all = {}, steps.on_line(plan, tester)
   for _, path in ipairs(wants(plan, "configuration") and all or {}) do
      tables.append(list, configuration.asks(path, plan.y1564))
   end
   local committed = performance.paths(all)
   if wants(plan, "performance") and #committed > 0 then
      list[#list + 1] = performance.ask(committed, plan.y1564)
   end
   for _, ask in ipairs(list) do
      ask.total = ask.seconds + plan.y1564.learning_wait + plan.y1564.drain + plan.y1564.settle
   end
   return list
end

function M.parts(plan, tester)
   return outlook.bounded(outlook.parts(asks_of(plan, tester)), outlook.EXACTLY)
end

local COLUMNS = {
   { "", "test", function(ask) return ask.test:match "[^.]+$" end, left = true },
   { "", "service, step", function(ask) return ask.phase end, left = true },
   { "", "direction", function(ask) return ask.direction end, left = true },
   { "frame", "size", function(ask) return tostring(ask.frame_size) end },
   { "frames", "per second", function(ask) return format.count(ask.fps) end },
   { "", "sends for", function(ask) return units.format_time(ask.seconds) end },
}

--- What `run --dry-run` says: every step, because the device decides on none of them.
function M.outlook(plan, tester, notes)
   return outlook.table(COLUMNS, asks_of(plan, tester))
      .. outlook.text({ outlook.waits(plan.y1564) .. "." }, notes)
end

function M.check(plan, tester)
   local sums = {}
   for _, path in ipairs(steps.on_line(plan, tester)) do
      local port = tester.ports[path.from]
      sums[path.from] = (sums[path.from] or 0) + paths.ulr(path.cir, path.frame_size)
      if port.line_rate and sums[path.from] > port.line_rate then
         return ("the committed rates of all services from %s are more than its line carries"):format(port.name)
      end
   end
   return nil
end

local SHORTEST_STEP, SHORTEST_PERFORMANCE = 5, 15 * 60 -- seconds
local NEEDED = { "step-load", "policing" }

--- Where the plan departs from the Recommendation.
function M.conformance(plan)
   local o = plan.y1564
   return suite.conformance("ITU-T Y.1564", function(note)
      for _, test in ipairs { "configuration", "performance" } do
         note(not wants(plan, test), "no service %s test", test)
      end
      local c, configures = o.configuration, wants(plan, "configuration")
      note(configures and c.trial < SHORTEST_STEP,
         "short steps of the configuration test (%s; usual are 5 s to 60 s)", units.format_time(c.trial))
      for _, test in ipairs(NEEDED) do
         note(configures and not tables.contains(c.tests, test), "the configuration test is without %s", test)
      end
      note(wants(plan, "performance") and o.performance.duration < SHORTEST_PERFORMANCE,
         "short performance test (%s; 15 min, 2 h or 24 h by M.2110)",
         units.format_time(o.performance.duration))
   end)
end

-- Of a service, by its steps and its performance; what cannot be tested says nothing.
local function judge(service)
   service.validity, service.outcome = verdict.worst(tables.joined(service.configuration,
      service.performance),
      "not-applicable")
end

--- Make the tests of a plan.
-- @param results  gets y1564 = { services = list }
function M.run(plan, tester, session, results)
   local by_name, all, o = {}, steps.on_line(plan, tester), plan.y1564
   results.y1564 = { services = {} }
   for i, service in ipairs(o.services) do
      by_name[service.name] = {
         name = service.name, configuration = {}, performance = {}, validity = "not-applicable",
      }
      results.y1564.services[i] = by_name[service.name]
   end
   for _, path in ipairs(wants(plan, "configuration") and all or {}) do
      configuration.run(tester, session, path, o, by_name[path.name].configuration)
      judge(by_name[path.name])
   end
   local committed = performance.paths(all)
   if wants(plan, "performance") and #committed > 0 then
      performance.run(tester, session, committed, o, function(path, row)
         table.insert(by_name[path.name].performance, row)
         judge(by_name[path.name])
      end)
   end
end

return M
