-- SPDX-License-Identifier: BSD-3-Clause

--- The commands that begin with a plan: run, check, calibrate and the services.
local job = require "framegauge.core.job"
local load_plan = require "framegauge.cli.load_plan"
local parse = require "framegauge.cli.parse"
local repeated = require "framegauge.run.repeated"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"
local user_error = require "framegauge.core.user_error"

local M = {}

local BAD_PLAN = 2 -- exit status

-- A plan that was read, anew. A pipe gives its text only once.
-- @param sets  in place of the settings it was read with; or nil
local function load_anew(plan, sets)
   return load_plan(nil, {}, nil, { text = plan.source.text, name = plan.file,
      options = setmetatable({ sets = sets }, { __index = plan.source.options }) })
end

-- The plan of the run to resume: as its folder keeps it, or as it is given again.
local function load_again(earlier, arguments, options, eal)
   if options.learned then
      parse.usage_error("run", "run: --learned is for a new run; the folder's run goes on as it began")
   elseif not arguments[1] and (options.quick or options.on or options.set[1] or eal[1]) then
      parse.usage_error("run", "run: --resume uses the plan of the folder; give PLAN.yaml to compare both")
   end
   if arguments[1] then
      return load_plan(arguments[1], options, eal)
   end
   local text, name, its_options = earlier:plan_text()
   return load_plan(nil, options, eal, { text = text, name = name, options = its_options })
end

local function measure(plan, options)
   if options.metrics or options.web then
      return require("framegauge.web.run").main(plan, options)
   end
   return job.run(require("framegauge.run").main, plan, options)
end

local function resume_repeated(arguments, options, eal)
   local first, wanted = repeated.earlier(options.resume)
   local plan
   return job.run(repeated.main, { out = options.resume, resumed = true, wanted = wanted, load = function()
      plan = plan and load_anew(plan) or load_again(first, arguments, options, eal)
      first:check_plan(plan, require("framegauge.report.generator").of())
      return plan
   end })
end

-- The options --repeat and --repeat-time, and what they exclude; nil without them.
local function repetitions(options)
   local count, time = options["repeat"], options["repeat-time"]
   if not count and not time then
      return nil
   elseif options.resume or options.capture[1] or options.metrics or options.web then
      parse.usage_error("run", "run: --repeat is for new runs without --capture, --metrics and --web; a resumed folder knows how many runs it wants")
   end
   local runs = count and tonumber(count)
   if count and not (runs and runs % 1 == 0 and runs >= 2 and runs <= 999) then
      parse.usage_error("run", "run: --repeat: '%s'; expected 2 to 999 runs", count)
   end
   local seconds, wrong
   if time then
      seconds, wrong = units.parse_time(time)
      if wrong or seconds == 0 then
         parse.usage_error("run", "run: --repeat-time: %s; expected %s", wrong or "0", units.expected.time)
      end
   end
   return { runs = runs, seconds = seconds, expect = options.expect }
end

local function resume(arguments, options, eal)
   if options.out then
      parse.usage_error("run", "run: --resume continues in its own folder, so --out cannot be given")
   end
   if repeated.is_here(options.resume) then
      return resume_repeated(arguments, options, eal)
   end
   local earlier = require("framegauge.run.resume").open(options.resume)
   local plan = load_again(earlier, arguments, options, eal)
   earlier:check_plan(plan, require("framegauge.report.generator").of())
   options.earlier = earlier
   options.expect = options.expect[1] and options.expect or earlier.facts.expect
   return measure(plan, options)
end

--- Run a plan, continue a run of it, or print the estimate of a run.
function M.run(arguments, options, eal)
   local wanted = repetitions(options)
   if options.resume and options["dry-run"] then
      parse.usage_error("run", "run: --dry-run is for a new run, so --resume cannot be given")
   elseif options.resume then
      return resume(arguments, options, eal)
   elseif not arguments[1] then
      parse.usage_error("run", "run: PLAN.yaml is missing")
   end
   local plan = load_plan(arguments[1], options, eal)
   if options.learned then
      table.insert(options.set, require("framegauge.run.learned").setting(options.learned, plan))
      plan = load_anew(plan, options.set)
   end
   require("framegauge.run").criteria(plan, options.expect)
   if options["dry-run"] then
      return require("framegauge.run.estimate").main(plan, wanted)
   elseif wanted then
      return job.run(repeated.main, { out = options.out, wanted = wanted, load = function()
         return load_anew(plan)
      end })
   end
   return measure(plan, options)
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

-- The folder of a service that has none of its own name.
local FOLDERS = { reflect = "emulate" }

--- Run a service: a command that goes on until Ctrl-C or --duration.
-- @param command  the name of a service, which the plan must have as its test
function M.serve(arguments, options, eal, command)
   local seconds = parse.duration(command, options)
   local plan = load_plan(arguments[1], options, eal)
   if plan.test ~= command then
      parse.usage_error(command, "%s: the plan has test: %s, not test: %s", command, plan.test, command)
   end
   local folder = FOLDERS[command] or command
   job.run(job.until_interrupted, require("framegauge.services." .. folder .. ".service").main, plan, {
      seconds = seconds, one_off = options["one-off"], json = options.json,
   })
   return 0
end

--- Check a plan: report its errors, or in a line what it would do, and in another how long that takes.
function M.check(arguments, options, eal)
   local plan = load_plan(arguments[1], options, eal)
   require("framegauge.run").criteria(plan, options.expect)
   local estimate, problem = require("framegauge.run.estimate").line(plan)
   if problem then
      user_error.raise("check", BAD_PLAN, "%s: %s", arguments[1], problem)
   end
   local ports = tables.map(plan.ports, function(port)
      return port.name .. " on " .. port.device
   end)
   print(("%s: good (%s; %s)"):format(arguments[1], plan.test, table.concat(ports, ", ")))
   for _, one in ipairs(require("framegauge.plan.actions").of(plan)) do
      print(("%s: this plan %s: %s"):format(one.key, one.does, one.what))
   end
   io.stdout:write(estimate or "")
   return 0
end

return M
