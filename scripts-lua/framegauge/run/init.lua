-- SPDX-License-Identifier: BSD-3-Clause

--- One run: from a good plan to a folder of results and an exit status.
--
-- Everything that can be rejected is rejected before the first frame. From then on every measurement is kept:
-- each trial is on the disk before the next one begins, and Ctrl-C or an error still leaves a result.json of
-- all finished trials. A run that ended early can be resumed (framegauge.run.resume).
local actions = require "framegauge.plan.actions"
local ansi = require "framegauge.text.ansi"
local bars = require "framegauge.text.bars"
local calibration = require "framegauge.run.calibration"
local captures = require "framegauge.run.captures"
local criteria = require "framegauge.methods.common.criteria"
local failure = require "framegauge.core.failure"
local files = require "framegauge.report.files"
local Folder = require "framegauge.report.folder"
local format = require "framegauge.text.format"
local generator = require "framegauge.report.generator"
local hooks = require "framegauge.run.hooks"
local job = require "framegauge.core.job"
local methods = require "framegauge.methods"
local notes = require "framegauge.report.notes"
local Progress = require "framegauge.run.progress"
local report = require "framegauge.report.result"
local registry = require "framegauge.plan.registry"
local resume = require "framegauge.run.resume"
local run_metadata = require "framegauge.run.run_metadata"
local Screen = require "framegauge.run.screen"
local Session = require "framegauge.trial.session"
local tables = require "framegauge.core.tables"
local text = require "framegauge.report.text"
local uncertainty = require "framegauge.report.uncertainty"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local SUCCESS, FELL_SHORT, BAD_PLAN, NOT_THE_DEVICES, ENVIRONMENT, INTERRUPTED = 0, 1, 2, 3, 4, 130

local function refuse(status, message)
   user_error.raise("run", status, "%s", message)
end

