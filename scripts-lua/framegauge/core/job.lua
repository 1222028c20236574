-- SPDX-License-Identifier: BSD-3-Clause

--- Jobs: coroutines on one event loop.
--
-- A test method is written straight down the page, yet while it waits for a trial the main thread must go on
-- reading signals, timers and the console. So each method runs as a job: a coroutine that hands the thread
-- back to the libuv loop whenever it waits. Any number of jobs may run; one of them, the one given to run(),
-- is in the foreground, and Ctrl-C is meant for it: its present wait, or else its next one, raises the object
-- {interrupted = true}, so that it unwinds like from any other error and can write down what it has. A second
-- Ctrl-C during that ends the process (lib/script/signals.c). An error in a callback of the loop, which no
-- job could catch, is raised in the foreground in the same way.
local callbacks = require "framegauge.callbacks"
local failure = require "framegauge.core.failure"
local signals = require "framegauge.signals"
local uv = require "luv"

local pack = failure.pack

local M = {
   terminated = false, -- SIGTERM or SIGHUP has come: a job that waits for more work should end instead
}

local Job = {}
Job.__index = Job

local Interrupted = { interrupted = true, status = 130 }
Interrupted.__index = Interrupted
function Interrupted.__tostring()
   return "interrupted"
end

local current -- the job whose coroutine is running
local foreground -- the job Ctrl-C is for
local interrupts -- poll handle of the signal pipe
local failed -- what a callback of the loop has raised

-- Let the job's coroutine run until it waits again or ends.
local function advance(job, ...)
   local previous = current
   current = job
   coroutine.resume(job.coroutine, ...)
   current = previous
   if coroutine.status(job.coroutine) == "dead" and not job.done then
      job.done = true
      for _, wake in ipairs(job.joined) do
         wake()
      end
   end
end

local function raise_pending(job)
   local pending = job.pending
   if pending then
      job.pending = nil
      error(pending, 0)
   end
end

callbacks.catch(uv.run, function(err)
   failed = failed or failure.keep_stack(err)
end)

-- A job that yields by itself would never be woken, and no Ctrl-C would reach it. Its own coroutines may.
local yield = coroutine.yield
coroutine.yield = function(...) -- luacheck: ignore 122
   if current and coroutine.running() == current.coroutine then
      error("attempt to yield from outside a coroutine", 2)
   end
   return yield(...)
end

--- The job that is running, or nil outside of any.
-- @usage job.current() ~= nil --> true
function M.current()
   return current
end

--- Start a job; it runs at once until it first waits.
-- @param fn   its function; the other arguments are given to it
-- @return the job, with the methods join and interrupt
-- @usage job.spawn(function(a) job.sleep(0.01) return a + 1 end, 4):join() --> 5
function M.spawn(fn, ...)
   local job = setmetatable({ joined = {}, listeners = {} }, Job)
   job.coroutine = coroutine.create(function(...)
      job.results = pack(xpcall(fn, failure.keep_stack, ...))
   end)
   advance(job, ...)
   return job
end

--- Wait for one event: the only way a job hands the thread back.
-- @param start  called with a function wake; it must have wake called (by any libuv callback) when
--               the event has come, and may return a function that cleans up, called however the wait ends
-- @return what wake was given. Raises {interrupted = true} when the job is interrupted.
-- @usage job.wait(function(wake) wake("here", 2) end) --> here 2
function M.wait(start)
   local job = current
   if not job or coroutine.running() ~= job.coroutine then
      error("only a job can wait: call it inside job.run()", 2)
   end
   raise_pending(job)
   local values, sleeping, over
   local function wake(...)
      if over then
         return
      end
      over, values = true, pack(...)
      if sleeping then
         advance(job)
      end
   end
   local clean_up = start(wake)
   if not over then
      sleeping, job.wake = true, wake
      yield()
      job.wake = nil
   end
   if clean_up then
      clean_up()
   end
   raise_pending(job)
   return unpack(values, 1, values.n)
end

-- Call a function after a time. Without any it is called in the next turn of the loop, by an idle handle: in
-- libuv before 1.48 a timer that another one begins, and that is due, runs in the same turn, so that jobs
-- which only let each other run would keep sockets and signals from being looked at.
local function after(seconds, fn)
   local handle = seconds > 0 and uv.new_timer() or uv.new_idle()
   if seconds > 0 then
      uv.update_time()
      handle:start(math.ceil(seconds * 1000), 0, fn)
   else
      handle:start(fn)
   end
   return handle
end

--- Wait until object.wake() is called, at most for a time.
-- @param seconds  rounded up to whole milliseconds; none lets all else that is due have its turn
-- @usage local o = {} job.spawn(function() job.sleep(0.01) o.wake() end) job.rest(o, 60)
function M.rest(object, seconds)
   M.wait(function(wake)
      object.wake = wake
      local handle = after(seconds, function() wake() end)
      return function()
         object.wake = nil
         handle:close()
      end
   end)
