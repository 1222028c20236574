-- SPDX-License-Identifier: BSD-3-Clause

--- Addresses of multicast groups, which follow one another.
local octets = require "framegauge.core.octets"

local M = {}

local DEFAULT = { [4] = "239.1.1.1", [6] = "ff1e::1:1" }
local LOCAL_MAC = "\1\0\94\0\0" -- of 224.0.0.x, which switches flood

--- Bytes of the first group. @param address  of a plan, or nil
function M.first(address, version)
   return octets["ipv" .. version](address or DEFAULT[version])
end

-- The group after n others: the last four bytes count up.
local function after(first, n)
   local number = tonumber(octets.number(first:sub(-4))) + n
   return first:sub(1, -5) .. octets.of_number(number, 4)
end

--- The MAC address of a group (RFC 1112, 6.4; RFC 2464, 7).
-- @usage octets.mac_text(groups.mac "\225\128\0\5") --> 01:00:5e:00:00:05
function M.mac(group)
   if #group == 16 then
      return "\51\51" .. group:sub(-4)
   end
   return "\1\0\94" .. string.char(group:byte(2) % 128) .. group:sub(3)
end

--- Groups and their MAC addresses. The first ones of more groups are the same.
-- @return two lists of bytes
function M.list(first, n)
   local list, macs = {}, {}
   for i = 1, n do
      list[i] = after(first, i - 1)
      macs[i] = M.mac(list[i])
   end
   return list, macs
end

local function text_of(group)
   return #group == 16 and octets.ipv6_text(group) or ("%d.%d.%d.%d"):format(group:byte(1, 4))
end

--- What speaks against a number of groups; nil: nothing. A switch that goes by MAC addresses takes some
-- groups for groups of the local network, and floods them (RFC 4541, 2.1.2).
-- @return a sentence, and what is expected
function M.problem(first, n, version)
   local list, macs = M.list(first, n)
   for i, group in ipairs(list) do
      local byte = group:byte(1)
      if version == 4 and (byte < 224 or byte > 239) or version == 6 and byte ~= 255 then
         return ("%s is no multicast group"):format(text_of(group)), "a multicast group"
      elseif version == 4 and macs[i]:sub(1, 5) == LOCAL_MAC then
         return ("%s looks like a group of the local network to a switch"):format(text_of(group)),
            "groups whose MAC address does not begin with 01:00:5e:00:00"
      end
   end
   return nil
end

return M
