-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows of Y.1564: services, each with its steps and its performance (framegauge.text.rows).
local rows = require "framegauge.text.rows"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.trial.result"
local uncertainty = require "framegauge.methods.y1564.uncertainty"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, record = rows.list, rows.record

-- Delay in milliseconds, as its criteria are written.
local function delay(name, help, columns)
   return record(name, help, rows.with(trial.DELAY.rows, columns))
end

local FTD = delay("ftd", "a frame transfer delay, from the first bit in to the last bit out", {
   min_ns = { col = "FTD min", as = "ms", at = "html" },
   mean_ns = { col = "FTD mean", as = "ms", at = "terminal html", uncertainty = uncertainty.delay,
      n = "judged_rx" },
   max_ns = { col = "max", as = "ms", at = "html" },
})
local CORRECTED = delay("ftd_corrected", "the same less the tester's own delay", {
   mean_ns = { col = "mean", unit = "corrected", as = "ms", at = "html", hidden = true, n = "judged_rx" },
})

local IR = record("ir", "a rate of the seconds of a trial", {
   { "min_bps", "number", "of the slowest second", col = "min", unit = "of a second", as = "megabits",
      at = "html" },
   { "mean_bps", "number", "mean" },
   { "max_bps", "number", "of the fastest second", col = "max", unit = "of a second", as = "megabits",
      at = "html" },
})

-- Columns without a value are left out.
local function some(key)
   return function(row)
      return (row[key] or 0) > 0 and row[key] or nil
   end
end

-- Where they are not all.
local function judged(key)
   return function(row)
      return row.judged_tx ~= row.tx and row[key] or nil
   end
end

local FIGURES = {
   { "offered_ir_bps", "number", "information rate sent: bits of frames with FCS a second, over the time in which they were sent", null = true, col = "Offered IR", as = "megabits", at = "terminal html" },
   { "offered_ulr_bps", "number", "the same with preamble and gap", null = true, col = "ULR",
      as = "megabits", at = "html" },
   { "received_ir_bps", "number", "information rate received", null = true, col = "Received IR",
      as = "megabits", at = "terminal html", criterion = "ir",
      uncertainty = uncertainty.rate },
   { "received_ulr_bps", "number", "the same with preamble and gap", null = true },
   { "ir", IR, "received information rate of a second; null of bursts and where there was no whole second",
      null = true },
   { "tx", "count", "frames sent", null = true }, { "rx", "count", "frames received", null = true },
   { "lost", "count", "frames lost", null = true, col = "Lost", unit = "frames", at = "html" },
   { "judged_tx", "count", "frames sent that `loss_ratio` is of: of a step with yellow frames the green, in the performance test of the available time", null = true },
   { of = judged "judged_tx", col = "Judged", unit = "frames sent", as = "count", hidden = true,
      at = "html" },
   { "judged_rx", "count", "frames received of these: delay and variation are theirs", null = true },
   { "judged_lost", "count", "frames lost of these", null = true },
   { of = judged "judged_lost", col = "", unit = "lost", as = "count", hidden = true, at = "html" },
   { "loss_ratio", "ratio", "`judged_lost` / `judged_tx`", null = true, col = "FLR", unit = "", as = "flr",
      at = "terminal html", criterion = "flr", uncertainty = uncertainty.loss,
      n = "judged_tx" },
   { "ftd", FTD, "delay from the first bit in to the last bit out; null when nothing arrived", null = true },
   { of = function(row, plan) return row.ftd and row.ftd[plan.y1564.ftd_statistic .. "_ns"] end,
      criterion = "ftd_ns", as = "ms" },
   { "ftd_corrected", CORRECTED, "with a current calibration: the same less the least time these frames take through the tester alone, of several sizes the least of them. Criteria are held against `ftd`, in which the tester's share is", null = true },
   { "clock_error_ns", "number", "between two testers: how far their clocks may have been apart, which is how uncertain `ftd` is", optional = true, col = "± clocks", as = "ms", at = "html" },
   { "fdv_ns", "number", "delay variation, by the statistic of the plan", null = true, col = "FDV",
      as = "ms", at = "terminal html", n = "judged_rx" },
   { "reordered", "count", "frames out of order", null = true },
   { of = some "reordered", col = "Reord.", unit = "frames", as = "count", hidden = true,
      at = "performance" },
   { "duplicates", "count", "further copies", null = true },
   { of = some "duplicates", col = "Duplicates", unit = "frames", as = "count", hidden = true,
      at = "performance" },
   { "remarked", "count", "frames that arrived with another PCP, DEI or DSCP than they were sent with",
      null = true },
   { "marks", trial.MARKS, "of a colour, and of the performance: with which marks they arrived",
      optional = true },
}

