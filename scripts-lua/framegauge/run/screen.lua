-- SPDX-License-Identifier: BSD-3-Clause

--- What a run shows on the standard output.
--
-- On a terminal: one line of progress, redrawn a few times a second and cut to the width. Elsewhere: one
-- plain line for each trial that ended, so that a log tells the whole run.
local lines = require "framegauge.text.progress"
local uv = require "luv"

local REDRAW_MS = 200
local CLEAR_LINE = "\r\27[K"

local Screen = {}
Screen.__index = Screen

local function write(text)
   io.stdout:write(text)
   io.stdout:flush()
end

--- Make one.
-- @param o.width  columns; default: the terminal's, nil without one
-- @param o.write  function(text); default: the standard output
function Screen.new(o)
   o = o or {
      write = write,
      width = uv.guess_handle(1) == "tty" and ((require("framegauge.editor").size()) or 80) or nil,
   }
   return setmetatable({ write = o.write, width = o.width }, Screen)
end

--- Show text, above the line of progress if there is one.
function Screen:say(text)
   self.write((self.timer and CLEAR_LINE or "") .. text)
end

--- A trial begins or ends (framegauge.run.progress).
function Screen:event(event)
   if not self.width and event.ended then
      self.write(lines.ended(event) .. "\n")
   end
end

function Screen:redraw()
   local event = self.progress:event()
   if event then
      self.write(CLEAR_LINE .. lines.line(event):sub(1, self.width - 1))
   end
end

--- Keep the line of a run while the event loop turns; nil takes it away.
function Screen:follow(progress)
   self.progress = progress
   if self.timer then
      self.timer:close()
      self.timer = nil
      self.write(CLEAR_LINE)
   elseif self.width and progress then
      self.timer = uv.new_timer()
      self.timer:start(REDRAW_MS, REDRAW_MS, function()
         self:redraw()
      end)
   end
end

return Screen
