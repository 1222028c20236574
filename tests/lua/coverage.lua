-- SPDX-License-Identifier: BSD-3-Clause

--- Which lines of the Lua modules a spec runs, for tools/coverage. run.lua starts it when the environment
-- has a folder for it,
-- $FRAMEGAUGE_COVERAGE; Lua must be read from its files then, $FRAMEGAUGE_LUA. LuaJIT calls a
-- hook for what it interprets and not for what it has compiled, so nothing is compiled meanwhile.
local util = require "jit.util"
local uv = require "luv"

local M = {}

-- All lines of a function and of those inside it that have instructions; the first instruction is its head.
local function add_lines(lines, f)
   local info = util.funcinfo(f)
   for pc = 1, info.bytecodes - 1 do
      lines[util.funcinfo(f, pc).currentline] = true
   end
   for n = -1, -info.gcconsts, -1 do
      local constant = util.funck(f, n)
      if type(constant) == "proto" then
         add_lines(lines, constant)
      end
   end
end

--- Print the lines of a file that can be run.
function M.lines_of(path)
   local lines, list = {}, {}
   add_lines(lines, assert(loadfile(path)))
   for line in pairs(lines) do
      table.insert(list, line)
   end
   table.sort(list)
   print(path .. " " .. table.concat(list, " "))
end

--- Note what is run from now on. @return a function that writes it to a file of its own in the folder
function M.start(folder)
   local seen = {}
   jit.off()
   jit.flush()
   debug.sethook(function(_, line)
      local source = debug.getinfo(2, "S").source
      local lines = seen[source]
      if not lines then
         lines = {}
         seen[source] = lines
      end
      lines[line] = true
   end, "l")
   return function()
      debug.sethook()
      local file = assert(io.open(("%s/%d"):format(folder, uv.os_getpid()), "w"))
      for source, lines in pairs(seen) do
         if source:find("scripts-lua/", 1, true) then
            file:write(source:match("scripts%-lua/.*"))
            for line in pairs(lines) do
               file:write(" ", line)
            end
            file:write("\n")
         end
      end
      file:close()
   end
end

-- framegauge script coverage.lua FILE...: the lines of these
if arg[0] and arg[0]:match("coverage%.lua$") then
   for _, path in ipairs(arg) do
      M.lines_of(path)
   end
end
return M
