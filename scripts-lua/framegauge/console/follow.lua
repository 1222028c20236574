-- SPDX-License-Identifier: BSD-3-Clause

--- Following a job: what it logs, and at a terminal its line of progress below.
local job = require "framegauge.core.job"
local uv = require "luv"

local M = {}

local REDRAW_MS = 200
local REPLAY = 5 -- earlier lines that are shown at the start

-- Wait for the end of a job, and show it meanwhile. @return whether it was not interrupted
local function show(session, task)
   local terminal, timer = session.terminal, nil
   local stop = task:listen(function(text)
      session.out(text)
   end)
   if terminal then
      timer = uv.new_timer()
      timer:start(REDRAW_MS, REDRAW_MS, function()
         terminal:show_progress(task:progress())
      end)
   end
   task.watched = session
   local ok, done = pcall(job.until_interrupted, task.wait, task)
   stop()
   task.watched = nil
   if timer then
      timer:close()
      terminal:show_progress(nil)
   end
   return ok and done or not ok and error(done, 0)
end

--- Show a job from its beginning to its end. Ctrl-C stops it; it keeps its results so far.
function M.foreground(session, task)
   if not show(session, task) and not task.ended then
      task:stop()
      task:wait()
      session.out "interrupted; the results so far are kept\n"
   end
end

--- Show a running job. Ctrl-C ends only the following.
function M.watch(session, task)
   for i = math.max(1, #task.log - REPLAY + 1), #task.log do
      session.out(task.log[i])
   end
   if task.ended then
      session.out(tostring(task) .. "\n")
   else
      show(session, task)
   end
end

return M
