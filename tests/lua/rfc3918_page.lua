-- SPDX-License-Identifier: BSD-3-Clause

--- The section of docs/explanation/truth.md about multicast: what was measured, beside the truth and its
-- bounds.
local truth = require "rfc3918_truth"
local truth_table = require "truth_table"

local M = {}

M.INTRODUCTION = [[

## Multicast

Reference switches with IGMP or MLD snooping, measured with all that fits of RFC 3918 ([how it is
done](../how-to/multicast.md)). A throughput may be one resolution (0.1 % of the line) too low, and too high
by what waits for the engine at the end of the deciding trial. Copies leave the engine one after the other, so
receivers differ by its time for a copy; two stamps of 1 ns. A join is known to the time between two frames of
the group, which comes on top; a leave as well, from which it is taken off. The number of groups is exact. A
burden adds at most the engine's time for a frame of each of its ports: just that if all ports send at the
same instants and the switch serves the burden's first, else less. In a tunnel frames are longer, so
lines carry fewer of them.
]]

--- Text of a device.
-- @param results  what truth.measure(device) gave
-- @param wrong    list to which each check is added that does not hold
function M.section(device, results, wrong)
   return ("\n### A %s, %d %s, %d bytes\n\n"):format(device.name, device.receivers,
      device.receivers == 1 and "receiver" or "receivers", device.size)
      .. truth_table.text(truth.checks(device, results), wrong)
end

return M
