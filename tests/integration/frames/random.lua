-- SPDX-License-Identifier: BSD-3-Clause

--- Writes frames of random protocol stacks, made by nothing but the tables of lib/frame, into a capture.
--
--    framegauge script random.lua FILE.pcap COUNT SEED
--
-- What may follow what is what the tables say; only where the numbers of IPv4 and IPv6 are the same space,
-- each has its own. Fields get random values where no value of them means that something else follows. Prints
-- for each frame its number, the protocols in it by the words of tshark, and the stack, which our own
-- dissector must find.
local dissection = require "framegauge.cli.dissection"
local frame = require "framegauge.traffic.frame"
local octets = require "framegauge.core.octets"
local pcap = require "framegauge.text.pcap"
local protocols = require "framegauge.core.protocols"

local FREE = {}
for name in ("priority drop_eligible dscp ecn ttl hop_limit flow_label label traffic_class vni teid key sequence window tag tsn stream acknowledgment id quanta"):gmatch "%S+" do
   FREE[name] = true
end
local LEAST = { label = 16, ttl = 16, hop_limit = 16 } -- below are values with a meaning
local ONLY = { -- of one IP only
   icmp = 4, icmp_error = 4, hop_by_hop = 6, destination_options = 6, routing = 6, fragment = 6, icmpv6 = 6,
   icmpv6_error = 6, mld = 6, mld2_query = 6,
}
-- Messages that end with their packet: what fills a test frame up behind them is read as more of them, and
-- the checksum of IGMP over eight bytes only. What they say is tested case by case (cases.py).
local UNFILLED = {
   neighbour_solicitation = true, neighbour_advertisement = true, mld2_report = true, igmp = true,
   igmp3_query = true, igmp3_report = true,
}
-- What may hold a length and then LLC. In qinq tshark does not look for it.
local LENGTH_OR_TYPE = { ethernet = true, vlan = true }
local EXTENSION = { hop_by_hop = true, destination_options = true, routing = true, fragment = true }
-- What tshark calls them. The others have no name of their own, and tags in a row are one.
local WORD = {
   ethernet = "eth", vlan = "vlan", qinq = "ieee8021ad", llc = "llc", pause = "macc", pfc = "macc",
   mpls = "mpls",
   arp = "arp", ipv4 = "ip", ipv6 = "ipv6", icmp = "icmp", icmp_error = "icmp", icmpv6 = "icmpv6",
   icmpv6_error = "icmpv6", mld = "icmpv6", mld2_query = "icmpv6", udp = "udp", tcp = "tcp", sctp = "sctp",
   gre = "gre", gtpu = "gtp", vxlan = "vxlan", geneve = "geneve", hop_by_hop = "ipv6.hopopts",
   destination_options = "ipv6.dstopts", routing = "ipv6.routing", fragment = "ipv6.fraghdr",
}
local IN_A_ROW = { ieee8021ad = true, mpls = true }
-- What ends a stack that is deep enough, by the space of numbers.
local CLOSING = { ethertype = "arp", ip = "udp", mpls = "ipv4" }
local TAG = { vlan = true, qinq = true }
local DEEPEST, MOST_CLOSING, MOST_OPTIONS = 9, 9, 3
local PADN = 1 -- of IPv6
local SYN = 2

