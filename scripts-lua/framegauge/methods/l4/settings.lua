-- SPDX-License-Identifier: BSD-3-Clause

--- The settings of one test: the group `l4` of the plan, with a campaign's changes.
local iperf = require "framegauge.methods.l4.iperf3"
local kinds = require "framegauge.methods.l4.plan.kinds"
local quic = require "framegauge.methods.l4.plan.quic"
local octets = require "framegauge.core.octets"
local tables = require "framegauge.core.tables"
local tls = require "framegauge.methods.l4.plan.tls"
local versions = require "framegauge.methods.l4.plan.versions"

local M = {}

--- A copy of a table, with some keys replaced.
local function copy(t, with)
   local out = tables.copy(t)
   for key, value in pairs(with or {}) do
      out[key] = value
   end
   return out
end

M.copy, M.versions = copy, versions

--- The settings of a test.
-- @param set  replaced keys of the group `l4` and of its tcp; ip = the version. May be nil
function M.of(plan, set)
   set = set or {}
   local o = copy(plan.l4, set)
   for _, group in ipairs { "tcp", "load", "ping" } do
      o[group] = copy(plan.l4[group], set[group])
   end
   o.ip = set.ip or versions(plan)[1]
   o.tags = plan.ports[1].vlan and 1 or 0
   return o
end

-- The settings of TCP of a test.
local function tcp_of(test, o)
   return o.tcp.nodelay ~= nil and o.tcp or copy(o.tcp, { nodelay = kinds.of(test).nodelay or false })
end

--- The keys of a group `tcp` as framegauge.traffic.l4.app takes them.
function M.tcp(tcp)
   return {
      congestion = tcp.congestion, receive_buffer = tcp.receive_buffer, send_buffer = tcp.send_buffer,
      mss = tcp.mss, initial_window = tcp.initial_window, nodelay = tcp.nodelay,
      timestamps = tcp.timestamps, sack = tcp.sack, window_scaling = tcp.window_scaling, ecn = tcp.ecn,
      delayed_ack_ms = tcp.delayed_ack * 1000, rto_min_ms = tcp.min_rto * 1000,
      time_wait_ms = tcp.time_wait * 1000, handshake_ack_alone = tcp.handshake_ack_alone,
   }
end

--- The next hop of frames from one port to the other: its gateway, or the other port itself.
function M.next_hop(tester, port, version)
   return tester:gateway_mac(port, version == "ipv4" and 4 or 6) or octets.mac(tester.ports[3 - port].mac)
end

--- Is the server iperf3's, at another host?
function M.is_iperf(o)
   return o.peer ~= nil and o.peer.kind == "iperf3"
end

local DATAGRAM_TIMEOUT, TIMEOUT = 1, 2 -- seconds; TCP repeats a SYN after one

--- Seconds without an answer after which the tester gives up.
function M.timeout(test, o)
   return o.timeout or kinds.of(test).gives_up and TIMEOUT or DATAGRAM_TIMEOUT
end

--- The two applications of a test, as framegauge.traffic.l4.app takes them.
-- @param o     settings
-- @param from  index of the client's port: 1 or 2
-- @return client, server
function M.apps(plan, tester, test, o, from)
   local ours, theirs = plan.ports[from][o.ip], (o.peer or plan.ports[3 - from])[o.ip]
   local client = {
      test = kinds.kind(test), address = ours, remote = theirs, next_hop = M.next_hop(tester, from, o.ip),
      port = o.port,
      tcp = M.tcp(tcp_of(test, o)), connections = o.connections, request = o.request, response = o.response,
      datagram = o.datagram, datagrams_per_s = o.datagram_rate, octets = o.octets,
      timeout = M.timeout(test, o),
      patience = kinds.of(test).gives_up and not o.path and M.timeout(test, o) or nil,
      message = o.message, requests = o.load.requests,
      connections_start = o.load.start, connections_per_s = o.load.per_second, opens_per_s = o.load.rate,
      cycles = o.load.cycles, hold = o.load.hold, think = o.load.think, think_max = o.load.think_max,
      addresses = o.load.addresses, half_close = o.close == "half-close",
   }
   client.tcp.reset = o.close == "reset"
   local fill = kinds.of(test).fill
   if fill then
      fill(client, o, theirs)
   end
   if M.is_iperf(o) then
      iperf.fill(client, test, o)
   end
   local server = { server = true, address = theirs, addresses = 1 }
   if kinds.of(test).tls then
      client.tls = tls.of(o, false, tester.wires ~= nil, kinds.of(test).alpn)
      server.tls = tls.of(o, true, tester.wires ~= nil, kinds.of(test).alpn)
   end
   if kinds.of(test).quic then
      client.quic = quic.of(o, false, tester.wires ~= nil, kinds.of(test).alpn)
      server.quic = quic.of(o, true, tester.wires ~= nil, kinds.of(test).alpn)
   end
   return client, setmetatable(server, { __index = client })
end

--- Rate of the slower line, nil when a port's line rate is unknown.
function M.line_rate(tester)
   local rate = math.min(tester.ports[1].line_rate or math.huge, tester.ports[2].line_rate or math.huge)
   return rate < math.huge and rate or nil
end

local MIN_CAPACITY, MAX_CAPACITY = 65536, 4194304

--- How many connections a worker must have room for, those in TIME_WAIT included.
-- @param fastest  connections each second that the line allows; nil where that is not known
function M.capacity(test, o, fastest)
   local waiting = kinds.of(test).short and (fastest or 0) * o.tcp.time_wait or 0
   return math.min(MAX_CAPACITY, math.max(MIN_CAPACITY, 2 * o.connections + math.ceil(waiting)))
end

--- The settings of a test that its row and its trials show.
function M.parameters(test, o)
   local p = { connections = o.connections, duration_s = o.duration, omit_s = o.omit, mtu = o.mtu, ip = o.ip }
   local kind = kinds.of(test)
   p.close = o.close ~= "fin" and o.close or nil
   for _, key in ipairs(kind.parameters or {}) do
      p[key[1]] = key[2] == "timeout" and M.timeout(test, o) or o[key[2]]
   end
   if kind.gives_up and not o.path then
      p.timeout_s = M.timeout(test, o)
   end
   p.path = o.path
   p.tls, p.quic = (kind.tls or kind.quic) and o.tls or nil, kind.quic and o.quic or nil
   if not kind.udp then
      p.tcp, p.message, p.load = not kind.quic and tcp_of(test, o) or nil, o.message, o.load
   end
   return p
end

return M
