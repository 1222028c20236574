-- SPDX-License-Identifier: BSD-3-Clause

--- The arithmetic of convergence seen from the data plane (RFC 6412, 3.5 to 3.7; RFC 6413, 4).
--
-- All times are departures, ns since the start of traffic: a frame's departure says on which side of an event
-- it was, whatever its path's delay. The frames of a route leave every tau. If k frames in a row are lost and
-- the first left at f, the outage began within (f - tau, f] and lasted k tau, give or take one tau.
local stats = require "framegauge.trial.stats"

local M = {}

--- What became of one route.
-- @param d           its counts in a trial's record (framegauge.trial)
-- @param o.tau_ns    time between two of its frames
-- @param o.phase_ns  when its first frame left
-- @param o.old       frames that arrived at the preferred egress, where d is the next-best egress; nil: d is
--                    the only egress
-- @return lost = over both egresses, missing = at the one of d, affected, begin_ns and end_ns of the outage
-- (nil: not known), connectivity_ns; times are the middle of their ranges
function M.route(d, o)
   local half, route = o.tau_ns / 2, { missing = d.lost, periods = d.loss_bursts }
   route.lost = math.max(0, d.lost - (o.old or 0))
   route.affected = route.lost > 0 or o.old ~= nil and d.rx > 0 and route.missing > 0
   route.connectivity_ns = route.lost * o.tau_ns
   route.last_lost_ns = route.affected and d.lost > 0 and d.last_lost_ns or nil
   route.end_ns = route.last_lost_ns and route.last_lost_ns + half
   if not o.old and d.loss_bursts == 1 then
      route.begin_ns = route.end_ns - d.lost * o.tau_ns
   end
   if o.old and route.affected then -- all frames of the old way count as lost here
      route.moved_ns = o.phase_ns + d.lost * o.tau_ns - half
   end
   return route
end

--- When routes that failed together did so: after the last departure that arrived on any of them, and no
-- later than the first that did not.
-- @return ns, and its error; nil when they did not fail at one instant
function M.instant(routes, tau_ns)
   local earliest, latest = -math.huge, math.huge
   for _, route in ipairs(routes) do
      if route.affected then
         if not route.begin_ns then
            return nil
         end
         earliest = math.max(earliest, route.begin_ns - tau_ns / 2)
         latest = math.min(latest, route.begin_ns + tau_ns / 2)
      end
   end
   if earliest == -math.huge or earliest > latest then
      return nil
   end
   return (earliest + latest) / 2, (latest - earliest) / 2
end

--- Route-specific loss-derived: RFC 6412's equation 4 for an event that cuts the old way at once, 5 where
-- only the next-best egress is observed, and the end of the outage where neither applies.
-- @param cei_ns  the event; nil: not known
function M.route_time(route, instantaneous, cei_ns)
   if route.moved_ns then
      return cei_ns and math.max(0, route.moved_ns - cei_ns)
   elseif instantaneous or not cei_ns then
      return route.connectivity_ns
   end
   return route.end_ns and math.max(0, route.end_ns - cei_ns)
end

--- Rate-derived: the time from the first interval below the full rate to the first one at the full rate.
-- @param tx, rx    frames that departed in each interval, and the received ones among them
-- @param cei_ns    of an event known from elsewhere; nil: the end of the first interval that is not full
-- @param kept_ns   how long the full rate must be kept
-- @return full convergence time; nil where nothing was lost, or the full rate was not kept
function M.by_rate(tx, rx, sampling_ns, cei_ns, kept_ns)
   local first, last
   for i = 1, #tx do
      if rx[i] < tx[i] then
         first, last = first or i, i
      end
   end
   if not first or (#tx - last) * sampling_ns < kept_ns then
      return nil
   end
   return (last + 1) * sampling_ns - (cei_ns or first * sampling_ns)
end

--- The least and the greatest true time when the rate gave `full_ns` (RFC 6413, 4).
function M.rate_bounds(full_ns, sampling_ns, tau_ns, frame_ns)
   return full_ns - 2 * sampling_ns, full_ns + tau_ns + frame_ns
end

--- Compare a loss of connectivity, known to one tau, with a limit.
-- @return "pass", "fail" or "undecided"
function M.judge(connectivity_ns, tau_ns, limit_ns)
   if connectivity_ns - tau_ns > limit_ns then
      return "fail"
   end
   return connectivity_ns + tau_ns > limit_ns and "undecided" or "pass"
end

--- Statistics of the times of several routes; nil without any.
function M.spread(list)
   if #list == 0 then
      return nil
   end
   return {
      min_ns = stats.min(list), mean_ns = stats.mean(list), median_ns = stats.median(list),
      p99_ns = stats.percentile(list, 0.99), max_ns = stats.max(list),
   }
end

--- How much later a frame arrived after the outage than before: the gap of arrivals spans k frames and one
-- more interval; the rest is the difference of the paths.
function M.path_change(gap_ns, lost, tau_ns)
   return gap_ns - (lost + 1) * tau_ns
end

return M
