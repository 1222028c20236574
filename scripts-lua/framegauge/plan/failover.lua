-- SPDX-License-Identifier: BSD-3-Clause

--- The fail-over of the reference switch: its keys, and what must hold between them (lib/switch/failover.c).
local keys = require "framegauge.plan.keys"
local tables = require "framegauge.core.tables"

local M = {}

local function move(prefix, what, like)
   return {
      { prefix .. "detect", "time", "time until it knows that the link " .. what,
        default = not like and "50ms" or nil, max = "1h", default_help = like and "detect" },
      { prefix .. "compute", "time", "and from then until the first route is set",
        default = not like and "0s" or nil, max = "1h", default_help = like and "compute" },
      { prefix .. "per_route", "time", "time that setting a route takes; one after the other",
        default = not like and "0s" or nil, max = "1s", default_help = like and "per_route" },
   }
end

M.row = keys.group("failover", "what is for the port `preferred` leaves by `next_best` while the link of the former is down; routes are told apart by IP address and UDP or TCP ports", {
   { "preferred", "string", "the port whose link goes down", default_help = "the second port" },
   { "next_best", "string", "the other one", default_help = "the third port" },
   { "balance", "boolean", "before that routes take both ports in turn, as with a LAG or ECMP: only half of them move",
     default = "false" },
   move("", "is down"),
   { "order", { "linear", "reverse", "random" }, "in which routes move: as first seen, the other way round, or shuffled",
     default = "linear" },
   { "seed", "integer", "of the random order", default = "1", min = "0", max = "4294967295" },
   { "graceful", "boolean", "the old way carries frames until their route has moved, as with a change of costs",
     default = "false" },
   { "undetected", "boolean", "a fault: no route ever moves", default = "false" },
   move("revert_", "is up again", true),
   { "preferred_latency", "time", "of the path behind the preferred port, in addition to the switch's",
     default = "0s", max = "10s" },
   { "next_best_latency", "time", "of the path behind the other one", default = "0s", max = "10s" },
}, { optional = true })

local KEY, A_PORT = "reference_switch.failover", "one of the names in ports"

--- Names of the two ports.
-- @return preferred, next_best; nil where there is no such port
function M.ends(failover, ports)
   local function named(name, i)
      local port = name and ports[tables.index_of(ports, name)] or not name and ports[i]
      return port and port.name
   end
   return named(failover.preferred, 2), named(failover.next_best, 3)
end

local function ports_are_there(values, found)
   local f = values.reference_switch and values.reference_switch.failover
   if not f or found:has_below "ports" then
      return
   end
   local preferred, next_best = M.ends(f, values.ports)
   if f.preferred and not preferred then
      found:add(KEY .. ".preferred", ("there is no port '%s'"):format(f.preferred), A_PORT)
   elseif f.next_best and not next_best then
      found:add(KEY .. ".next_best", ("there is no port '%s'"):format(f.next_best), A_PORT)
   elseif not next_best then
      found:add(KEY, "there is no third port to fail over to", "at least 3 ports")
   elseif preferred == next_best then
      found:add(KEY .. ".next_best", ("%s is the preferred one"):format(preferred), "another port")
   end
end

M.rules = { ports_are_there }

--- The final shape of the values.
function M.shape(failover, ports)
   failover.preferred, failover.next_best = M.ends(failover, ports)
   for _, key in ipairs { "detect", "compute", "per_route" } do
      failover["revert_" .. key] = failover["revert_" .. key] or failover[key]
   end
end

return M
