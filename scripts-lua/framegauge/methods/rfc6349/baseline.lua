-- SPDX-License-Identifier: BSD-3-Clause

--- The baseline round trip (RFC 6349, 3.2): the shortest of many small segments of an established
-- connection, at so little load that none waits for another.
local common = require "framegauge.methods.rfc6349.common"
local units = require "framegauge.text.units"

local M = {}

M.NAME = "rfc6349.baseline"

local CONNECTIONS = 16
local ROUNDS = 20 -- pauses of each: they are drawn, so that segments of several seldom meet

local function rtt_of(record)
   return record.sides[1].apps[1].transaction
end

--- Measure it.
-- @param path  what is known of the path: mtu
-- @return { rtt_min_ns, rtt_mean_ns, rtt_max_ns, rtt_samples, validity, reasons, trial }
function M.run(plan, bench, session, path)
   local o, seconds = common.settings(plan, path), plan.rfc6349.baseline
   o.tcp.receive_buffer, o.tcp.send_buffer = 65535, 65535
   o.request, o.response = 1, 1
   o.connections, o.load.think_max = CONNECTIONS, 2 * seconds / ROUNDS
   local record = common.trial(plan, bench, session, {
      test = M.NAME, title = "baseline round trip", phase = "measure", seconds = seconds,
      direction = common.direction(plan, 1), setting = { mtu = path.mtu },
      outcome = function(record)
         local times = rtt_of(record)
         return times and units.format_time(times.min_ns / 1e9) or "no answer"
      end,
   }, "TCP_RR", o, function(sides)
      return sides[1].apps[1].total.transactions > 0
   end)
   local times = rtt_of(record) or {}
   return {
      rtt_min_ns = times.min_ns, rtt_mean_ns = times.mean_ns, rtt_max_ns = times.max_ns,
      rtt_samples = times.count or 0,
      validity = record.validity, reasons = record.reasons, trial = record.trial,
   }
end

return M
