-- SPDX-License-Identifier: BSD-3-Clause

--- Jobs of the tester, as its user sees them: tests and traffic, one after the other or side by side.
--
-- A job has ports to itself. It runs as a coroutine of the event loop (framegauge.job), so the prompt stays
-- alive; it can be watched, paused between two trials, and stopped, and then it has the results so far. What
-- it has to say goes to its log, of which the last lines are kept, and to whoever watches.
local job = require "framegauge.job"
local refusal = require "framegauge.refusal"

local MOST_LOG = 1000 -- lines kept of each job
local MOST_ENDED = 50 -- jobs kept that have ended

local Task = {}
Task.__index = Task

local Tasks = {}
Tasks.__index = Tasks

--- What it did or does, in a word or two.
function Task:state()
   if not self.ended then
      return self.stopping and "stopping" or self.paused and "paused" or "running"
   elseif self.error then
      return "failed"
   end
   return self.stopping and "stopped" or "done"
end

--- Where it is: the line of its progress, or its last word.
function Task:line()
   if self.progress and not self.ended then
      return self.progress.ask and self.progress:line() or "begins"
   end
   return self.summary or self.error and tostring(self.error) or ""
end

function Task:__tostring()
   return ("job %d: %s, %s%s"):format(self.id, self.name, self:state(),
      self:line() ~= "" and ": " .. self:line() or "")
end

--- A line, or several, for the log and for those who watch.
function Task:say(text)
   self.log[#self.log + 1] = text
   if #self.log > MOST_LOG then
      table.remove(self.log, 1)
   end
   for listener in pairs(self.listeners) do
      listener(text)
   end
end

--- Be told what it says. @return function that ends it
function Task:listen(listener)
   self.listeners[listener] = true
   return function()
      self.listeners[listener] = nil
   end
end

--- Let it wait before its next trial.
function Task:pause()
   if self.ended then
      refusal.raise("pause", 2, "job %d has ended", self.id)
   end
   self.paused = true
end

--- Let it go on.
function Task:resume()
   self.paused = false
   if self.wake then
      self.wake()
   end
end

--- End it; what it has found so far it keeps. It has ended when wait() returns.
function Task:stop()
   if not self.ended then
      self.stopping = true
      self.job:interrupt()
   end
end

--- Wait for its end. @return its results, nil where it found none. Raises its error.
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

--- The place where a job may be held up: between two trials.
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

local Failure = {
   __tostring = function(self)
      return self.message
   end,
}

local function keep_stack(err)
   if type(err) == "string" then
      return setmetatable({ message = err, traceback = debug.traceback("", 2):sub(2) }, Failure)
   end
   return err
end

-- Runs inside the job.
function Task:main(run)
   local ok, results, summary = xpcall(run, keep_stack)
   if ok then
      self.results, self.summary = results, summary
   elseif not (type(results) == "table" and results.interrupted) then
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
   return setmetatable({ list = {}, last = 0, on_end = on_end }, Tasks)
end

--- The one that has a port, or nil.
function Tasks:holder(port)
   for _, task in ipairs(self.list) do
      if not task.ended and task.ports[port] then
         return task
      end
   end
end

--- Those that have not ended.
function Tasks:running()
   local list = {}
   for _, task in ipairs(self.list) do
      list[#list + 1] = not task.ended and task or nil
   end
   return list
end

function Tasks:check_free(ports)
   for _, port in ipairs(ports) do
      local holder = self:holder(port)
      if holder then
         refusal.raise("jobs", 2, "port %s is in use by %s; 'wait %d' for it or 'stop %d'", port,
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

--- Start a job. Refused when one of its ports is in use.
-- @param name   what it is
-- @param ports  list of the names of its ports
-- @param run    function(task) -> results and a summary in a few words
function Tasks:start(name, ports, run)
   self:check_free(ports)
   self:forget_oldest()
   self.last = self.last + 1
   local task = setmetatable({
      id = self.last, name = name, ports = {}, log = {}, listeners = {}, waiting = {}, tasks = self,
      paused = false, stopping = false, ended = false,
   }, Task)
   for _, port in ipairs(ports) do
      task.ports[port] = true
   end
   self.list[#self.list + 1] = task
   task.job = job.spawn(task.main, task, function()
      job.sleep(0) -- so that whoever starts it has it before it does anything
      return run(task)
   end)
   return task
end

--- The job of a number, or the last one. Refused when there is none.
function Tasks:get(id)
   if id == nil then
      local running = self:running()
      local task = running[#running] or self.list[#self.list]
      return task or refusal.raise("jobs", 2, "there is no job")
   end
   for _, task in ipairs(self.list) do
      if task == id or task.id == tonumber(id) then
         return task
      end
   end
   refusal.raise("jobs", 2, "there is no job %s; 'jobs' lists them", tostring(id))
end

return Tasks
