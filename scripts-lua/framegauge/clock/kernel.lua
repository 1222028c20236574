-- SPDX-License-Identifier: BSD-3-Clause

--- CLOCK_REALTIME with the bound that the kernel keeps (adjtimex: maxerror).
--
-- The bound is as good as the program that steers the clock: ntpd and chrony set it. phc2sys, ptp4l and
-- systemd-timesyncd set it to 0 at each update, whatever their error is, so under these it says nothing.
local M = { name = "kernel" }

local GROWTH_PPM = 500 -- by which the kernel lets its bound grow; ours grows as fast between two questions

-- As the kernel keeps the names of programs.
local WITHOUT_BOUND = { "phc2sys", "ptp4l", "systemd-timesyn" }

local function judge(machine)
   local state, refused = machine.kernel()
   if not state then
      return { finding = ("the kernel does not tell the state of its clock (adjtimex: %s)"):format(refused),
         fix = "permit it (systemd unit: ProtectClock=no; container: its seccomp profile)" }
   elseif not state.synchronised then
      return { finding = "the kernel reports that its clock is not synchronised",
         fix = "synchronise it by NTP (apt install chrony) or PTP (ptp4l with a PTP hardware clock)" }
   end
   local running = machine.programs()
   for _, name in ipairs(WITHOUT_BOUND) do
      if running[name] then
         return { finding = ("%s steers the clock, and tells the kernel no bound of its error"):format(name),
            fix = "apt install chrony, or use the PTP hardware clock (clock.source: phc)" }
      end
   end
   return { synchronised = true, error_ns = state.maxerror_ns, drift_ppm = GROWTH_PPM }
end

--- Ask it. @param done  function(state), see framegauge.clock
function M.ask(machine, _, done)
   done(judge(machine))
end

function M.distance(machine)
   return machine.distance_of_realtime()
end

return M
