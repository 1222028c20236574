-- SPDX-License-Identifier: BSD-3-Clause

--- Files of a test, in a place of their own.
local M = {}

--- The folder of the source tree, with a slash at its end.
M.PROJECT = debug.getinfo(1, "S").source:match "^@(.*)tests/lua/"

-- EAL binds this process to one CPU once a test has opened ports, and its children would inherit that.
local EVERY_CPU = "taskset -cp 0-$(($(nproc --all) - 1)) $$ >/dev/null\n"

--- Run a shell command. @return its output and its exit status
function M.shell(command)
   local pipe = assert(io.popen(EVERY_CPU .. command .. "; echo $?"))
   local output, status = pipe:read("*a"):match "^(.-)(%d+)\n$"
   pipe:close()
   return output, tonumber(status)
end

--- A file's text.
function M.read(path)
   local file = assert(io.open(path, "rb"))
   local text = file:read "*a"
   file:close()
   return text
end

--- Make a file, or replace it.
function M.write(path, text)
   local file = assert(io.open(path, "wb"))
   file:write(text)
   file:close()
end

local root
local paths = 0

--- A path where nothing is yet.
function M.path()
   root = root or M.shell("mktemp -d"):match "[^\n]+"
   paths = paths + 1
   return root .. "/" .. paths
end

--- Take all of it away: run.lua does, at the end; give this to the teardown of what is large.
function M.remove()
   if root then
      M.shell(("rm -r '%s'"):format(root))
      root = nil
   end
end

return M
