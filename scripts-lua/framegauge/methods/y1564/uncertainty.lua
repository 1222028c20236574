-- SPDX-License-Identifier: BSD-3-Clause

--- How far from the figures of a service the truth may be: function(row, run) for the `uncertainty` of a
-- result row (framegauge.text.rows). Loss and delay are the green frames'.
local components = require "framegauge.trial.components"
local tables = require "framegauge.core.tables"
local uncertainty = require "framegauge.trial.uncertainty"

local M = {}

-- Counts of the green frames of a row, where they are what the row is of: not of bursts, whose frames are not
-- like each other, nor of the available part of the time.
local function green(row, run)
   local record = run.trial[row.trial]
   local name = ("%s %s green"):format(row.service, row.direction)
   return record and not row.burst and (row.unavailable_s or 0) == 0
      and tables.find(record.directions, "direction", name) or nil, record
end

--- The share of green frames that the device loses at this load however long it lasts.
function M.loss(row, run)
   local counts, record = green(row, run)
   return counts and components.loss_ratio(row.loss_ratio, counts, record.duration_s)
end

--- The rate that was received: whole frames, timed by the tester's clock.
function M.rate(row, run)
   local counts, record = green(row, run)
   local frame = counts and row.frame_size * 8 / record.duration_s
   return counts and uncertainty.of(row.received_ir_bps, {
      components.resolution(frame, frame, "one frame of the trial"),
      components.clock(row.received_ir_bps, record.time),
   }, { min = 0 })
end

--- The mean delay of green frames, by the seconds of the trial.
function M.delay(row, run)
   local counts, record = green(row, run)
   return counts and run.calibration.state == "not-needed" and components.mean_delay(row.ftd.mean_ns, counts,
      record.time) or nil
end

return M
