-- SPDX-License-Identifier: BSD-3-Clause

--- ITU-T Y.1564, Ethernet service activation: first each service by itself, step by step (configuration),
-- then all of them at once (performance). docs/explanation/y1564.md says how, and where a choice was made.
--
-- Results are a list of services, each with its steps, its performance and a verdict.
local configuration = require "framegauge.methods.y1564.configuration"
local expectations = require "framegauge.methods.y1564.expectations"
local format = require "framegauge.text.format"
local paths = require "framegauge.methods.y1564.paths"
local performance = require "framegauge.methods.y1564.performance"
local steps = require "framegauge.methods.y1564.steps"
local tables = require "framegauge.core.tables"
local verdict = require "framegauge.text.verdict"

local M = {}

M.expectations = expectations

M.TITLE = "Y.1564"

local function wants(plan, test)
   for _, wanted in ipairs(plan.y1564.tests) do
      if wanted == test then
         return true
      end
   end
   return false
end

--- Its tests, as a person names them.
function M.heading(plan)
   return table.concat(plan.y1564.tests, ", ")
end

function M.scope(plan)
   return format.plural(#plan.y1564.services, "service")
end

-- Every trial in the order they are made.
local function asks_of(plan, tester)
   local list, all = {}, steps.on_line(plan, tester)
   for _, path in ipairs(wants(plan, "configuration") and all or {}) do
      for _, ask in ipairs(configuration.asks(path, plan.y1564)) do
         list[#list + 1] = ask
      end
   end
   local committed = performance.paths(all)
   if wants(plan, "performance") and #committed > 0 then
      list[#list + 1] = performance.ask(committed, plan.y1564)
   end
   return list
end

local function seconds_of(plan, ask)
   local o = plan.y1564
   return ask.seconds + o.learning_wait + o.drain + o.settle
end

--- What lies ahead.
function M.parts(plan, tester)
   local parts, part = {}, nil
   for _, ask in ipairs(asks_of(plan, tester)) do
      if not part or part.test ~= ask.test or part.frame_size ~= ask.frame_size then
         part = { test = ask.test, frame_size = ask.frame_size, trials = 0, seconds = 0 }
         parts[#parts + 1] = part
      end
      part.trials, part.seconds = part.trials + 1, part.seconds + seconds_of(plan, ask)
   end
   return parts
end

--- What `run --dry-run` says.
function M.outlook(plan, tester, notes)
   return require("framegauge.methods.y1564.estimate").text(plan, asks_of(plan, tester), notes)
end

--- What keeps a plan from being run on a bench; nil when nothing does.
function M.check(plan, bench)
   local sums = {}
   for _, path in ipairs(steps.on_line(plan, bench)) do
      local port = bench.ports[path.from]
      sums[path.from] = (sums[path.from] or 0) + paths.ulr(path.cir, path.frame_size)
      if port.line_rate and sums[path.from] > port.line_rate then
         return ("the committed rates of all services from %s are more than its line "
            .. "carries"):format(port.name)
      end
   end
   return nil
end

--- Where the plan departs from the Recommendation.
function M.conformance(plan)
   return require("framegauge.methods.y1564.conformance").of(plan)
end

-- Of a service, by its steps and its performance; what cannot be tested says nothing.
local function judge(service)
   service.validity, service.outcome = verdict.worst(tables.joined(service.configuration,
      service.performance),
      "not-applicable")
end

--- Make the tests of a plan.
-- @param results  gets y1564 = { services = list }
function M.run(plan, bench, session, results)
   local by_name, all, o = {}, steps.on_line(plan, bench), plan.y1564
   results.y1564 = { services = {} }
   for i, service in ipairs(o.services) do
      by_name[service.name] = {
         name = service.name, configuration = {}, performance = {}, validity = "not-applicable",
      }
      results.y1564.services[i] = by_name[service.name]
   end
   for _, path in ipairs(wants(plan, "configuration") and all or {}) do
      configuration.run(bench, session, path, o, by_name[path.name].configuration)
      judge(by_name[path.name])
   end
   local committed = performance.paths(all)
   if wants(plan, "performance") and #committed > 0 then
      performance.run(bench, session, committed, o, function(path, row)
         table.insert(by_name[path.name].performance, row)
         judge(by_name[path.name])
      end)
   end
end

return M
