-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold between the keys of the TCP and UDP tests.
local address = require "framegauge.plan.address"
local line = require "framegauge.line"
local units = require "framegauge.units"

local M = {}

local IPV6_MIN_MTU = 1280
local RR_PORTS = 65535 - 1024 + 1

local function wants(values, test)
   for _, one in ipairs(values.l4.tests) do
      if one == test then
         return true
      end
   end
   return false
end

local function version_of(values)
   local a, b = values.ports[1] or {}, values.ports[2] or {}
   return a.ipv6 and b.ipv6 and not (a.ipv4 and b.ipv4) and "ipv6" or "ipv4"
end

local function something_is_measured(values, found)
   local o = values.l4
   if o.omit >= o.duration then
      found:add("l4.omit", ("%s leaves nothing of the duration (%s)"):format(units.format_time(o.omit),
         units.format_time(o.duration)), "less than the duration")
   end
end

local function packets_fit(values, found)
   local o, version = values.l4, version_of(values)
   local room = o.mtu - line.header_octets(version, "udp")
   if version == "ipv6" and o.mtu < IPV6_MIN_MTU then
      found:add("l4.mtu", ("%d is less than every IPv6 link carries"):format(o.mtu),
         "at least " .. IPV6_MIN_MTU)
   end
   local sized = o.campaign ~= "mtu-sweep" and o.campaign ~= "buffer-sweep" and "UDP_STREAM" or nil
   for key, test in pairs { datagram = sized, request = "UDP_RR", response = "UDP_RR" } do
      if wants(values, test) and o[key] > room then
         found:add("l4." .. key, ("datagrams of %d bytes do not fit into an MTU of %d"):format(o[key], o.mtu),
            "at most " .. room)
      end
   end
end

local function requests_have_ports(values, found)
   if wants(values, "UDP_RR") and values.l4.connections > RR_PORTS then
      found:add("l4.connections", ("%d requests at a time need as many ports"):format(values.l4.connections),
         "at most " .. RR_PORTS)
   end
end

-- The tests that a campaign can be made of, where not all.
local STREAMS = {
   TCP_STREAM = true, TCP_MAERTS = true, TCP_SENDFILE = true, UDP_STREAM = true,
   in_words = "TCP_STREAM, TCP_MAERTS, TCP_SENDFILE or UDP_STREAM",
}
local TESTS_OF = {
   ["mtu-sweep"] = STREAMS, ["buffer-sweep"] = STREAMS,
   policer = { UDP_STREAM = true, in_words = "UDP_STREAM" },
   balance = { UDP_STREAM = true, in_words = "UDP_STREAM" },
   ["connection-rate"] = { TCP_CRR = true, TCP_CC = true, HTTP = true, in_words = "TCP_CRR, TCP_CC or HTTP" },
   ["transaction-rate"] = { TCP_RR = true, HTTP = true, in_words = "TCP_RR or HTTP" },
   concurrency = { TCP_RR = true, HTTP = true, in_words = "TCP_RR or HTTP" },
}

local function campaign_has_its_tests(values, found)
   local fit = TESTS_OF[values.l4.campaign]
   for i, test in ipairs(fit and values.l4.tests or {}) do
      if not fit[test] then
         found:add(found:item("l4.tests", i), ("%s is no part of %s"):format(test, values.l4.campaign),
            fit.in_words)
      end
   end
end

-- The last four octets as a number, and those before.
local function split(text)
   local bytes = address.bytes(text)
   local a, b, c, d = bytes:byte(-4, -1)
   return ((a * 256 + b) * 256 + c) * 256 + d, bytes:sub(1, -5)
end

