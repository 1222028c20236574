-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold between the keys of the TCP and UDP tests.
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
   local sized = o.campaign ~= "mtu-sweep" and "UDP_STREAM" or nil
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

local STREAMS = { TCP_STREAM = true, TCP_MAERTS = true, UDP_STREAM = true }

-- The tests that a campaign can be made of; of the others all.
local TESTS_OF = { ["mtu-sweep"] = STREAMS }
local STREAMS_IN_WORDS = "TCP_STREAM, TCP_MAERTS or UDP_STREAM"

local function campaign_has_its_tests(values, found)
   local fit = TESTS_OF[values.l4.campaign]
   for i, test in ipairs(fit and values.l4.tests or {}) do
      if not fit[test] then
         found:add(found:item("l4.tests", i), ("%s is no part of %s"):format(test, values.l4.campaign),
            STREAMS_IN_WORDS)
      end
   end
end

local function two_ports(values, found)
   if #values.ports > 2 then
      found:add("ports", "a client and a server are two ports", "two ports")
   end
end

M.rules = { something_is_measured, packets_fit, requests_have_ports, campaign_has_its_tests, two_ports }

return M
