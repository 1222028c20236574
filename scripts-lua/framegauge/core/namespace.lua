-- SPDX-License-Identifier: BSD-3-Clause

--- Network namespaces: interfaces and sockets have a name in one of them only.
local uv = require "luv"

local M = {}

local NAMED = "/run/netns/"

--- Number of the one this process is in; nil where the kernel does not tell.
function M.own()
   return tonumber((uv.fs_readlink "/proc/self/ns/net" or ""):match "%d+")
end

local function each(folder)
   local scan = uv.fs_scandir(folder)
   return scan and uv.fs_scandir_next or function() end, scan
end

--- Where a namespace is.
-- @return "" for the one this process is in; else how a command in it begins; nil: it is there no more
function M.prefix(number)
   if number == M.own() then
      return ""
   end
   for name in each(NAMED) do
      local stat = uv.fs_stat(NAMED .. name)
      if stat and stat.ino == number then
         return "ip netns exec " .. name .. " "
      end
   end
   local link = ("net:[%d]"):format(number)
   for pid in each "/proc" do
      if pid:match "^%d+$" and uv.fs_readlink("/proc/" .. pid .. "/ns/net") == link then
         return "nsenter -n -t " .. pid .. " "
      end
   end
   return nil
end

return M
