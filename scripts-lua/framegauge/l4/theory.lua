-- SPDX-License-Identifier: BSD-3-Clause

--- What a line allows at most of each test: octets on the wire of one transaction or one segment.
--
-- Full duplex: the way with more octets limits. A segment of headers and payload is an Ethernet frame of at
-- least 64 octets and 20 more for preamble and gap.
local ethernet = require "framegauge.core.ethernet"

local M = {}

local SYN_OPTIONS = 20 -- MSS, SACK permitted, time stamps, window scale

local function headers(ip, transport, o)
   return ethernet.header_octets(ip, transport == "tcp" and o.timestamps and "tcp+ts" or transport)
end

-- Octets on the wire of one packet with so much payload.
local function packet(ip, transport, payload, o)
   return ethernet.wire_octets(headers(ip, transport, o) + payload, o.tags)
end

-- The same of a message that may take several segments.
local function message(ip, octets, o)
   local mss = o.mtu - headers(ip, "tcp", o)
   local full = math.floor(octets / mss)
   local rest = octets - full * mss
   return full * packet(ip, "tcp", mss, o) + (rest > 0 and packet(ip, "tcp", rest, o) or 0)
end

local function syn(ip, o)
   local options = o.timestamps and SYN_OPTIONS or 8
   return ethernet.wire_octets(ethernet.header_octets(ip, "tcp") + options, o.tags)
end

--- What the functions here take, of the settings of a test (framegauge.methods.l4.settings).
function M.of(o)
   return {
      mtu = o.mtu, timestamps = o.tcp.timestamps, request = o.request, response = o.response,
      datagram = o.datagram, tags = o.tags, requests = o.http.requests,
      handshake_ack_alone = o.tcp.handshake_ack_alone,
   }
end

-- Octets beside the payload in a formula that is widely copied, see M.legacy.
local LEGACY = { tcp = { ipv4 = 66, ipv6 = 86 }, udp = { ipv4 = 46, ipv6 = 66 } }
local LEGACY_GAP = 12

--- Payload bits per second by a formula that is widely copied: (M - 66) / (M + 12) for TCP over IPv4, with M
-- the MTU. It leaves out preamble, MAC header and FCS of the line's time, and counts them as part of the
-- packet. For comparison with tables that were made by it; the exact one is M.stream.
function M.legacy(rate, ip, test, mtu)
   return rate * (mtu - LEGACY[test:match "^UDP" and "udp" or "tcp"][ip]) / (mtu + LEGACY_GAP)
end

--- Payload bits per second.
function M.stream(rate, ip, o)
   return ethernet.goodput(rate, o.mtu, ip, o.timestamps and "tcp+ts" or "tcp", o.tags)
end

function M.udp_stream(rate, ip, o)
   return rate * o.datagram / packet(ip, "udp", o.datagram, o)
end

-- Transactions per second of so many octets each way.
local function per_second(rate, there, back)
   return rate / (8 * math.max(there, back))
end

function M.rr(rate, ip, o)
   return per_second(rate, message(ip, o.request, o), message(ip, o.response, o))
end

function M.udp_rr(rate, ip, o)
   return per_second(rate, packet(ip, "udp", o.request, o), packet(ip, "udp", o.response, o))
end

-- Octets of a connection beside its messages, there and back: SYN, FIN or the ACK of one; the FIN goes with
-- the server's last message. The client's ACK of the handshake goes with what it sends first, or alone.
local function connection(ip, o)
   local bare = packet(ip, "tcp", 0, o)
   return syn(ip, o) + (o.handshake_ack_alone and 2 or 1) * bare, syn(ip, o) + bare
end

--- SYN, request, FIN one way; SYN-ACK, response with FIN, ACK the other.
function M.crr(rate, ip, o)
   local there, back = connection(ip, o)
   return per_second(rate, there + message(ip, o.request, o), back + message(ip, o.response, o))
end

--- SYN, FIN, ACK one way; SYN-ACK, FIN the other.
function M.cc(rate, ip, o)
   local there, back = connection(ip, o)
   return per_second(rate, there + packet(ip, "tcp", 0, o), back)
end

--- Transactions of HTTP per second, a connection for each o.requests of them; nil or 0: connections last.
-- @param request, response  octets of the messages, heads and bodies
function M.http(rate, ip, o, request, response)
   local n, there, back = o.requests or 0, connection(ip, o)
   if n == 0 then
      there, back, n = 0, 0, 1
   end
   return per_second(rate, there / n + message(ip, request, o), back / n + message(ip, response, o))
end

return M
