-- SPDX-License-Identifier: BSD-3-Clause

--- Lines from a standard input that is not a terminal: a file or a pipe. They are read as they arrive, while
-- the event loop runs; no prompt, no echo.
local job = require "framegauge.core.job"
local uv = require "luv"

local LONGEST_LINE = 1024 * 1024 -- the rest of a longer line is dropped

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
   local last = self.text:find("\n", 1, true)
   local line = last and self.text:sub(1, last - 1) or self.ended and self.text ~= "" and self.text or nil
   if line then
      self.text = self.text:sub((last or #self.text) + 1)
   end
   return line
end

function Pipe:feed(piece)
   if #self.text > LONGEST_LINE and not self.text:find("\n", 1, true) then
      piece = piece:match "\n.*" or ""
   end
   self.text = self.text .. piece
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
      self:feed(text or "")
      self.ended = not text
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
