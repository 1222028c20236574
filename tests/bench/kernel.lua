-- SPDX-License-Identifier: BSD-3-Clause

--- The kernel's TCP as the peer of a measurement: nginx in one network namespace, wrk in another, veth
-- between them, each on a CPU of its own.
local child = require "child"
local job = require "framegauge.core.job"
local uv = require "luv"

local M = {}

local ADDRESS, CONNECTIONS = "198.18.7.1", 64

local CONFIG = [[
daemon off; master_process off; pid %s/nginx.pid; error_log %s/nginx.log;
events { worker_connections 4096; }
http {
   access_log off; keepalive_requests 1000000000; keepalive_timeout 600s;
   server { listen 80 backlog=4096; location / { return 200 "%s"; } }
}
]]

local function has(name)
   for folder in (os.getenv("PATH") or ""):gmatch("[^:]+") do
      if uv.fs_access(folder .. "/" .. name, "X") then
         return true
      end
   end
   return false
end

local function ip(...)
   return os.execute("ip " .. string.format(...) .. " 2>/dev/null") == 0
end

-- Requests a second that wrk counts.
local function wrk(machine, namespace, options)
   local arguments = { "netns", "exec", namespace, "taskset", "-c", tostring(machine.worker), "wrk", "-t1",
      "-c" .. CONNECTIONS, "-d" .. machine.seconds .. "s" }
   for _, option in ipairs(options) do
      arguments[#arguments + 1] = option
   end
   arguments[#arguments + 1] = "http://" .. ADDRESS .. "/"
   local process = child.spawn("ip", arguments)
   while not process.exited do
      job.sleep(0.01)
   end
   job.sleep(0.01)
   local rate = process.said:match "Requests/sec:%s+([%d.]+)"
   process:close()
   return tonumber(rate) or error("wrk: " .. process:last_words(), 0)
end

--- Set both up.
-- @return nil if that is not possible here, else { http, close_each = peers for main.lua, close = function }
function M.start(machine)
   if uv.getuid() ~= 0 or not (has "nginx" and has "wrk" and has "ip") then
      return nil
   end
   local client, server = "fgbenchc-" .. uv.os_getpid(), "fgbenchs-" .. uv.os_getpid()
   local nginx
   local function close()
      if nginx then
         nginx:close()
      end
      ip("netns del %s", client)
      ip("netns del %s", server)
   end
   ip("netns add %s", client)
   ip("netns add %s", server)
   if not ip("-n %s link add eth type veth peer name eth netns %s", client, server) then
      close()
      return nil
   end
   for namespace, address in pairs { [client] = "198.18.7.2", [server] = ADDRESS } do
      ip("-n %s address add %s/24 dev eth", namespace, address)
      ip("-n %s link set eth up", namespace)
      -- ports enough, and no waiting for those that are done with
      os.execute(("ip netns exec %s sysctl -qw net.ipv4.ip_local_port_range='1024 65535' "):format(namespace)
         .. "net.ipv4.tcp_tw_reuse=1")
   end
   local config = assert(io.open(machine.scratch .. "/nginx.conf", "w"))
   config:write(CONFIG:format(machine.scratch, machine.scratch, ("x"):rep(64)))
   config:close()
   nginx = child.spawn("ip", { "netns", "exec", server, "taskset", "-c", tostring(machine.other), "nginx",
      "-c", machine.scratch .. "/nginx.conf" })
   job.sleep(0.5)
   if nginx.exited then
      local words = nginx:last_words()
      close()
      error("nginx: " .. words, 0)
   end
   return {
      http = { name = "nginx, wrk (two CPUs)", measure = function()
         return wrk(machine, client, {})
      end },
      close_each = { name = "nginx, wrk (two CPUs)", measure = function()
         return wrk(machine, client, { "-H", "Connection: close" })
      end },
      close = close,
   }
end

return M
