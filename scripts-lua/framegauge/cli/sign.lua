-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge sign` and `framegauge verify`: whether a result is what its maker had measured.
local parse = require "framegauge.cli.parse"
local signed = require "framegauge.report.signed"

local M = {}

local SUCCESS, FELL_SHORT = 0, 1

local function key_of(options, command)
   return options.key or parse.usage_error(command, "%s: --key FILE is needed", command)
end

--- Sign a result folder.
function M.sign(arguments, options)
   local names = signed.sign(arguments[1], key_of(options, "sign"))
   io.stdout:write(("signed: %s\n"):format(table.concat(names, ", ")))
   return SUCCESS
end

--- Check a signed result folder.
-- @return exit status: 1 when something was changed
function M.verify(arguments, options)
   local wrong, names = signed.verify(arguments[1], key_of(options, "verify"))
   for _, message in ipairs(wrong) do
      io.stdout:write("wrong: ", message, "\n")
   end
   if wrong[1] then
      return FELL_SHORT
   end
   io.stdout:write(("unchanged since it was signed: %s\n"):format(table.concat(names, ", ")))
   return SUCCESS
end

return M
