-- SPDX-License-Identifier: BSD-3-Clause

--- What a line allows at most of each test: octets on the wire of one transaction or one segment.
--
-- Full duplex: the way with more octets limits. A segment of headers and payload is an Ethernet frame of at
-- least 64 octets and 20 more for preamble and gap.
local line = require "framegauge.line"

local M = {}

local SYN_OPTIONS = 20 -- MSS, SACK permitted, time stamps, window scale

local function headers(ip, transport, o)
   return line.header_octets(ip, transport == "tcp" and o.timestamps and "tcp+ts" or transport)
end

-- Octets on the wire of one packet with so much payload.
local function packet(ip, transport, payload, o)
   return line.wire_octets(headers(ip, transport, o) + payload, o.tags)
end

-- The same of a message that may take several segments.
local function message(ip, octets, o)
   local mss = o.mtu - headers(ip, "tcp", o)
   local full = math.floor(octets / mss)
   local rest = octets - full * mss
   return full * packet(ip, "tcp", mss, o) + (rest > 0 and packet(ip, "tcp", rest, o) or 0)
end

local function syn(ip, o)
   return line.wire_octets(line.header_octets(ip, "tcp") + (o.timestamps and SYN_OPTIONS or 8), o.tags)
end

--- Payload bits per second.
function M.stream(rate, ip, o)
   return line.goodput(rate, o.mtu, ip, o.timestamps and "tcp+ts" or "tcp", o.tags)
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

--- SYN, ACK, request, FIN with the ACK of the response, ACK one way; SYN-ACK, response, FIN-ACK the other.
function M.crr(rate, ip, o)
   local bare = packet(ip, "tcp", 0, o)
   return per_second(rate, syn(ip, o) + 3 * bare + message(ip, o.request, o),
      syn(ip, o) + bare + message(ip, o.response, o))
end

function M.cc(rate, ip, o)
   local bare = packet(ip, "tcp", 0, o)
   return per_second(rate, syn(ip, o) + 3 * bare, syn(ip, o) + bare)
end

M.TCP_STREAM, M.TCP_MAERTS, M.UDP_STREAM = M.stream, M.stream, M.udp_stream
M.TCP_RR, M.TCP_CRR, M.TCP_CC, M.UDP_RR = M.rr, M.crr, M.cc, M.udp_rr

return M
