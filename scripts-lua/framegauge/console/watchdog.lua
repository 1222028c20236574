-- SPDX-License-Identifier: BSD-3-Clause

--- The event loop must not block: jobs and attached users depend on it.
--
-- A timer of the loop postpones an alarm again and again. The alarm goes off when something has blocked the
-- loop for long; if that is a user's Lua code, it is stopped with an error. Patterns of the library `string`
-- are C, which nothing interrupts: patterns of users are bounded by steps.
local bounded_pattern = require "framegauge.core.bounded_pattern"
local signals = require "framegauge.signals"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

--- Seconds that Lua may run without waiting while others depend on the loop.
M.PATIENCE = 5

local PUT_OFF_MS = 1000

--- Begin to watch.
-- @param needed  function() -> whether other users depend on the loop now; nil: always
-- @return function that ends it
function M.start(needed)
   bounded_pattern.install(debug.getinfo(1, "S").source:match "^(.*/)console/watchdog%.lua$")
   signals.watch(M.PATIENCE, user_error.new {
      status = 1, message = ("stopped: it ran for %d seconds without waiting, and other users depend on this tester; call job.sleep(0) to let other jobs run"):format(M.PATIENCE),
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
