-- SPDX-License-Identifier: BSD-3-Clause

--- What stands beside our TCP, TLS, QUIC and DNS: other people's servers and clients over the kernel. Each is
-- a function of the machine: nil where its programs are missing or root is, else { name, measure, close }.
local kernel = require "kernel"

local M = {}

local CONNECTIONS = 64

local NGINX = [[
daemon off; master_process off; pid %s/nginx.pid; error_log %s/nginx.log;
events { worker_connections 4096; }
http {
   access_log off; keepalive_requests 1000000000; keepalive_timeout 600s;
   server {
      listen 80 backlog=4096; listen 443 ssl http2 backlog=4096;
      ssl_certificate %s; ssl_certificate_key %s; ssl_session_tickets off; ssl_protocols TLSv1.3;
      location / { return 200 "%s"; }
   }
}
]]

local function nginx(machine)
   local certificate, key = kernel.certificate(machine)
   return { "nginx", "-c", kernel.write(machine, "nginx.conf", NGINX:format(machine.scratch, machine.scratch,
      certificate, key, ("x"):rep(64))) }
end

-- One peer: a server, and a client.
-- @param figure  what stands beside ours, from what the client printed and the processor time of both
local function peer(name, programs, server, command, figure)
   return function(machine)
      local kept = kernel.serve(machine, programs, server)
      return kept and {
         name = name, close = kept.close,
         measure = function()
            local said, words, busy = kept.run(command(machine))
            return figure(said, busy) or error(programs[2] .. ": " .. words, 0)
         end,
      }
   end
end

local function a_second(pattern)
   return function(said)
      return tonumber(said:match(pattern))
   end
end

-- By the processor time of both ends, as ours: other guests of the machine take no part of it.
local function a_busy_second(pattern, times)
   return function(said, busy)
      local n = tonumber(said:match(pattern))
      return n and busy > 0 and n * (times or 1) / busy
   end
end

local function wrk(figure, url, ...)
   local more = { ... }
   return peer("nginx, wrk", { "nginx", "wrk", "openssl" }, nginx, function(machine)
      return { "wrk", "-t1", "-c" .. CONNECTIONS, "-d" .. machine.seconds .. "s", url, unpack(more) }
   end, figure)
end

local RATE, COUNT = a_second "Requests/sec:%s+([%d.]+)", a_busy_second "(%d+) requests in"

M.http = wrk(RATE, "http://" .. kernel.ADDRESS .. "/")
M.close_each = wrk(RATE, "http://" .. kernel.ADDRESS .. "/", "-H", "Connection: close")
M.https = wrk(COUNT, "https://" .. kernel.ADDRESS .. "/")
M.https_close = wrk(COUNT, "https://" .. kernel.ADDRESS .. "/", "-H", "Connection: close")

--- HTTP/2 over TLS, 32 requests at a time on each connection
M.http2 = peer("nginx, h2load", { "nginx", "h2load", "openssl" }, nginx, function(machine)
   return { "h2load", "-c8", "-m32", "-D", machine.seconds, "https://" .. kernel.ADDRESS .. "/" }
end, a_busy_second "(%d+) succeeded")

local KNOT = [[
server:
    listen: %s@53
    rundir: %s
    pidfile: %s/knot.pid
    udp-workers: 1
database:
    storage: %s
zone:
  - domain: fg.test
    file: %s
]]
local ZONE = [[
$ORIGIN fg.test.
@ 300 SOA ns admin 1 300 300 300 300
@ 300 NS ns
ns 300 A 198.18.7.1
* 300 A 198.18.7.7
]]

local function knotd(machine)
   local zone = kernel.write(machine, "zone", ZONE)
   return { "knotd", "-c", kernel.write(machine, "knot.conf", KNOT:format(kernel.ADDRESS, machine.scratch,
      machine.scratch, machine.scratch, zone)) }
end

local NAMES = 10000

M.dns = peer("knotd, dnsperf", { "knotd", "dnsperf" }, knotd, function(machine)
   local names = {}
   for i = 1, NAMES do
      names[i] = ("h%d.fg.test A\n"):format(i - 1)
   end
   return { "dnsperf", "-s", kernel.ADDRESS, "-d", kernel.write(machine, "names", table.concat(names)), "-l",
      machine.seconds, "-T1", "-c" .. CONNECTIONS, "-q", 2 * CONNECTIONS }
end, a_busy_second "Queries completed:%s+(%d+)")

local MEGABYTES = 64

local function gtlsserver(machine)
   local certificate, key = kernel.certificate(machine)
   kernel.write(machine, "page", ("x"):rep(MEGABYTES * 1000000))
   os.execute(("mkdir '%s/got'"):format(machine.scratch))
   return { "gtlsserver", "-q", "-d", machine.scratch, kernel.ADDRESS, 4433, key, certificate }
end

local QUIC = { "gtlsserver", "gtlsclient", "openssl" }

--- Bits of one download over QUIC, handshake included
M.quic = peer("gtlsserver, gtlsclient", QUIC, gtlsserver, function(machine)
   return { "timeout", 60, "gtlsclient", "-q", "--exit-on-all-streams-close", "--sni=fg.test", "--download",
      machine.scratch .. "/got", kernel.ADDRESS, 4433, "https://fg.test/page" }
end, function(said, busy)
   return not said:match "ERR" and MEGABYTES * 8e6 / busy
end)

--- What TLS costs: our own stream without it
function M.plain_stream(machine)
   local l4 = require "l4"
   return { name = "our TCP stream", measure = l4.busy_wire(machine, "TCP_MAERTS"), close = function() end }
end

return M
