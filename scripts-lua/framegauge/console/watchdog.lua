-- SPDX-License-Identifier: BSD-3-Clause

--- The event loop must turn: behind it wait the jobs and all who are attached.
--
-- An alarm is set and put off again and again by a timer of the loop. When it comes, something has kept the
-- loop from turning for long, and if that is Lua of a user's, it is stopped with an error that says so.
local refusal = require "framegauge.refusal"
local signals = require "framegauge.signals"
local uv = require "luv"

local M = {}

--- Seconds that Lua may run without waiting, where others depend on it.
M.PATIENCE = 5

local PUT_OFF_MS = 1000

--- Begin to watch.
-- @param needed  function() -> whether anybody depends on it now; nil: always
-- @return function that ends it
function M.start(needed)
   signals.watch(M.PATIENCE, refusal.new {
      status = 1, message = ("stopped: it ran for %d seconds without waiting, and others depend on this "
         .. "tester; job.sleep(0) lets them go on"):format(M.PATIENCE),
   })
   local timer = uv.new_timer()
   timer:start(PUT_OFF_MS, PUT_OFF_MS, function()
      signals.watch((not needed or needed()) and M.PATIENCE or 0)
   end)
   timer:unref()
   return function()
      timer:close()
      signals.watch(0)
   end
end

return M
