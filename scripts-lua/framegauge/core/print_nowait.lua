-- SPDX-License-Identifier: BSD-3-Clause

--- What a service prints while it works. A reader that has stopped (a full pipe, a terminal after Ctrl-S)
-- must not stop the service: text for which there is no room is left out, and the next text says how often.
local ffi = require "ffi"

ffi.cdef [[
struct fg_poll {
   int fd;
   short events, revents;
};
int poll(struct fg_poll *descriptors, unsigned long count, int timeout_ms);
]]

local POLLOUT = 4
local STDOUT = ffi.new("struct fg_poll", 1, POLLOUT)

local PIECE = 4096 -- bytes: a pipe with any room takes them without waiting

local left_out = 0

local function write(text)
   for at = 1, #text, PIECE do
      if ffi.C.poll(STDOUT, 1, 0) == 0 then
         return false
      end
      io.stdout:write(text:sub(at, at + PIECE - 1))
      io.stdout:flush()
   end
   return true
end

--- Print a line, or several, on the standard output, if there is room.
-- @param text  its last line's end may be missing
return function(text)
   if left_out > 0 and write(("(%d messages were left out: nobody read them)\n"):format(left_out)) then
      left_out = 0
   end
   if left_out > 0 or not write(text:find "\n$" and text or text .. "\n") then
      left_out = left_out + 1
   end
end
