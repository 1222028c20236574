-- SPDX-License-Identifier: BSD-3-Clause

--- What a trial with an event shows: a row for the event, and one for each route.
local figures = require "framegauge.methods.convergence.figures"
local format = require "framegauge.text.format"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local trials = require "framegauge.methods.convergence.trials"

local M = {}

local NS, CURVE, NAMED = 1e9, 50, 3 -- ns; points of the curve of restored routes; routes named in a reason

-- The routes of a trial, as figures.route() has them, with what they are called.
-- @param old  name of the port at the preferred egress where the trial awaits them at the other one, or nil
local function routes_of(record, names, tau_ns, old)
   local list = {}
   for i, d in ipairs(record.directions) do
      local misdirected = d.measured and d.measured.misdirected or {}
      local route = figures.route(d, {
         tau_ns = tau_ns, phase_ns = (i - 1) / #record.directions * tau_ns,
         old = old and (misdirected[old] or 0),
      })
      route.route, route.counts = names[i], d
      route.misdirected = 0
      for port, frames in pairs(misdirected) do
         route.misdirected = route.misdirected + (port ~= old and frames or 0)
      end
      list[i] = route
   end
   return list
end

-- Time of the event, ns: from the event's cause if that reports it, else from the data.
-- @param began, error_ns  when all routes went down at once, and its error; nil: they did not
local function instant_of(event, began, error_ns)
   if event.by ~= "person" and event.began_s then
      return event.began_s * NS, ((event.ended_s or event.began_s) - event.began_s) * NS
   end
   return began, error_ns
end

-- Frames that were lost so long before the event that it cannot be the cause.
local function lost_before(sampled, cei_ns)
   local lost = 0
   for i = 1, cei_ns and math.floor(cei_ns / NS / sampled.interval_s) - 1 or 0 do
      lost = lost + sampled.tx[i] - sampled.rx[i]
   end
   return lost
end

local function sum(list, value)
   local total = 0
   for _, one in ipairs(list) do
      total = total + (value(one) or 0)
   end
   return total
end

