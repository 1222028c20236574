-- SPDX-License-Identifier: BSD-3-Clause

--- Resuming a run that was killed or interrupted.
--
-- Methods are deterministic: the plan and the earlier trials decide on the next trial. So a run is resumed by
-- making it again from the start, while the session answers from trials.jsonl as long as that lasts
-- (framegauge.trial.session). This needs the same plan, program and ports. The run's folder keeps the plan
-- (plan.yaml, as it was read) and, in run.json, its meaning; any difference is named and rejected. The last
-- line of trials.jsonl may be torn, because the process may have been killed while it wrote; that trial was
-- not finished and is made again.
local compare = require "framegauge.report.compare"
local files = require "framegauge.report.files"
local Folder = require "framegauge.report.folder"
local json = require "framegauge.text.json"
local moments = require "framegauge.report.moment"
local plans = require "framegauge.report.plan"
local report = require "framegauge.report.result"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local PLAN, RESULT, TRIALS = "plan.yaml", "result.json", "trials.jsonl"

local function refuse(...)
   user_error.raise("run", 2, ...)
end

-- Values as read from a file: without types that JSON lacks.
local function as_read(value)
   return json.decode(json.encode(value))
end

--- What a resumed run must have in common with the run it resumes.
-- @param ports   of the tester
-- @param expect  expectations as they were given; they are kept, but may be others
function M.request(plan, ports, generator, expect)
   local list = {}
   for i, port in ipairs(ports) do
      list[i] = {
         name = port.name, device = port.device, driver = port.driver, mode = port.mode,
         line_rate = port.line_rate or json.null,
      }
   end
   return as_read {
      generator = generator, ports = list, plan = report.published_plan(plan),
      options = plan.source and plan.source.options, expect = expect or {},
   }
end

local function check_same(what, old, new)
   local found = compare.differences(old or json.object {}, new or json.object {})
   if #found > 0 then
      refuse("the run cannot be resumed with another %s: %s", what, table.concat(found, "; "))
   end
end

-- One line as a trial; nil when it is no JSON.
local function read_trial(line, number, test)
   local read, record = pcall(json.decode, line)
   if not read then
      return nil
   elseif type(record) ~= "table" or record.trial ~= number then
      refuse("line %d of %s is not trial %d", number, TRIALS, number)
   end
   local wrong = report.wrong_trial(record, test)
   if wrong then
      refuse("line %d of %s: %s", number, TRIALS, wrong)
   end
   return files.without_nulls(record)
end

-- The finished trials, and how many bytes of the file they take.
local function read_trials(text, test)
   local records, size = {}, 0
   local last = text:find("\n", 1, true)
   while last do
      local number = #records + 1
      local record = read_trial(text:sub(size + 1, last - 1), number, test)
      if not record and last == #text then
         break
      elseif not record then
         refuse("line %d of %s is not trial %d", number, TRIALS, number)
      end
      records[number], size = record, last
      last = text:find("\n", size + 1, true)
   end
   return records, size
end

local function is_finished(folder, facts)
   local text = facts.ended ~= json.null and folder:read(RESULT)
   local read, result = pcall(json.decode, text or "{}")
   if not read or type(result) ~= "table" then
      refuse("%s of %s is no JSON: it was changed by hand, or by another program", RESULT, folder.path)
   end
   return text and not result.interrupted
end

local function read_facts(folder)
   local facts, problem = moments.read(folder.path)
   problem = facts and moments.lacks(facts) or problem
   return not problem and facts or refuse("%s is not the folder of a run: %s", folder.path, problem)
end

local function open_folder(path)
   local folder, message = Folder.take(path)
   return folder or refuse("%s", message)
end

local Earlier = {}
Earlier.__index = Earlier

--- Open the folder of the run. Raises an object with exit status and message when it cannot be resumed.
-- @return the run: `folder`, `facts` (run.json) and `records` (finished trials)
function M.open(path)
   local folder = open_folder(path)
   local facts = read_facts(folder)
   if is_finished(folder, facts) then
      refuse("the run in %s was not ended early: there is nothing to resume", folder.path)
   end
   local text, message = folder:read(TRIALS)
   if not text and uv.fs_stat(path .. "/" .. TRIALS) then
      refuse("the trials of the run cannot be read: %s", message)
   end
   local records, size = read_trials(text or "", facts.plan.test)
   return setmetatable({ folder = folder, facts = facts, records = records, size = size }, Earlier)
end

--- What a run was started with, whether it has ended or not: for plan_text() and check_plan() alone.
function M.started(path)
   local folder = Folder.open(path)
   return setmetatable({ folder = folder, facts = read_facts(folder) }, Earlier)
end

--- The plan as the folder keeps it.
-- @return text, name and options, for framegauge.plan.load_text
function Earlier:plan_text()
   local text, message = self.folder:read(PLAN)
   if not text then
      refuse("the run has lost its plan: %s", message)
   end
   return text, self.facts.plan_file, self.facts.options
end

--- Refuse to go on with another plan or program. Called before anything is opened.
function Earlier:check_plan(plan, generator)
   check_same("version of the program", self.facts.generator, as_read(generator))
   local old, new = self.facts.plan, as_read(report.published_plan(plan))
   local wrong = plans.wrong(old)
   if wrong then
      refuse("run.json of %s is damaged: %s", self.folder.path, wrong)
   end
   plans.complete(old)
   plans.complete(new)
   check_same("plan", old, new)
end

--- Refuse to go on with other ports; then the folder is ready to be written to.
-- @param request  of this run
function Earlier:begin(request)
   for i, port in ipairs(request.ports) do
      check_same("port " .. port.name, self.facts.ports[i], port)
   end
   if self.folder:read(TRIALS) then
      self.folder:truncate(TRIALS, self.size)
   end
end

--- Write down what a run is started with.
function M.keep_plan(folder, plan)
   if plan.source then
      folder:write(PLAN, plan.source.text)
   end
end

return M
