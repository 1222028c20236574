-- SPDX-License-Identifier: BSD-3-Clause

--- The live view: redraws the page twice a second until a key ends it.
local job = require "framegauge.core.job"
local view = require "framegauge.console.view"

local M = {}

local REDRAW_SECONDS = 0.5

local MOVES = {
   up = -1, down = 1, ["page up"] = -10, ["page down"] = 10, home = -math.huge, ["end"] = math.huge,
}

-- Draw lines over the previous ones. @return their number
local function redraw(session, lines, before)
   local up = before > 0 and ("\27[%dA"):format(before) or ""
   session.out(up .. "\r" .. table.concat(lines, "\27[K\n") .. "\27[K\n")
   return #lines
end

--- Redraw a line for each port at the prompt until the traffic ends, or Ctrl-C.
-- @param session  with out, tester and a terminal
function M.lines(session)
   local control, drawn = session.control, 0
   local ok, err = pcall(function()
      repeat
         local running = control.traffic:any_running()
         drawn = redraw(session, view.lines(control, { columns = (session.terminal:size()) - 1 }), drawn)
         if running then
            job.sleep(REDRAW_SECONDS)
         end
      until not running
   end)
   if not ok and not job.is_interrupt(err) then
      error(err, 0)
   elseif not ok then
      session.out "\r\27[K" -- where the terminal shows ^C
   end
end

--- Show the page until the user leaves it.
-- @param terminal  begin_screen(on_key), show_screen(lines), end_screen(), size()
function M.run(control, terminal)
   local state = { first = 1 }
   local function on_key(key)
      if MOVES[key] then
         state.first = math.max(1, math.min(#control.traffic.list, state.first + MOVES[key]))
      elseif key == "c" and control.traffic.history and not terminal.read_only then
         control.traffic.history:clear()
      elseif key == "q" or key == "\27" or key == "\r" then
         state.left = true
      end
      if state.wake then
         state.wake()
      end
   end
   terminal:begin_screen(on_key)
   local ok, err = pcall(function()
      while not state.left do
         local columns, rows = terminal:size()
         local lines
         lines, state.first = view.page(control, {
            columns = columns, rows = rows, first = state.first, colour = true, utf8 = terminal.utf8,
         })
         terminal:show_screen(lines)
         job.rest(state, REDRAW_SECONDS)
      end
   end)
   terminal:end_screen()
   if not ok and not job.is_interrupt(err) then
      error(err, 0)
   end
end

return M