-- The addresses of clients are all the first port's: none may be anybody else's.
local function clients_have_their_addresses(values, found)
   local a, b, n = values.ports[1] or {}, values.ports[2] or {}, values.l4.load.addresses
   for family, gateway in pairs { ipv4 = "gateway", ipv6 = "gateway6" } do
      local own, others = a[family], { a[gateway] or false, b[family] and b[family].address }
      for _, other in ipairs(own and n > 1 and others or {}) do
         local first, network = split(own.address)
         local number, its = split(other or own.address)
         if other and its == network and number >= first and number < first + n then
            found:add("l4.load.addresses", ("%d addresses from %s on include "
               .. "%s"):format(n, own.address, other),
               "addresses of nobody else")
         end
      end
   end
end

-- What a host can be asked.
local OF_PEER = {
   discard = {
      TCP_STREAM = true, TCP_SENDFILE = true, TCP_CC = true, in_words = "TCP_STREAM, TCP_SENDFILE or TCP_CC",
   },
   iperf3 = {
      TCP_STREAM = true, TCP_MAERTS = true, UDP_STREAM = true,
      in_words = "TCP_STREAM, TCP_MAERTS or UDP_STREAM",
   },
   web = { HTTP = true, in_words = "HTTP" },
}

local function peer_can_do_it(values, found)
   local port, peer = values.ports[1] or {}, values.l4.peer
   if not peer then
      return
   end
   for i, test in ipairs(values.l4.tests) do
      if not OF_PEER[peer.kind][test] then
         found:add(found:item("l4.tests", i), ("%s needs a server of ours"):format(test),
            OF_PEER[peer.kind].in_words .. ", or no l4.peer")
      end
   end
   for family, gateway in pairs { ipv4 = "gateway", ipv6 = "gateway6" } do
      if peer[family] and not port[gateway] then
         found:add("l4.peer." .. family, ("the first port has no %s to reach it through"):format(gateway),
            "a gateway, which may be the host itself")
      end
   end
end

local IPERF_STREAMS = 128

-- iperf3 counts seconds, and its streams; and it knows directions.
local function iperf_can_do_it(values, found)
   local o = values.l4
   local peer = o.peer
   if not peer then
      return
   elseif peer.kind ~= "iperf3" then
      if peer.direction ~= "forward" then
         found:add("l4.peer.direction", ("%s is for iperf3"):format(peer.direction), "kind: iperf3")
      end
      return
   end
   if peer.direction ~= "forward" and wants(values, "TCP_MAERTS") then
      found:add("l4.peer.direction", "TCP_MAERTS is TCP_STREAM in reverse already", "forward")
   end
   if o.omit % 1 ~= 0 then
      found:add("l4.omit", ("iperf3 does not omit %s"):format(units.format_time(o.omit)), "whole seconds")
   end
   if o.connections > IPERF_STREAMS then
      found:add("l4.connections", ("%d streams are more than iperf3 has"):format(o.connections),
         "at most " .. IPERF_STREAMS)
   end
end

-- A path is part of a request's first line.
local function path_is_one(values, found)
   local path = values.l4.http.path
   if path and not path:match "^/[!-~]*$" then
      found:add("l4.http.path", ("'%s' is no path"):format(path), "one that begins with /, without blanks")
   end
end

local function ramps_fit(values, found)
   local load = values.l4.load
   if load.start > 0 and not load.per_second then
      found:add("l4.load.start", "clients at the start of no ramp", "load.per_second beside it")
   end
   if load.think_max > 0 and load.think_max < load.think then
      found:add("l4.load.think_max", ("%s is shorter than think "
         .. "(%s)"):format(units.format_time(load.think_max),
         units.format_time(load.think)))
   end
end

local function two_ports(values, found)
   local given = values.l4.balance.address
   if values.l4.campaign == "balance" then
      if given and not address.bytes(given) then
         found:add("l4.balance.address", given .. " is not an address", "an IPv4 or IPv6 address")
      end
   elseif #values.ports > 2 then
      found:add("ports", "a client and a server are two ports", "two ports")
   end
end

M.rules = {
   something_is_measured, packets_fit, requests_have_ports, campaign_has_its_tests,
   clients_have_their_addresses, peer_can_do_it, iperf_can_do_it, path_is_one, ramps_fit,
   two_ports,
}

return M
