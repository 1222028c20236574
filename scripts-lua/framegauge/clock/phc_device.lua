-- SPDX-License-Identifier: BSD-3-Clause

--- The distance of a PTP hardware clock from the clock of the timestamps (linux/ptp_clock.h).
--
-- Best first: the card reads both clocks at one instant (PTP_SYS_OFFSET_PRECISE); the kernel reads
-- CLOCK_MONOTONIC_RAW before and after the card's clock (PTP_SYS_OFFSET_EXTENDED2, which takes this clock
-- from Linux 6.12 on); or we read the three clocks one after another.
local bit = require "bit"
local ffi = require "ffi"
local time = require "framegauge.clock.time"

ffi.cdef [[
struct fg_ptp_time { int64_t sec; uint32_t nsec, reserved; };
struct fg_ptp_precise { struct fg_ptp_time device, realtime, raw; unsigned reserved[4]; };
struct fg_ptp_extended { unsigned samples; int clock; unsigned reserved[2]; struct fg_ptp_time time[25][3]; };
int open(const char *path, int flags, ...);
int ioctl(int fd, unsigned long request, ...);
char *strerror(int errnum);
]]

local M = {}

local O_RDWR, O_RDONLY, O_CLOEXEC = 2, 0, 0x80000
local SAMPLES = 10

-- _IOWR('=', number, type)
local function request(number, type)
   return 0xC0003D00 + ffi.sizeof(type) * 0x10000 + number
end

local PRECISE, EXTENDED = "struct fg_ptp_precise", "struct fg_ptp_extended"
local REQUEST_PRECISE, REQUEST_EXTENDED = request(8, PRECISE), request(18, EXTENDED)

local function ns(t)
   return t.sec * 1000000000 + t.nsec
end

local function precise(fd, ioctl)
   local answer = ffi.new(PRECISE)
   if ioctl(fd, REQUEST_PRECISE, answer) ~= 0 then
      return nil
   end
   local at = ns(answer.raw)
   return ns(answer.device) - at, 1, at
end

local function extended(fd, ioctl)
   local answer = ffi.new(EXTENDED, { samples = SAMPLES, clock = time.RAW })
   if ioctl(fd, REQUEST_EXTENDED, answer) ~= 0 then
      return nil
   end
   local best, width, at
   for i = 0, answer.samples - 1 do
      local before, device, after = ns(answer.time[i][0]), ns(answer.time[i][1]), ns(answer.time[i][2])
      local took = tonumber(after - before)
      if not width or took < width then
         at, width = before + ffi.cast("int64_t", took / 2), took
         best = device - at
      end
   end
   return best, width / 2, at
end

--- Of the clock of an open device, as time.distance().
-- @param ioctl  the system call; by default that
function M.of(fd, ioctl)
   ioctl = ioctl or ffi.C.ioctl
   local distance, width, at = precise(fd, ioctl)
   if not distance then
      distance, width, at = extended(fd, ioctl)
   end
   if not distance then
      return time.distance(bit.bor(bit.lshift(bit.bnot(fd), 3), 3)) -- the clock of a descriptor
   end
   return distance, width, at
end

local open_devices = {} -- descriptors by path; they stay open

--- Of the clock of a path; nil and why not.
function M.distance(path)
   local fd = open_devices[path]
   if not fd then
      fd = ffi.C.open(path, O_RDWR + O_CLOEXEC)
      fd = fd >= 0 and fd or ffi.C.open(path, O_RDONLY + O_CLOEXEC)
      if fd < 0 then
         return nil, ffi.string(ffi.C.strerror(ffi.errno()))
      end
      open_devices[path] = fd
   end
   return M.of(fd)
end

return M
