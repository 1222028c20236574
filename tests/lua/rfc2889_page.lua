-- SPDX-License-Identifier: BSD-3-Clause

--- The section of docs/explanation/truth.md about LAN switches: what was measured, beside the truth and its
-- bounds.
local truth = require "rfc2889_truth"
local truth_table = require "truth_table"

local M = {}

M.INTRODUCTION = [[

## LAN switches

Reference switches measured with all tests of RFC 2889 that fit them ([how it is done](rfc2889.md)). A
throughput may be one resolution (0.1 % of the line) too low. It is too high by no more than what waits inside
at the end of the deciding trial, over its 0.1 s; so are forwarding rates, which may lack the last frame of
each port. With frames lost an engine may lose time: then it has more of it while its queue fills. A latency
is off by two stamps of 1 ns. Congestion is off by two frames, by those that fill a queue before it blocks,
and by what an egress sends faster than the line of its sender. Addresses and errored frames are exact.
Learning is one resolution (1 %) too slow at most, and too fast by the place that comes free while the last
address comes.
]]

--- Text of a device.
-- @param results  what truth.measure(device) gave
-- @param wrong    list to which each check is added that does not hold
function M.section(device, results, wrong)
   local heading = "\n### A %s: %d ports, %d bytes\n\n```yaml\nreference_switch: {%s}\n```\n\n"
   return heading:format(device.name, device.ports, device.size, truth.switch(device))
      .. truth_table.text(truth.checks(device, results), wrong)
end

return M
