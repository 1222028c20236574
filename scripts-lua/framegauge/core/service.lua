-- SPDX-License-Identifier: BSD-3-Clause

--- What systemd wants to know of a service of Type=notify (sd_notify(3)): that it is ready, that it ends.
local ffi = require "ffi"

ffi.cdef [[
struct fg_service_address {
   unsigned short family;
   char path[108];
};
int socket(int domain, int type, int protocol);
ssize_t sendto(int fd, const void *text, size_t size, int flags, const struct fg_service_address *to,
   unsigned to_size);
int close(int fd);
]]

local AF_UNIX, SOCK_DGRAM = 1, 2
local FAMILY_SIZE = ffi.offsetof("struct fg_service_address", "path")

local M = {}

--- Tell it. Does nothing where no systemd listens.
-- @param state  "READY=1" or "STOPPING=1"
-- @return whether it was sent
function M.notify(state)
   local path = os.getenv "NOTIFY_SOCKET"
   if not path or path == "" or #path > 107 then
      return false
   end
   local to = ffi.new("struct fg_service_address", AF_UNIX)
   ffi.copy(to.path, (path:gsub("^@", "\0"))) -- an abstract address begins with a zero byte
   local fd = ffi.C.socket(AF_UNIX, SOCK_DGRAM, 0)
   local sent = fd >= 0 and ffi.C.sendto(fd, state, #state, 0, to, FAMILY_SIZE + #path) == #state
   if fd >= 0 then
      ffi.C.close(fd)
   end
   return sent
end

return M
