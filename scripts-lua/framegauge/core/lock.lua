-- SPDX-License-Identifier: BSD-3-Clause

--- Locks on files, which the kernel takes back however a process ends.
local ffi = require "ffi"

ffi.cdef "int flock(int fd, int operation);"

local M = {}

local EXCLUSIVE, AT_ONCE = 2, 4

--- Lock an open file, unless another process has it locked. @return whether it is ours
function M.try(fd)
   return ffi.C.flock(fd, EXCLUSIVE + AT_ONCE) == 0
end

--- Lock an open file; wait until it is free.
function M.take(fd)
   return ffi.C.flock(fd, EXCLUSIVE) == 0
end

return M
