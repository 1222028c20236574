-- SPDX-License-Identifier: BSD-3-Clause

--- Ports of an open tester: what they are, what they can carry, what they counted.
local counts = require "framegauge.tester.counts"
local ethernet = require "framegauge.core.ethernet"
local loads = require "framegauge.traffic.loads"
local suggest = require "framegauge.core.suggest"
local units = require "framegauge.text.units"
local user_error = require "framegauge.core.user_error"

local M = {}

local FACTS = { "name", "device", "driver", "mode", "line_rate", "mac", "numa" }
local BAD_INPUT = 2

--- All ports, in the plan's order.
-- @param tester  an open tester (framegauge.tester)
-- @return list of { name =, device =, driver =, mode =, line_rate = bits per second (nil: not known), mac =,
--         numa = node }
-- @usage port.list(tester)[2].name --> west
function M.list(tester)
   local list = {}
   for i, port in ipairs(tester.ports) do
      list[i] = {}
      for _, key in ipairs(FACTS) do
         list[i][key] = port[key]
      end
   end
   return list
end

--- One port by its name; a name that is not there raises an error that tells the nearest.
-- @return as in list()
-- @usage port.get(tester, "east").line_rate --> 1,000,000,000
-- @usage select(2, pcall(port.get, tester, "wets")) --> there is no port 'wets'; did you mean 'west'?
function M.get(tester, name)
   local names = {}
   for i, port in ipairs(M.list(tester)) do
      if port.name == name then
         return port
      end
      names[i] = port.name
   end
   user_error.raise("port", BAD_INPUT, "there is no port '%s'%s", tostring(name),
      suggest.hint(tostring(name), names))
end

--- Frames per second that a load is on a port.
-- @param name        of the port
-- @param rate        "40%", "100kfps", "1Gbps" with L1, L2 or L3 behind it; or frames per second as a number
-- @param frame_size  bytes with FCS
-- @return frames per second. A share of a line whose rate is not known raises an error.
-- @usage port.fps(tester, "east", "50%", 1518) --> 40637
-- @usage port.fps(tester, "east", "672Mbps L1", 64) --> 1,000,000
function M.fps(tester, name, rate, frame_size)
   local one = M.get(tester, name)
   if type(rate) == "number" then
      return rate
   end
   local load, wrong, expected = units.parse_rate(rate)
   if not load then
      user_error.raise("port", BAD_INPUT, "%s; expected %s", wrong, expected)
   end
   return loads.of_rate(load, frame_size, one.line_rate and ethernet.max_fps(one.line_rate, frame_size))
      or user_error.raise("port", BAD_INPUT, "%s: the rate of its line is not known, so %s of it says nothing", name, units.format_rate(load))
end

--- What the ports counted in the last trial: drops and errors of the tester's own, frames that were not ours.
-- @return list of { name =, rx_missed =, rx_no_mbuf =, rx_errors =, tx_errors =, link_changes =,
--         link_faults =, link_down =, removed =, intercepted =, misdirected =, unsolicited =,
--         foreign_by_kind =, ... }
-- @usage tester:trial { frame_size = 64, fps = 1000, duration = 1, directions = { "east->west" } }
-- return port.counts(tester)[2].rx_missed --> 0
function M.counts(tester)
   return counts.ports(tester.engine, tester.ports)
end

return M
