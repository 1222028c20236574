-- SPDX-License-Identifier: BSD-3-Clause

--- Files of the console (XDG base directories): its history, and the sockets for attached sessions.
local uv = require "luv"

local M = {}

local function make_private(path)
   if not uv.fs_stat(path) then
      local parent = path:match "^(.+)/[^/]+$"
      if parent and not uv.fs_stat(parent) and not make_private(parent) then
         return false
      end
      return uv.fs_mkdir(path, tonumber("700", 8)) ~= nil
   end
   return true
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

--- The folder of the sockets, which is created if needed and belongs to the user alone.
-- @return path, or nil and what is wrong
function M.runtime()
   local uid = uv.getuid()
   local folder = (absolute "XDG_RUNTIME_DIR" or ("/tmp/framegauge-%d"):format(uid))
   if absolute "XDG_RUNTIME_DIR" then
      folder = folder .. "/framegauge"
   end
   make_private(folder)
   local stat = uv.fs_lstat(folder)
   if not stat or stat.type ~= "directory" then
      return nil, folder .. " cannot be created"
   elseif stat.uid ~= uid or stat.mode % 64 ~= 0 then
      return nil, folder .. " must belong to this user alone (mode 0700)"
   end
   return folder
end

return M
