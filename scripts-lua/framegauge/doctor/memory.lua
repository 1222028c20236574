-- SPDX-License-Identifier: BSD-3-Clause

--- Doctor: memory, huge pages, NUMA.
local finding = require "framegauge.doctor.finding"
local M = {}

local LEAST_MB = 256 -- buffers of two ports and DPDK's own tables
local HUGE_PAGES = "/sys/kernel/mm/hugepages"
local NODES = "/sys/devices/system/node"

function M.memory(machine)
   local available = tonumber((machine:field("/proc/meminfo", "MemAvailable") or ""):match("%d+"))
   if not available then
      return
   end
   local mb = math.floor(available / 1024)
   if mb >= LEAST_MB then
      return finding.ok("memory", ("%d MB available"):format(mb))
   end
   return finding.problem("memory", ("only %d MB available"):format(mb),
      ("a run needs about %d MB"):format(LEAST_MB), "stop other programs, or add memory")
end

function M.huge_pages(machine)
   local found, free = {}, 0
   for _, folder in ipairs(machine:list(HUGE_PAGES)) do
      local kb = tonumber(folder:match("^hugepages%-(%d+)kB$"))
      local total = tonumber(machine:read(HUGE_PAGES .. "/" .. folder .. "/nr_hugepages")) or 0
      local unused = tonumber(machine:read(HUGE_PAGES .. "/" .. folder .. "/free_hugepages")) or 0
      if kb and total > 0 then
         found[#found + 1] = ("%d of %d MB, %d free"):format(total, kb / 1024, unused)
         free = free + unused
      end
   end
   if free > 0 then
      return finding.ok("huge pages", table.concat(found, "; "))
   end
   return finding.warning("huge pages", #found > 0 and table.concat(found, "; ") or "none",
      "ordinary memory is used: slower, and PCI ports then need an IOMMU", "sysctl -w vm.nr_hugepages=512")
end

function M.numa(machine)
   local nodes = {}
   for _, folder in ipairs(machine:list(NODES)) do
      local node = folder:match("^node(%d+)$")
      if node then
         local cpus = machine:read(NODES .. "/" .. folder .. "/cpulist") or "?"
         nodes[#nodes + 1] = ("node %s: CPU %s"):format(node, cpus)
      end
   end
   if #nodes == 0 then
      return finding.ok("NUMA", "one node")
   end
   return finding.ok("NUMA", table.concat(nodes, "; "))
end

--- In the order they are shown.
M.checks = { M.memory, M.huge_pages, M.numa }

return M
