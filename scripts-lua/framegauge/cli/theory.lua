-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge theory`: what the arithmetic of the line allows, in the two tables people look up.
local ethernet = require "framegauge.core.ethernet"
local parse = require "framegauge.cli.parse"
local table_text = require("framegauge.text.columns").text
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

local RATES = { 10e6, 100e6, 1e9, 2.5e9, 10e9, 25e9, 40e9, 100e9, 200e9, 400e9 }
local SIZES = { 64, 128, 256, 512, 1024, 1280, 1518, 1522, 9018 }
local GOODPUT_RATES = { 10e9 }
local PACKETS = { -- MTU, VLAN tags
   { 576, 0 }, { 1280, 0 }, { 1500, 0 }, { 4096, 0 }, { 9000, 0 }, { 1500, 1 }, { 1500, 2 }, { 9000, 1 },
}
local COLUMNS = {
   { "TCP4", "ipv4", "tcp" }, { "TCP4+TS", "ipv4", "tcp+ts" }, { "UDP4", "ipv4", "udp" },
   { "TCP6", "ipv6", "tcp" }, { "TCP6+TS", "ipv6", "tcp+ts" }, { "UDP6", "ipv6", "udp" },
}
local TAG_NAMES = { [0] = "", " VLAN", " QinQ" }

local MIN_MTU = 68 -- every IPv4 link takes that (RFC 791)
local MAX_OCTETS = 65535
local MAX_RATE = 1e15 -- a thousand times beyond any line; frame rates are exact up to here

-- "2.5G"
local function short_rate(bps)
   for _, prefix in ipairs { { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" }, { 1e3, "k" } } do
      if bps >= prefix[1] then
         return ("%.12g%s"):format(bps / prefix[1], prefix[2])
      end
   end
   return ("%.12g"):format(bps)
end

--- The frame-rate table as text.
-- @param rates  line rates, bits per second
-- @param sizes  frame sizes with FCS, bytes
function M.frames(rates, sizes)
   local rows = { { "F" } }
   for _, rate in ipairs(rates) do
      table.insert(rows[1], short_rate(rate))
   end
   for _, size in ipairs(sizes) do
      local row = { ("%d"):format(size) }
      for _, rate in ipairs(rates) do
         row[#row + 1] = ("%.0f"):format(ethernet.max_fps(rate, size))
      end
      rows[#rows + 1] = row
   end
   return "Maximum frames per second: floor(R / (8 (F + 20)))\n"
      .. "R line rate in bit/s, F frame size in bytes with FCS; 20 bytes are preamble, start and gap.\n\n"
      .. table_text(rows)
end

--- The goodput table of one line rate as text.
-- @param rate     line rate, bits per second
-- @param packets  list of { MTU, VLAN tags }
function M.goodput(rate, packets)
   local rows = { { "M" } }
   for _, column in ipairs(COLUMNS) do
      table.insert(rows[1], column[1])
   end
   for _, packet in ipairs(packets) do
      local mtu, tags = packet[1], packet[2]
      local row = { ("%d%s"):format(mtu, TAG_NAMES[tags]) }
      for _, column in ipairs(COLUMNS) do
         local payload = mtu - ethernet.header_octets(column[2], column[3])
         local bps = ethernet.goodput(rate, mtu, column[2], column[3], tags)
         row[#row + 1] = payload > 0 and ("%.1f"):format(bps / 1e6) or "-"
      end
      rows[#rows + 1] = row
   end
   return ("Goodput at %sb/s in Mb/s: R (M - H) / W\n"):format(short_rate(rate):gsub("(%a)$", " %1"))
      .. "M IP MTU, W = max(M + 18 + 4 per VLAN tag, 64) + 20 bytes on the wire. Header bytes H: UDP 28,\n"
      .. "TCP 40, TCP with time stamps (TS) 52 over IPv4; 20 more over IPv6.\n\n"
      .. table_text(rows, true)
end

local function read_rates(texts, default)
   local rates = {}
   for i, text in ipairs(texts) do
      rates[i] = units.parse_bits(text)
      if not rates[i] or rates[i] < 1 or rates[i] > MAX_RATE then
         parse.usage_error("theory", "theory: --rate %s is not a line rate; expected %s", text,
            units.expected.bits)
      end
   end
   return #rates > 0 and rates or default
end

local function read_octets(option, texts, min)
   local list = {}
   for i, text in ipairs(texts) do
      list[i] = units.parse_size(text)
      if not list[i] or list[i] < min or list[i] > MAX_OCTETS then
         parse.usage_error("theory", "theory: --%s %s is impossible; expected whole bytes from %d to %d",
            option, text, min, MAX_OCTETS)
      end
   end
   return list
end

local function read_packets(mtus, vlan)
   local tags = tonumber(vlan or 0)
   if not TAG_NAMES[tags] then
      parse.usage_error("theory", "theory: --vlan %s is impossible; expected 0, 1 or 2 tags", vlan)
   end
   if #mtus == 0 and not vlan then
      return PACKETS
   end
   return tables.map(#mtus > 0 and mtus or { 576, 1280, 1500, 4096, 9000 }, function(mtu)
      return { mtu, tags }
   end)
end

-- Which tables are wanted: the named one, else those an option belongs to, else both.
local function choose(name, options)
   local of_frames, of_goodput = #options.size > 0, #options.mtu > 0 or options.vlan ~= nil
   if name and name ~= "frames" and name ~= "goodput" then
      parse.usage_error("theory", "theory: there is no table '%s'; expected 'frames' or 'goodput'", name)
   elseif name == "frames" and of_goodput then
      parse.usage_error("theory", "theory: --mtu and --vlan belong to the goodput table")
   elseif name == "goodput" and of_frames then
      parse.usage_error("theory", "theory: --size belongs to the frames table")
   end
   if not name and not of_frames and not of_goodput then
      return true, true
   end
   return name == "frames" or of_frames, name == "goodput" or of_goodput
end

function M.main(arguments, options)
   local with_frames, with_goodput = choose(arguments[1], options)
   local pages = {}
   if with_frames then
      local sizes = read_octets("size", options.size, ethernet.MIN_FRAME)
      pages[1] = M.frames(read_rates(options.rate, RATES), #sizes > 0 and sizes or SIZES)
   end
   if with_goodput then
      local packets = read_packets(read_octets("mtu", options.mtu, MIN_MTU), options.vlan)
      for _, rate in ipairs(read_rates(options.rate, GOODPUT_RATES)) do
         pages[#pages + 1] = M.goodput(rate, packets)
      end
   end
   io.write(table.concat(pages, "\n"))
   return 0
end

return M
