-- SPDX-License-Identifier: BSD-3-Clause

--- Errors that are no fault of the program.
--
-- They carry the exit status it leaves with (framegauge.cli.exit), are said in one line, and need no stack.
local Refusal = {}
Refusal.__index = Refusal

function Refusal:__tostring()
   return self.message
end

local M = {}

--- An error object.
-- @param o  status, message, and command: the one whose help answers it, or nil; further fields are kept
function M.new(o)
   return setmetatable(o, Refusal)
end

--- Raise one.
-- @param command  as above
-- @param status   exit status
-- @param ...      string.format arguments
function M.raise(command, status, ...)
   error(M.new { command = command, status = status, message = string.format(...) }, 0)
end

return M