local function pick(list)
   return list[math.random(#list)]
end

-- Whether a protocol may stand behind the layers so far.
local function fits(protocol, stack, version)
   local last = stack[#stack][1]
   if UNFILLED[protocol.name] then
      return false
   elseif protocol.name == "hop_by_hop" then
      return last == "ipv6"
   elseif EXTENSION[protocol.name] and EXTENSION[last] then
      return false -- there is an order among them
   elseif protocol.name == "ethernet" and last == "mpls" then
      return false -- no number says so, and readers guess
   elseif last == "gre" and TAG[protocol.name] then
      return false -- tshark knows none there
   elseif protocol.reserved_mac ~= 0 then
      return last == "ethernet" -- what bridges tell their neighbours
   end
   return not ONLY[protocol.name] or ONLY[protocol.name] == version
end

-- The number by which an outer protocol names this one. A range of numbers is only read, never written.
local function numbered(protocol, space)
   for _, place in ipairs(protocol.places) do
      if place.space == space and place.last == 0 then
         return true
      end
   end
   return false
end

local function followers(outer, stack, version)
   local list = {}
   for _, protocol in ipairs(protocols.list) do
      local known = numbered(protocol, outer.space)
         or protocol.name == "llc" and LENGTH_OR_TYPE[outer.name]
      if known and not protocol.option and fits(protocol, stack, version) then
         list[#list + 1] = protocol
      end
   end
   return list
end

local ADDRESS = { mac = "\2\0", ipv4 = "\198\18", ipv6 = " \1\0\2" }

-- A layer with some of its fields at random.
local function layer(protocol)
   local one = { protocol.name }
   for _, field in ipairs(protocol.fields) do
      local start = field.width > 0 and ADDRESS[field.kind]
      if start then
         local tail = octets.of_number(math.random(0, 2 ^ 31 - 1), field.width / 8 - #start)
         one[field.name] = start .. tail
      elseif FREE[field.name] and not field.names and not field.when and math.random(2) == 1 then
         one[field.name] = math.random(LEAST[field.name] or 0, 2 ^ math.min(field.width, 31) - 1)
      end
   end
   return one
end

-- Options that may be where they are.
local function options_of(protocol)
   local list, known = {}, protocols.options_of(protocol)
   for _, name in ipairs(known) do
      if known[name].name ~= "ipv6_router_alert" or protocol.name == "hop_by_hop" then
         list[#list + 1] = known[name]
      end
   end
   return list
end

-- A header that is not one without them.
local function complete(one)
   if one[1] == "routing" then
      one.segments = ADDRESS.ipv6 .. octets.of_number(math.random(2 ^ 31 - 1), 12)
   elseif one[1] == "tcp_option" then
      one.data = "\70\103" -- an experiment has an identifier (RFC 6994)
   end
   return one
end

local function add_options(stack, protocol)
   local list = protocol.option_space and options_of(protocol) or {}
   local owner = stack[#stack]
   for _ = 1, list[1] and math.random(0, MOST_OPTIONS) or 0 do
      stack[#stack + 1] = complete(layer(pick(list)))
   end
   if protocol.name == "tcp" and stack[#stack] ~= owner then
      owner.flags = SYN -- some options are for it alone
   end
end

local function random_stack()
   local ethernet = protocols.by_name.ethernet
   local stack, protocol, version = { layer(ethernet) }, ethernet, nil
   for depth = 1, DEEPEST + MOST_CLOSING do
      local list = followers(protocol, stack, version)
      if depth >= DEEPEST and CLOSING[protocol.space] then
         list = { protocols.by_name[CLOSING[protocol.space]] }
      end
      protocol = pick(list)
      version = protocol.network ~= 0 and protocol.network or version
      if protocol.reserved_mac ~= 0 then
         stack[#stack].destination = octets.of_number(protocol.reserved_mac, 6)
      end
      stack[#stack + 1] = complete(layer(protocol))
      add_options(stack, protocol)
      if not protocol.space or protocol.name == "udp" and (depth >= DEEPEST or math.random(2) == 1) then
         break
      end
   end
   return stack
end

local function wanted(stack)
   local list = {}
   for i, one in ipairs(stack) do
      list[i] = one[1]
   end
   return table.concat(list, " ")
end

local function words(stack)
   local list = {}
   for _, one in ipairs(stack) do
      local word = WORD[one[1]]
      list[#list + 1] = not (IN_A_ROW[word] and word == list[#list]) and word or nil
   end
   return table.concat(list, ":")
end

-- The layers that the dissector finds. Padding of IPv6 options is an option to it, too.
local function found(bytes)
   local list = {}
   for _, one in ipairs((dissection.read(bytes))) do
      local kind = one.protocol == "ipv6_option" and one.fields[1].value
      if not one.padding and kind ~= PADN then
         list[#list + 1] = one.protocol
      end
   end
   return table.concat(list, " ")
end

-- Packets of SCTP are whole words: of four sizes one will do.
local function build(size, stack)
   local ok, template
   for more = 0, stack[#stack][1] == "sctp" and 3 or 0 do
      ok, template = pcall(frame.build, size + more, stack)
      if ok then
         break
      end
   end
   return ok, template
end

math.randomseed(tonumber(arg[3]))
local file, failed = assert(pcap.create(arg[1])), 0
for i = 1, tonumber(arg[2]) do
   local stack = random_stack()
   local text = wanted(stack)
   local ok, template = build(math.random(900, 1500), stack)
   if not ok then
      print(("%d\t%s\t%s: %s"):format(i, words(stack), text, template))
      return 1
   end
   local bytes = frame.make(template, 1, i, i * 1000)
   print(("%d\t%s\t%s"):format(i, words(stack), text))
   if found(bytes) ~= text then
      io.stderr:write(("frame %d: %s\nis read by ourselves as %s\n"):format(i, text, found(bytes)))
      failed = failed + 1
   end
   file:add(bytes, i * 1000)
   if i % 100 == 0 then
      collectgarbage() -- it does not see how large templates are
   end
end
assert(file:close())
return failed == 0 and 0 or 1
