-- SPDX-License-Identifier: BSD-3-Clause

--- Doctor: other processes on the cores that poll packets.
local finding = require "framegauge.doctor.finding"

local M = {}

local MOST_NAMED = 3

-- Name, state and last processor of a process, from /proc/PID/stat. The name may hold blanks and brackets.
local function status_of(machine, pid)
   local text = machine:read("/proc/" .. pid .. "/stat")
   local name, behind = (text or ""):match("^%d+ %((.*)%) (.*)$")
   if not name then
      return nil
   end
   local fields = {}
   for field in behind:gmatch("%S+") do
      fields[#fields + 1] = field
   end
   return name, fields[1], tonumber(fields[37])
end

function M.others(machine)
   local packet, named, count = {}, {}, 0
   for i, cpu in ipairs(machine:cpus()) do
      packet[cpu] = i > 1
   end
   local own = machine:field("/proc/self/status", "Pid")
   for _, pid in ipairs(machine:list("/proc")) do
      if pid:match("^%d+$") and pid ~= own then
         local name, state, cpu = status_of(machine, pid)
         if state == "R" and packet[cpu] then
            count = count + 1
            named[#named + 1] = count <= MOST_NAMED and ("%s (%s) on CPU %d"):format(name, pid, cpu) or nil
         end
      end
   end
   if count == 0 then
      return finding.ok("other work", "none on the CPUs for packets at the moment")
   end
   local more = count - #named
   return finding.warning("other work",
      table.concat(named, ", ") .. (more > 0 and (" and %d more"):format(more) or ""),
      "it competes with polling: poll gaps of milliseconds, late frames, tester-limited trials",
      "stop it, move it (taskset -p), or choose other CPUs with host.lcores in the plan")
end

--- In the order they are shown.
M.checks = { M.others }

return M
