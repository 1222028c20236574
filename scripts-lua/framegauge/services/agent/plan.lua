-- SPDX-License-Identifier: BSD-3-Clause

--- A remote agent in a plan: its keys and what must hold between them, in the notation of plan/keys.lua and
-- plan/registry.lua.
local keys = require "framegauge.plan.keys"
local address = require "framegauge.plan.address"

local row = keys.group("agent", "a remote agent, which a local tester controls (framegauge agent); the addresses of its port come from the plan of the local tester", {
   { "listen", "string", "loopback address and port, or the path of a socket, to which the local tester connects; from another machine through ssh -L",
     longest = 107, default = "127.0.0.1:5564" },
   { "name", "string", "its name in a fleet: plans use its ports as agent:NAME/PORT; without a name it serves one local tester with one port",
     longest = 31, match = "^%w[%w_-]*$", default_help = "none", expected = "letters, digits, '_' and '-'" },
   { "state", "string", "fleet: folder of its epochs and of the trials that nobody has collected",
     longest = 200, default = "/var/lib/framegauge" },
   { "limit", "bits", "fleet: the highest load of a port that a controller may request",
     default_help = "the line" },
   { "sends_to", "list", "fleet: networks to which a controller may send frames; other destinations are refused",
     of = { type = "network" }, most = 64, default = { "198.18.0.0/15", "2001:2::/48" } },
   { "raw", "boolean", "fleet: true also permits frames whose destination cannot be told: without IP, or with bytes that change by offset",
     default = "false" },
})

-- The agent does not authenticate the local tester, so only this machine may connect.
local function listens_here(values, found)
   local one = address.of_service(values.agent.listen)
   if not (one and address.is_local(one)) then
      found:add("agent.listen", ("%q is no loopback address and no path"):format(values.agent.listen),
         "such as 127.0.0.1:5564 or /run/agent.sock")
   end
end

local function one_port(values, found)
   if #values.ports > 1 and not values.agent.name then
      found:add("ports", ("%d given"):format(#values.ports), "one, or agent.name")
   end
end

local rules = { listens_here, one_port }

return { name = "agent", row = row, rules = rules, service = true, alone = true }