local function named(list)
   local names = {}
   for i = 1, math.min(NAMED, #list) do
      names[i] = list[i].route
   end
   return table.concat(names, ", ") .. (#list > NAMED and ", …" or "")
end

-- How many routes were restored at which time: at most CURVE points.
local function restored(times)
   local sorted, list = { unpack(times) }, {}
   table.sort(sorted)
   local each = math.max(1, math.ceil(#sorted / CURVE))
   for i = 1, #sorted do
      if i % each == 0 or i == 1 or i == #sorted then
         list[#list + 1] = { routes = i, time_ns = sorted[i] }
      end
   end
   return list
end

-- Frames of the trial without an event that did not arrive. For routes that always use several ways, the
-- frames by the next-best one are included.
local function lost_steady(steady, next_best, case)
   local several = case == "ecmp-member" or case == "parallel-link"
   return sum(steady and steady.directions or {}, function(d)
      local other = several and d.measured and d.measured.misdirected
      return math.max(0, d.lost - (other and other[next_best] or 0))
   end)
end

-- Why the row is not valid, in sentences.
local function invalid_reasons(row, record, unsteady, before)
   local reasons = {}
   if record.event and record.event.problem then
      reasons[1] = record.event.problem
   end
   if unsteady > 0 then
      reasons[#reasons + 1] = ("not steady: %s did not come to the preferred port before the event"):format(
         format.plural(unsteady, "frame"))
   elseif before > 0 then
      reasons[#reasons + 1] = ("not steady: %s lost before the event"):format(format.plural(before, "frame"))
   end
   if row.cei_ns == nil and row.convergence_loss then
      reasons[#reasons + 1] = "when the event was is not known, so the time of convergence is not, either"
   end
   return reasons
end

-- Compare the row with the plan's limit.
local function judge(row, routes, away, limit_ns)
   if #away > 0 then
      local where = row.convergence_loss and "at the port where they should move" or "back"
      row.reasons[#row.reasons + 1] = ("%s not %s for the whole validation time at the end: %s"):format(
         format.plural(#away, "route"), where, named(away))
   end
   if not limit_ns then
      return
   end
   local over, close = {}, 0
   for _, route in ipairs(routes) do
      local word = figures.judge(route.connectivity_ns, row.tau_ns, limit_ns)
      over[#over + 1] = word == "fail" and route or nil
      close = close + (word == "undecided" and 1 or 0)
   end
   row.routes_over_limit = #over
   if row.validity ~= "valid" then
      return
   elseif #over > 0 or #away > 0 then
      row.outcome = "fail"
      row.reasons[#row.reasons + 1] = #over > 0 and ("%s without traffic for longer than %s: %s"):format(
         format.plural(#over, "route"), format.nanoseconds(limit_ns), named(over)) or nil
   elseif close > 0 then
      row.reasons[#row.reasons + 1] = ("undecided: %s within one frame interval (%s) of the limit"):format(
         format.plural(close, "route"), format.nanoseconds(row.tau_ns))
   else
      row.outcome = "pass"
   end
end

-- The times, from the routes' times.
local function put_times(row, record, affected, times, plan)
   local o, tau_ns = plan.convergence, row.tau_ns
   row.route, row.restored = figures.spread(times), restored(times)
   row.first_route_ns, row.full_ns = row.route and row.route.min_ns or 0, row.route and row.route.max_ns or 0
   row.full_rate_derived_ns = figures.by_rate(record.sampled.tx, record.sampled.rx, row.sampling_ns,
      row.convergence_loss and row.cei_ns, o.validation * NS - row.sampling_ns)
   if row.full_rate_derived_ns then
      row.full_rate_derived_min_ns, row.full_rate_derived_max_ns = figures.rate_bounds(
         row.full_rate_derived_ns, row.sampling_ns, tau_ns, NS / row.offered_fps)
   end
   if row.convergence_loss and row.cei_ns and #affected > 0 then
      row.loss_derived_ns = row.convergence_loss * tau_ns / #affected - row.cei_ns
   elseif not row.convergence_loss then
      row.loss_derived_ns = row.loss_derived_connectivity_ns
   end
end

local function put_counts(row, record, routes, affected)
   local function of(key)
      return function(route) return route.counts[key] end
   end
   row.packets_offered = record.tx
   row.connectivity_loss = sum(routes, function(route) return route.lost end)
   row.packets_forwarded = record.tx - row.connectivity_loss
   row.loss_derived_connectivity_ns = row.connectivity_loss * NS / row.offered_fps
   row.loss_periods_max = stats.max(tables.map(routes, function(route) return route.periods end))
   row.duplicates, row.reordered = record.duplicates, record.reordered
   row.expired = sum(routes, of "expired")
   row.misdirected = sum(routes, function(route) return route.misdirected end)
   row.routes_affected = #affected
end

-- The difference of the paths' delays: from routes that failed once, and the route with the longest gap.
local function path_change(affected, tau_ns)
   local list = {}
   for _, route in ipairs(affected) do
      local gap = route.counts.gap_max_ns
      list[#list + 1] = route.begin_ns and gap and figures.path_change(gap, route.lost, tau_ns) or nil
   end
   return list[1] and stats.median(list)
end

--- The row of an event.
-- @param o.record   of the event's trial (trials.make)
-- @param o.event    "failure" or "reversion"
-- @param o.egress   name of the port where the frames were awaited; o.old = of the other one, or nil
-- @param o.steady   record of the trial before it without an event, or nil
-- @param o.repetition
-- @return the row, and a row for each route
function M.rows(plan, o)
   local c, record = plan.convergence, o.record
   local fps, n = record.intended_fps, #record.directions
   local tau_ns = n * NS / fps
   local routes = routes_of(record, trials.names(plan), tau_ns, o.old)
   local affected, away = {}, {}
   local end_ns = (record.duration_s - c.validation) * NS
   for _, route in ipairs(routes) do
      affected[#affected + 1] = route.affected and route or nil
      route.converged = not (route.last_lost_ns and route.last_lost_ns > end_ns)
      away[#away + 1] = not route.converged and route or nil
   end
   local begin, begin_error = figures.instant(routes, tau_ns)
   local row = {
      case = c.case, event = o.event, by = record.event.by, repetition = o.repetition,
      direction = record.direction, frame_size = c.size, routes = n, offered_fps = fps, tau_ns = tau_ns,
      sampling_ns = c.sampling * NS, instantaneous = begin ~= nil, loss_begin_ns = begin,
      loss_begin_error_ns = begin_error, not_converged = #away, trial = record.trial,
      validity = record.validity, reasons = { unpack(record.reasons) },
   }
   row.cei_ns, row.event_error_ns = instant_of(record.event, begin, begin_error)
   row.bound_ns = tau_ns + (row.event_error_ns or 0) + (record.lag_max_ns or 0)
   row.convergence_loss = o.old and sum(affected, function(route) return route.missing end) or nil
   put_counts(row, record, routes, affected)
   local times = {}
   for _, route in ipairs(affected) do
      route.route_ns = route.converged and figures.route_time(route, row.instantaneous, row.cei_ns) or nil
      times[#times + 1] = route.route_ns
   end
   row.connectivity = figures.spread(tables.map(routes, function(route) return route.connectivity_ns end))
   if #away == 0 then
      put_times(row, record, affected, times, plan)
   end
   row.path_delay_change_ns = not o.old and path_change(affected, tau_ns) or nil
   local before = o.old and 0 or lost_before(record.sampled, row.cei_ns)
   local problems = invalid_reasons(row, record, lost_steady(o.steady, c.next_best, c.case), before)
   if #problems > 0 then
      row.validity, row.reasons = "invalid", tables.joined(problems, row.reasons)
   end
   judge(row, routes, away, c.limit.loss_of_connectivity and c.limit.loss_of_connectivity * NS)
   return row, M.route_rows(row, routes)
end

--- The rows of the routes of an event.
function M.route_rows(row, routes)
   local list = {}
   for i, route in ipairs(routes) do
      list[i] = {
         event = row.event, repetition = row.repetition, route = route.route, affected = route.affected,
         converged = route.converged, route_ns = route.route_ns, connectivity_ns = route.connectivity_ns,
         begin_ns = route.begin_ns, end_ns = route.end_ns, error_ns = row.tau_ns / 2, tx = route.counts.tx,
         rx = route.counts.rx, lost = route.lost, loss_periods = route.periods,
         duplicates = route.counts.duplicates, reordered = route.counts.reordered,
         expired = route.counts.expired, misdirected = route.misdirected,
      }
   end
   return list
end

return M
