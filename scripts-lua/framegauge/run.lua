-- SPDX-License-Identifier: BSD-3-Clause

--- One run: from a good plan to a folder of results and an exit status.
--
-- Everything that can be refused is refused before the first frame. From then on whatever was measured is
-- kept: each trial is on the disk before the next one begins, and Ctrl-C or an error still leaves a
-- result.json of what there is. A run that ended early can be resumed (framegauge.resume).
local Folder = require "framegauge.report.folder"
local Progress = require "framegauge.progress"
local refusal = require "framegauge.refusal"
local Session = require "framegauge.method.session"
local bars = require "framegauge.report.bars"
local calibration = require "framegauge.calibration"
local captured = require "framegauge.report.captured"
local captures = require "framegauge.captures"
local expect = require "framegauge.expect"
local files = require "framegauge.report.files"
local format = require "framegauge.report.format"
local generator = require "framegauge.report.generator"
local job = require "framegauge.job"
local methods = require "framegauge.method"
local moment = require "framegauge.report.moment"
local paint = require "framegauge.report.paint"
local report = require "framegauge.report.result"
local resume = require "framegauge.resume"
local tables = require "framegauge.tables"
local tester_load = require "framegauge.tester_load"
local text = require "framegauge.report.text"
local uv = require "luv"

local M = {}

local SUCCESS, FELL_SHORT, BAD_PLAN, NOT_THE_DEVICES, ENVIRONMENT, INTERRUPTED = 0, 1, 2, 3, 4, 130

local function refuse(status, message)
   refusal.raise("run", status, "%s", message)
end

local function say(message)
   io.stdout:write(message)
   io.stdout:flush()
end

local function read_expectations(plan, texts)
   local list = {}
   for i, one in ipairs(texts or {}) do
      local message
      list[i], message = expect.parse(one, plan)
      if not list[i] then
         refuse(BAD_PLAN, message)
      end
   end
   return list
end

local function check_path(path)
   local free, message = Folder.is_free(path)
   if not free then
      refuse(BAD_PLAN, message)
   end
end

-- Whether a port of the plan belongs to another tester.
local function is_shared(plan)
   for _, port in ipairs(plan.ports) do
      if port.kind == "far" then
         return true
      end
   end
   return false
end

local function open_bench(plan)
   local bench, message = require(is_shared(plan) and "framegauge.far.pair" or "framegauge.bench").open(plan)
   if not bench then
      refuse(type(message) == "table" and message.status or ENVIRONMENT, tostring(message))
   end
   return bench
end

local function create_folder(path)
   local folder, message = Folder.create(path)
   if not folder then
      refuse(ENVIRONMENT, message)
   end
   return folder
end

local function terminal_width()
   return uv.guess_handle(1) == "tty" and ((require("framegauge.editor").size()) or 80) or nil
end

local function new_progress(phases, bench, parts, screen)
   return Progress.new {
      write = screen.say,
      now = function()
         return uv.hrtime() / 1e9
      end,
      width = screen.width,
      snapshot = function()
         return bench:snapshot()
      end,
      parts = parts,
      waits = phases.learning_wait + phases.drain + phases.settle,
   }
end

-- Messages keep the stack of the place they came from; error objects know what they mean.
local function keep_stack(err)
   return type(err) == "string" and err .. "\n" .. debug.traceback("", 2):sub(2) or err
end

