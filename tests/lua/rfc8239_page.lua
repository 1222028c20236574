-- SPDX-License-Identifier: BSD-3-Clause

--- The section of docs/explanation/truth.md about data centre switches.
local truth = require "rfc8239_truth"
local truth_table = require "truth_table"
local units = require "framegauge.text.units"

local M = {}

local INTRODUCTION = [[

## Data centre switches

Reference switches with 1 Gb/s lines, measured with [test: rfc8239](rfc8239.md). A buffer by latency is known
to one frame, where queues share a buffer to two. By balance and by count an interval of sampling and one
frame of the surplus come on top. A burst is off by one frame at most, a latency by the rounding of its time
stamps, a latency of an incast by the frame that is being sent. Input queues lose by the rule only once
they are full, and the frames in them at the end are not lost; of two frames that are as old the lower
port's goes first,
so only groups whose split source is the lower port are held against the rule of the oldest. The goodput of
TCP is known to two segments. What TCP reaches where frames are lost has no formula: there the frames lost are
held against the drops that the switch counted, the goodput against what the bursts leave of the line, and the
latency against the full queue.
]]

local function number(value)
   return value % 1 == 0 and units.format_count(value) or ("%.1f"):format(value)
end

--- Text of all switches.
-- @param wrong  list to which each check is added that does not hold
function M.section(wrong)
   local out = { INTRODUCTION }
   for _, device in ipairs(truth.DEVICES) do
      out[#out + 1] = ("\n### Switch: %s\n\n"):format(device.name)
         .. truth_table.text(device.checks(truth.measure(device)), wrong, number)
   end
   return table.concat(out)
end

return M
