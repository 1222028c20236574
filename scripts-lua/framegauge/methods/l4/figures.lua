-- SPDX-License-Identifier: BSD-3-Clause

--- The figure of each test, the key it has in result.json with its unit, and how a person reads it.
local format = require "framegauge.text.format"
local iperf = require "framegauge.methods.l4.iperf3"
local kinds = require "framegauge.methods.l4.kinds"
local units = require "framegauge.text.units"

local M = {}

--- Key of the figure of a test.
function M.key(test)
   return kinds.of(test).figure
end

local function transactions(client)
   return client.measured.transactions, client
end

--- The figure of one run.
-- @param client, server  results of the applications (framegauge.l4.app); the server's is nil where it is
-- not ours
function M.of(test, client, server)
   if client.iperf then
      return iperf.figure(client)
   end
   local value, result = (kinds.of(test).count or transactions)(client, server)
   return result.measured_s > 0 and value / result.measured_s or 0
end

--- "941.5 Mbit/s", "29,150 transactions/s"
function M.text(test, value)
   local key = M.key(test)
   return key:match "_bps$" and units.format_bits(value)
      or format.count(math.floor(value + 0.5)) .. " " .. key:match "^%a+" .. "/s"
end

return M
