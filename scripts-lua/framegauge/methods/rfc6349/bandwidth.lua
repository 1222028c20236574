-- SPDX-License-Identifier: BSD-3-Clause

--- The bottleneck bandwidth (RFC 6349, 3.2.2): the most of a stateless stream of full packets that arrives,
-- each direction by itself, with the search and the evidence of RFC 2544's throughput and a loss that is
-- tolerated.
local common = require "framegauge.methods.rfc6349.common"
local ethernet = require "framegauge.core.ethernet"
local search = require "framegauge.search"
local verdict = require "framegauge.text.verdict"

local M = {}

M.NAME = "rfc6349.bandwidth"

local MAC_AND_FCS, TAG = 18, 4
local LEAST_SHARE = 1e-5 -- of the line; a narrower bottleneck is not found

--- Octets with FCS of a full packet's frame.
function M.frame_size(path, tags)
   return path.mtu + MAC_AND_FCS + TAG * tags
end

-- @param o  settings of a trial, for common.achievable
local function row(direction, size, o, result, trials)
   local fps, found = result.load, verdict.of_search(result.limited_by)
   return {
      direction = direction, frame_size = size, bandwidth_fps = fps, trials = trials,
      bandwidth_l1_bps = fps and ethernet.l1_bps(fps, size), bandwidth_l2_bps = fps and ethernet.l2_bps(fps,
         size),
      bandwidth_l3_bps = fps and ethernet.l3_bps(fps, size, o.tags),
      achievable_bps = fps and common.achievable(ethernet.l1_bps(fps, size), o),
      lower_trial = result.lower_trial and result.lower_trial.trial,
      upper_trial = result.upper_trial and result.upper_trial.trial, limited_by = result.limited_by,
      validity = fps and found or verdict.worse(found, "invalid"),
      reasons = found ~= "valid" and (result.upper_trial and result.upper_trial.reasons
         or { ("the tester itself carries no more than %.0f frames per second (calibration)"):format(fps) })
         or fps and {} or { "nothing passed" },
   }
end

--- Measure one direction.
-- @param from  number of the port that sends
-- @return its row
function M.run(plan, bench, session, path, from)
   local settings, o, before = common.settings(plan, path), plan.rfc6349.bandwidth, #session.trials
   settings.timestamps = settings.tcp.timestamps
   local size, direction = M.frame_size(path, settings.tags), common.direction(plan, from)
   local most = bench:max_fps(size)
   local result = search.run("binary", search.goal(o, {
      min = LEAST_SHARE * most, max = most, carried = plan.tester_limits and plan.tester_limits[size],
      resolution = o.resolution, relative = true,
      trial = function(fps, seconds, phase)
         return session:trial {
            test = M.NAME, phase = phase, frame_size = size, direction = direction,
            directions = { direction },
            fps = fps, seconds = seconds, line_fps = most,
         }
      end,
   }))
   return row(direction, size, settings, result, #session.trials - before)
end

return M