local function without(list_of, ...)
   local kept = {}
   for _, row in ipairs(list_of) do
      kept[#kept + 1] = not tables.contains({ ... }, row[1]) and row or nil
   end
   return kept
end

local COLOUR = record("colour", "the frames of one colour of a step", without(FIGURES, "ir"))

local HEAD = {
   { "direction", "text", "which way", col = "Direction", id = "%s" },
   { "frame_size", "positive", "bytes with FCS, of several sizes their mean" },
}

local TAIL = tables.joined(verdict.ROWS, {
   { "failed", list { "FLR", "FTD", "FDV", "AVAIL", "IR", "burst", "marking" }, "criteria that failed",
      col = "Failed", as = "words", at = "terminal" },
   { "trial", "ordinal", "number of its trial; null when there was none", null = true },
})

local LIMITS = record("limits", "bounds of the received IR", {
   { "ir_min_bps", "number", "minimum", null = true }, { "ir_max_bps", "number", "maximum", null = true },
})

local BURST = record("service_burst", "a burst test", {
   { "frames", "ordinal", "frames of a burst" }, { "group", "ordinal", "frames between bursts" },
   { "cycles", "ordinal", "how often" }, { "fps", "positive", "rate of a burst" },
   { "lost", "count", "frames lost of all bursts" }, { "group_lost", "count", "frames lost of all those between them" },
   { "inferred", record("inferred", "size of the bucket by what was lost, no more than a range", {
      { "min_bytes", "signed", "minimum" }, { "max_bytes", "signed", "maximum" },
   }), "size of the bucket; null where the rate between the bursts is not kept", null = true },
})

M.STEP = record("service_step", "A step of the configuration test, one way", {
   { "step", "text", "such as `A.2`" }, { "name", "text", "such as `CIR, 50 %`" },
   { of = function(row) return row.step and row.step .. " " .. row.name or row.title end, col = "Step",
      as = "plain",
      at = "terminal html" },
}, HEAD, FIGURES, {
   { "limits", LIMITS, "bounds of the received IR", null = true },
   { "burst", BURST, "of a burst test", null = true },
   { "green", COLOUR, "figures of the green frames; loss and delay of the step are theirs, its counts and rates count both", null = true, apart = true },
   { "yellow", COLOUR, "figures of the yellow frames", null = true, apart = true },
}, TAIL)

M.PERFORMANCE = record("service_performance", "A service one way in the performance test, all services at once", {
   { of = function(row) return row.service end, col = "Service", as = "plain", at = "terminal performance" },
}, HEAD, {
   { "duration_s", "positive", "how long it lasted" },
}, FIGURES, {
   { "availability_percent", "number", "availability by the ten-second rule; loss and delay are of the available time alone (and where there was other time, the percentile of `fdv_ns` is the greatest of the seconds', no less than the 99.9th percentile of all)", col = "AVAIL", as = "percent3",
      at = "terminal performance", criterion = "avail" },
   { "unavailable_s", "count", "seconds that were not available", col = "Unavail.", at = "performance" },
   { "severely_errored_s", "count", "seconds in which more than half of the frames were lost, those in available time included" },
}, TAIL)

local SERVICES = record("service", "a service", {
   { "name", "text", "of the service" },
   { "configuration", list(M.STEP), "a row for each step and direction, in the order they were made" },
   { "performance", list(M.PERFORMANCE), "a row for each direction" },
   { "validity", verdict.VALIDITY, "the worst of all its rows; `not-applicable` when none could be tested" },
   { "outcome", verdict.OUTCOME, "`fail` when any row failed", null = true },
})

M.RESULTS = record("y1564_results", "results of Y.1564", {
   { "y1564", record("y1564", "results of Y.1564", { { "services", list(SERVICES), "in the order of the plan" } }),
      "the services", optional = true },
})
M.TRIAL = trial.TRIAL

--- Every row with the name of its service and of its test.
-- @param test  "configuration" or "performance"
function M.rows(results, test)
   local found = {}
   for _, service in ipairs(results.y1564 and results.y1564.services or {}) do
      for _, row in ipairs(service[test]) do
         found[#found + 1] = setmetatable({ service = service.name, test = test },
            { __index = row, __newindex = row })
      end
   end
   return found
end

local function rows_of(test)
   return function(results)
      return M.rows(results, test)
   end
end

local function case(row)
   return ("%s, %s"):format(row.step and row.step .. " " .. row.name or "performance", row.direction)
end

M.TABLES = {
   { name = "configuration", title = "Configuration test", record = M.STEP, rows = rows_of "configuration",
      passes = "within the acceptance of the service", asked = "test", case = case, lead = { "service" },
      suite = "service" },
   { name = "performance", title = "Performance of all services", record = M.PERFORMANCE,
      rows = rows_of "performance", passes = "within the acceptance of the service", case = case,
      lead = { "service" }, suite = "service" },
}

return M
