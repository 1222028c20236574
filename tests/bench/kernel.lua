-- SPDX-License-Identifier: BSD-3-Clause

--- The kernel's TCP and UDP as the peer of a measurement: a server in one network namespace, a client in
-- another, veth between them, each on a CPU of its own.
local child = require "child"
local job = require "framegauge.core.job"
local uv = require "luv"

local M = {}

--- Where the server is.
M.ADDRESS = "198.18.7.1"

--- The path of a program; nil: it is missing.
function M.has(name)
   for folder in ((os.getenv("PATH") or "") .. ":/usr/sbin:/sbin"):gmatch("[^:]+") do
      if uv.fs_access(folder .. "/" .. name, "X") then
         return folder .. "/" .. name
      end
   end
end

local function ip(...)
   return os.execute("ip " .. string.format(...) .. " 2>/dev/null") == 0
end

local function set_up(client, server)
   ip("netns add %s", client)
   ip("netns add %s", server)
   if not ip("-n %s link add eth type veth peer name eth netns %s", client, server) then
      return false
   end
   for namespace, address in pairs { [client] = "198.18.7.2", [server] = M.ADDRESS } do
      ip("-n %s address add %s/24 dev eth", namespace, address)
      ip("-n %s link set eth up", namespace)
      -- ports enough, and no waiting for those that are done with
      os.execute(("ip netns exec %s sysctl -qw net.ipv4.tcp_tw_reuse=1 "):format(namespace)
         .. "net.ipv4.ip_local_port_range='1024 65535'")
   end
   return true
end

local function spawn(namespace, cpu, command)
   local arguments = { "netns", "exec", namespace, "taskset", "-c", tostring(cpu) }
   for _, word in ipairs(command) do
      arguments[#arguments + 1] = tostring(word)
   end
   return child.spawn("ip", arguments)
end

-- Processor time of a process and of our own children that have ended, seconds
local function busy_seconds(pid)
   local function sum(path, first)
      local file, i, ticks = assert(io.open(path)), 0, 0
      for field in file:read("*a"):match("%) (.*)"):gmatch "%S+" do
         i = i + 1
         ticks = ticks + ((i == first or i == first + 1) and tonumber(field) or 0)
      end
      file:close()
      return ticks / 100
   end
   return sum(("/proc/%d/stat"):format(pid), 12) + sum("/proc/self/stat", 14)
end

--- Start a server that runs until all is closed.
-- @param programs  what must be there for it and for its clients
-- @param command   the server: a list of words, or a function of the machine that makes it
-- @return nil if that is not possible here, else { run = function(command): what a client printed, the last
--         of it for an error, and the processor time that client and server took, seconds; close = function }
function M.serve(machine, programs, command)
   if uv.getuid() ~= 0 or not M.has "ip" then
      return nil
   end
   for _, name in ipairs(programs) do
      if not M.has(name) then
         return nil
      end
   end
   local client, server = "fgbenchc-" .. uv.os_getpid(), "fgbenchs-" .. uv.os_getpid()
   local process
   local function close()
      if process then
         process:close()
      end
      ip("netns del %s", client)
      ip("netns del %s", server)
   end
   if not set_up(client, server) then
      close()
      return nil
   end
   process = spawn(server, machine.other, type(command) == "function" and command(machine) or command)
   job.sleep(0.5)
   if process.exited then
      local words = process:last_words()
      close()
      error(programs[1] .. ": " .. words, 0)
   end
   local function run(words)
      local before = busy_seconds(process.pid)
      local one = spawn(client, machine.worker, words)
      while not one.exited do
         job.sleep(0.01)
      end
      job.sleep(0.01)
      local said, last = one.said .. one.complaints, one:last_words()
      one:close()
      return said, last, busy_seconds(process.pid) - before
   end
   return { run = run, close = close }
end

--- Write a file of the server's into the folder that is gone afterwards. @return its path
function M.write(machine, name, text)
   local path = machine.scratch .. "/" .. name
   local file = assert(io.open(path, "w"))
   file:write(text)
   file:close()
   return path
end

--- Make a certificate. @return the paths of certificate and key
function M.certificate(machine)
   local path = machine.scratch .. "/bench"
   assert(os.execute(("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout '%s.key' -out '%s.pem' -subj /CN=fg.test 2>/dev/null"):format(path, path)) == 0, "openssl failed")
   return path .. ".pem", path .. ".key"
end

return M
