-- SPDX-License-Identifier: BSD-3-Clause

--- Captures as the API has them, from files of ours: pcap in microseconds or pcapng, each frame with its FCS.
--
-- Ours are pcap in nanoseconds, without FCS, since few ports deliver it. Clients compare the captured length
-- with the size of a flow's frames, which includes it; so it is computed here.
local bit = require "bit"
local ffi = require "ffi"
local named_file = require "framegauge.core.named_file"

local M = {}

local LINK_ETHERNET, SNAPLEN = 1, 65535
local FILE_HEADER, RECORD_HEADER = 24, 16
local FCS = 4

-- CRC-32 of IEEE 802.3, 3.2.9, byte by byte.
local crc_table = ffi.new "uint32_t[256]"
for i = 0, 255 do
   local value = i
   for _ = 1, 8 do
      value = bit.bxor(bit.rshift(value, 1), bit.band(value, 1) == 1 and 0xedb88320 or 0)
   end
   crc_table[i] = ffi.cast("uint32_t", value % 2 ^ 32)
end

local function fcs(octets, length)
   local crc = bit.tobit(0xffffffff)
   for i = 0, length - 1 do
      crc = bit.bxor(bit.rshift(crc, 8), bit.tobit(crc_table[bit.band(bit.bxor(crc, octets[i]), 0xff)]))
   end
   return bit.bnot(crc)
end

local function u32(...)
   local out = ffi.new("uint32_t[?]", select("#", ...))
   for i = 1, select("#", ...) do
      out[i - 1] = ffi.cast("uint32_t", select(i, ...) % 2 ^ 32)
   end
   return ffi.string(out, 4 * select("#", ...))
end

local function u16(...)
   local parts = {}
   for i = 1, select("#", ...) do
      local value = select(i, ...)
      parts[i] = string.char(value % 256, math.floor(value / 256))
   end
   return table.concat(parts)
end

-- The formats: what begins a file, and a record.
local formats = {}

formats.pcap = {
   header = function()
      return u32(0xa1b2c3d4) .. u16(2, 4) .. u32(0, 0, SNAPLEN, LINK_ETHERNET)
   end,
   record = function(seconds, ns, octets, length)
      return u32(seconds, math.floor(ns / 1000), #octets, length) .. octets
   end,
}

local IF_TSRESOL, NANOSECONDS = 9, 9

formats.pcapng = {
   header = function()
      local options = u16(IF_TSRESOL, 1) .. string.char(NANOSECONDS, 0, 0, 0) .. u16(0, 0)
      local interface = 20 + #options
      return u32(0x0a0d0d0a, 28, 0x1a2b3c4d) .. u16(1, 0) .. u32(0xffffffff, 0xffffffff, 28)
         .. u32(1, interface) .. u16(LINK_ETHERNET, 0) .. u32(SNAPLEN) .. options .. u32(interface)
   end,
   record = function(seconds, ns, octets, length)
      local time = ffi.cast("uint64_t", seconds) * 1000000000ULL + ns
      local total = 32 + #octets + -#octets % 4
      return u32(6, total, 0, tonumber(time / 2 ^ 32 + 0ULL), tonumber(time % 2 ^ 32 + 0ULL), #octets, length)
         .. octets .. ("\0"):rep(-#octets % 4) .. u32(total)
   end,
}

-- The frames of a file: function(seconds, ns, bytes, kept, length) for each.
local function each(text, take)
   local at = FILE_HEADER
   local base = ffi.cast("const uint8_t *", text)
   while at + RECORD_HEADER <= #text do
      local head = ffi.cast("const uint32_t *", base + at)
      local kept = head[2]
      if at + RECORD_HEADER + kept > #text then
         return
      end
      take(head[0], head[1], base + at + RECORD_HEADER, kept, head[3])
      at = at + RECORD_HEADER + kept
   end
end

--- A capture file of frames that were kept in files of ours.
-- @param paths     of the files, oldest first
-- @param o.format  "pcap" or "pcapng"
-- @param o.fcs     whether frames get their FCS; those that were cut have none
-- @param o.first, o.count  of the frames, from 1; nil: all
-- @return its bytes
function M.make(paths, o)
   local format, number = formats[o.format], 0
   local list = { format.header() }
   local first, last = o.first or 1, (o.first or 1) + (o.count or math.huge) - 1
   for _, path in ipairs(paths) do
      each(named_file.read(path) or "", function(seconds, ns, octets, kept, length)
         number = number + 1
         if number < first or number > last then
            return
         end
         local frame = ffi.string(octets, kept)
         if o.fcs and kept == length then
            frame = frame .. u32(fcs(octets, kept))
         end
         list[#list + 1] = format.record(seconds, ns, frame, length + (o.fcs and FCS or 0))
      end)
   end
   return table.concat(list)
end

return M
