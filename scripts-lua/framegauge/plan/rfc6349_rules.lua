-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold for a plan whose test is `rfc6349`. As in plan/rules.lua, each rule gets the values and
-- the list of problems.
local M = {}

local function path_is_within_link(values, found)
   local o = values.rfc6349
   if o.path_mtu and o.path_mtu > o.mtu then
      found:add("rfc6349.path_mtu", ("%d is more than the tester's own links carry (mtu: "
         .. "%d)"):format(o.path_mtu,
         o.mtu), "at most " .. o.mtu)
   end
end

local function two_ports(values, found)
   if #values.ports > 2 then
      found:add("ports", "a path has two ends", "two ports")
   end
end

--- All of them, in order.
M.rules = { path_is_within_link, two_ports }

return M
