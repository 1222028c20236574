-- SPDX-License-Identifier: BSD-3-Clause

--- Doctor: cores, disturbances, and clocks.
local M = {}

local function first_to_last(cpus)
   return #cpus > 1 and cpus[1] .. "-" .. cpus[#cpus] or tostring(cpus[1])
end

function M.instructions(machine)
   if machine:has_cpu_flag("sse4_2") then
      return
   end
   return {
      state = "problem", topic = "processor", finding = "has no SSE 4.2",
      effect = "DPDK's packages do not start without it",
      fix = "use a newer processor, or pass the host's to the virtual machine (-cpu host)",
   }
end

function M.cores(machine)
   local cpus = machine:cpus()
   if #cpus < 2 then
      return {
         state = "warning", topic = "cores", finding = "1 CPU for control and packets",
         effect = "both share it: long poll gaps, tester-limited trials (free-running time stays exact)",
         fix = "give this process a second CPU (taskset, cgroup, virtual machine)",
      }
   end
   return {
      state = "ok", topic = "cores",
      finding = ("%d CPUs: %d for control, %d for packets"):format(#cpus, 1, #cpus - 1),
   }
end

function M.isolation(machine)
   local isolated = machine:read("/sys/devices/system/cpu/isolated") or ""
   if isolated ~= "" then
      return { state = "ok", topic = "isolated cores", finding = "CPU " .. isolated }
   end
   local cpus = machine:cpus()
   local workers = first_to_last { unpack(cpus, math.min(2, #cpus)) }
   return {
      state = "warning", topic = "isolated cores", finding = "none",
      effect = "other work is scheduled on packet cores: poll gaps of milliseconds, late frames",
      fix = ("kernel arguments isolcpus=%s nohz_full=%s rcu_nocbs=%s, then reboot"):format(workers, workers,
         workers),
   }
end

function M.hypervisor(machine)
   if machine:has_cpu_flag("hypervisor") then
      return {
         state = "warning", topic = "virtual machine", finding = "runs under a hypervisor",
         effect = "it can interrupt a CPU for milliseconds; affected trials are marked tester-limited",
         fix = "use bare metal for physical ports, or pin the virtual CPUs on the host",
      }
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
      return {
         state = "ok", topic = "CPU governor",
         finding = found and "performance" or "none: the kernel does not change the frequency",
      }
   end
   return {
      state = "warning", topic = "CPU governor",
      finding = slow[1] .. (#slow > 1 and (" and %d more"):format(#slow - 1) or ""),
      effect = "cores slow down between bursts: latency includes the tester's own wake-up time",
      fix = "cpupower frequency-set -g performance",
   }
end

function M.clock(machine)
   local source = machine:read("/sys/devices/system/clocksource/clocksource0/current_clocksource") or "?"
   if source == "tsc" then
      return { state = "ok", topic = "clock source", finding = "tsc" }
   end
   return {
      state = "warning", topic = "clock source", finding = source,
      effect = "the kernel found the TSC unstable or absent; Framegauge measures time with it",
      fix = "kernel argument tsc=reliable, if the processor's TSC is known to be good",
   }
end

function M.tsc(machine)
   local missing = {}
   for _, flag in ipairs { "constant_tsc", "nonstop_tsc" } do
      if not machine:has_cpu_flag(flag) then
         missing[#missing + 1] = flag
      end
   end
   if #missing == 0 then
      return { state = "ok", topic = "TSC", finding = "constant_tsc, nonstop_tsc; " .. machine.tsc() }
   end
   return {
      state = "warning", topic = "TSC", finding = "without " .. table.concat(missing, ", "),
      effect = "its rate changes with the core's: rates and latencies drift",
      fix = "switch off frequency scaling and C-states in the firmware, or use a newer processor",
   }
end

--- In the order they are shown.
M.checks = { M.instructions, M.cores, M.isolation, M.hypervisor, M.governor, M.clock, M.tsc }

return M
