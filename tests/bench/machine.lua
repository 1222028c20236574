-- SPDX-License-Identifier: BSD-3-Clause

--- What figures of a benchmark depend on, in addition to the program: processor, caches, pages, other load.

local M = {}

local function text_of(path, pattern)
   local file = io.open(path)
   local text = file and file:read "*a" or ""
   if file then
      file:close()
   end
   return text:match(pattern) or "?"
end

-- The caches of a CPU, the nearest first: "L1d 32K, L2 1024K, L3 32768K".
local function caches(cpu)
   local list, i = {}, 0
   while true do
      local folder = ("/sys/devices/system/cpu/cpu%d/cache/index%d/"):format(cpu, i)
      local level, kind = text_of(folder .. "level", "%d+"), text_of(folder .. "type", "%a+")
      if level == "?" then
         return #list > 0 and table.concat(list, ", ") or "?"
      end
      if kind ~= "Instruction" then
         list[#list + 1] = ("L%s%s %s"):format(level, kind == "Data" and "d" or "",
            text_of(folder .. "size", "%w+"))
      end
      i = i + 1
   end
end

--- Lines that describe this machine.
-- @param cpu  on which the measured lcore runs
function M.describe(cpu)
   return table.concat {
      ("processor     %s; caches of CPU %d: %s\n"):format(text_of("/proc/cpuinfo", "model name%s*: ([^\n]+)"),
         cpu, caches(cpu)),
      ("pages         %d B; huge pages of %s, %s of %s free; transparent: %s\n"):format(
         tonumber(text_of("/proc/self/smaps", "KernelPageSize:%s+(%d+)")) * 1024,
         text_of("/proc/meminfo", "Hugepagesize:%s+([^\n]+)"), text_of("/proc/meminfo", "HugePages_Free:%s+(%d+)"),
         text_of("/proc/meminfo", "HugePages_Total:%s+(%d+)"),
         text_of("/sys/kernel/mm/transparent_hugepage/enabled", "%[(%a+)%]")),
      ("load          %s\n\n"):format(text_of("/proc/loadavg", "%S+ %S+ %S+")),
   }
end

return M
