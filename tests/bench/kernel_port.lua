-- SPDX-License-Identifier: BSD-3-Clause

--- A port over a kernel interface as the thing measured: an end of a veth pair in a network namespace, and
-- Linux at the other end in one of its own. What stands beside it uses the same pair, or one of its kind.
local child = require "child"
local has = require("kernel").has
local job = require "framegauge.core.job"
local uv = require "luv"

local M = {}

local STREAMS = 4
local TESTER, LINUX = "198.18.8.2", "198.18.8.1" -- ours, and Linux's at the other end
local PEER, PEER_LINUX = "198.18.9.2", "198.18.9.1" -- of the pair that the kernel has for itself

local function ip(...)
   return os.execute("ip " .. string.format(...) .. " 2>/dev/null") == 0
end

-- A pair between both namespaces, up, with addresses.
local function pair(m, name, near, far)
   return ip("-n %s link add %s type veth peer name %s netns %s", m.tester, name, name, m.linux)
      and ip("-n %s link set %s up", m.tester, name) and ip("-n %s link set %s up", m.linux, name)
      and (not near or ip("-n %s address add %s/24 dev %s", m.tester, near, name))
      and ip("-n %s address add %s/24 dev %s", m.linux, far, name)
end

local function read(path)
   local file = assert(io.open(path))
   local text = file:read "*a"
   file:close()
   return text
end

--- Set the namespaces up. Ports are opened in the tester's, which a process enters by M.run().
-- @return nil and why that is not possible, or { tester, linux = names, interface, close = function }
function M.start()
   if uv.getuid() ~= 0 or not has "ip" then
      return nil, "needs root and iproute2, for network namespaces"
   end
   local pid = uv.os_getpid()
   local m = { tester = "fgbencht-" .. pid, linux = "fgbenchl-" .. pid, interface = "eth" }
   function m.close()
      ip("netns del %s", m.tester)
      ip("netns del %s", m.linux)
   end
   ip("netns add %s", m.tester)
   ip("netns add %s", m.linux)
   for _, name in ipairs { m.tester, m.linux } do
      os.execute(("ip netns exec %s sysctl -qw net.ipv6.conf.all.disable_ipv6=1 "):format(name)
         .. "net.ipv6.conf.default.disable_ipv6=1")
   end
   if not (pair(m, m.interface, nil, LINUX) and pair(m, "own", PEER, PEER_LINUX)) then
      m.close()
      return nil, "no veth pair can be made"
   end
   return m
end

--- Run a program in the tester's namespace until it ends. @return what it printed
function M.run(m, program, arguments)
   local all = { "netns", "exec", m.tester, program }
   for _, argument in ipairs(arguments) do
      all[#all + 1] = tostring(argument)
   end
   local process = child.spawn("ip", all)
   while not process.exited do
      job.sleep(0.01)
   end
   job.sleep(0.02)
   local said, words = process.said, process:last_words()
   process:close()
   return said, words
end

--- What our port does: kernel_port_child.lua, in the tester's namespace.
function M.ours(m, machine, work, device, seconds)
   local said, words = M.run(m, uv.exepath(), { "script", machine.folder .. "/kernel_port_child.lua", work,
      ("kernel:%s%s"):format(m.interface, device), TESTER, LINUX, machine.main, machine.worker, seconds,
      M.mac(m) })
   return tonumber(said:match "figure ([%d.e+]+)") or error("our port: " .. words, 0)
end

--- MAC of Linux's end.
function M.mac(m)
   local said = io.popen(("ip -n %s -o link show %s"):format(m.linux, m.interface)):read "*a"
   return said:match "link/ether (%x%x:%x%x:%x%x:%x%x:%x%x:%x%x)"
end

-- Processor time of the processes that were started and have ended, seconds.
local function children_seconds()
   local fields = read "/proc/self/stat":match "%) (.*)"
   local i, sum = 0, 0
   for field in fields:gmatch "%S+" do
      i = i + 1
      sum = sum + ((i == 14 or i == 15) and tonumber(field) or 0)
   end
   return sum / 100
end

local FRAME = [[{ 0x02,0,0,0,0,2, 0x02,0,0,0,0,1, 0x08,0x00, 0x45,0,c16(46),0,0,0,0,64,17,0,0, 198,18,8,2,
198,18,8,1, c16(1000),c16(9),c16(26),0,0, fill(0,18) }
]]

local function sent(m)
   local said = io.popen(("ip -n %s -s -o link show %s"):format(m.tester, m.interface)):read "*a"
   return tonumber(said:match "TX:.-\\%s*%d+%s+(%d+)")
end

--- Frames per second of its processor time that trafgen sends through our interface; nil: it is missing.
function M.trafgen(m, machine)
   local trafgen = has "trafgen"
   if not trafgen then
      return nil
   end
   local path = machine.scratch .. "/trafgen.cfg"
   local file = assert(io.open(path, "w"))
   file:write(FRAME)
   file:close()
   return function()
      local before, began = sent(m), children_seconds()
      M.run(m, "timeout", { "-s", "INT", machine.seconds, "taskset", "-c", machine.worker, trafgen,
         "-i", path, "-o", m.interface, "-P", 1 })
      return (sent(m) - before) / (children_seconds() - began)
   end
end

--- Bits per second that iperf3 moves between Linux and Linux, each with offloads; nil: it is missing.
function M.iperf3(m, machine)
   local iperf3 = has "iperf3"
   if not iperf3 then
      return nil
   end
   return function()
      local said, words = M.run(m, "taskset", { "-c", machine.worker, iperf3, "-c", PEER_LINUX, "-P", STREAMS,
         "-t", machine.seconds, "-f", "k" })
      local kilobits = said:match "%[SUM%]%s+%S+%s+sec%s+%S+ %S+%s+([%d.]+) Kbits/sec%s+receiver"
      return kilobits and tonumber(kilobits) * 1e3 or error("iperf3: " .. words, 0)
   end
end

--- An iperf3 server in Linux's namespace, on a CPU of its own.
function M.serve(m, machine)
   local server = child.spawn("ip", { "netns", "exec", m.linux, "taskset", "-c", tostring(machine.other),
      has "iperf3", "-s" })
   job.sleep(0.5)
   return server
end

return M
