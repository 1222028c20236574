-- SPDX-License-Identifier: BSD-3-Clause

--- A process started for a measurement: what it says is collected, and it ends when it is told to.
local job = require "framegauge.core.job"
local uv = require "luv"

local Child = {}
Child.__index = Child

local M = {}

--- Start a program.
-- @param file       its name or path
-- @param arguments  list of strings
-- @return the child: said (its output so far), complaints (its errors so far), exited (is it gone?), pid
function M.spawn(file, arguments)
   local self = setmetatable({ said = "", complaints = "", exited = false }, Child)
   self.input, self.output, self.errors = uv.new_pipe(), uv.new_pipe(), uv.new_pipe()
   local handle, pid = uv.spawn(file, { args = arguments, stdio = { self.input, self.output, self.errors } },
      function()
         self.exited = true
      end)
   if not handle then
      error(("%s: %s"):format(file, pid), 0)
   end
   self.handle, self.pid = handle, pid
   self.output:read_start(function(_, chunk)
      self.said = self.said .. (chunk or "")
   end)
   self.errors:read_start(function(_, chunk)
      self.complaints = self.complaints .. (chunk or "")
   end)
   return self
end

--- Write a line to its standard input.
function Child:write(line)
   self.input:write(line .. "\n")
end

--- The last it said, of both kinds, for an error.
function Child:last_words()
   return self.complaints:sub(-300) .. "\n" .. self.said:sub(-600)
end

--- End it, whatever it is doing.
function Child:close()
   if not self.exited then
      self.handle:kill("sigkill")
   end
   while not self.exited do
      job.sleep(0.001)
   end
   for _, handle in ipairs { self.handle, self.input, self.output, self.errors } do
      handle:close()
   end
end

return M
