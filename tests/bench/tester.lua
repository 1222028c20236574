-- SPDX-License-Identifier: BSD-3-Clause

--- Framegauge itself as the thing measured: a plan, and trials that ask for more than can be carried.
local Bench = require "framegauge.tester"
local ffi = require "ffi"
local plans = require "framegauge.plan"
local uv = require "luv"

ffi.cdef "uint64_t rte_get_tsc_hz(void);"

local M = {}

-- A frame that could not leave stays due, however late: what is asked for here is what nobody can send.
local FOREVER = 1e6

--- Time stamp counter, ticks per second.
function M.tsc_hz()
   return tonumber(ffi.C.rte_get_tsc_hz())
end

--- Open a plan on a machine.
-- @param cpus  {main=, worker=}
-- @param text  YAML
-- @param sets  list of "path=value"
-- @return the tester, and the plan
function M.open(cpus, text, sets)
   local plan, errors = plans.load_text(text, "bench", { sets = sets })
   if not plan then
      error(tostring(errors[1]), 0)
   end
   plan.host.lcores = { cpus.main, cpus.worker }
   plan.host.max_lag = FOREVER
   local bench, err = Bench.open(plan)
   if not bench then
      error(tostring(err), 0)
   end
   return bench, plan
end

--- Run a trial of 64-byte frames.
-- @param o.fps, o.duration, o.directions, o.drain  as for Bench:trial
-- @return the trial's counts
function M.trial(bench, o)
   return bench:trial {
      frame_size = 64, fps = o.fps, duration = o.duration, directions = o.directions,
      learning_wait = 0, drain = o.drain or 0, settle = 0,
   }
end

--- A clock that tells the processor time of the worker lcore, which other programs take no part of.
-- @return function: seconds
function M.worker_clock()
   for tid in uv.fs_scandir_next, uv.fs_scandir "/proc/self/task" do
      local name = io.open("/proc/self/task/" .. tid .. "/comm")
      local is_worker = name and name:read("*l"):find "worker"
      if name then
         name:close()
      end
      if is_worker then
         return function()
            local file = assert(io.open("/proc/self/task/" .. tid .. "/schedstat"))
            local ns = tonumber(file:read("*l"):match "^%d+")
            file:close()
            return ns / 1e9
         end
      end
   end
   error("no worker lcore found", 0)
end

--- Call fn(thing, ...), close the thing however that ends, and return what fn returned.
function M.with(thing, fn, ...)
   local ok, result = pcall(fn, thing, ...)
   thing:close()
   if not ok then
      error(result, 0)
   end
   return result
end

return M
