-- SPDX-License-Identifier: BSD-3-Clause

--- Looking on while a job runs: what it says, and at a terminal the line of its progress below.
local uv = require "luv"

local M = {}

local REDRAW_MS = 200
local REPLAY = 5 -- lines said before that are shown to one who comes later

local function begin(session, task)
   local terminal = session.terminal
   local stop = task:listen(function(text)
      session.out(text)
   end)
   local timer
   if terminal then
      timer = uv.new_timer()
      timer:start(REDRAW_MS, REDRAW_MS, function()
         terminal:show_status(task.ended and "" or task:line())
      end)
   end
   task.watched = session
   return function()
      stop()
      task.watched = nil
      if timer then
         timer:close()
         terminal:show_status(nil)
      end
   end
end

--- Show a job from its beginning to its end. Ctrl-C stops it with what it has.
function M.foreground(session, task)
   local finish = begin(session, task)
   local ok, err = pcall(task.wait, task)
   if not ok and type(err) == "table" and err.interrupted and not task.ended then
      task:stop()
      ok, err = pcall(task.wait, task)
      session.out "interrupted; what was found so far is kept\n"
   end
   finish()
   if not ok then
      error(err, 0)
   end
end

--- Show a job that runs already. Ctrl-C ends the looking on.
function M.watch(session, task)
   for i = math.max(1, #task.log - REPLAY + 1), #task.log do
      session.out(task.log[i])
   end
   if task.ended then
      session.out(tostring(task) .. "\n")
      return
   end
   local finish = begin(session, task)
   local ok, err = pcall(task.wait, task)
   finish()
   if not ok and not (type(err) == "table" and err.interrupted) then
      error(err, 0)
   end
end

return M
