-- SPDX-License-Identifier: BSD-3-Clause

--- Jobs of a tester: tests, traffic, captures and replays, one after the other or in parallel.
--
-- A job owns its ports. It runs as a coroutine of the event loop (core/job.lua), so the prompt stays
-- responsive. It can be watched, paused between two trials, and stopped; then it keeps its results so far.
-- Its text goes to a log that keeps the last lines, and to its listeners.
local failure = require "framegauge.core.failure"
local job = require "framegauge.core.job"
local progress = require "framegauge.text.progress"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"

local MOST_LOG = 1000 -- lines kept of each job
local MOST_ENDED = 50 -- jobs kept that have ended

local Task = {}
Task.__index = Task

local Tasks = {}
Tasks.__index = Tasks

--- Its state in a word.
function Task:state()
   if not self.ended then
      return self.stopping and "stopping" or self.paused and "paused" or "running"
   elseif self.error then
      return "failed"
   end
   return self.stopping and "stopped" or "done"
end

--- Where it is, as data (run/progress.lua); nil before its first trial and after its end.
function Task:progress()
   return not self.ended and self.look and self.look() or nil
end

--- Where it is as a line: its progress, or its result.
function Task:line()
   local event = self:progress()
   if event or self.look and not self.ended then
      return event and progress.line(event) or "begins"
   end
   return self.summary or self.error and tostring(self.error) or ""
end

function Task:__tostring()
   return ("job %d: %s, %s%s"):format(self.id, self.name, self:state(),
      self:line() ~= "" and ": " .. self:line() or "")
end

--- Log one or several lines.
-- @param event  that the text is about, or nil
function Task:say(text, event)
   self.log[#self.log + 1] = text
   if #self.log > MOST_LOG then
      table.remove(self.log, 1)
   end
   for listener in pairs(self.listeners) do
      listener(text, event)
   end
end

--- A trial begins or ends (run/progress.lua): those that end go to the log and are counted.
function Task:report(event)
   if event.ended then
      local counts = self.tasks.trials
      local key = event.test .. " " .. event.ended.validity
      counts[key] = counts[key] or { test = event.test, validity = event.ended.validity, count = 0 }
      counts[key].count, counts[key].task, counts[key].trial = counts[key].count + 1, self, event.ended.trial
      self.trials[#self.trials + 1] = event
      self:say(progress.ended(event) .. "\n", event)
   end
end

--- Call a listener with each text of the log and its event. @return function that ends it
function Task:listen(listener)
   self.listeners[listener] = true
   return function()
      self.listeners[listener] = nil
   end
end

--- Pause before the next trial.
function Task:pause()
   if self.ended then
      user_error.raise("pause", 2, "job %d has ended", self.id)
   end
   self.paused = true
end

--- Continue.
function Task:resume()
   self.paused = false
   if self.wake then
      self.wake()
   end
end

--- Stop it; it keeps its results so far. It has ended when wait() returns.
function Task:stop()
   if not self.ended then
      self.stopping = true
      self.job:interrupt()
   end
end

--- Wait for its end. @return its results, or nil. Raises its error.
function Task:wait()
   if not self.ended then
      job.wait(function(wake)
         self.waiting[wake] = true
         return function()
            self.waiting[wake] = nil
         end
      end)
   end
   if self.error then
      error(self.error, 0)
   end
   return self.results
end

--- Where a job can be paused: between two trials.
function Task:checkpoint()
   while self.paused do
      job.wait(function(wake)
         self.wake = wake
         return function()
            self.wake = nil
         end
      end)
   end
end

-- Runs inside the job.
function Task:main(run)
   local ok, results, summary = xpcall(run, failure.keep_stack)
   if ok then
      self.results, self.summary = results, summary
   elseif not job.is_interrupt(results) then
      self.error = results
   end
   self.ended = true
   self.tasks.on_end(self)
   for wake in pairs(self.waiting) do
      wake()
   end
end

--- The jobs of a tester.
-- @param on_end  function(task): called when one has ended
function Tasks.new(on_end)
   return setmetatable({ list = {}, last = 0, trials = {}, on_end = on_end }, Tasks)
end

--- The job that owns a port, or nil.
function Tasks:holder(port)
   for _, task in ipairs(self.list) do
      if not task.ended and task.ports[port] then
         return task
      end
   end
end

--- Those that have not ended.
function Tasks:running()
   return tables.map(self.list, function(task) return not task.ended and task or nil end)
end

function Tasks:check_free(ports)
   for _, port in ipairs(ports) do
      local holder = self:holder(port)
      if holder then
         user_error.raise("jobs", 2, "port %s is in use by %s; 'wait %d' for it or 'stop %d'", port,
            tostring(holder), holder.id, holder.id)
      end
   end
end

function Tasks:forget_oldest()
   local ended = 0
   for i = #self.list, 1, -1 do
      ended = ended + (self.list[i].ended and 1 or 0)
      if ended > MOST_ENDED then
         table.remove(self.list, i)
      end
   end
end

--- Start a job. Raises an error when one of its ports is in use.
-- @param name   its name
-- @param ports  list of the names of its ports
-- @param run    function(task) -> results and a summary in a few words
function Tasks:start(name, ports, run)
   self:check_free(ports)
   self:forget_oldest()
   self.last = self.last + 1
   local task = setmetatable({
      id = self.last, name = name, ports = {}, log = {}, listeners = {}, waiting = {}, trials = {},
      tasks = self,
      paused = false, stopping = false, ended = false,
   }, Task)
   for _, port in ipairs(ports) do
      task.ports[port] = true
   end
   self.list[#self.list + 1] = task
   task.job = job.spawn(task.main, task, function()
      job.sleep(0) -- so that the caller has the job before it runs
      return run(task)
   end)
   return task
end

--- The job of a number, or the last one. Raises an error when there is no such job.
function Tasks:get(id)
   if id == nil then
      local running = self:running()
      local task = running[#running] or self.list[#self.list]
      return task or user_error.raise("jobs", 2, "there is no job")
   end
   for _, task in ipairs(self.list) do
      if task == id or task.id == tonumber(id) then
         return task
      end
   end
   user_error.raise("jobs", 2, "there is no job %s; 'jobs' lists them", tostring(id))
end

return Tasks
