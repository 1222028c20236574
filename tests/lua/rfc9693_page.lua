-- SPDX-License-Identifier: BSD-3-Clause

--- The section of docs/explanation/truth.md about NAT44 gateways by RFC 9693.
local truth = require "rfc9693_truth"
local truth_table = require "truth_table"

local M = {}

local INTRODUCTION = [[

## Stateful gateways

Reference NAT44 gateways between lines of 1 Gb/s, 100 us each way, measured with [test:
rfc9693](rfc9693.md). The search knows a rate and a number of connections to 1 %, and a throughput to 0.1 % of
the line: by this a figure may be too low. Of n connections that come one after the other Q may wait to be
set up, so n are set up at rates up to s / (1 - Q / (n - 1)) where the device sets up s a second: 19 % more
with 400 connections, 1.6 % with 4,000.
]]

local function number(value)
   return value % 1 == 0 and ("%d"):format(value) or ("%.1f"):format(value)
end

--- Text of all devices.
-- @param wrong  list to which each check is added that does not hold
function M.section(wrong)
   local out = { INTRODUCTION }
   for _, device in ipairs(truth.DEVICES) do
      out[#out + 1] = ("\n### A gateway that %s\n\n"):format(device.name)
         .. truth_table.text(device.checks((truth.measure(device))), wrong, number)
   end
   return table.concat(out)
end

return M
