-- SPDX-License-Identifier: BSD-3-Clause

--- Doctor: cores, disturbances, and clocks.
local finding = require "framegauge.doctor.finding"
local M = {}

local function first_to_last(cpus)
   return #cpus > 1 and cpus[1] .. "-" .. cpus[#cpus] or tostring(cpus[1])
end

function M.instructions(machine)
   if machine:has_cpu_flag("sse4_2") then
      return
   end
   return finding.problem("processor", "has no SSE 4.2", "DPDK's packages do not start without it",
      "use a newer processor, or pass the host's to the virtual machine (-cpu host)")
end

function M.cores(machine)
   local cpus = machine:cpus()
   if #cpus < 2 then
      return finding.warning("cores", "1 CPU for control and packets",
         "both share it: long poll gaps, tester-limited trials (free-running time stays exact)",
         "give this process a second CPU (taskset, cgroup, virtual machine)")
   end
   return finding.ok("cores", ("%d CPUs: %d for control, %d for packets"):format(#cpus, 1, #cpus - 1))
end

function M.isolation(machine)
   local isolated = machine:read("/sys/devices/system/cpu/isolated") or ""
   if isolated ~= "" then
      return finding.ok("isolated cores", "CPU " .. isolated)
   end
   local cpus = machine:cpus()
   local workers = first_to_last { unpack(cpus, math.min(2, #cpus)) }
   return finding.warning("isolated cores", "none",
      "other work is scheduled on packet cores: poll gaps of milliseconds, late frames",
      ("kernel arguments isolcpus=%s nohz_full=%s rcu_nocbs=%s, then reboot"):format(workers, workers, workers))
end

function M.hypervisor(machine)
   if machine:has_cpu_flag("hypervisor") then
      return finding.warning("virtual machine", "runs under a hypervisor",
         "it can interrupt a CPU for milliseconds; affected trials are marked tester-limited",
         "use bare metal for physical ports, or pin the virtual CPUs on the host")
   end
end

function M.governor(machine)
   local slow = {}
   local found = false
   for _, cpu in ipairs(machine:cpus()) do
      local name = machine:read(("/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor"):format(cpu))
      found = found or name ~= nil
      if name and name ~= "performance" then
         slow[#slow + 1] = ("CPU %d %s"):format(cpu, name)
      end
   end
   if #slow == 0 then
      return finding.ok("CPU governor",
         found and "performance" or "none: the kernel does not change the frequency")
   end
   return finding.warning("CPU governor", slow[1] .. (#slow > 1 and (" and %d more"):format(#slow - 1) or ""),
      "cores slow down between bursts: latency includes the tester's own wake-up time",
      "cpupower frequency-set -g performance")
end

function M.clock(machine)
   local source = machine:read("/sys/devices/system/clocksource/clocksource0/current_clocksource") or "?"
   if source == "tsc" then
      return finding.ok("clock source", "tsc")
   end
   return finding.warning("clock source", source,
      "the kernel found the TSC unstable or absent; Framegauge measures time with it",
      "kernel argument tsc=reliable, if the processor's TSC is known to be good")
end

function M.tsc(machine)
   local missing = {}
   for _, flag in ipairs { "constant_tsc", "nonstop_tsc" } do
      if not machine:has_cpu_flag(flag) then
         missing[#missing + 1] = flag
      end
   end
   if #missing == 0 then
      return finding.ok("TSC", "constant_tsc, nonstop_tsc; " .. machine.tsc())
   end
   return finding.warning("TSC", "without " .. table.concat(missing, ", "),
      "its rate changes with the core's: rates and latencies drift",
      "switch off frequency scaling and C-states in the firmware, or use a newer processor")
end

--- In the order they are shown.
M.checks = { M.instructions, M.cores, M.isolation, M.hypervisor, M.governor, M.clock, M.tsc }

return M