--- Read the criteria of a plan and those that came with it. What no row can decide is refused.
-- @param texts  as options.expect of M.main(), or nil
function M.criteria(plan, texts)
   local list = {}
   local function add(all, where)
      for i, given in ipairs(all or {}) do
         local one, message = criteria.parse(given, plan)
         list[#list + 1] = one or refuse(BAD_PLAN, where(i) .. message)
      end
   end
   add(plan.criteria, function(i)
      return ("%scriteria[%d] "):format(plan.file and plan.file .. ": " or "", i)
   end)
   add(texts, function() return "--expect " end)
   return list
end

local function check_path(path)
   local free, message = Folder.is_free(path)
   if not free then
      refuse(BAD_PLAN, message)
   end
end

--- Whether a port of a plan belongs to an agent: then the run opens all of them itself.
function M.has_agents(plan)
   return (tables.find(plan.ports, "kind", "agent") or tables.find(plan.ports, "kind", "fleet")) ~= nil
end

-- @param earlier  the run that is resumed, or nil: agents may have results that it did not collect
local function open_tester(plan, earlier)
   local known_by = earlier and earlier.facts.known_by
   local opener = require(M.has_agents(plan) and "framegauge.fleet.tester" or "framegauge.tester")
   local tester, message = opener.open(plan, known_by and { earlier = known_by })
   if not tester then
      refuse(type(message) == "table" and message.status or ENVIRONMENT, tostring(message))
   end
   return tester
end

local function create_folder(path)
   local folder, message = Folder.create(path)
   if not folder then
      refuse(ENVIRONMENT, message)
   end
   return folder
end

local function new_progress(phases, tester, parts, screen)
   return Progress.new {
      now = function()
         return uv.hrtime() / 1e9
      end,
      snapshot = function()
         return tester:snapshot()
      end,
      parts = parts, waits = phases.learning_wait + phases.drain + phases.settle, hold = screen.hold,
      event = screen.event and function(event)
         screen:event(event)
      end,
   }
end

-- The screen shows a run from here on, or no longer.
local function show_progress(screen, progress)
   if screen.follow then
      screen:follow(progress)
   end
end

-- For how long the device keeps addresses of earlier trials, seconds. A device that is not ours keeps its
-- addresses while the run stands still: the last trial made again refreshes them.
local function remembered(plan)
   local device = plan.reference_switch or plan.reference_device
   local ageing = device and device.mac_table and device.mac_table.ageing
   return registry.of(plan.test).remembers and (ageing == 0 and math.huge or ageing or 0) or nil
end

--- Measure until done, interrupted or broken.
-- @param recorded  trials of the run that is resumed; or nil
-- @param screen    as M.main takes it
-- @return results, trials, and the error that ended it early (nil: none)
local function measure(plan, tester, folder, recorded, screen)
   local results, method = {}, methods.of(plan)
   local parts, phases = method.parts(plan, tester), plan[plan.test]
   screen:say(text.heading(plan, tester.ports, parts, os.time()))
   local progress = new_progress(phases, tester, parts, screen)
   local session = Session.new {
      tester = tester,
      retries = phases.retries or 0,
      phases = phases,
      recorded = recorded,
      remembers = remembered(plan),
      watch = progress,
      say = function(message)
         screen:say(message .. "\n")
      end,
      sink = function(record)
         for _, file in ipairs(record.files or {}) do
            folder:write(file[1], file[2])
         end
         record.files = nil
         folder:append("trials.jsonl", report.trial_line(record, plan.test))
      end,
   }
   if recorded then
      screen:say(("Resumed: %s made before.\n"):format(format.plural(#recorded, "trial")))
   end
   show_progress(screen, progress)
   local done, err = xpcall(function()
      method.run(plan, tester, session, results)
      session:finish()
   end, failure.keep_stack)
   show_progress(screen, nil)
   session.changes:undo()
   return results, session.trials, not done and err or nil
end

local function evaluate(list, plan, results, complete)
   return tables.map(list, function(one)
      return criteria.evaluate(one, plan, results, complete)
   end)
end

--- The exit status of a result.
-- @param result  of a run, or result.json, read
function M.status_of(result)
   if result.interrupted then
      return INTERRUPTED
   end
   if result.outcome == "fail" then
      return FELL_SHORT
   end
   local decided = criteria.are_decided(result.expectations)
   return result.validity == "valid" and decided and SUCCESS or NOT_THE_DEVICES
end

local function write_files(folder, result, run)
   local json, moment_json = report.text(result), run:finished()
   folder:write("result.json", json)
   folder:write("run.json", moment_json)
   for _, file in ipairs(files.render(files.read(json), files.read(moment_json))) do
      folder:write(file[1], file[2])
   end
   folder:close()
end

-- The tester's calibration. A resumed run keeps the calibration that it began with.
local function find_calibration(plan, tester, options)
   local state, message
   if options.earlier then
      state = options.earlier.facts.calibration
   else
      state, message = calibration.find(plan, tester.ports, generator.of(), os.time())
   end
   if not state then
      refuse(BAD_PLAN, message)
   end
   plan.tester_limits = calibration.limits(state)
   return state
end

-- What is published of it: also which loads of the plan were more than the tester carries.
local function beyond(state, plan, trials)
   local copy = tables.copy(state)
   copy.beyond = calibration.beyond(plan, plan.tester_limits, trials)
   return copy
end

-- A folder for a new run, or the one of the run that is resumed.
-- @param state  of the calibration
-- @return the folder and the moment (framegauge.run.run_metadata)
local function begin(plan, tester, options, state)
   local request = resume.request(plan, tester.ports, generator.of(), options.expect)
   local earlier = options.earlier
   local folder, run
   request.calibration = state
   if earlier then
      earlier:begin(request)
      folder, run = earlier.folder, run_metadata.resume(earlier.facts, #earlier.records)
   else
      folder, run = create_folder(options.out), run_metadata.begin(plan, options.out, request)
      resume.keep_plan(folder, plan)
   end
   run.facts.known_by = tester.known_by and tester:known_by()
   folder:write("run.json", run:started())
   local of_method = methods.of(plan).files
   for _, file in ipairs(of_method and of_method(plan, tester) or {}) do
      folder:write(file[1], file[2])
   end
   return folder, run
end

-- @return whether a file could not be written
local function say_captures(screen, facts)
   local failed = false
   for _, fact in ipairs(facts or {}) do
      screen:say(notes.captured(fact) .. "\n")
      failed = failed or fact.failure ~= nil
   end
   return failed
end

-- @param kept  the captures of the run
local function run_captured(tester, plan, options, expectations, kept)
   local screen = options.screen or Screen.new()
   local method = methods.of(plan)
   local problem = method.check(plan, tester)
   if problem then
      refuse(BAD_PLAN, problem)
   end
   problem = actions.unwritable(plan, function(key)
      return not method.uses or method.uses(plan, key)
   end)
   if problem then
      refuse(ENVIRONMENT, problem)
   end
   local state = find_calibration(plan, tester, options)
   local folder, run = begin(plan, tester, options, state)
   local results, trials, err = measure(plan, tester, folder, options.earlier and options.earlier.records,
      screen)
   if type(err) == "table" and err.disagrees then
      error(err, 0)
   end
   run.facts.captures = kept:stop()
   calibration.apply(state, results, plan)
   uncertainty.add(plan, results, trials, state)
   local conformance = methods.of(plan).conformance
   local result = report.new {
      generator = generator.of(), plan = plan, conformance = conformance and conformance(plan),
      ports = tester.ports, results = results, trials = trials,
      calibration = beyond(state, plan, trials),
      expectations = evaluate(expectations, plan, results, err == nil), interrupted = err ~= nil,
   }
   local written, why = xpcall(write_files, failure.keep_stack, folder, result, run)
   if err and not job.is_interrupt(err) then
      error(err, 0)
   elseif not written then
      error(why, 0)
   end
   screen:say("\n" .. text.render(result, ansi.new(screen.width ~= nil), bars.wanted()) .. "\n"
      .. folder.path .. "\n" .. (screen.width and ("Open %s/report.html\n"):format(folder.path) or ""))
   local failed = say_captures(screen, run.facts.captures)
   hooks.tell(plan, result, folder.path, function(message)
      screen:say(message)
   end)
   local status = M.status_of(result)
   return status == 0 and failed and ENVIRONMENT or status, result
end

local function run_on(tester, plan, options, expectations, wanted)
   local kept = captures.start(tester, wanted)
   return failure.finally(function()
      kept:stop()
   end, run_captured, tester, plan, options, expectations, kept)
end

--- Run a plan. Call it inside a job.
-- @param plan            a loaded plan (framegauge.plan)
-- @param options.out      the result folder; default: one of its own under framegauge-runs
-- @param options.expect   further criteria (framegauge.methods.common.criteria)
-- @param options.capture  list of "PORT=FILE": what these ports receive in all trials (run/captures.lua)
-- @param options.earlier  the run to resume (framegauge.run.resume); its folder is the result folder
-- @param options.tester   an open tester to run it on, which stays open; default: one of its own
-- @param options.screen   shows the run (default: framegauge.run.screen): say(self, text); and optionally
--                         event(self, event) and follow(self, progress or nil) (run/progress.lua), width
--                         in columns (nil: not a terminal), hold(): called before each trial, may wait
-- @return exit status (framegauge.cli.exit) and the result (framegauge.report.result). What is refused before
-- the first frame raises an object with its status.
function M.main(plan, options)
   methods.of(plan) -- there is one
   local expectations = M.criteria(plan, options.expect)
   local wanted = captures.read(plan, options.capture)
   if not options.earlier then
      options.out = options.out or Folder.default_path(plan.name, os.time())
      check_path(options.out)
   end
   if options.tester then
      return run_on(options.tester, plan, options, expectations, wanted)
   end
   local tester = open_tester(plan, options.earlier)
   local pipes = job.ignore_broken_pipes() -- `| head` must not cost the result
   return failure.finally(function()
      pipes:close()
      tester:close()
   end, run_on, tester, plan, options, expectations, wanted)
end

return M