end

--- Wait for a time.
-- @param seconds  rounded up to whole milliseconds; 0 lets the others run once
-- @usage job.sleep(0.01)
function M.sleep(seconds)
   M.rest({}, seconds)
end

--- Whether an error comes from a job that was interrupted.
-- @usage job.is_interrupt "no" --> false
function M.is_interrupt(err)
   return type(err) == "table" and err.interrupted == true
end

--- Call a function that Ctrl-C may end. Other errors are raised again.
-- @return true and what it returned, or false when it was interrupted
-- @usage job.until_interrupted(function() return 7 end) --> true 7
function M.until_interrupted(fn, ...)
   local results = pack(pcall(fn, ...))
   if not results[1] and not M.is_interrupt(results[2]) then
      error(results[2], 0)
   end
   return unpack(results, 1, results[1] and results.n or 1)
end

--- Wait for the job to end. Returns what its function returned, or raises its error.
-- @usage job.spawn(function() return "done" end):join() --> done
function Job:join()
   if not self.done then
      M.wait(function(wake)
         table.insert(self.joined, wake)
      end)
   end
   local results = self.results
   if not results[1] then
      error(results[2], 0)
   end
   return unpack(results, 2, results.n)
end

-- Make the job's present or next wait raise an error.
function Job:fail(err)
   self.pending = err
   if self.wake then
      self.wake()
   end
end

--- Make the job's present or next wait raise {interrupted = true}; its on_interrupt functions come first.
-- @usage local j = job.spawn(job.sleep, 60) j:interrupt() return (pcall(j.join, j)) --> false
function Job:interrupt()
   if self.done then
      return
   end
   self.pending = setmetatable({}, Interrupted)
   for _, listener in ipairs(self.listeners) do
      listener()
   end
   self:fail(self.pending)
end

--- Call a function when the running job is interrupted, before it unwinds. It may not wait.
-- @usage job.spawn(function() job.on_interrupt(function() end) end):join()
function M.on_interrupt(fn)
   table.insert(assert(current, "on_interrupt: no job is running").listeners, fn)
end

local function watch_signals()
   if interrupts then
      return
   end
   interrupts = uv.new_poll(signals.open())
   interrupts:start("r", function()
      local number = signals.take()
      M.terminated = M.terminated or number == uv.constants.SIGTERM or number == uv.constants.SIGHUP
      if number and foreground then
         foreground:interrupt()
      end
   end)
   interrupts:unref() -- it alone must not keep a loop alive that nothing else can wake
end

-- Let Ctrl-C stop Lua that never waits, too, by the same error; our own modules are spared. For prompts,
-- which must come back. Lua that is to be stopped so must be left to the interpreter (jit.off).
function M.guard()
   watch_signals()
   local ours = debug.getinfo(1, "S").source:match("^(.*/)core/job%.lua$")
   signals.guard(setmetatable({}, Interrupted), ours)
end

-- Let the event loop turn, outside of any job, until something has come true.
-- @param done       function() -> whether it has
-- @param interrupt  what Ctrl-C is for meanwhile: an object with a method interrupt(). What a callback raises
--                   goes to its method fail(err), or is raised here where it has none
-- @return done(); false when there is nothing left that the loop could wait for
function M.turn(done, interrupt)
   watch_signals()
   local before, alive = foreground, true
   foreground = interrupt
   while not done() and alive and not failed do
      alive = uv.run("once")
      if failed and interrupt and interrupt.fail then
         interrupt:fail(failed)
         failed = nil
      end
   end
   foreground = before
   signals.answered()
   if failed then
      local err = failed
      failed = nil
      error(err, 0)
   end
   return done()
end

-- Who breaks off while we write to him must not end us. @return handle, to be closed
function M.ignore_broken_pipes()
   local signal = uv.new_signal()
   signal:start("sigpipe", function() end)
   signal:unref()
   return signal
end

--- Run a function as the foreground job and the event loop with it, until the function ends.
-- Inside a job it simply calls the function.
-- @return what the function returned. Its error is raised again: error objects as they are, a message as an
-- object with message and traceback.
-- @usage job.run(function() return 7 end) --> 7
function M.run(fn, ...)
   if current then
      return fn(...)
   end
   watch_signals()
   local job = M.spawn(fn, ...)
   local ended = M.turn(function()
      return job.done
   end, job)
   if not ended then
      error("the job waits for an event that cannot come", 2)
   end
   return job:join()
end

-- Close whatever the loop holds, at the end of the program: luv must not find a half-closed handle when
-- the virtual machine is taken down.
function M.shut_down()
   uv.walk(function(handle)
      if not handle:is_closing() then
         handle:close()
      end
   end)
   uv.run()
end

return M
