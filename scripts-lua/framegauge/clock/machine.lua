-- SPDX-License-Identifier: BSD-3-Clause

--- What the sources of time ask of this machine. The tests play one with the same functions.
local bit = require "bit"
local command = require "framegauge.core.command"
local ffi = require "ffi"
local named_file = require "framegauge.core.named_file"
local phc_device = require "framegauge.clock.phc_device"
local time = require "framegauge.clock.time"
local uv = require "luv"

ffi.cdef [[
struct fg_timex {
	unsigned modes;
	long offset, freq, maxerror, esterror;
	int status;
	long constant, precision, tolerance, sec, usec, tick, ppsfreq, jitter;
	int shift;
	long stabil, jitcnt, calcnt, errcnt, stbcnt;
	int tai, room[11];
};
int adjtimex(struct fg_timex *timex);
]]

local M = { raw = time.raw, distance_of_phc = phc_device.distance }

local UNSYNCHRONISED = 0x40

--- The kernel's state of CLOCK_REALTIME.
-- @param adjtimex  the system call; by default that
-- @return { synchronised =, maxerror_ns = }; or nil and why the kernel gives no answer. A filter of system
-- calls may refuse it, and leaves zeros: synchronised, without error.
function M.kernel(adjtimex)
   local timex = ffi.new "struct fg_timex"
   if (adjtimex or ffi.C.adjtimex)(timex) < 0 then
      return nil, ffi.string(ffi.C.strerror(ffi.errno()))
   end
   return {
      synchronised = bit.band(timex.status, UNSYNCHRONISED) == 0,
      maxerror_ns = tonumber(timex.maxerror) * 1e3,
   }
end

--- By how much CLOCK_REALTIME is ahead of the clock of the timestamps, as time.distance().
function M.distance_of_realtime()
   return time.distance(time.REALTIME)
end

local function names(folder)
   local list, scan = {}, uv.fs_scandir(folder)
   for name in scan and uv.fs_scandir_next or function() end, scan do
      list[#list + 1] = name
   end
   table.sort(list)
   return list
end

--- Names of the running programs, as the kernel keeps them (15 characters): { name = true }.
function M.programs()
   local set = {}
   for _, name in ipairs(names "/proc") do
      local file = name:find "^%d+$" and io.open("/proc/" .. name .. "/comm")
      if file then
         set[file:read "*l" or ""] = true
         file:close()
      end
   end
   return set
end

--- Paths of the PTP hardware clocks.
function M.phcs()
   local list = names "/sys/class/ptp"
   for i, name in ipairs(list) do
      list[i] = "/dev/" .. name
   end
   return list
end

--- The socket of ptp4l that this user may query; nil: no such socket.
function M.ptp4l_socket()
   for _, path in ipairs { "/var/run/ptp4lro", "/var/run/ptp4l" } do
      if uv.fs_stat(path) and uv.fs_access(path, "RW") then
         return path
      end
   end
   return nil
end

--- Id of the running system; "" where the kernel does not tell.
function M.boot()
   return (named_file.read "/proc/sys/kernel/random/boot_id" or ""):match "[^\n]*"
end

--- Run a program for what it prints: core/command.lua.
M.run = command.run

return M
