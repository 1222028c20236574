-- SPDX-License-Identifier: BSD-3-Clause

--- The API's answer to a rejected call: a code, a kind, and a text per fault.
local failure = require "framegauge.core.failure"
local json = require "framegauge.text.json"
local read = require "framegauge.services.otg.read"

local M = { INVALID = 400, INTERNAL = 500, NOT_THERE = 501 }

local Refusal = {}
Refusal.__index = Refusal
function Refusal:__tostring()
   return table.concat(self.errors, "\n")
end

--- Reject the present call.
-- @param errors  a text for each fault, which begins with its path
-- @param code    default: 400
function M.raise(errors, code)
   error(setmetatable({ code = code or M.INVALID, errors = read.printable(errors) }, Refusal), 0)
end

--- Do not follow it where something is wrong. @param found  of framegauge.services.otg.read
function M.raise_found(found)
   if found.errors[1] then
      M.raise(found.errors)
   end
end

--- Make a call.
-- @return its answer; or nil and { code =, errors = }. What is wrong in the program is raised.
function M.caught(call, ...)
   local ok, result = xpcall(call, failure.keep_stack, ...)
   if ok then
      return result
   elseif getmetatable(result) == Refusal then
      return nil, result
   elseif type(result) == "table" and result.status then -- of the machine: ports, files
      return nil, { code = M.INTERNAL, errors = { tostring(result) } }
   end
   error(result, 0)
end

--- As the API has it.
function M.as_error(code, errors)
   return { code = code, kind = code == M.INTERNAL and "internal" or "validation", errors = errors }
end

--- An error as JSON.
function M.text(value)
   return json.encode(value, { order = { "code", "kind", "errors" } })
end

return M
