-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows of convergence: a row for each event, for each kind of event, and for each route of each event
-- (framegauge.text.rows).
local components = require "framegauge.trial.components"
local rows = require "framegauge.text.rows"
local trial = require "framegauge.trial.result"
local uncertainty = require "framegauge.trial.uncertainty"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, record = rows.list, rows.record

local EVENTS, BY = { "failure", "reversion" }, { "outage", "failover", "command", "link", "person" }

local EVENT = { "event", EVENTS, "`failure`, or the `reversion` that undoes it", col = "Event", id = "%s" }
local REPETITION = { "repetition", "ordinal", "which time", col = "No.", id = "%s" }

-- @param n  key of how many routes there are
local function spread(name, help, col, at, n)
   return record(name, help, {
      { "min_ns", "number", "minimum" }, { "mean_ns", "number", "mean", col = col, unit = "mean, ms", as = "ms",
         at = at, n = n },
      { "median_ns", "number", "median", n = n }, { "p99_ns", "number", "99 %", n = n },
      { "max_ns", "number", "maximum", col = col, unit = "longest, ms", as = "ms",
         at = name == "connectivity" and "terminal " .. at or at,
         criterion = name == "connectivity" and "loss_of_connectivity" or nil },
   })
end

local function ms(key, help, col, o)
   o = o or {}
   return { key, o.type or "number", help, null = true, col = col, unit = o.unit, as = "ms",
      at = o.at or "terminal html", criterion = o.criterion, uncertainty = o.uncertainty,
      better = o.better, n = o.n }
end

-- A figure of routes lies within the bound of its row.
local function within_bound(path)
   return function(row, run)
      local value = rows.value(row, path)
      return uncertainty.of(value, {
         components.resolution(row.bound_ns, row.bound_ns, "frames of a route, the event, the latest frame"),
         components.clock(value, run.time),
      }, { min = 0 })
   end
end

M.EVENT = record("convergence", "An event, and how long the routes were without traffic", {
   EVENT, REPETITION,
   { "case", "text", "case of the plan" },
   { "by", BY, "who caused it: `outage` of the reference device, `failover` of the reference switch, a `command` of the plan, a `link` that was taken down, or the `person` at the terminal" },
   { "direction", "text", "`from->to`: the ports that sent and at which frames were awaited",
      col = "Direction", at = "html" },
   { "frame_size", "ordinal", "bytes with FCS" },
   { "routes", "ordinal", "routes or flows, all of them measured" },
   { "routes_affected", "count", "those that lost frames or moved to the next-best port; the others are in no figure of routes", col = "Routes", unit = "affected", at = "terminal html", better = false },
   { "offered_fps", "positive", "load of all routes", col = "Load", at = "html" },
   ms("tau_ns", "time between two frames of one route: no figure by loss is finer", "Resolution",
      { at = "html", type = "positive" }),
   { "sampling_ns", "positive", "interval of the figure by rate" },
   { "instantaneous", "boolean", "whether all affected routes went down at one instant, within their frame intervals" },
   ms("loss_begin_ns", "when they did, by departures, since the start of the load; null where not at one instant", "Loss began", { at = "times" }),
   ms("loss_begin_error_ns", "how far that may be off", "±", { at = "times" }),
   ms("cei_ns", "convergence event instant, since the start of the load: the start of the command, or the set time of the outage; else `loss_begin_ns`", "Event at", { at = "times", better = false }),
   ms("event_error_ns", "how far that may be off: the length of the command", "±", { at = "times" }),
   ms("first_route_ns", "first route convergence time: the least of the routes' (RFC 6412, 3.6.1)",
      "First route", { criterion = "first", uncertainty = within_bound "first_route_ns" }),
   ms("full_ns", "full convergence time: the greatest of the routes' (3.6.2); null where routes were not back", "Full", { uncertainty = within_bound "full_ns" }),
   ms("full_rate_derived_ns", "the same from the rate in intervals of `sampling_ns`; null where nothing was lost", "Full", { unit = "by rate, ms" }),
   { "full_rate_derived_min_ns", "signed", "the truth is not less (RFC 6413, 4)", null = true },
   { "full_rate_derived_max_ns", "number", "and not more", null = true },
   { "route", spread("route_time", "route-specific convergence times", "Route", "html",
      "routes_affected"), "of the affected routes, each by its own loss (equation 4), or at the next-best port by when it came there (equation 5); null without any", null = true },
   { "connectivity", spread("connectivity", "route loss of connectivity", "Loss of connectivity", "html",
      "routes"),
      "of all routes, lost frames times `tau_ns` (equation 8)" },
   ms("loss_derived_ns", "loss-derived convergence time, the mean over routes (equations 6 and 7)", "Mean",
      { unit = "by loss, ms", criterion = "mean", n = "routes_affected" }),
   ms("loss_derived_connectivity_ns", "loss-derived loss of connectivity, the mean over all routes, also those that lost nothing (equation 9)", "Mean loss of connectivity", { at = "times", n = "routes" }),
   ms("bound_ns", "how far the figures of routes may be off: `tau_ns`, `event_error_ns`, and the longest that a frame left late", "±"),
   { "packets_offered", "count", "frames sent" },
   { "packets_forwarded", "count", "frames that came, at either egress" },
   { "connectivity_loss", "count", "frames that came at neither", col = "Lost", unit = "frames",
      at = "terminal html" },
   { "convergence_loss", "count", "of the affected routes: frames that did not come at the next-best port; null without such", null = true, col = "Not at next-best", unit = "frames", at = "times" },
   { "loss_periods_max", "count", "most separate outages of a route; more than 1: micro-loops or flapping",
      col = "Outages", unit = "of a route", at = "times" },
   { "duplicates", "count", "further copies", col = "Duplicates", unit = "frames", at = "times" },
   { "reordered", "count", "frames out of order (RFC 4737)", null = true, col = "Reordered", unit = "frames",
      at = "times" },
   { "misdirected", "count", "frames at ports that are neither egress", col = "Misdirected", unit = "frames",
      at = "times" },
   { "expired", "count", "frames that came later than `t_max`; they are lost", col = "Expired",
      unit = "frames", at = "times" },
   ms("path_delay_change_ns", "how much longer the new path takes, the median of the routes; null where that cannot be said", "Path longer by", { at = "times", type = "signed", n = "routes_affected" }),
   { "not_converged", "count", "routes that were not back for the validation time", col = "Not back",
      unit = "routes", at = "terminal html" },
   { "routes_over_limit", "count", "routes that were away for longer than the plan's limit", optional = true,
      col = "Over limit", unit = "routes", at = "terminal html" },
   { "restored", list(record("restored", "routes that were back by a time", {
      { "routes", "ordinal", "how many" }, { "time_ns", "number", "their convergence time" },
   })), "routes that were back by when, at most 50 points and both ends", optional = true },
   { "trial", "ordinal", "number of its trial" },
}, verdict.ROWS)

