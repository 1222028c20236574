-- SPDX-License-Identifier: BSD-3-Clause

--- Errors of the user or the machine, not of the program.
--
-- They carry the exit status of the program (cli/exit.lua) and a message in one line, without a stack.
local UserError = {}
UserError.__index = UserError

function UserError:__tostring()
   return self.message
end

local M = {}

--- An error object.
-- @param o  status, message; command: the one whose help answers it, or nil; is_whole: the message needs no
--           name of the program before it; further fields are kept
function M.new(o)
   return setmetatable(o, UserError)
end

--- Raise one.
-- @param command  as above
-- @param status   exit status
-- @param ...      string.format arguments
function M.raise(command, status, ...)
   error(M.new { command = command, status = status, message = string.format(...) }, 0)
end

return M
