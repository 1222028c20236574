-- SPDX-License-Identifier: BSD-3-Clause

--- What a line allows at most of each test: bytes on the wire of one transaction or one segment.
--
-- Full duplex: the way with more bytes limits. A segment of headers and payload is an Ethernet frame of at
-- least 64 bytes and 20 more for preamble and gap.
local ethernet = require "framegauge.core.ethernet"

local M = {}

local SYN_OPTIONS = 20 -- MSS, SACK permitted, time stamps, window scale

local function headers(ip, transport, o)
   return ethernet.header_octets(ip, transport == "tcp" and o.timestamps and "tcp+ts" or transport)
end

-- Bytes on the wire of one packet with a payload.
local function packet(ip, transport, payload, o)
   return ethernet.wire_octets(headers(ip, transport, o) + payload, o.tags) - (o.uncounted or 0)
end

--- Payload bytes of a full segment.
function M.mss(ip, o)
   return o.mtu - headers(ip, "tcp", o)
end

-- Bytes on the wire of a message that may take several segments.
local function message(ip, octets, o)
   local mss = M.mss(ip, o)
   local full = math.floor(octets / mss)
   local rest = octets - full * mss
   return full * packet(ip, "tcp", mss, o) + (rest > 0 and packet(ip, "tcp", rest, o) or 0)
end

local function syn(ip, o)
   local options = o.timestamps and SYN_OPTIONS or 8
   return ethernet.wire_octets(ethernet.header_octets(ip, "tcp") + options, o.tags) - (o.uncounted or 0)
end

--- What the functions here take, of the settings of a test (framegauge.methods.l4.settings). Rates are those
-- of a line, or with a path that limits bits of frames, of these: then preamble and gap are `uncounted`.
function M.of(o)
   return {
      uncounted = o.path and o.path.limited and ethernet.OVERHEAD or 0,
      mtu = o.mtu, timestamps = o.tcp.timestamps, request = o.request, response = o.response,
      body = not o.http.head and math.max(o.http.body, o.http.post) or 0,
      datagram = o.datagram, tags = o.tags, requests = o.http.requests, streams = o.http.streams,
      handshake_ack_alone = o.tcp.handshake_ack_alone, reset = o.close == "reset", file = o.ftp.body - o.ftp.resume,
   }
end

-- Bytes in addition to the payload in a formula that is widely copied, see M.legacy.
local LEGACY = { tcp = { ipv4 = 66, ipv6 = 86 }, udp = { ipv4 = 46, ipv6 = 66 } }
local LEGACY_GAP = 12

--- Payload bits per second by a formula that is widely copied: (M - 66) / (M + 12) for TCP over IPv4, with M
-- the MTU. It leaves out preamble, MAC header and FCS of the line's time, and counts them as part of the
-- packet. For comparison with tables that were made by it; the exact one is M.stream.
function M.legacy(rate, ip, test, mtu)
   return rate * (mtu - LEGACY[test:match "^UDP" and "udp" or "tcp"][ip]) / (mtu + LEGACY_GAP)
end

--- The share of a limit, percent. Packets, records and transactions count whole: one that was under way when
-- the measured time began counts, so that a full line can show one more than it carries in that time.
-- @param reached, most  a second @param seconds  measured @param one_more  what such a one counts
function M.share(reached, most, seconds, one_more)
   local excess = (reached - most) * seconds
   return excess > 0 and excess <= one_more and 100 or 100 * reached / most
end

--- Payload bits per second.
function M.stream(rate, ip, o)
   local mss = M.mss(ip, o)
   return rate * mss / packet(ip, "tcp", mss, o)
end

function M.udp_stream(rate, ip, o)
   return rate * o.datagram / packet(ip, "udp", o.datagram, o)
end

-- Transactions per second with these bytes each way.
local function per_second(rate, there, back)
   return rate / (8 * math.max(there, back))
end

function M.rr(rate, ip, o)
   return per_second(rate, message(ip, o.request, o), message(ip, o.response, o))
end

function M.udp_rr(rate, ip, o)
   return per_second(rate, packet(ip, "udp", o.request, o), packet(ip, "udp", o.response, o))
end

--- Queries a second, of DNS over UDP.
-- @param query, answer  bytes of the mean messages
function M.dns(rate, ip, o, query, answer)
   return per_second(rate, packet(ip, "udp", query, o), packet(ip, "udp", answer, o))
end

--- The same over TCP; messages share segments. What a connection takes in addition is left out.
function M.dns_tcp(rate, ip, o, query, answer)
   return M.stream(rate, ip, o) / (8 * math.max(query, answer))
end

-- Bytes of a connection without its messages, there and back: SYN, FIN or the ACK of one; the FIN goes with
-- the server's last message. The client's ACK of the handshake goes with what it sends first, or alone. An
-- RST takes the place of the client's FIN, and has no ACK.
local function connection(ip, o)
   local bare = packet(ip, "tcp", 0, o)
   return syn(ip, o) + (o.handshake_ack_alone and 2 or 1) * bare, syn(ip, o) + (o.reset and 0 or bare)
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

--- Payload bits per second of files of a size, a connection for each. What control connections take
-- beside them is left out, and so is a FIN, which may go with the last of the file.
function M.files(rate, ip, o, octets)
   return rate * octets / (message(ip, octets, o) + syn(ip, o))
end

--- Transactions of HTTP per second, a connection for each o.requests of them; nil or 0: connections last.
-- @param request, response  bytes of the messages, heads and bodies
function M.http(rate, ip, o, request, response)
   local n, there, back = o.requests or 0, connection(ip, o)
   if n == 0 then
      there, back, n = 0, 0, 1
   end
   return per_second(rate, there / n + message(ip, request, o), back / n + message(ip, response, o))
end

--- Requests per second of HTTP/2: messages of several streams share segments, one stream's have segments of
-- their own. What a connection takes in addition is left out.
function M.http2(rate, ip, o, request, response)
   if o.streams == 1 then
      return per_second(rate, message(ip, request, o), message(ip, response, o))
   end
   return M.stream(rate, ip, o) / (8 * math.max(request, response))
end

--- Round trips that a transaction takes, one after the other on a connection.
-- @param messages  round trips of a request and its response
-- @param requests  transactions of a connection, which takes one round trip to open and with a FIN one to
--                  close; 0: no end
-- @param close     how it is closed (l4.close)
function M.round_trips(messages, requests, close)
   return messages + (requests > 0 and (close == "fin" and 2 or 1) / requests or 0)
end

-- --- how losses bound a congestion window, on the average, with one in 1/p packets lost at random

local CUBIC_C, CUBIC_BETA = 0.4, 0.7

--- Payload bits per second of Reno: MSS/RTT * C/sqrt(p) by Mathis, Semke, Mahdavi and Ott (1997), C =
-- sqrt(3/2), for the window grows by a segment a round trip however acknowledgements come (RFC 3465).
-- @param mss  bytes of payload of a full packet
-- @param rtt  seconds
-- @param p    share of the packets that is lost
function M.mathis(mss, rtt, p)
   return 8 * mss / rtt * math.sqrt(1.5 / p)
end

--- The mean rate of CUBIC: RFC 9438, 5.2, equation 6, and never less than Reno (5.1, "Reno-friendly").
function M.cubic(mss, rtt, p)
   local window = (CUBIC_C * (3 + CUBIC_BETA) / (4 * (1 - CUBIC_BETA))) ^ 0.25 * (rtt / p) ^ 0.75
   return math.max(8 * mss / rtt * window, M.mathis(mss, rtt, p))
end

return M
