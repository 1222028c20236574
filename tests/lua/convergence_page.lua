-- SPDX-License-Identifier: BSD-3-Clause

--- The section of docs/explanation/truth.md about convergence: what was measured, beside the truth and its
-- bounds.
local failover = require "failover_truth"
local truth = require "convergence_truth"
local truth_table = require "truth_table"
local units = require "framegauge.text.units"

local M = {}

M.INTRODUCTION = [[

## Convergence

Routes through a device that is out of service from a set time for a set time ([how it is
measured](convergence.md)). τ is the time between two frames of a route, s the sampling interval. A figure
by loss may be off by τ, the mean of all routes by one frame of the load, a time by rate by τ and a frame to
the short side and 2 s to the long side. The begin and end of a route's outage are known to τ/2; of all
together to half the time between two frames of the load. The device drops a frame that is complete while it
is out of service, so by departures all of that may be a frame time of its line earlier. Times are rounded
to 1 ns. All in ns; of two events the first.
]]

local function heading(device, what)
   local routes = device.routes == 1 and "flow" or "routes or flows"
   return ("\n### %s, %d %s, %s frames/s of %d bytes\n\n"):format(what, device.routes, routes,
      units.format_count(device.fps), device.size or 128)
end

--- Text of a device.
-- @param results  what truth.measure(device) gave
-- @param wrong    list to which each check is added that does not hold
function M.section(device, results, wrong)
   local routes = { unpack(results.convergence_routes, 1, device.routes) }
   return heading(device, "Outage of a " .. device.name)
      .. truth_table.text(truth.checks(device, results.convergence[1], routes), wrong)
end

M.FAILOVER = [[

## Fail-over

A reference switch loses the link to its preferred port and takes the way by another one; later the link is
up again. Route j of n moves at detection + computation + j times of a route after the event, in the order of
the switch. By departures all of that is up to a frame time of the line earlier. A route's time is known to
τ/2, the mean of all by loss to τ; by rate a time may be τ and a frame too short and two sampling intervals
too long. Lost frames are those that the switch counted itself, and must be the same number. In ns or frames.
]]

--- Text of a switch.
-- @param results, seen  what failover_truth.measure(device) gave
-- @param wrong          as of section()
function M.failover(device, results, seen, wrong)
   local out = {}
   for _, row in ipairs(results.convergence) do
      out[#out + 1] = heading(device, ("Switch, %s: %s"):format(device.name, row.event))
         .. truth_table.text(failover.checks(device, row, seen[row.event]), wrong)
   end
   return table.concat(out)
end

return M
