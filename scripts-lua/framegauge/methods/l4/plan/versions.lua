-- SPDX-License-Identifier: BSD-3-Clause

--- IP versions that both ends of the TCP and UDP tests have, IPv4 first.
-- @param plan  or the values of one that is being checked
return function(plan)
   local given = plan.l4 and plan.l4.campaign == "balance" and plan.l4.balance.address
   if given then
      return { given:find(":", 1, true) and "ipv6" or "ipv4" }
   end
   local list, a, b = {}, plan.ports[1] or {}, plan.l4 and plan.l4.peer or plan.ports[2] or {}
   for _, version in ipairs { "ipv4", "ipv6" } do
      list[#list + 1] = a[version] and b[version] and version or nil
   end
   return list
end
