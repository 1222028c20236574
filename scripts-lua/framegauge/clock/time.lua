-- SPDX-License-Identifier: BSD-3-Clause

--- Times of this machine's clocks, as whole nanoseconds (int64).
--
-- Timestamps are of CLOCK_MONOTONIC_RAW, which nothing steers. A common time is a distance from it, measured
-- by reading both clocks at nearly one instant.
local ffi = require "ffi"

ffi.cdef [[
struct fg_timespec { long sec, nsec; };
int clock_gettime(int clock, struct fg_timespec *out) __asm__("clock_gettime");
long long strtoll(const char *text, char **end, int base);
]]

local M = { REALTIME = 0, RAW = 4 }

local TRIES = 16 -- readings; the fastest one counts

local now = ffi.new("struct fg_timespec")

--- The time of a clock; nil where it cannot be read.
-- @param clock  its number, as clock_gettime() takes it
function M.read(clock)
   if ffi.C.clock_gettime(clock, now) ~= 0 then
      return nil
   end
   return ffi.cast("int64_t", now.sec) * 1000000000 + now.nsec
end

--- The time of the timestamps.
function M.raw()
   return M.read(M.RAW)
end

--- A whole number of nanoseconds as text, and back: JSON's numbers are not exact enough.
function M.text(ns)
   return (tostring(ffi.cast("int64_t", ns)):match "%-?%d+")
end

function M.number(text)
   return ffi.cast("int64_t", ffi.C.strtoll(tostring(text), nil, 10))
end

--- By how much a clock is ahead of the clock of the timestamps.
-- @return int64 nanoseconds, their uncertainty in nanoseconds, and the raw time at which they held; nil where
-- the clock cannot be read
function M.distance(clock)
   local best, width, at
   for _ = 1, TRIES do
      local before, other, after = M.read(M.RAW), M.read(clock), M.read(M.RAW)
      if not other then
         return nil
      end
      local took = tonumber(after - before)
      if not width or took < width then
         at = before + ffi.cast("int64_t", took / 2)
         best, width = other - at, took
      end
   end
   return best, width / 2, at
end

return M
