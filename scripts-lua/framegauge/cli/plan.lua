-- SPDX-License-Identifier: BSD-3-Clause

--- The commands that begin with a plan: run, check, calibrate and the services.
local job = require "framegauge.core.job"
local load_plan = require "framegauge.cli.load_plan"
local parse = require "framegauge.cli.parse"
local tables = require "framegauge.core.tables"

local M = {}

-- The plan of the run to resume: as its folder keeps it, or as it is given again.
local function load_again(earlier, arguments, options, eal)
   if not arguments[1] and (options.quick or options.on or options.set[1] or eal[1]) then
      parse.usage_error("run", "run: --resume uses the plan of the folder; give PLAN.yaml to compare both")
   end
   if arguments[1] then
      return load_plan(arguments[1], options, eal)
   end
   local text, name, its_options = earlier:plan_text()
   return load_plan(nil, options, eal, { text = text, name = name, options = its_options })
end

local function resume(arguments, options, eal)
   if options.out then
      parse.usage_error("run", "run: --resume continues in its own folder, so --out cannot be given")
   end
   local earlier = require("framegauge.run.resume").open(options.resume)
   local plan = load_again(earlier, arguments, options, eal)
   earlier:check_plan(plan, require("framegauge.report.generator").of())
   options.earlier = earlier
   options.expect = options.expect[1] and options.expect or earlier.facts.expect
   return job.run(require("framegauge.run").main, plan, options)
end

--- Run a plan, continue a run of it, or print the estimate of a run.
function M.run(arguments, options, eal)
   if options.resume and options["dry-run"] then
      parse.usage_error("run", "run: --dry-run is for a new run, so --resume cannot be given")
   elseif options.resume then
      return resume(arguments, options, eal)
   elseif not arguments[1] then
      parse.usage_error("run", "run: PLAN.yaml is missing")
   end
   local plan = load_plan(arguments[1], options, eal)
   if options["dry-run"] then
      return require("framegauge.run.estimate").main(plan)
   end
   return job.run(require("framegauge.run").main, plan, options)
end

--- Run a plan as one that characterises the device.
function M.characterise(arguments, options, eal)
   options.set = { "test=characterise", unpack(options.set) }
   return M.run(arguments, options, eal)
end

--- Measure the tester itself.
function M.calibrate(arguments, options, eal)
   return job.run(require("framegauge.run.calibrate").main, load_plan(arguments[1], options, eal), options)
end

local SERVICES = {
   emulate = "framegauge.emulate", reflect = "framegauge.emulate", agent = "framegauge.agent.server",
   iperf3 = "framegauge.iperf3.server",
}

--- Run a service: a command that goes on until Ctrl-C or --duration.
-- @param command  a key of SERVICES, which the plan must have as its test
function M.serve(arguments, options, eal, command)
   local seconds = parse.duration(command, options)
   local plan = load_plan(arguments[1], options, eal)
   if plan.test ~= command then
      parse.usage_error(command, "%s: the plan has test: %s, not test: %s", command, plan.test, command)
   end
   job.run(job.until_interrupted, require(SERVICES[command]).main, plan, {
      seconds = seconds, one_off = options["one-off"], json = options.json,
   })
   return 0
end

--- Check a plan: report its errors, or in one line what it would do.
function M.check(arguments, options, eal)
   local plan = load_plan(arguments[1], options, eal)
   local ports = tables.map(plan.ports, function(port)
      return port.name .. " on " .. port.device
   end)
   print(("%s: good (%s; %s)"):format(arguments[1], plan.test, table.concat(ports, ", ")))
   return 0
end

return M
