-- SPDX-License-Identifier: BSD-3-Clause

--- The section of docs/explanation/truth.md about convergence: what was measured, beside the truth and its
-- bounds.
local truth = require "convergence_truth"
local units = require "framegauge.text.units"

local M = {}

M.INTRODUCTION = [[

## Convergence

Routes through a device that is out of service from a set time for a set time ([how it is
measured](convergence.md)). τ is the time between two frames of a route, s the sampling interval. A figure
by loss may be off by τ, the mean of all routes by one frame of the load, a time by rate by τ and a frame to
the short side and 2 s to the long side. The begin and end of a route's outage are known to τ/2; that of all
together to half the time between two frames of the load. The device drops a frame that is complete while it
is out of service, so by departures all of that may be a frame time of its line earlier. Times are rounded
to 1 ns. All in ns; of two events the first.
]]

local function number(value)
   return units.format_count(math.floor(value + 0.5))
end

--- Text of a device.
-- @param results  what truth.measure(device) gave
-- @param wrong    list to which each check is added that does not hold
function M.section(device, results, wrong)
   local row = results.convergence[1]
   local out = {
      ("\n### Outage of a %s, %d %s, %s frames/s of %d bytes\n"):format(device.name, device.routes,
         device.routes == 1 and "flow" or "routes or flows", units.format_count(device.fps), device.size),
      "| figure | truth | measured | at least | at most |\n|---|--:|--:|--:|--:|",
   }
   local routes = { unpack(results.convergence_routes, 1, device.routes) }
   for _, check in ipairs(truth.checks(device, row, routes)) do
      local within = check.measured >= check.low and check.measured <= check.high
      wrong[#wrong + 1] = not within and check or nil
      out[#out + 1] = ("| %s | %s | %s | %s | %s |"):format(check.what, number(check.truth),
         within and number(check.measured) or "**" .. number(check.measured) .. "**", number(check.low),
         number(check.high))
   end
   return table.concat(out, "\n") .. "\n"
end

return M
