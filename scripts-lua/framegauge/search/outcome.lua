-- SPDX-License-Identifier: BSD-3-Clause

--- The meaning of a trial for a search: did the load pass, and if not, for which reason?
local M = {}

--- Judge one trial record.
--
-- Loss is compared in whole frames, for a ratio would call a loss exactly at the tolerance both ways.
-- Only a valid trial can pass: without loss, but at a load the tester never offered, nothing was shown.
--
-- @param record     trial record (framegauge.trial)
-- @param tolerance  share of the sent frames that may be lost; 0 for RFC 2544 throughput
-- @return "pass", "loss", "tester" or "invalid"
function M.of(record, tolerance)
   if record.validity == "tester-limited" then
      return "tester"
   elseif record.validity ~= "valid" then
      return "invalid"
   elseif record.lost <= math.floor((tolerance or 0) * record.tx) then
      return "pass"
   end
   return "loss"
end

return M
