-- SPDX-License-Identifier: BSD-3-Clause

--- The C side of Framegauge as LuaJIT sees it.
--
-- The declarations (framegauge.cdef) were generated from lib/script/fg_api.h when the program was built.
local ffi = require "ffi"

ffi.cdef(require "framegauge.cdef")

local M = {}

--- The namespace of the fg_ functions and constants.
M.C = ffi.C

local ENOMEM = 12

local Error = {}
Error.__index = Error

function Error:__tostring()
   return self.where ~= "" and self.where .. ": " .. self.message or self.message
end

--- Exit status of an error that comes from the machine: a port, memory, a permission.
Error.status = 4

--- A struct fg_error for one call: `local err = api.error(); api.check(C.fg_x(..., err), err)`.
M.error = ffi.typeof("struct fg_error")

local function describe(rc, err)
   local message = err and ffi.string(err.message) or ""
   return setmetatable({
      code = math.abs(rc),
      where = err and ffi.string(err.where) or "",
      message = message ~= "" and message or "error " .. math.abs(rc),
   }, Error)
end

--- Pass the result of a C call on, or raise what it left in its struct fg_error.
-- @param rc   what the function returned: negative for an error
-- @param err  the struct fg_error given to it
-- @return rc. The error raised is an object with code (errno), where and message; tostring() says it.
function M.check(rc, err)
   if rc < 0 then
      error(describe(rc, err), 2)
   end
   return rc
end

--- Raise an error that is for want of memory, in places where all others are the fault of what a user wrote.
-- @param err  an error of check(), or a filled struct fg_error
function M.raise_refused(err)
   if err.code == ENOMEM then
      error(type(err) == "table" and err or describe(-ENOMEM, err), 0)
   end
end

--- Raise an error again that cannot be the fault of what a user wrote: a program's own, or want of memory.
-- @param err  what pcall() caught
function M.raise_unexpected(err)
   if type(err) ~= "table" then
      error(err, 0)
   end
   M.raise_refused(err)
end

--- As check, for callers that expect the error: returns rc, or nil and the error object.
function M.try(rc, err)
   if rc < 0 then
      return nil, describe(rc, err)
   end
   return rc
end

--- Whole nanoseconds of a time in seconds.
function M.nanoseconds(seconds)
   return math.floor(seconds * 1e9 + 0.5)
end

--- Numbers of a C structure.
-- @param names  a list, or names of ours with the structure's
-- @param out    a table that takes them (default: a new one)
function M.numbers(raw, names, out)
   out = out or {}
   for ours, name in pairs(names) do
      out[type(ours) == "string" and ours or name] = tonumber(raw[name])
   end
   return out
end

return M
