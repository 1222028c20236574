-- SPDX-License-Identifier: BSD-3-Clause

--- Errors of the program on their way up: they keep the stack of the place where they were raised.
local Failure = {}
Failure.__index = Failure

function Failure:__tostring()
   return self.message
end

local M = {}

function M.pack(...)
   return { n = select("#", ...), ... }
end

--- For xpcall: a plain message becomes an object with message and traceback; error objects pass as they are.
function M.keep_stack(err)
   if type(err) ~= "string" then
      return err
   end
   return setmetatable({ message = err, traceback = debug.traceback("", 2):sub(2) }, Failure)
end

--- Call a function, and then, however it ended, another one. @return what the first one returned
-- @param clean_up  function(whether the other one succeeded)
function M.finally(clean_up, fn, ...)
   local results = M.pack(xpcall(fn, M.keep_stack, ...))
   clean_up(results[1])
   if not results[1] then
      error(results[2], 0)
   end
   return unpack(results, 2, results.n)
end

return M
