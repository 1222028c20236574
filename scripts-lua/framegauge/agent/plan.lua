-- SPDX-License-Identifier: BSD-3-Clause

--- A remote agent in a plan: its keys and what must hold between them, in the notation of plan/rows.lua and
-- plan/registry.lua.
local address = require "framegauge.plan.address"

local row = {
   key = "agent", was = "far", type = "group",
   help = "a remote agent, which a local tester controls (framegauge agent); the addresses of its port come "
      .. "from the plan of the local tester",
   fields = {
      { key = "listen", type = "string", longest = 107, default = "127.0.0.1:5564",
        help = "loopback address and port, or the path of a socket, to which the local tester connects; from "
           .. "another machine through ssh -L" },
   },
}

-- The agent does not authenticate the local tester, so only this machine may connect.
local function listens_here(values, found)
   local one = address.of_service(values.agent.listen)
   if not (one and address.is_local(one)) then
      found:add("agent.listen", ("%q is no loopback address and no path"):format(values.agent.listen),
         "such as 127.0.0.1:5564 or /run/agent.sock")
   end
end

local function one_port(values, found)
   if #values.ports > 1 then
      found:add("ports", ("%d given"):format(#values.ports), "one")
   end
end

local rules = { listens_here, one_port }

return { name = "agent", row = row, rules = rules, service = true, alone = true }
