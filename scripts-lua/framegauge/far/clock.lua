-- SPDX-License-Identifier: BSD-3-Clause

--- The clocks of two testers: how they stand to each other, and how well that is known.
--
-- Each tester stamps by its CLOCK_MONOTONIC_RAW. What makes the stamps of two comparable is a time that both
-- have, and its distance from that clock:
--
--    machine    both run on one machine: the clocks are one, and nothing is to be known
--    realtime   CLOCK_REALTIME, kept by NTP or PTP. How far it may be off the kernel says (adjtimex:
--               maxerror, and whether it is kept at all). Under NTP that is a bound; the servo of linuxptp
--               sets it to 0 at each update, whatever the error of its path is
--    control    the near tester's clock; the far one's is told from how long a question over the control
--               connection takes. Too rough for delays, but counts fall into the right seconds
--
-- Distances are taken again and again while a trial runs, for the clocks drift.
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
local UNKNOWN_NS = 16e9 -- what the kernel says of a clock that nobody keeps
local TRIES = 16 -- readings, of which the quickest counts

local now = ffi.new("struct fg_timespec")

local function read(clock)
   ffi.C.clock_gettime(clock, now)
   return ffi.cast("int64_t", now.sec) * 1000000000 + now.nsec
end

--- The time by which frames are stamped, int64 nanoseconds.
function M.raw()
   return read(RAW)
end

--- A whole number of nanoseconds as text, and back: JSON's numbers are too short for it.
function M.text(ns)
   return (tostring(ffi.cast("int64_t", ns)):match "%-?%d+")
end

function M.number(text)
   return ffi.cast("int64_t", ffi.C.strtoll(tostring(text), nil, 10))
end

--- How far CLOCK_REALTIME is ahead of the clock of the stamps.
-- @return int64 nanoseconds, and how uncertain that is
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

--- What the kernel says of CLOCK_REALTIME.
-- @param adjtimex  reads the kernel's clock as the system call does; by default that
-- @return { synchronised =, error_ns = at most, refused = why the kernel does not tell, or nil, boot = id of
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

--- Whether two testers have one clock: they run on one system, and the other's time lies between asking for
-- it and hearing it.
function M.same(near, far, asked, heard)
   local other = M.number(far.raw)
   return near.boot ~= "" and near.boot == far.boot and other >= asked and other <= heard
end

local MEND = "keep it by NTP (chrony) or PTP (ptp4l and phc2sys), or set y1564.delays: false, which leaves "
   .. "rates and loss"

--- What keeps one-way delays from being measured, a sentence; nil when nothing does.
-- @param near, far  states
-- @param most       nanoseconds that the clocks may be apart
-- @param share      of the least FTD that this is, as text
function M.problem(near, far, most, share)
   for _, one in ipairs { { "near", near }, { "far", far } } do
      if one[2].refused then
         return ("one-way delays need the clocks of both testers to agree, and the kernel of the %s one does "
            .. "not tell how its own is kept (adjtimex: %s); let the tester read it (of a systemd unit: "
            .. "ProtectClock=no; of a container: its seccomp profile), or set y1564.delays: false, which "
            .. "leaves rates and loss"):format(one[1], one[2].refused)
      elseif one[2].synchronised ~= true then
         return ("one-way delays need the clocks of both testers to agree, and that of the %s one is not "
            .. "synchronised, as its kernel says; %s"):format(one[1], MEND)
      end
   end
   if near.error_ns + far.error_ns > most then
      return ("one-way delays need clocks that agree to %.3f us, %s of the least FTD to be kept; they may be "
         .. "%.3f us apart (near %.3f us, far %.3f us, as their kernels say); %s"):format(most / 1e3, share,
         (near.error_ns + far.error_ns) / 1e3, near.error_ns / 1e3, far.error_ns / 1e3, MEND)
   end
   return nil
end

return M
