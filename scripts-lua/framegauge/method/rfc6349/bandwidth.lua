-- SPDX-License-Identifier: BSD-3-Clause

--- The bottleneck bandwidth (RFC 6349, 3.2.2): the most of a stateless stream of full packets that arrives,
-- each direction by itself, with the search and the evidence of RFC 2544's throughput and a loss that is
-- tolerated.
local ground = require "framegauge.method.rfc6349.ground"
local line = require "framegauge.line"
local search = require "framegauge.search"
local formulas = require "framegauge.method.rfc6349.formulas"

local M = {}

M.NAME = "rfc6349.bandwidth"

local MAC_AND_FCS, TAG = 18, 4
local LEAST_SHARE = 1e-5 -- of the line; a narrower bottleneck is not found
local VERDICT = { tester = "tester-limited", invalid = "invalid", max_trials = "invalid" }

--- Octets with FCS of a full packet's frame.
function M.frame_size(path, tags)
   return path.mtu + MAC_AND_FCS + TAG * tags
end

-- @param o  settings of a trial, for formulas.achievable
local function row(direction, size, o, result, trials)
   local fps = result.load
   return {
      direction = direction, frame_size = size, bandwidth_fps = fps, trials = trials,
      l1_bps = fps and line.l1_bps(fps, size), l2_bps = fps and line.l2_bps(fps, size),
      l3_bps = fps and line.l3_bps(fps, size, o.tags),
      achievable_bps = fps and formulas.achievable(line.l1_bps(fps, size), o),
      lower_trial = result.lower_trial and result.lower_trial.trial,
      upper_trial = result.upper_trial and result.upper_trial.trial, limited_by = result.limited_by,
      verdict = VERDICT[result.limited_by] or fps and "valid" or "invalid",
      reasons = VERDICT[result.limited_by] and (result.upper_trial and result.upper_trial.reasons
         or { ("the tester itself carries no more than %.0f frames per second (calibration)"):format(fps) })
         or fps and {} or { "nothing passed" },
   }
end

--- Measure one direction.
-- @param from  number of the port that sends
-- @return its row
function M.run(plan, bench, session, path, from)
   local settings, o, before = ground.settings(plan, path), plan.rfc6349.bandwidth, #session.trials
   settings.timestamps = settings.tcp.timestamps
   local size, direction = M.frame_size(path, settings.tags), ground.direction(plan, from)
   local most = bench:max_fps(size)
   local carried = math.min(most, plan.tester_limits and plan.tester_limits[size] or most)
   local result = search.get("binary").run {
      min = LEAST_SHARE * most, max = carried, resolution = o.resolution, relative = true,
      tolerance = o.loss_tolerance, search_trial = math.min(o.search_trial, o.trial), final_trial = o.trial,
      max_trials = o.max_trials,
      trial = function(fps, seconds, phase)
         return session:trial {
            test = M.NAME, phase = phase, frame_size = size, direction = direction,
            directions = { direction },
            fps = fps, seconds = seconds, line_fps = most,
         }
      end,
   }
   if carried < most and result.limited_by == "maximum" then
      result.limited_by = "tester"
   end
   return row(direction, size, settings, result, #session.trials - before)
end

return M
