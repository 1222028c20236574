-- SPDX-License-Identifier: BSD-3-Clause

--- What a reader must know of the tester's own share in a latency, and of loads beyond what it carries.
local format = require "framegauge.report.format"

local M = {}

--- One sentence.
-- @param calibration  of a result; nil where it says nothing of it
function M.in_words(calibration)
   if not calibration then
      return "Nothing is known of the tester's own latency."
   elseif calibration.state == "current" then
      local text = "Calibrated on %s: figures called corrected have the tester's own least latency taken off."
      return text:format(calibration.date:sub(1, 10))
   elseif calibration.state == "stale" then
      local text = "The calibration of %s is stale, so the tester's own latency is in these figures: %s."
      return text:format(calibration.date:sub(1, 10), table.concat(calibration.reasons, "; "))
   elseif calibration.state == "missing" then
      return "Not calibrated: the tester's own latency is in these figures (see 'framegauge help calibrate')."
   end
   return "No calibration is needed: in the wire's time the tester has no latency of its own."
end

--- One sentence; nil where no trial asked for more than the tester carries.
-- @param calibration  of a result
function M.beyond_in_words(calibration)
   local beyond = calibration and calibration.beyond
   local text = "%s asked for more than the tester carries by its calibration, up to %s times (trial %d)."
   return beyond and text:format(format.plural(beyond.trials, "trial"), format.decimal(beyond.most, 2),
      beyond.trial) or nil
end

return M
