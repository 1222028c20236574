-- SPDX-License-Identifier: BSD-3-Clause

--- Libraries that only some commands need: loaded when they are asked for.
local ffi = require "ffi"
local user_error = require "framegauge.core.user_error"

local ENVIRONMENT = 4

local M = {}

--- Load a shared library once.
-- @param command       that needs it
-- @param file          name of the library, with its version
-- @param package_name  of Debian
function M.loader(command, file, package_name)
   local library
   return function()
      if not library then
         local found, loaded = pcall(ffi.load, file)
         if not found then
            user_error.raise(command, ENVIRONMENT, "%s is missing (apt install %s)", file, package_name)
         end
         library = loaded
      end
      return library
   end
end

return M
