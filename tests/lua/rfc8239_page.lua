-- SPDX-License-Identifier: BSD-3-Clause

--- The section of docs/explanation/truth.md about data centre switches.
local truth = require "rfc8239_truth"
local units = require "framegauge.text.units"

local M = {}

local INTRODUCTION = [[

## Data centre switches

Reference switches with 1 Gb/s lines, measured with [test: rfc8239](rfc8239.md). A buffer by latency is known
to one frame, where queues share a buffer to two. By balance and by count an interval of sampling and one
frame of the surplus come on top. A burst is off by one frame at most, a latency by the rounding of its time
stamps, that of an incast by the frame that is being sent.
]]

local function number(value)
   return value % 1 == 0 and units.format_count(value) or ("%.1f"):format(value)
end

--- Text of all switches.
-- @param wrong  list to which each check is added that does not hold
function M.section(wrong)
   local out = { INTRODUCTION }
   for _, device in ipairs(truth.DEVICES) do
      out[#out + 1] = ("\n### Switch: %s\n\n| figure | truth | measured | at least | at most |\n"
         .. "|---|--:|--:|--:|--:|\n"):format(device.name)
      for _, check in ipairs(device.checks((truth.measure(device)))) do
         local within = check.measured >= check.low and check.measured <= check.high
         wrong[#wrong + 1] = not within and check or nil
         out[#out + 1] = ("| %s | %s | %s | %s | %s |\n"):format(check.what, number(check.truth),
            within and number(check.measured) or "**" .. number(check.measured) .. "**", number(check.low),
            number(check.high))
      end
   end
   return table.concat(out)
end

return M
