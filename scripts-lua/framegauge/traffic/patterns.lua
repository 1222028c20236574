-- SPDX-License-Identifier: BSD-3-Clause

--- The traffic patterns of RFC 2889 (5.1 to 5.4, 5.10): which port sends to which, and what a switch that
-- loses nothing could carry of it.
local topology = require "framegauge.traffic.topology"

local M = {}

-- A pattern is a topology, one way or both.
local PATTERNS = {
   fully_meshed = { topology = "full-mesh" },
   one_to_many = { topology = "one-to-many", one_way = true },
   many_to_one = { topology = "many-to-one", one_way = true },
   one_many_both = { topology = "one-to-many" },
   unidirectional = { topology = "unidirectional", one_way = true },
   broadcast = { topology = "one-to-many", one_way = true, broadcast = true },
}

--- The names of those to one port at a time, in the order of the RFC.
M.NAMES = { "fully_meshed", "one_to_many", "many_to_one", "one_many_both", "unidirectional" }

--- Who sends to whom.
-- @param ports  list of ports with their names and line rates
-- @param name   of the pattern
-- @return { directions = list of "from->to", senders =, receivers = lists of ports, broadcast = whether every
-- frame is for all receivers, copies = how many of a frame are to arrive }
function M.of(ports, name)
   local one, is = PATTERNS[name], { senders = {}, receivers = {} }
   local sends, receives = {}, {}
   is.directions = topology.directions(ports, one.topology, one.one_way)
   for _, direction in ipairs(is.directions) do
      local from, to = direction:match "^(.-)%->(.+)$"
      sends[from], receives[to] = true, true
   end
   for _, port in ipairs(ports) do
      is.senders[#is.senders + 1] = sends[port.name] and port or nil
      is.receivers[#is.receivers + 1] = receives[port.name] and port or nil
   end
   is.broadcast, is.copies = one.broadcast or false, one.broadcast and #is.receivers or 1
   return is
end

return M
