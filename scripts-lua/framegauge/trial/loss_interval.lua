-- SPDX-License-Identifier: BSD-3-Clause

--- Bounds of the loss where it is not known exactly.
--
-- The tester remembers the received numbers of a stream for as long as frames may be under way, or as long as
-- its memory reaches. A later frame is stale: whether it is the first of its number or a further copy is
-- unknown. All stale frames may be first copies, or none: the true loss is in lost - stale .. lost.
local format = require "framegauge.text.format"

local M = {}

--- What is known of a direction.
-- @param raw   what the tester counted of it
-- @param lost  frames without a known first copy
-- @return the least that may be lost, nil where that is `lost`; further copies; frames that may be either
-- @usage loss_interval.of({ stale = 3, duplicates = 1 }, 5) --> 2 1 3
-- @usage loss_interval.of({ stale = 3, duplicates = 1 }, 0) --> nil 4 0
function M.of(raw, lost)
   local stale, duplicates = raw.stale or 0, raw.duplicates or 0
   if lost == 0 and (raw.excess or 0) == 0 and not raw.errors then
      return nil, duplicates + stale, 0 -- every first copy is known
   end
   return stale > 0 and lost > 0 and math.max(0, lost - stale) or nil, duplicates, stale
end

--- The least possible loss of all directions of a record; nil where it equals the sum of `lost`.
-- @usage loss_interval.least { { lost = 5, lost_min = 2 }, { lost = 1 } } --> 3
function M.least(directions)
   local sum, unsure = 0, false
   for _, d in ipairs(directions) do
      sum, unsure = sum + (d.lost_min or d.lost), unsure or d.lost_min ~= nil
   end
   return unsure and sum or nil
end

--- Add it to the tester's shortfalls, where it matters.
-- @param d      a direction of a record
-- @param ask    any_loss: whether it matters only if any frame is lost
-- @param found  shortfalls (framegauge.trial.shortfalls)
function M.judge(d, ask, found)
   if not d.lost_min or ask.any_loss and d.lost_min > 0 then
      return
   end
   local stale = format.plural(d.stale, "frame")
   found:add("directions stale", d.stale, "%s: of %s lost %s may have come: %s came %stoo late to tell first copies from duplicates", d.direction, format.plural(d.lost, "frame"),
      format.count(d.lost - d.lost_min), stale, d.reordered and "" or "over another queue ")
end

return M
