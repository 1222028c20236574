-- SPDX-License-Identifier: BSD-3-Clause

--- Writes frames of many protocol stacks into a capture file, for another program to read.
--
--    framegauge script stacks.lua FILE.pcap
--
-- Prints for each frame its number, the protocols that a dissector should find, in its own words, and stream,
-- sequence number and time of the signature.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local frame = require "framegauge.traffic.frame"
local octets = require "framegauge.core.octets"

local FRAME_SIZE = 256

local function ethernet_to(mac)
   return { "ethernet", source = octets.mac("02:00:00:00:00:01"), destination = octets.mac(mac) }
end

local ethernet, slow = ethernet_to("02:00:00:00:00:02"), ethernet_to("01:80:c2:00:00:01")
local ipv4 = { "ipv4", source = octets.ipv4("198.18.0.1"), destination = octets.ipv4("198.18.0.2") }
local ipv6 = { "ipv6", source = octets.ipv6("2001:2::1"), destination = octets.ipv6("2001:2::2") }
local vlan, qinq, mpls, gre = { "vlan" }, { "qinq" }, { "mpls" }, { "gre" }
local vxlan, geneve = { "vxlan" }, { "geneve" }
local llc, snap, gtpu, arp, pause = { "llc" }, { "snap" }, { "gtpu" }, { "arp" }, { "pause" }
local udp, tcp, sctp, icmp, icmpv6 = { "udp" }, { "tcp" }, { "sctp" }, { "icmp" }, { "icmpv6" }
local hop, destination, fragment = { "hop_by_hop" }, { "destination_options" }, { "fragment" }

local STACKS = {
   { "eth:ethertype:ip:udp:echo", ethernet, ipv4, udp },
   { "eth:ethertype:ip:tcp", ethernet, ipv4, tcp },
   { "eth:ethertype:ip:icmp:data", ethernet, ipv4, icmp },
   { "eth:ethertype:ip:sctp:data", ethernet, ipv4, sctp },
   { "eth:ethertype:ipv6:udp:echo", ethernet, ipv6, udp },
   { "eth:ethertype:ipv6:tcp", ethernet, ipv6, tcp },
   { "eth:ethertype:ipv6:icmpv6:data", ethernet, ipv6, icmpv6 },
   { "eth:ethertype:ipv6:ipv6.hopopts:ipv6.dstopts:udp:echo", ethernet, ipv6, hop, destination, udp },
   { "eth:ethertype:ipv6:ipv6.fraghdr:udp:echo", ethernet, ipv6, fragment, udp },
   { "eth:ethertype:vlan:ethertype:ip:udp:echo", ethernet, vlan, ipv4, udp },
   { "eth:ethertype:ieee8021ad:ethertype:vlan:ethertype:ip:udp:echo", ethernet, qinq, vlan, ipv4, udp },
   { "eth:ethertype:mpls:ip:udp:echo", ethernet, mpls, mpls, ipv4, udp },
   { "eth:ethertype:arp", ethernet, arp },
   { "eth:ethertype:macc", slow, pause },
   { "eth:llc:ip:udp:echo", ethernet, llc, snap, ipv4, udp },
   { "eth:ethertype:ip:gre:ip:udp:echo", ethernet, ipv4, gre, ipv4, udp },
   { "eth:ethertype:ip:gre:eth:ethertype:ip:udp:echo", ethernet, ipv4, gre, ethernet, ipv4, udp },
   { "eth:ethertype:ip:udp:vxlan:eth:ethertype:ip:udp:echo",
      ethernet, ipv4, udp, vxlan, ethernet, ipv4, udp },
   { "eth:ethertype:ip:udp:geneve:eth:ethertype:ipv6:tcp", ethernet, ipv4, udp, geneve, ethernet, ipv6, tcp },
   { "eth:ethertype:ip:udp:gtp:ip:udp:echo", ethernet, ipv4, udp, gtpu, ipv4, udp },
   { "eth:ethertype:ip:ip:udp:echo", ethernet, ipv4, ipv4, udp },
   { "eth:ethertype:ip:ipv6:udp:echo", ethernet, ipv4, ipv6, udp },
   { "eth:ethertype:ipv6:ipv6:tcp", ethernet, ipv6, ipv6, tcp },
}

-- The signature of a test frame by the words of lib/frame/fg_signature.h, not by its code.
local function signature(stream, sequence, nanoseconds)
   local words = {
      0x4667, stream,
      math.floor(sequence / 2 ^ 32), math.floor(sequence / 2 ^ 16) % 2 ^ 16, sequence % 2 ^ 16,
      math.floor(nanoseconds / 2 ^ 32), math.floor(nanoseconds / 2 ^ 16) % 2 ^ 16, nanoseconds % 2 ^ 16,
   }
   local sum, text = 0, {}
   for i, word in ipairs(words) do
      sum = sum + word
      text[i] = string.char(math.floor(word / 256), word % 256)
   end
   local balance = (0xffff - sum % 0xffff) % 0xffff
   return table.concat(text) .. string.char(math.floor(balance / 256), balance % 256)
end

-- Little-endian, as the capture format has it.
local function u32(n)
   return ffi.string(ffi.new("uint32_t[1]", n), 4)
end

local file = assert(io.open(arg[1], "wb"))
file:write(u32(0xa1b2c3d4), "\2\0\4\0", u32(0), u32(0), u32(65535), u32(1))
for i, stack in ipairs(STACKS) do
   -- SCTP packets are whole words
   local size = stack[#stack] == sctp and FRAME_SIZE - (FRAME_SIZE - 4 - 34) % 4 or FRAME_SIZE
   local template = frame.build(size, { unpack(stack, 2) })
   file:write(u32(i), u32(0), u32(template.length), u32(template.length))
   local sequence, nanoseconds = i * 2 ^ 40 + 12345, 2 ^ 47 + i
   local mark = signature(i, sequence, nanoseconds)
   local made = ffi.new("uint8_t[?]", template.length)
   ffi.copy(made, ffi.string(template.bytes, template.length - #mark) .. mark, template.length)
   if template.seal.packet > 0 then
      api.C.fg_template_seal(template, made)
   end
   file:write(ffi.string(made, template.length))
   print(("%d\t%s\t%d\t%.0f\t%.0f"):format(i, stack[1], i, sequence, nanoseconds))
end
file:close()
