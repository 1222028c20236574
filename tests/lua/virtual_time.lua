-- SPDX-License-Identifier: BSD-3-Clause

--- Virtual time: timers, clocks and the event loop of hosts that are played, as fast as the processor allows.
--
-- While run() runs, the timers of libuv and its loop are ours: nothing waits, time goes on to the next event.
-- Code belongs to the host of the timer that woke it. Each host has clocks of its own, and can be
-- stopped, go on, and die, with all that belongs to it; its disk can be full.
local ffi = require "ffi"
local job = require "framegauge.core.job"
local machine = require "framegauge.clock.machine"
local time = require "framegauge.clock.time"
local uv = require "luv"

local M = {}

local heap, number -- events, the next one first; how many there have been

local function before(a, b)
   return a.at < b.at or a.at == b.at and a.number < b.number
end

local function push(event)
   local i = #heap + 1
   heap[i] = event
   while i > 1 and before(event, heap[math.floor(i / 2)]) do
      heap[i], i = heap[math.floor(i / 2)], math.floor(i / 2)
      heap[i] = event
   end
end

local function pop()
   local first, last, i = heap[1], table.remove(heap), 1
   if heap[1] then
      while true do
         local child = 2 * i
         if heap[child + 1] and before(heap[child + 1], heap[child]) then
            child = child + 1
         end
         if not heap[child] or not before(heap[child], last) then
            break
         end
         heap[i], i = heap[child], child
      end
      heap[i] = last
   end
   return first
end

local function plan(timer, at)
   number = number + 1
   push { at = at, number = number, timer = timer, turn = timer.turn }
end

local Timer = {}
Timer.__index = Timer

-- Also an idle handle, which is given a function alone.
function Timer:start(ms, every, fn)
   self.fn, self.every, self.turn = fn or ms, fn and every or 0, self.turn + 1
   plan(self, M.now + (fn and ms or 0) * 1e6)
end

function Timer:stop()
   self.turn = self.turn + 1
end

function Timer:close()
   self.closed = true
end

function Timer:is_closing()
   return self.closed
end

function Timer.unref() end

--- A timer of a host; default: of the one whose code runs.
function M.timer(host)
   return setmetatable({ host = host or M.host, turn = 0 }, Timer)
end

local function fire(event)
   local timer = event.timer
   if timer.closed or event.turn ~= timer.turn or timer.host.dead then
      return
   elseif timer.host.stopped_at then
      table.insert(timer.host.waiting, event)
      return
   end
   if timer.every > 0 then
      plan(timer, M.now + timer.every * 1e6)
   end
   local outer = M.host
   M.host = timer.host
   timer.fn()
   M.host = outer
end

--- A host. @param raw_ns  what its clock of the timestamps shows at the beginning
function M.new_host(name, raw_ns)
   return { name = name, raw_ns = raw_ns, error_ns = 0, holes = {}, waiting = {} }
end

--- Stop a host, as SIGSTOP does with a process.
function M.stop(host)
   host.stopped_at = host.stopped_at or M.now
end

--- Let it go on: whatever came meanwhile comes now.
function M.go_on(host)
   local waiting = host.waiting
   if host.stopped_at then
      table.insert(host.holes, { host.stopped_at, M.now })
   end
   host.stopped_at, host.waiting = nil, {}
   for _, event in ipairs(waiting) do
      number = number + 1
      event.at, event.number = M.now, number
      push(event)
   end
end

--- Kill it.
function M.kill(host)
   host.dead = host.dead or M.now
end

--- What the sources of a host's common time ask (framegauge.clock.machine): a kernel that is synchronised.
-- Its clock is wrong by host.error_ns, whatever it says.
function M.machine(host, bound_ns)
   return setmetatable({
      raw = time.raw, boot = function() return host.name end, programs = function() return {} end,
      kernel = function() return { synchronised = true, maxerror_ns = bound_ns } end,
      distance_of_realtime = function()
         return ffi.cast("int64_t", host.error_ns - host.raw_ns), 1, time.raw()
      end,
   }, { __index = machine })
end

local function own_functions()
   return {
      { uv, "new_timer", function() return M.timer() end },
      { uv, "new_idle", function() return M.timer() end },
      { uv, "hrtime", function() return M.now end },
      { uv, "update_time", function() end },
      { uv, "fs_fsync", function() return true end },
      { uv, "run", function()
         local event = pop()
         if event then
            M.now = math.max(M.now, event.at)
            fire(event)
         end
         return event ~= nil
      end },
      { uv, "fs_write", function(...)
         if M.host.full then
            return nil, "ENOSPC: no space left on device"
         end
         return M.fs_write(...)
      end },
      { time, "raw", function() return ffi.cast("int64_t", M.now + M.host.raw_ns) end },
   }
end

--- Run a function as a job in virtual time, which begins at 0. It belongs to a host that nothing happens to.
function M.run(fn)
   heap, number = {}, 0
   M.now, M.nobody = 0, M.new_host("nobody", 0)
   M.host, M.fs_write = M.nobody, uv.fs_write
   local functions, kept = own_functions(), {}
   for i, one in ipairs(functions) do
      kept[i] = one[1][one[2]]
      one[1][one[2]] = one[3]
   end
   local ok, result = pcall(job.run, fn)
   for i, one in ipairs(functions) do
      one[1][one[2]] = kept[i]
   end
   if not ok then
      error(result, 0)
   end
   return result
end

--- Call a function as code of a host.
function M.as(host, fn, ...)
   local outer = M.host
   M.host = host
   local ok, result = pcall(fn, ...)
   M.host = outer
   if not ok then
      error(result, 0)
   end
   return result
end

return M
