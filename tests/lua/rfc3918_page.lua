-- SPDX-License-Identifier: BSD-3-Clause

--- The section of docs/explanation/truth.md about multicast: what was measured, beside the truth and its
-- bounds.
local truth = require "rfc3918_truth"
local units = require "framegauge.text.units"

local M = {}

M.INTRODUCTION = [[

## Multicast

Reference switches with IGMP or MLD snooping, measured with all that fits of RFC 3918 ([how it is
done](../how-to/multicast.md)). A throughput may be one resolution (0.1 % of the line) too low, and too high
by what waits for the engine at the end of the deciding trial. Copies leave the engine one after the other, so
receivers differ by its time for a copy; two stamps of 1 ns. A join is known to the time between two frames of
the group, which comes on top; a leave as well, from which it is taken off. The number of groups is exact.
]]

local function number(value)
   return units.format_count(math.floor(value + 0.5))
end

--- Text of a device.
-- @param results  what truth.measure(device) gave
-- @param wrong    list to which each check is added that does not hold
function M.section(device, results, wrong)
   local out = {
      ("\n### A %s, %d %s, %d bytes\n"):format(device.name, device.receivers,
         device.receivers == 1 and "receiver" or "receivers", device.size),
      "| figure | truth | measured | at least | at most |\n|---|--:|--:|--:|--:|",
   }
   for _, check in ipairs(truth.checks(device, results)) do
      local within = check.measured >= check.low and check.measured <= check.high
      wrong[#wrong + 1] = not within and check or nil
      out[#out + 1] = ("| %s | %s | %s | %s | %s |"):format(check.what, number(check.truth),
         within and number(check.measured) or "**" .. number(check.measured) .. "**", number(check.low),
         number(check.high))
   end
   return table.concat(out, "\n") .. "\n"
end

return M
