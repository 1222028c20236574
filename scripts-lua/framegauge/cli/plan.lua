-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge run` and `framegauge check`: everything up to a plan that is known to be good.
local job = require "framegauge.job"
local parse = require "framegauge.cli.parse"
local units = require "framegauge.units"

local M = {}

local BAD_PLAN = 2

-- The plan, or nil after all its errors have been written to stderr.
local function or_errors(plan, errors)
   for _, err in ipairs(errors or {}) do
      io.stderr:write(tostring(err), "\n")
   end
   return plan
end

--- Read a plan with the options of a command; all its errors go to stderr.
-- @return the plan, or nil
function M.load(path, options, eal)
   return or_errors(require("framegauge.plan").load(path, {
      sets = options.set, quick = options.quick, eal = eal,
   }))
end

-- The plan of the run to resume: as its folder keeps it, or as it is given again.
local function load_again(earlier, arguments, options, eal)
   if arguments[1] then
      return M.load(arguments[1], options, eal)
   elseif options.quick or options.set[1] or eal[1] then
      parse.usage_error("run", "run: --resume takes the plan as it was; give PLAN.yaml to compare with that")
   end
   return or_errors(require("framegauge.plan").load_text(earlier:plan_text()))
end

local function resume(arguments, options, eal)
   if options.out then
      parse.usage_error("run", "run: --resume goes on in its own folder, so --out has no place")
   end
   local earlier = require("framegauge.resume").open(options.resume)
   local plan = load_again(earlier, arguments, options, eal)
   if not plan then
      return BAD_PLAN
   end
   earlier:check_plan(plan, require("framegauge.report.generator").of())
   options.earlier = earlier
   options.expect = options.expect[1] and options.expect or earlier.facts.expect
   return job.run(require("framegauge.run").main, plan, options)
end

--- Run a plan, or go on with a run of it, or say what that would be.
function M.run(arguments, options, eal)
   if options.resume and options["dry-run"] then
      parse.usage_error("run", "run: --dry-run is about a new run, so --resume has no place")
   elseif options.resume then
      return resume(arguments, options, eal)
   elseif not arguments[1] then
      parse.usage_error("run", "run: PLAN.yaml is missing")
   end
   local plan = M.load(arguments[1], options, eal)
   if not plan then
      return BAD_PLAN
   elseif options["dry-run"] then
      return require("framegauge.dry_run").main(plan)
   end
   return job.run(require("framegauge.run").main, plan, options)
end

--- Measure what the tester itself can do.
function M.calibrate(arguments, options, eal)
   local plan = M.load(arguments[1], options, eal)
   if not plan then
      return BAD_PLAN
   end
   return job.run(require("framegauge.calibrate").main, plan, options)
end

-- How long a relay is to run, seconds; nil: until it is stopped.
local function duration(command, text)
   if not text then
      return nil
   end
   local seconds, wrong = units.parse_time(text)
   if not seconds or seconds <= 0 then
      parse.usage_error(command, "%s: --duration: %s; expected a time such as 60s", command,
         wrong or text .. " is no time at all")
   end
   return seconds
end

local SERVERS = {
   relay = "framegauge.relay", reflect = "framegauge.relay", far = "framegauge.far.agent",
   iperf3 = "framegauge.iperf",
}

local function serve(command, arguments, options, eal)
   local seconds = duration(command, options.duration)
   local plan = M.load(arguments[1], options, eal)
   if not plan then
      return BAD_PLAN
   elseif plan.test ~= command then
      parse.usage_error(command, "%s: the plan has test: %s, not test: %s", command, plan.test, command)
   end
   return job.run(require(SERVERS[command]).main, plan, {
      seconds = seconds, one_off = options["one-off"], json = options.json,
   })
end

--- Pass frames on between ports.
function M.relay(...)
   return serve("relay", ...)
end

--- Do what a near tester says.
function M.far(...)
   return serve("far", ...)
end

--- Serve hosts that run iperf3's client.
function M.iperf3(...)
   return serve("iperf3", ...)
end

--- Send test frames back.
function M.reflect(...)
   return serve("reflect", ...)
end

local function in_words(plan)
   local ports = {}
   for i, port in ipairs(plan.ports) do
      ports[i] = port.name .. " on " .. port.device
   end
   return ("%s; %s"):format(plan.test, table.concat(ports, ", "))
end

--- Check a plan: say what is wrong with it, or in one line what it would do.
function M.check(arguments, options, eal)
   local plan = M.load(arguments[1], options, eal)
   if not plan then
      return BAD_PLAN
   end
   print(("%s: good (%s)"):format(arguments[1], in_words(plan)))
   return 0
end

return M
