-- SPDX-License-Identifier: BSD-3-Clause

--- The traffic patterns of RFC 2889 (5.1 to 5.4, 5.10): which port sends to which, and what a switch that
-- loses nothing could carry of it.
local random = require "framegauge.core.random"
local tables = require "framegauge.core.tables"
local topology = require "framegauge.traffic.topology"

local M = {}

-- A pattern is a topology, one way or both.
local PATTERNS = {
   fully_meshed = { topology = "full-mesh" },
   one_to_many = { topology = "one-to-many", one_way = true },
   many_to_one = { topology = "many-to-one", one_way = true },
   one_many_both = { topology = "one-to-many" },
   multiple_devices = { topology = "full-mesh" },
   unidirectional = { topology = "unidirectional", one_way = true },
   broadcast = { topology = "one-to-many", one_way = true, broadcast = true },
}

--- The names of those to one port at a time, in the order of the RFC.
M.NAMES = {
   "fully_meshed", "one_to_many", "many_to_one", "one_many_both", "multiple_devices", "unidirectional",
}

--- Pairs of sender and receiver.
-- @param ports  list of ports with their names and line rates
-- @param name   of the pattern
-- @param second  of multiple_devices: names of the ports of the second device, where each port sends to those
--               of the other device only; nil: to all
-- @return { directions = list of "from->to", senders =, receivers = lists of ports, broadcast = whether every
-- frame is for all receivers, copies = how many of a frame are to arrive }
function M.of(ports, name, second)
   local one, is = PATTERNS[name], { senders = {}, receivers = {} }
   local sends, receives = {}, {}
   is.directions = {}
   for _, direction in ipairs((topology.directions(ports, one.topology, one.one_way))) do
      local from, to = direction:match "^(.-)%->(.+)$"
      if not second or tables.contains(second, from) ~= tables.contains(second, to) then
         is.directions[#is.directions + 1] = direction
         sends[from], receives[to] = true, true
      end
   end
   for _, port in ipairs(ports) do
      is.senders[#is.senders + 1] = sends[port.name] and port or nil
      is.receivers[#is.receivers + 1] = receives[port.name] and port or nil
   end
   is.broadcast, is.copies = one.broadcast or false, one.broadcast and #is.receivers or 1
   return is
end

--- By how many frames each port begins late, so that ports are not in step: fewer than it has other ports.
-- @param seed  0: all begin at one instant
-- @return frames by name of the port; nil: none
-- @usage patterns.stagger({ { name = "a" }, { name = "b" } }, 1).a --> 0
function M.stagger(ports, seed)
   if seed == 0 then
      return nil
   end
   local late, draw = {}, random.sequence(seed)
   for _, port in ipairs(ports) do
      late[port.name] = tonumber(draw() % (#ports - 1))
   end
   return late
end

return M
