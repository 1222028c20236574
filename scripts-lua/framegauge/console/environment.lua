-- SPDX-License-Identifier: BSD-3-Clause

--- The names of a session: commands, Framegauge's modules, Lua's standard names, and its own variables.
--
-- Strict, as in scripts: an undefined name is an error, and the message suggests the closest match. Text
-- typed at the prompt may create a variable of the session; a function must declare its variables local.
local command = require "framegauge.console.command"
local doc = require "framegauge.cli.script_api"
local guarded = require "framegauge.console.guarded"
local suggest = require "framegauge.core.suggest"

local M = {}

--- Modules that are available by name: name = module.
M.MODULES = {}
for _, module in ipairs(doc.MODULES) do
   M.MODULES[module[1]] = module[2]
end

local function names_of(env, rows)
   local names = {}
   for _, source in ipairs { env, rows, M.MODULES, _G } do
      for name in pairs(source) do
         names[#names + 1] = type(name) == "string" and name or nil
      end
   end
   table.sort(names)
   return names
end

--- Names that can be completed.
M.names = names_of

local function set_at_prompt()
   local info = debug.getinfo(3, "S")
   return info == nil or info.what == "main" or info.what == "C"
end

--- An environment for a session.
-- @param rows     commands by name
-- @param session  the commands are called with it
-- @param own      further names: name = value
function M.new(rows, session, own)
   local env, known = {}, {}
   local base = session.attached and guarded.names(env) or _G
   for name, row in pairs(rows) do
      known[name] = command.callable(row, session, row.members and row.members(session))
   end
   for name, value in pairs(own) do
      known[name] = value
   end
   known._G = env
   return setmetatable(env, {
      __index = function(_, name)
         if known[name] ~= nil then
            return known[name]
         elseif M.MODULES[name] then
            return require(M.MODULES[name])
         end
         local value = rawget(base, name)
         if value == nil and session.attached then
            value = base[name] -- raises an error with the reason
         end
         if value == nil then
            error(("'%s' is not defined%s"):format(tostring(name),
               suggest.hint(tostring(name), names_of(env, rows))), 2)
         end
         return value
      end,
      __newindex = function(_, name, value)
         if not set_at_prompt() then
            error(("'%s' is not declared; write 'local %s'"):format(tostring(name), tostring(name)), 2)
         end
         rawset(env, name, value)
      end,
      known = known, base = base,
   })
end

return M
