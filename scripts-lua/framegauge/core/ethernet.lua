-- SPDX-License-Identifier: BSD-3-Clause

--- What a line can carry: the arithmetic of Ethernet, with no measuring in it.
--
-- A frame of F octets (with its FCS) holds the line for F + 20 of them: 7 of preamble, 1 start delimiter, 12
-- of gap. Everything here follows from that. Rates are bits per second of the wire (layer 1) unless a name
-- says otherwise, sizes are bytes; of a mix (framegauge.core.mixes) the mean counts. All values are doubles;
-- whole numbers stay exact far beyond 400 Gb/s.
local mixes = require "framegauge.core.mixes"

local M = {}

--- Bytes a frame holds the line for besides its own: preamble, start delimiter, inter-frame gap.
M.OVERHEAD = 20

--- Bytes of the header: two addresses and the type.
M.HEADER = 14

--- Shortest legal frame with its FCS.
M.MIN_FRAME = 64

local MAC_AND_FCS = 18
local TAG = 4

local IP_HEADER = { ipv4 = 20, ipv6 = 40 }
local TRANSPORT_HEADER = { udp = 8, tcp = 20, ["tcp+ts"] = 32 }

--- Frames per second a line carries at most, a whole number (RFC 5180 A.1).
-- @param rate        bits per second of the wire
-- @param frame_size  bytes with FCS
-- @usage line.max_fps(1e9, 64) --> 1,488,095
function M.max_fps(rate, frame_size)
   return math.floor(rate / M.l1_bps(1, frame_size))
end

--- Bits per second of the wire (layer 1): frames with preamble and gap.
-- @usage line.l1_bps(1000, 64) --> 672,000
function M.l1_bps(fps, frame_size)
   return fps * 8 * (mixes.mean(frame_size) + M.OVERHEAD)
end

--- Bits per second of frames with their FCS (layer 2).
-- @usage line.l2_bps(1000, 64) --> 512,000
function M.l2_bps(fps, frame_size)
   return fps * 8 * mixes.mean(frame_size)
end

--- Bits per second of IP packets (layer 3).
-- @param tags  VLAN tags in each frame (default 0)
-- @usage line.l3_bps(1000, 64) --> 368,000
function M.l3_bps(fps, frame_size, tags)
   return fps * 8 * (mixes.mean(frame_size) - MAC_AND_FCS - TAG * (tags or 0))
end

--- Frames per second that make a bit rate of one layer: the inverse of l1_bps, l2_bps and l3_bps.
-- @param layer  1, 2 or 3
-- @usage line.fps(10e6, 2, 1250) --> 1000
function M.fps(bps, layer, frame_size, tags)
   return bps / ({ M.l1_bps, M.l2_bps, M.l3_bps })[layer](1, frame_size, tags)
end

--- Bytes an IP packet takes on the wire, preamble, gap and padding of short frames included.
-- @param mtu   bytes of the IP packet
-- @param tags  VLAN tags (default 0)
-- @usage line.wire_octets(1500) --> 1538
function M.wire_octets(mtu, tags)
   return math.max(mtu + MAC_AND_FCS + TAG * (tags or 0), M.MIN_FRAME) + M.OVERHEAD
end

--- Bytes of IP and transport header before the payload.
-- @param ip         "ipv4" or "ipv6"
-- @param transport  "udp", "tcp" or "tcp+ts" (TCP with the time stamp option)
-- @usage line.header_octets("ipv4", "udp") --> 28
function M.header_octets(ip, transport)
   return IP_HEADER[ip] + TRANSPORT_HEADER[transport]
end

--- Payload bits per second of a line full of equal packets.
-- @param rate       bits per second of the wire
-- @param mtu        bytes of each IP packet
-- @param ip         "ipv4" or "ipv6"
-- @param transport  "udp", "tcp" or "tcp+ts"
-- @param tags       VLAN tags (default 0)
-- @usage line.goodput(10e9, 1500, "ipv4", "tcp+ts") / 1e9 --> 9.41482
function M.goodput(rate, mtu, ip, transport, tags)
   return rate * (mtu - M.header_octets(ip, transport)) / M.wire_octets(mtu, tags)
end

--- Frames per second that the lines of several ports carry together, whole ones of each (RFC 2889).
-- @param ports  list of { line_rate = bits per second }
-- @usage line.lines_fps({ { line_rate = 1e9 }, { line_rate = 1e9 } }, 64) --> 2,976,190
function M.lines_fps(ports, frame_size)
   local sum = 0
   for _, port in ipairs(ports) do
      sum = sum + math.floor(port.line_rate / M.l1_bps(1, frame_size))
   end
   return sum
end

--- The same for the slowest of several ports; nil when one does not know its rate.
-- @param ports  list of { line_rate = bits per second, or nil }
-- @usage line.slowest_fps({ { line_rate = 1e9 }, { line_rate = 10e9 } }, 64) --> 1,488,095
function M.slowest_fps(ports, frame_size)
   local slowest
   for _, port in ipairs(ports) do
      if not port.line_rate then
         return nil
      end
      slowest = math.min(slowest or port.line_rate, port.line_rate)
   end
   return M.max_fps(slowest, frame_size)
end

return M
