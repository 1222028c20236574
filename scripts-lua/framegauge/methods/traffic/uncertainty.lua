-- SPDX-License-Identifier: BSD-3-Clause

--- How far from the figures of a stream the truth may be: function(row, run) for the `uncertainty` of a
-- result row (framegauge.text.rows), by the counts of the trial.
local components = require "framegauge.trial.components"
local tables = require "framegauge.core.tables"
local uncertainty = require "framegauge.trial.uncertainty"

local M = {}

local function counts_of(row, run)
   local record = run.trial[row.trial]
   return record and tables.find(record.directions, "direction", row.stream), record
end

--- The share of the frames that the device loses at this load however long it lasts.
function M.loss(row, run)
   local counts, record = counts_of(row, run)
   return counts and components.loss_ratio(row.loss_ratio, counts, record.duration_s)
end

--- The load: a number of whole frames, timed by the tester's clock.
function M.load(row, run)
   local one = 1 / row.duration_s
   return uncertainty.of(row.offered_fps, {
      components.resolution(one, one, "one frame of the trial"), components.clock(row.offered_fps, run.time),
   }, { min = 0 })
end

--- The mean delay of the frames. On real ports the tester's own share is in it.
function M.delay(row, run)
   local counts, record = counts_of(row, run)
   return counts and run.calibration.state == "not-needed" and components.mean_delay(row.latency.mean_ns,
      counts, record.time) or nil
end

return M
