-- SPDX-License-Identifier: BSD-3-Clause

--- How late a frame may leave and still be sent, where the figure depends on when frames leave.
--
-- A sender that was held up sends the overdue frames at once, up to the plan's `host.max_lag`: the load
-- stays what it should be, but the device sees a burst that nobody ordered. A test that asks how long a burst
-- may be, or what a policer passes, cannot make up for lost time. Its frames have a bound of their own; those
-- beyond it are dropped and counted as late, and the trial is limited by the tester.
local M = {}

--- Seconds. No sender that polls is more exact.
local LEAST = 10e-6

--- Of a burst: by one percent of its length, or by as much as changes what the device holds by half a frame.
-- @param seconds  how long the burst lasts
-- @param fps      at which frames leave the device meanwhile; nil where that is not known
-- @usage lag.of_burst(0.004, 1679) --> 0.000298
function M.of_burst(seconds, fps)
   return math.max(LEAST, 0.01 * seconds, fps and 0.5 / fps or 0)
end

--- Of a load that the token buckets of a service must pass: overdue frames fill half of either.
-- @param cbs, ebs  bytes that the buckets hold
-- @param cir, eir  bits per second at which they fill
-- @return seconds, nil where no bucket holds anything
-- @usage lag.of_buckets(12500, 10e6, 0, 0) --> 0.005
function M.of_buckets(cbs, cir, ebs, eir)
   local least = math.huge
   for _, bucket in ipairs { { cbs, cir }, { ebs, eir } } do
      local octets, bps = unpack(bucket)
      least = octets > 0 and bps > 0 and math.min(least, 8 * octets / bps / 2) or least
   end
   return least < math.huge and math.max(LEAST, least) or nil
end

return M
