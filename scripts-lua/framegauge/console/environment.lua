-- SPDX-License-Identifier: BSD-3-Clause

--- The names of a session: commands, Framegauge's modules, Lua's standard names, and its own variables.
--
-- Strict, as in scripts: an undefined name is an error, and the message suggests the closest match. Text
-- typed at the prompt may create a variable of the session; a function must declare its variables local.
local command = require "framegauge.console.command"
local doc = require "framegauge.cli.script_api"
local suggest = require "framegauge.core.suggest"
local user_error = require "framegauge.core.user_error"
require "framegauge.methods.rfc2544.script" -- gives testers their search

local M = {}

-- Lua's standard names in an attached session.
--
-- Several users depend on one process. Functions that end it, block its event loop or bypass Lua's safety (C
-- pointers, bytecode, environments and metatables of others) are missing, and the libraries are copies, so a
-- session that overwrites `string` changes only its own. This prevents accidents. It is not a security
-- boundary: the process belongs to the user, files can be written, and Framegauge's own modules are shared.
local PLAIN = {
   "_VERSION", "assert", "collectgarbage", "error", "ipairs", "next", "pairs", "pcall", "rawequal", "rawget",
   "rawset", "select", "setmetatable", "tonumber", "tostring", "type", "unpack", "xpcall",
}
local LIBRARIES = {
   bit = _G.bit, coroutine = coroutine, math = math, string = string, table = table,
   debug = { traceback = debug.traceback },
   io = { lines = io.lines, open = io.open, type = io.type },
   os = {
      clock = os.clock, date = os.date, difftime = os.difftime, getenv = os.getenv, remove = os.remove,
      rename = os.rename, time = os.time, tmpname = os.tmpname,
   },
}

local MODULES = { bit = true }
for _, module in ipairs(doc.MODULES) do
   MODULES["framegauge." .. module[1]], MODULES[module[2]] = true, true
end

local function refuse(name)
   user_error.raise(nil, 2, "%s is not available in attached sessions, because other users depend on this tester; use 'framegauge script' or the tester's own console", name)
end

local function copy(name, library)
   local mine = {}
   for key, value in pairs(library) do
      mine[key] = value
   end
   return setmetatable(mine, {
      __index = function(_, key)
         if type(key) == "string" and rawget(_G, name)[key] ~= nil then
            refuse(name .. "." .. key)
         end
      end,
   })
end

-- Chunks see only the names of the session; bytecode is rejected.
local function loader(env)
   return function(text, name, _, own)
      if type(text) == "function" then
         local pieces = {}
         for piece in text do
            pieces[#pieces + 1] = piece
         end
         text = table.concat(pieces)
      end
      local chunk, err = load(text, name, "t")
      if chunk then
         jit.off(chunk, true)
         setfenv(chunk, own or env)
      end
      return chunk, err
   end
end

local function file_loader(load_text)
   return function(path)
      local file, message = io.open(path, "rb")
      if not file then
         return nil, message
      end
      local text = file:read "*a"
      file:close()
      return load_text(text or "", "@" .. path)
   end
end

-- name = value; the other names of Lua raise an error.
-- @param env  environment of the session, and of the files it loads
local function guarded(env)
   local names = {}
   for _, name in ipairs(PLAIN) do
      names[name] = _G[name]
   end
   for name, library in pairs(LIBRARIES) do
      names[name] = copy(name, library)
   end
   names.load = loader(env)
   names.loadstring = names.load
   names.loadfile = file_loader(names.load)
   function names.dofile(path)
      return assert(names.loadfile(path))()
   end
   function names.getmetatable(value)
      return type(value) == "table" and getmetatable(value) or nil
   end
   function names.require(name)
      return MODULES[name] and require(name) or refuse(("require '%s'"):format(tostring(name)))
   end
   return setmetatable(names, {
      __index = function(_, name)
         if rawget(_G, name) ~= nil then
            refuse(tostring(name))
         end
      end,
   })
end

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
   local base = session.attached and guarded(env) or _G
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
