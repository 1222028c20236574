-- SPDX-License-Identifier: BSD-3-Clause

--- The Lua modules written in C that are loaded from the system when the program runs.
--
-- They are looked for before a command begins: a module that is missed in the middle of another's loading
-- shows only as an error of the other.
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"

local M = {}

local ENVIRONMENT = 4
local MODULES = { { "luv", "lua-luv", "luv" }, { "cjson", "lua-cjson", "lua-cjson" } } -- Debian's, LuaRocks'

--- Modules that cannot be loaded.
-- @return list of { finding, fix }, empty when all is well
function M.missing()
   local list = {}
   for _, module in ipairs(MODULES) do
      local name, package, rock = unpack(module)
      local loaded, why = pcall(require, name)
      if not loaded then
         why = tostring(why)
         list[#list + 1] = {
            finding = ("the Lua module '%s' %s"):format(name, why:find("not found:", 1, true) and "is missing"
               or "cannot be loaded: " .. why:gsub("%s+", " ")),
            fix = ("apt install %s; elsewhere, for Lua 5.1: luarocks --lua-version 5.1 install %s"):format(
               package, rock),
         }
      end
   end
   return list
end

--- Refuse to go on without them.
function M.check()
   local lines = tables.map(M.missing(), function(one) return one.finding .. " (" .. one.fix .. ")" end)
   if lines[1] then
      user_error.raise(nil, ENVIRONMENT, "%s", table.concat(lines, "\nframegauge: "))
   end
end

return M
