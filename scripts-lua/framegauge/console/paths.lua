-- SPDX-License-Identifier: BSD-3-Clause

--- Where the console keeps what outlives it (XDG base directories): its history, and the socket it is
-- attached by.
local uv = require "luv"

local M = {}

local LONGEST_SOCKET = 107

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

--- Path of a file in the state folder, which is made; nil when there is no home.
function M.state(name)
   local home = os.getenv "HOME"
   local base = absolute "XDG_STATE_HOME" or home and home ~= "" and home .. "/.local/state"
   local folder = base and base .. "/framegauge"
   return folder and make_private(folder) and folder .. "/" .. name or nil
end

--- The folder for sockets, which is made and belongs to the user alone.
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
      return nil, folder .. " cannot be made"
   elseif stat.uid ~= uid or stat.mode % 64 ~= 0 then
      return nil, folder .. " belongs to somebody else, or others may use it"
   end
   return folder
end

--- Whether a Unix socket can have a path; libuv cuts it off where it is too long (struct sockaddr_un).
-- @return true, or false and what is wrong
function M.is_for_socket(path)
   if #path > LONGEST_SOCKET then
      return false, ("the path of a socket has at most %d bytes, this one %d: %s"):format(LONGEST_SOCKET,
         #path, path)
   end
   return true
end

return M