local function spread_over_repetitions(key, help, col)
   local function figure(name, word, at)
      return { name, "number", word, col = col, unit = word .. ", ms", as = "ms", at = at,
         n = name == "median_ns" and "repetitions" or nil }
   end
   return { key, record(key .. "_of_events", help, {
      figure("min_ns", "min", "html"), figure("median_ns", "median", "terminal html summary"),
      figure("max_ns", "max", "terminal html summary"),
   }), help, null = true }
end

M.SUMMARY = record("convergence_summary", "The events of a kind together", {
   EVENT,
   { "repetitions", "ordinal", "how many", col = "Events", at = "terminal html summary" },
   spread_over_repetitions("connectivity", "longest loss of connectivity of a route", "Loss of connectivity"),
   spread_over_repetitions("first_route", "first route convergence time", "First route"),
   spread_over_repetitions("full", "full convergence time; null where routes were not back", "Full"),
   spread_over_repetitions("loss_derived", "loss-derived convergence time", "Mean"),
}, verdict.ROWS)

M.ROUTE = record("convergence_route", "A route or flow in an event, in routes.csv", {
   EVENT, REPETITION,
   { "route", "text", "its prefix, or the source port of the flow", col = "Route", id = "%s" },
   { "affected", "boolean", "whether it lost frames or moved" },
   { "converged", "boolean", "whether it was back for the validation time" },
   ms("route_ns", "its convergence time; null where it was not affected or not back", "Convergence",
      { at = "html" }),
   ms("connectivity_ns", "its loss of connectivity", "Without traffic", { at = "html" }),
   ms("begin_ns", "when that began, by departures; null where it was away more than once", "From",
      { at = "html" }),
   ms("end_ns", "when the last outage ended", "To", { at = "html" }),
   ms("error_ns", "how far both may be off", "±", { at = "html" }),
   { "tx", "count", "frames sent" }, { "rx", "count", "frames received where they were awaited" },
   { "lost", "count", "frames that came at neither egress", col = "Lost", unit = "frames", at = "html" },
   { "loss_periods", "count", "separate outages", col = "Outages", at = "html" },
   { "duplicates", "count", "further copies" },
   { "reordered", "count", "frames out of order", null = true },
   { "expired", "count", "frames that came too late" },
   { "misdirected", "count", "frames at ports that are neither egress" },
})

M.TABLES = {
   { name = "convergence", title = "Events", record = M.EVENT,
      passes = "no route was without traffic for longer than the limit",
      rows = function(results) return results.convergence or {} end },
   { name = "convergence_summary", title = "All events", record = M.SUMMARY, inner = true,
      rows = function(results) return results.convergence_summary or {} end },
}

M.RESULTS = record("convergence_results", "results of convergence", {
   { "convergence", list(M.EVENT), "a row for each event", optional = true },
   { "convergence_summary", list(M.SUMMARY), "a row for each kind of event", optional = true },
   { "convergence_routes", list(M.ROUTE), "a row for each route of each event", optional = true },
})

local SAMPLED = record("sampled", "all routes together over time", {
   { "interval_s", "positive", "of a sample" }, { "tx", list "count", "frames that were sent in it" },
   { "rx", list "count", "frames received where they were expected" },
})
SAMPLED.is_even = true

--- Trials of frames, with the event and the rate over time.
M.TRIAL = record("convergence_trial", "one trial with an event, also one line of trials.jsonl",
   trial.TRIAL.rows, {
   { "event", record("trial_event", "the event of a trial", {
      { "by", BY, "who caused it" },
      { "began_s", "number", "when, since the start of the load", optional = true },
      { "ended_s", "number", "when the command had ended", optional = true },
      { "status", "integer", "its exit status", optional = true },
      { "problem", "text", "what went wrong", optional = true },
   }), "where something happened to the device", optional = true },
   { "sampled", SAMPLED, "all routes together over time" },
})

return M
