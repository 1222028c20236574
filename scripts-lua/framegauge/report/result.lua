-- SPDX-License-Identifier: BSD-3-Clause

--- The result of a run as one value, and as the text of result.json and trials.jsonl.
--
-- docs/results.md explains every field, docs/result.schema.json is what the tests hold it to. Everything in
-- it follows from the plan and the device: what belongs to the moment (dates, machine, paths) is run.json's,
-- so that two runs in the wire's own time give the same bytes.
local json = require "framegauge.report.json"
local methods = require "framegauge.method"
local nulls = require "framegauge.report.nulls"
local views = require "framegauge.report.view"

local M = {}

M.SCHEMA_VERSION = 1

--- Keys in the order a person reads them.
local ORDER = {
   "schema_version", "generator", "name", "version", "trial", "test", "phase", "frame_size", "direction",
   "modifier", "share", "goal", "duration_s", "time", "verdict", "limited_by", "state", "date", "reasons",
   "interrupted", "conformance", "rfc2544", "notes", "calibration", "expectations", "text", "met", "results",
   "throughput", "ports", "plan", "theoretical_fps",
   "throughput_fps", "percent", "mbps_l1", "mbps_l2", "conditional_fps", "lower_fps", "upper_fps",
   "regular", "resolution_fps", "loss_tolerance", "trial_s", "trials", "lower_trial",
   "upper_trial", "intended_frames", "intended_fps",
   "intended_percent", "offered_fps", "tx", "rx", "lost", "loss_ratio", "loss_bursts", "max_loss_burst",
   "duplicates", "reordered", "max_extent", "extents_unknown", "altered", "translated", "stale",
   "excess", "late", "off_schedule", "unsent", "refused", "no_mbuf",
   "tester_drops", "rx_errors", "misdirected", "foreign", "management", "queries", "replies",
   "routing_updates", "worst_lag_ns", "longest_poll_gap_ns", "count",
   "min_ns", "mean_ns", "p50_ns", "p99_ns", "p999_ns", "max_ns", "source", "error_bound_ns", "definition",
   "tester_min_ns", "corrected", "evidence", "latency", "directions", "queues", "port", "queue", "tx_lcore",
   "rx_lcore", "passed", "first_due_ns", "first_ns",
}

-- Fields that are there even when there is nothing to say.
local TRIAL_NULLS = {
   "frame_size", "intended_percent", "reordered", "worst_lag_ns", "longest_poll_gap_ns", "latency",
}
local DIRECTION_NULLS = {
   "reordered", "max_extent", "worst_lag_ns", "last_lost_ns", "longest_gap_ns", "gap_begin_ns", "latency",
}
local with_nulls, each = nulls.fill, nulls.each

local function trial_fields(record)
   if not record.directions then -- its method has its own fields; those of TCP and UDP have sides
      for _, side in ipairs(record.sides or {}) do
         json.object(side.counters) -- an empty one that was read again is one still
      end
      return record
   end
   local copy = with_nulls(record, TRIAL_NULLS)
   copy.directions = each(record.directions, function(direction)
      return with_nulls(direction, DIRECTION_NULLS)
   end)
   return copy
end

--- The plan as result.json has it: what was to be done, not where that was read.
function M.published_plan(plan)
   local copy = with_nulls(plan, {})
   copy.file, copy.expect, copy.source, copy.tester_limits = nil, nil, nil, nil
   return copy
end

-- A method may say of a device that it passes or fails; that is about the device and no worse than valid.
local WORSE = {
   ["not-applicable"] = 0, ["not-testable"] = 0, pass = 1, valid = 1, fail = 2, ["tester-limited"] = 3,
   invalid = 4,
}

local function worst_verdict(rows)
   local worst = "valid"
   for _, row in ipairs(rows) do
      worst = WORSE[row.verdict] > WORSE[worst] and row.verdict or worst
   end
   return worst
end

--- Put together what a run found.
-- @param o.plan, o.ports, o.trials, o.generator  as they are
-- @param o.results       rows by test: { throughput = {...}, latency = {...} }
-- @param o.expectations  list of { text =, met = true, false or nil }
-- @param o.calibration   framegauge.calibration's find
-- @param o.interrupted   whether the run ended before its plan did
function M.new(o)
   return {
      schema_version = M.SCHEMA_VERSION,
      generator = o.generator,
      verdict = o.interrupted and "incomplete" or worst_verdict(views.of(o.plan.test).rows(o.results)),
      interrupted = o.interrupted,
      conformance = methods.of(o.plan).conformance(o.plan),
      calibration = o.calibration,
      expectations = o.expectations,
      results = o.results,
      ports = o.ports,
      plan = o.plan,
      trials = o.trials,
   }
end

--- One line of trials.jsonl, without its end of line.
function M.trial_line(record)
   return json.encode(trial_fields(record), { order = ORDER })
end

-- What only the results of a method have comes behind what all have in common.
local function order_of(view)
   local order, known = {}, {}
   for _, list in ipairs { ORDER, view.ORDER } do
      for _, key in ipairs(list) do
         if not known[key] then
            known[key], order[#order + 1] = true, key
         end
      end
   end
   return order
end

--- The text of result.json.
function M.text(result)
   local copy, view = with_nulls(result, {}), views.of(result.plan.test)
   copy.results = view.published(result.results)
   copy.trials = each(result.trials, trial_fields)
   copy.plan = M.published_plan(result.plan)
   copy.expectations = each(result.expectations, function(expectation)
      return with_nulls(expectation, { "met" })
   end)
   return json.encode(copy, { order = order_of(view), pretty = true }) .. "\n"
end

return M
