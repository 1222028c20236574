-- SPDX-License-Identifier: BSD-3-Clause

--- The section of docs/explanation/truth.md about firewalls and gateways.
local truth = require "rfc9411_truth"
local truth_table = require "truth_table"

local M = {}

local INTRODUCTION = [[

## Stateful devices

Reference firewalls and NAT44 gateways between lines of 1 Gb/s, 100 us each way, measured with [test:
rfc9411](rfc9411.md). The search knows a load to 1 %, and a load that is missed by 1 % and a connection
passes: together a rate may be 2 % too low. It is too high by what waited when the sustain phase of 500 ms
began. A latency is four times the device's and its inspection's, with TLS six times; what four frames
take on the lines, or six, comes on top.
]]

local function number(value)
   return value % 1 == 0 and ("%d"):format(value) or ("%.1f"):format(value)
end

--- Text of all devices.
-- @param wrong  list to which each check is added that does not hold
function M.section(wrong)
   local out = { INTRODUCTION }
   for _, device in ipairs(truth.DEVICES) do
      out[#out + 1] = ("\n### A device that %s\n\n"):format(device.name)
         .. truth_table.text(device.checks(truth.measure(device)), wrong, number)
   end
   return table.concat(out)
end

return M
