-- SPDX-License-Identifier: BSD-3-Clause

--- Whether late arrivals were counted.
--
-- A frame counts when it arrives before the drain is over. A worker that was held up across that moment
-- fetches earlier and later frames together, and the share of each is unknown. A device that delays frames by
-- about the drain then loses fewer than it should.
local format = require "framegauge.text.format"

local M = {}

--- Frames may be fetched after the drain for this share of it, or for this many seconds, which is longer than
-- a worker that is not held up takes until it reads the time again.
M.TOLERANCE = 1e-3
M.LOOK_S = 0.1e-3

--- Add late fetches to the tester's shortfalls.
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
