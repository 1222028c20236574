-- SPDX-License-Identifier: BSD-3-Clause

--- The meaning of a typed text: a command in words, an expression, statements, or an incomplete text.
--
-- A text is a command if its first word is one and the rest does not look like Lua: `stats east` is a
-- command; `stats "east"`, `stats {...}`, `stats.x` and `stats = 5` are Lua. Chunks run in LuaJIT's
-- interpreter, because Ctrl-C can stop them only there (core/job.lua).
local command = require "framegauge.console.command"

local M = {}

local CHUNK = "=line"

-- A call, a field or an operator behind the name.
local function is_lua(rest)
   return rest:find "^%s*[%({\"'%.:%[=,]" ~= nil or rest:find "^%s*[%+%-%*/%%%^<>~]%s" ~= nil
      or rest:find "^%s*%.%." ~= nil
end

--- The row of the command that a text begins with, and its words.
-- @param rows  commands by name
function M.command_of(rows, text)
   local name, rest = text:match "^%s*([%a_][%w_]*)(.*)$"
   local row = name and rows[name]
   if row and (rest == "" or rest:find "^%s") and not is_lua(rest) then
      return row, rest
   end
end

local function compile(text, env)
   local chunk, err = loadstring("return " .. text, CHUNK)
   if not chunk then
      chunk, err = loadstring(text, CHUNK)
   end
   if chunk then
      jit.off(chunk, true)
      setfenv(chunk, env)
   end
   return chunk, err
end

local function is_begun(err)
   return err:find "near '?<eof>'?$" ~= nil or err:find "unfinished long string" ~= nil
      or err:find "unfinished long comment" ~= nil
end

--- Compile a text.
-- @param text     one line or several
-- @param rows     commands by name
-- @param session  given to the command
-- @param env      environment of the Lua in it
-- @return a function that executes it; or nil and "more" for an incomplete text; or nil and what is wrong
function M.compile(text, rows, session, env)
   if text:sub(1, 1) == "=" then
      text = "return " .. text:sub(2) -- as in the Lua interpreter
   end
   local row, rest = M.command_of(rows, text)
   if row then
      return function()
         return row.run(session, command.of_words(row, rest))
      end
   elseif text:sub(1, 1) == "\27" then
      return nil, "bytecode is not accepted"
   end
   local chunk, err = compile(text, env)
   if chunk then
      return chunk
   end
   return nil, is_begun(err) and "more" or err
end

--- Run the user's own modules in the interpreter too, so that Ctrl-C stops their loops.
function M.interpret_modules()
   local searchers = package.loaders
   for i = 3, #searchers do
      local search = searchers[i]
      searchers[i] = function(name)
         local loader = search(name)
         if type(loader) == "function" and debug.getinfo(loader, "S").what ~= "C" then
            jit.off(loader, true)
         end
         return loader
      end
   end
end

return M