--- Measure until done, interrupted or broken.
-- @param recorded  trials of the run that is resumed; or nil
-- @param screen    as M.main takes it
-- @return results, trials, and the error that ended it early (nil: none)
local function measure(plan, bench, folder, recorded, screen)
   local results, method = {}, methods.of(plan)
   local parts, phases = method.parts(plan, bench), method.phases(plan)
   screen.say(text.heading(plan, bench.ports, parts, os.time()))
   local progress = new_progress(phases, bench, parts, screen)
   local session = Session.new {
      bench = bench,
      retries = phases.retries,
      phases = phases,
      recorded = recorded,
      watch = screen.watch and screen.watch(progress) or progress,
      say = function(message)
         progress:say(message)
      end,
      sink = function(record)
         folder:append("trials.jsonl", report.trial_line(record))
      end,
   }
   if recorded then
      screen.say(("Resumed: %s made before.\n"):format(format.plural(#recorded, "trial")))
   end
   progress:start()
   local done, err = xpcall(function()
      method.run(plan, bench, session, results)
      session:finish()
   end, keep_stack)
   progress:stop()
   return results, session.trials, not done and err or nil
end

local function evaluate(expectations, rows, complete)
   local list = {}
   for i, expectation in ipairs(expectations) do
      list[i] = expect.evaluate(expectation, rows, complete)
   end
   return list
end

local function status_of(result)
   if result.interrupted then
      return INTERRUPTED
   end
   for _, expectation in ipairs(result.expectations) do
      if expectation.met == false then
         return FELL_SHORT
      end
   end
   if result.verdict == "fail" then
      return FELL_SHORT
   end
   return result.verdict == "valid" and SUCCESS or NOT_THE_DEVICES
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

-- What is known of the tester itself. A run that is resumed stays with what it began with.
local function find_calibration(plan, bench, options)
   local state, message
   if options.earlier then
      state = options.earlier.facts.calibration
   else
      state, message = calibration.find(plan, bench.ports, generator.of(), os.time())
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
   copy.beyond = tester_load.beyond(plan, plan.tester_limits, trials)
   return copy
end

-- A folder for a new run, or the one of the run that is resumed.
-- @param state  of the calibration
-- @return the folder and the moment (framegauge.report.moment)
local function begin(plan, bench, options, state)
   local request, earlier = resume.request(plan, bench.ports, generator.of(), options.expect), options.earlier
   local folder, run
   request.calibration = state
   if earlier then
      earlier:begin(request)
      folder, run = earlier.folder, moment.resume(earlier.facts, #earlier.records)
   else
      folder, run = create_folder(options.out), moment.begin(plan, options.out, request)
      resume.keep_plan(folder, plan)
   end
   folder:write("run.json", run:started())
   return folder, run
end

local function say_captures(screen, facts)
   for _, fact in ipairs(facts or {}) do
      screen.say(captured.in_words(fact) .. "\n")
   end
end

-- @param kept  the captures of the run
local function run_captured(bench, plan, options, expectations, kept)
   local screen = options.screen or { say = say, width = terminal_width() }
   local problem = methods.of(plan).check(plan, bench)
   if problem then
      refuse(BAD_PLAN, problem)
   end
   local state = find_calibration(plan, bench, options)
   local folder, run = begin(plan, bench, options, state)
   local results, trials, err = measure(plan, bench, folder, options.earlier and options.earlier.records,
      screen)
   if type(err) == "table" and err.disagrees then
      error(err, 0)
   end
   run.facts.captures = kept:stop()
   calibration.apply(state, results, plan)
   local result = report.new {
      generator = generator.of(), plan = plan, ports = bench.ports, results = results, trials = trials,
      calibration = beyond(state, plan, trials),
      expectations = evaluate(expectations, expect.rows(plan, results), err == nil), interrupted = err ~= nil,
   }
   local written, why = xpcall(write_files, keep_stack, folder, result, run)
   if err and not (type(err) == "table" and err.interrupted) then
      error(err, 0)
   elseif not written then
      error(why, 0)
   end
   screen.say("\n" .. text.render(result, paint.new(screen.width ~= nil), bars.wanted()) .. "\n"
      .. folder.path .. "\n")
   say_captures(screen, run.facts.captures)
   return status_of(result), result
end

local function run_on(bench, plan, options, expectations, wanted)
   local kept = captures.start(bench, wanted)
   local ok, status, result = xpcall(run_captured, keep_stack, bench, plan, options, expectations, kept)
   kept:stop()
   if not ok then
      error(status, 0)
   end
   return status, result
end

--- Run a plan. Call it inside a job.
-- @param plan            a loaded plan (framegauge.plan)
-- @param options.out      the result folder; default: one of its own under framegauge-runs
-- @param options.expect   list of expectations (framegauge.expect)
-- @param options.capture  list of "PORT=FILE": what these ports receive in all trials (framegauge.captures)
-- @param options.earlier  the run to resume (framegauge.resume); its folder is the result folder
-- @param options.bench    an open bench to run it on, which stays open; default: one of its own
-- @param options.screen   what a person sees: say(text), width in columns (nil: not a terminal),
--                         watch(progress) -> the object a session is watched by (nil: the progress itself);
--                         default: the standard output
-- @return exit status (framegauge.cli.exit) and the result (framegauge.report.result). What is refused before
-- the first frame raises an object with its status.
function M.main(plan, options)
   local expectations = read_expectations(plan, options.expect)
   local wanted = captures.read(plan, options.capture)
   if not options.earlier then
      options.out = options.out or Folder.default_path(plan.name, os.time())
      check_path(options.out)
   end
   if options.bench then
      return run_on(options.bench, plan, options, expectations, wanted)
   end
   local bench, pipes = open_bench(plan), job.ignore_broken_pipes() -- `| head` must not cost the result
   local ok, status, result = xpcall(run_on, keep_stack, bench, plan, options, expectations, wanted)
   pipes:close()
   bench:close()
   if not ok then
      error(status, 0)
   end
   return status, result
end

return M
