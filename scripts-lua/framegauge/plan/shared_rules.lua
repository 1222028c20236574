-- SPDX-License-Identifier: BSD-3-Clause

--- Rules that several tests have, each made for a test: function(values, found), as in plan/rules.lua.
local tables = require "framegauge.core.tables"

local M = {}

--- Bytes with FCS of the shortest test frame over IPv6: Ethernet, IPv6, UDP and the signature.
M.SHORTEST_IPV6 = 84

--- Over IPv6 a test frame needs more than 64 bytes.
-- @param group  of the test's keys
-- @param key    in it: a list of frame sizes
function M.frames_have_room(group, key)
   return function(values, found)
      local six = values.ports[1] and not values.ports[1].ipv4
      for i, size in ipairs(values[group][key] or {}) do
         if six and size < M.SHORTEST_IPV6 then
            found:add(found:item(group .. "." .. key, i), ("%d bytes do not hold a test frame over IPv6"):format(size), "at least " .. M.SHORTEST_IPV6)
         end
      end
   end
end

--- Marks that need a tag have one.
-- @param o     group with outer_vlan, pcp and, or nil, dei
-- @param path  of its keys
-- @param vlan  whether its frames have one
-- @param expected  where one can be given
function M.tags_are_whole(o, path, vlan, expected, found)
   if o.outer_vlan and not vlan then
      found:add(path .. "outer_vlan", "there is no VLAN inside", expected)
   end
   if o.pcp > 0 and not vlan then
      found:add(path .. "pcp", "a frame without a tag has no priority", expected)
   end
   if o.dei and not vlan then
      found:add(path .. "dei", "a frame without a tag is not drop eligible", expected)
   end
end

--- The device is no router. @param why  a sentence
function M.no_gateways(why)
   return function(values, found)
      for _, port in ipairs(values.ports) do
         if port.gateway or port.gateway6 then
            found:add(("ports.%s.%s"):format(port.name, port.gateway and "gateway" or "gateway6"), why,
               "ports without gateways")
            return
         end
      end
   end
end

--- Names in a list are port names, but not all of them.
-- @param key   of the list
-- @param list  of names, or nil
function M.are_some_ports(values, found, key, list)
   for i, name in ipairs(list or {}) do
      if not tables.find(values.ports, "name", name) then
         found:add(found:item(key, i), ("there is no port '%s'"):format(name), "the name of a port")
      end
   end
   if list and #list >= #values.ports then
      found:add(key, "all ports", "some of them")
   end
end

--- Some tests cannot use the ports of agents.
-- @param group    of the test's keys, with a list of tests
-- @param reasons  by test: what it needs that agents lack
function M.not_of_agents(group, reasons)
   return function(values, found)
      for i, test in ipairs(values[group].tests) do
         if reasons[test] then
            found:add(found:item(group .. ".tests", i), ("%s cannot use the ports of agents: %s"):format(test,
               reasons[test]), "another test, or ports of this machine")
         end
      end
   end
end

return M
