-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544 section 26.3: the share of the frames a device loses at each load.
--
-- The first trial has the highest load, each further one a step less, until two in a row lost nothing. Both
-- directions are loaded alike and at once; each has a row of its own at every load.
local common = require "framegauge.methods.rfc2544.common"
local loads = require "framegauge.traffic.loads"

local M = {}

M.NAME, M.KEY = "rfc2544.frame_loss", "frame_loss"

local ENOUGH_WITHOUT_LOSS = 2

function M.check(plan, tester)
   for _, frame_size in ipairs(plan.rfc2544.frame_sizes) do
      if not loads.of_rate(plan.rfc2544.frame_loss.max, frame_size, tester:max_fps(frame_size)) then
         return "the line rate of these ports is not known, so rfc2544.frame_loss.max cannot be a share of it; give a load (--set rfc2544.frame_loss.max=5Mfps) or the ports' line_rate"
      end
   end
   return nil
end

-- Percent without the rounding of binary fractions.
local function tidy(percent)
   return math.floor(percent * 1e6 + 0.5) / 1e6
end

local function steps(o)
   return math.ceil(1 / o.step - 1e-9) - 1
end

--- The possible loads of its rows, percent of the line; nil where they depend on the rate of the line.
function M.loads(plan)
   local o, list = plan.rfc2544.frame_loss, {}
   for i = 0, o.max.unit == "ratio" and steps(o) or -1 do
      list[i + 1] = tidy((100 - i * o.step * 100) * o.max.value)
   end
   return list[1] and list
end

-- The loads of one frame size, highest first: frames per second, and percent of the line or, where it is not
-- known, of the highest. Loads that the tester is known not to carry (run/calibration.lua) are left out.
local function steps_of(plan, frame_size, line_fps)
   local o, list = plan.rfc2544.frame_loss, {}
   local limit = plan.tester_limits and plan.tester_limits[frame_size] or math.huge
   local max = loads.of_rate(o.max, frame_size, line_fps)
   max = line_fps and math.min(max, line_fps) or max
   local last = steps(o)
   for i = 0, last do
      local percent = tidy(100 - i * o.step * 100)
      if max * percent / 100 <= limit or i == last then
         list[#list + 1] = { fps = max * percent / 100, percent = tidy(percent * max / (line_fps or max)) }
      end
   end
   return list
end

local function row(record, direction, percent, line_fps)
   local counts = common.counts(record, direction)
   return {
      frame_size = record.frame_size, direction = direction, load_percent = percent,
      theoretical_fps = line_fps,
      intended_fps = record.intended_fps, offered_fps = counts.offered_fps, tx = counts.tx, rx = counts.rx,
      lost = counts.lost, loss_ratio = counts.loss_ratio, trial_s = record.duration_s,
      trial = record.trial, validity = record.validity, reasons = record.reasons,
   }
end

--- Measure one frame size.
function M.measure(plan, tester, session, frame_size, rows)
   local line_fps = tester:max_fps(frame_size)
   local directions, name = common.directions(plan)
   local without_loss = 0
   for _, step in ipairs(steps_of(plan, frame_size, line_fps)) do
      local record = session:trial {
         test = M.NAME, phase = "measure", frame_size = frame_size, direction = name, directions = directions,
         fps = step.fps, seconds = plan.rfc2544.frame_loss.trial, line_fps = line_fps,
      }
      for _, direction in ipairs(directions) do
         rows[#rows + 1] = row(record, direction, step.percent, line_fps)
      end
      without_loss = record.validity == "valid" and record.lost == 0 and without_loss + 1 or 0
      if without_loss == ENOUGH_WITHOUT_LOSS then
         return
      end
   end
end

return M
