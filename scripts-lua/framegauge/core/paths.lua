-- SPDX-License-Identifier: BSD-3-Clause

--- Folders of the user (XDG base directories): for the history of the console, sockets, and undo journals.
local uv = require "luv"

local M = {}

local function make_private(path)
   local parent = path:match "^(.+)/[^/]+$"
   return uv.fs_stat(path) ~= nil
      or (not parent or make_private(parent)) and uv.fs_mkdir(path, tonumber("700", 8)) ~= nil
end

local function absolute(variable)
   local path = os.getenv(variable)
   return path and path:sub(1, 1) == "/" and path or nil
end

--- Path of a file in the state folder, which is created if needed; nil without a home.
function M.state(name)
   local home = os.getenv "HOME"
   local base = absolute "XDG_STATE_HOME" or home and home ~= "" and home .. "/.local/state"
   local folder = base and base .. "/framegauge"
   return folder and make_private(folder) and folder .. "/" .. name or nil
end

--- Where the runtime folder may be, best first: a shell without XDG_RUNTIME_DIR finds another one than a
-- session that has it.
function M.runtimes()
   local uid, base = uv.getuid(), absolute "XDG_RUNTIME_DIR"
   local list = { ("/tmp/framegauge-%d"):format(uid), ("/run/user/%d/framegauge"):format(uid) }
   if base then
      table.insert(list, 1, base .. "/framegauge")
   end
   return list
end

--- Whether a folder is there and nobody else can have written to it. @return its path; or nil and why not
function M.private(folder)
   local stat = uv.fs_lstat(folder)
   if not stat or stat.type ~= "directory" then
      return nil, folder .. " cannot be created"
   elseif stat.uid ~= uv.getuid() or stat.mode % 64 ~= 0 then
      return nil, folder .. " must belong to this user alone (mode 0700)"
   end
   return folder
end

local function made(folder)
   make_private(folder)
   return M.private(folder)
end

--- The folder of sockets, which is created if needed and belongs to the user alone.
-- @return path, or nil and what is wrong
function M.runtime()
   return made(M.runtimes()[1])
end

--- The folder of journals: as runtime(), or another one where that is somebody else's, as with sudo and su.
-- @return path, or nil and what is wrong with the last one
function M.journals()
   local path, why
   for _, folder in ipairs(M.runtimes()) do
      path, why = made(folder)
      if path then
         break
      end
   end
   return path, why
end

return M
