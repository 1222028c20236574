-- SPDX-License-Identifier: BSD-3-Clause

--- The clocks of two testers, and the bound of their error.
--
-- Each tester takes timestamps by its CLOCK_MONOTONIC_RAW. To compare them, both need a common time and its
-- distance from that clock:
--
--    machine    both run on one machine and have the same clock
--    realtime   CLOCK_REALTIME, synchronised by NTP or PTP. The kernel reports the bound of its error and
--               whether it is synchronised (adjtimex: maxerror). With NTP that is a bound; the servo of
--               linuxptp sets it to 0 at each update, whatever the error of its path is
--    control    the local tester's clock; the agent's is estimated from the round trip over the control
--               connection. Too rough for delays, but counts fall into the right seconds
--
-- Distances are measured repeatedly while a trial runs, because the clocks drift.
local bit = require "bit"
local ffi = require "ffi"

ffi.cdef [[
struct fg_timespec { long sec, nsec; };
struct fg_timex {
	unsigned modes;
	long offset, freq, maxerror, esterror;
	int status;
	long constant, precision, tolerance, sec, usec, tick, ppsfreq, jitter;
	int shift;
	long stabil, jitcnt, calcnt, errcnt, stbcnt;
	int tai, room[11];
};
int clock_gettime(int clock, struct fg_timespec *out) __asm__("clock_gettime");
int adjtimex(struct fg_timex *timex);
char *strerror(int errnum);
long long strtoll(const char *text, char **end, int base);
]]

local M = {}

local REALTIME, RAW = 0, 4
local UNSYNCHRONISED = 0x40
local UNKNOWN_NS = 16e9 -- the kernel's maxerror of a clock that is not synchronised
local TRIES = 16 -- readings; the fastest one counts

local now = ffi.new("struct fg_timespec")

local function read(clock)
   ffi.C.clock_gettime(clock, now)
   return ffi.cast("int64_t", now.sec) * 1000000000 + now.nsec
end

--- The time of the timestamps, int64 nanoseconds.
function M.raw()
   return read(RAW)
end

--- A whole number of nanoseconds as text, and back: JSON's numbers are not exact enough.
function M.text(ns)
   return (tostring(ffi.cast("int64_t", ns)):match "%-?%d+")
end

function M.number(text)
   return ffi.cast("int64_t", ffi.C.strtoll(tostring(text), nil, 10))
end

--- By how much CLOCK_REALTIME is ahead of the clock of the timestamps.
-- @return int64 nanoseconds, and their uncertainty
function M.distance()
   local best, width
   for _ = 1, TRIES do
      local before, real, after = read(RAW), read(REALTIME), read(RAW)
      local took = tonumber(after - before)
      if not width or took < width then
         best, width = real - before - ffi.cast("int64_t", took / 2), took
      end
   end
   return best, width / 2
end

--- The kernel's state of CLOCK_REALTIME.
-- @param adjtimex  reads the kernel's clock as the system call does; by default that
-- @return { synchronised =, error_ns = bound, refused = why the kernel gives no answer, or nil, boot = id of
-- the running system, raw = text }
function M.state(adjtimex)
   local timex, boot = ffi.new("struct fg_timex"), io.open "/proc/sys/kernel/random/boot_id"
   -- a filter of system calls may refuse it, and leaves zeros: synchronised, without error
   local told = (adjtimex or ffi.C.adjtimex)(timex) >= 0
   local refused = not told and ffi.string(ffi.C.strerror(ffi.errno())) or nil
   local state = {
      synchronised = told and bit.band(timex.status, UNSYNCHRONISED) == 0,
      error_ns = told and tonumber(timex.maxerror) * 1e3 or UNKNOWN_NS, refused = refused,
      boot = boot and boot:read "*l" or "", raw = M.text(M.raw()),
   }
   if boot then
      boot:close()
   end
   return state
end

--- Whether two testers have one clock: they run on one system, and the other's time lies between question and
-- answer.
function M.same(here, there, asked, heard)
   local other = M.number(there.raw)
   return here.boot ~= "" and here.boot == there.boot and other >= asked and other <= heard
end

local REMEDY = "synchronise it by NTP (chrony) or PTP (ptp4l and phc2sys), or set y1564.delays: false to "
   .. "measure only rates and loss"

--- Why one-way delays cannot be measured, a sentence; nil when they can.
-- @param here, there  states
-- @param most         largest permitted offset, nanoseconds
-- @param share        of the smallest FTD that this is, as text
function M.problem(here, there, most, share)
   for _, one in ipairs { { "local tester", here }, { "remote agent", there } } do
      if one[2].refused then
         return ("one-way delays need synchronised clocks, and the %s cannot read the state of its clock "
            .. "(adjtimex: %s); permit it (systemd unit: ProtectClock=no; container: its seccomp profile), "
            .. "or set y1564.delays: false to measure only rates and loss"):format(one[1], one[2].refused)
      elseif one[2].synchronised ~= true then
         return ("one-way delays need synchronised clocks, and the kernel of the %s reports that its clock "
            .. "is not synchronised; %s"):format(one[1], REMEDY)
      end
   end
   if here.error_ns + there.error_ns > most then
      return ("one-way delays need clocks that agree to %.3f us, %s of the smallest FTD; they may differ by "
         .. "%.3f us (local %.3f us, remote %.3f us, as their kernels report); %s"):format(most / 1e3, share,
         (here.error_ns + there.error_ns) / 1e3, here.error_ns / 1e3, there.error_ns / 1e3, REMEDY)
   end
   return nil
end

return M
