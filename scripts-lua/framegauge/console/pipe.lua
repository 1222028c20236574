-- SPDX-License-Identifier: BSD-3-Clause

--- Lines from standard input where that is no terminal: a file, a pipe. Read as they come, while the event
-- loop turns; no prompt, no echo.
local job = require "framegauge.job"
local uv = require "luv"

local LONGEST_LINE = 1024 * 1024

local Pipe = {}
Pipe.__index = Pipe

function Pipe.open()
   local self = setmetatable({ text = "", ended = false }, Pipe)
   local kind = uv.guess_handle(0)
   if kind == "pipe" or kind == "tcp" then
      self.handle = uv.new_pipe()
      self.handle:open(0)
   end
   return self
end

function Pipe:take_line()
   local line, behind = self.text:match "^([^\n]*)\n()"
   if line then
      self.text = self.text:sub(behind)
   elseif self.ended and self.text ~= "" then
      line, self.text = self.text, ""
   end
   return line
end

--- Read one line. @return the line; false after Ctrl-C; nil at the end
function Pipe:read()
   local line = self:take_line()
   if line or self.ended then
      return line
   elseif not self.handle then
      line = io.read "*l"
      return line
   end
   local interrupted = false
   self.handle:read_start(function(_, text)
      self.text = self.text .. (text or "")
      self.ended = not text or #self.text > LONGEST_LINE
   end)
   job.turn(function()
      line = line or self:take_line()
      return line or self.ended or interrupted
   end, { interrupt = function()
      interrupted = true
   end })
   self.handle:read_stop()
   if interrupted then
      return false
   end
   return line
end

return Pipe
