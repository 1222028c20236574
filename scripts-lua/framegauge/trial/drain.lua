-- SPDX-License-Identifier: BSD-3-Clause

--- Whether what arrived late was counted.
--
-- A frame counts when it arrives before the drain is over. A worker that was held up over that moment fetches
-- frames from before and after it at once, and the share of each is unknown: a device that delays
-- frames by about as long as the drain then loses fewer than it should.
local format = require "framegauge.text.format"

local M = {}

--- Beyond the drain, frames may be fetched for this share of it longer; or for this many seconds, which is
-- more than a worker that is not held up takes until it looks at the time again.
M.TOLERANCE = 1e-3
M.LOOK_S = 0.1e-3

--- Add what was fetched after the drain to what the tester fell short of.
-- @param raw    what the tester counted
-- @param found  shortfalls (framegauge.trial.shortfalls)
function M.overrun(raw, found)
   local drain = raw.drain_s
   for _, d in ipairs(drain and raw.directions or {}) do
      local over = (d.last_arrival_ns or 0) / 1e9 - raw.duration_s - drain
      if over > math.max(M.LOOK_S, M.TOLERANCE * drain) then
         found:add("directions overrun", over, "%s: frames were fetched up to %s ms after the drain had ended, because the tester was late", d.name, format.decimal(over * 1e3, 1))
      end
   end
end

return M
