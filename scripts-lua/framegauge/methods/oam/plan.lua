-- SPDX-License-Identifier: BSD-3-Clause

--- Active OAM in a plan: its keys, what must hold between them, and what it needs of the tester. In the
-- notation of plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local shared = require "framegauge.plan.shared_rows"
local tables = require "framegauge.core.tables"

local TESTS = { "stamp", "twamp_light", "loopback", "delay", "synthetic_loss", "loss" }
local OVER_UDP = { stamp = true, twamp_light = true }

-- Bytes with FCS of the smallest frame, over IPv4 and IPv6, and of a VLAN tag.
local LEAST = { stamp = { 90, 110 }, twamp_light = { 87, 107 } }
local TAG, SMALLEST = 4, 64

local peer = keys.group("peer", "a reflector that is not the tester's; without one the second port of each pair reflects", {
   { "ipv4", "ipv4", "its address, for stamp and twamp_light", default_help = "none" },
   { "ipv6", "ipv6", "the same, instead", default_help = "none" },
   { "mac", "mac", "of its MEP, for the tests of Y.1731; of the next hop, for the others",
     default_help = "the MAC address of the port's gateway" },
})

local row = keys.group("oam", "active OAM: probes to a reflector of STAMP, TWAMP Light or Y.1731", {
   { "tests", "list", "stamp: RFC 8762; twamp_light: RFC 5357, appendix I; and of ITU-T Y.1731 loopback: LBM, delay: DMM, synthetic_loss: SLM, loss: LMM, which counts frames of a service",
     unique = true, least = 1, default = { "stamp" }, of = { type = "enum", values = TESTS } },
   peer,
   shared.port("862", "UDP port of the reflector"),
   { "frame_sizes", "list", "bytes of the probes from the destination address to the FCS",
     of = { type = "size", min = "64", max = "9216" }, unique = true, least = 1, default = { "128" } },
   { "count", "integer", "probes of a session", default = "100", min = "2", max = "1000000" },
   { "interval", "time", "from one probe to the next", default = "100ms", min = "1us", max = "1min" },
   { "between", "integer", "loss: frames of the service, as long as the probes, from one probe to the next",
     default = "9", min = "1", max = "1000" },
   { "dscp", "integer", "of the probes over UDP", default = "0", min = "0", max = "63" },
   { "ttl", "integer", "the same", default = "255", min = "1", max = "255" },
   { "timestamp", { "ntp", "ptp" }, "format of the timestamps of stamp and twamp_light; both of UTC",
     default = "ntp" },
   { "level", "integer", "MEG level of Y.1731", default = "4", min = "0", max = "7" },
   { "mep", "integer", "id of our MEP, in SLM", default = "1", min = "1", max = "8190" },
   shared.learning_wait "100ms",
   shared.drain("2s", "a reply that takes longer is lost"),
   shared.settle "0s", shared.retries,
})

local function has_any(values, set)
   for _, test in ipairs(values.oam.tests) do
      if set[test] then
         return test
      end
   end
end

local function is_ipv6(values)
   local o = values.oam
   return o.peer.ipv6 ~= nil or (not o.peer.ipv4 and values.ports[1] ~= nil and not values.ports[1].ipv4)
end

-- A test over UDP needs an address at both ends.
local function addresses_are_there(values, found)
   local p, test = values.oam.peer, has_any(values, OVER_UDP)
   if p.ipv4 and p.ipv6 then
      found:add("oam.peer.ipv6", "an address in addition to IPv4's", "one of them")
   elseif test and p.mac and not p.ipv4 and not p.ipv6 then
      found:add("oam.peer", ("%s needs the reflector's address"):format(test), "ipv4 or ipv6")
   end
   local family = is_ipv6(values) and "ipv6" or "ipv4"
   for _, port in ipairs(test and values.ports or {}) do
      if not port[family] then
         found:add("ports." .. port.name, ("%s needs an address of it"):format(test),
            "ipv4 or ipv6, of the same family as the reflector's")
         return
      end
   end
end

local function is_peer(values)
   local p = values.oam.peer
   return p.ipv4 or p.ipv6 or p.mac
end

local function peer_is_reachable(values, found)
   local p, port = values.oam.peer, values.ports[1]
   if not is_peer(values) then
      if #values.ports % 2 == 1 then
         found:add("ports", ("%d of them, and no oam.peer"):format(#values.ports),
            "pairs: the second one of each reflects; or a peer")
      end
      return
   end
   if #values.ports ~= 1 then
      found:add("ports", ("%d of them with oam.peer"):format(#values.ports), "one, which sends")
      return
   end
   local y1731 = has_any(values, { loopback = true, delay = true, synthetic_loss = true, loss = true })
   if y1731 and not p.mac then
      found:add("oam.peer", ("%s needs the MAC of the peer's MEP"):format(y1731), "mac")
   elseif not p.mac and not port[p.ipv6 and "gateway6" or "gateway"] then
      found:add("oam.peer", "how to get there is not known",
         "mac, or ports." .. port.name .. "." .. (p.ipv6 and "gateway6" or "gateway"))
   end
end

local function frames_have_room(values, found)
   local six, port = is_ipv6(values), values.ports[1]
   for i, size in ipairs(values.oam.frame_sizes) do
      for _, test in ipairs(values.oam.tests) do
         local least = (LEAST[test] and LEAST[test][six and 2 or 1] or SMALLEST)
            + (LEAST[test] and port and port.vlan and TAG or 0)
         if size < least then
            found:add(found:item("oam.frame_sizes", i), ("%d bytes do not hold a probe of %s"):format(size,
               test), "at least " .. least)
         end
      end
   end
end

-- Timestamps are UTC; a PTP hardware clock may run on TAI.
local function clock_is_utc(values, found)
   if values.clock.source == "phc" then
      found:add("clock.source", "timestamps of OAM are of UTC, and a PTP hardware clock shows another time",
         "auto, chrony or kernel")
   end
end

return {
   name = "oam", row = row, alone = true, one_lcore_a_port = true,
   rules = { addresses_are_there, peer_is_reachable, frames_have_room, clock_is_utc },
   frame_sizes = function(plan)
      return tables.joined(plan.oam.frame_sizes, { SMALLEST })
   end,
   quick = { "oam.count=20", "oam.interval=10ms", "oam.drain=500ms", "oam.learning_wait=10ms" },
}
