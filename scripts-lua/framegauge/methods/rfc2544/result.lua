-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows of RFC 2544's tests (framegauge.text.rows).
local format = require "framegauge.text.format"
local mixes = require "framegauge.core.mixes"
local rows = require "framegauge.text.rows"
local trial = require "framegauge.trial.result"
local uncertainty = require "framegauge.methods.rfc2544.uncertainty"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, record = rows.list, rows.record

local function direction_in_words(direction)
   return direction == "both" and "both directions" or direction
end

local HEAD = {
   { "frame_size", trial.SIZE, "bytes with FCS, or the name of a mix (RFC 6985)", col = "Frame",
      unit = "bytes", id = mixes.text },
   { "direction", "text", "`both` (both at once, each with the load given), or `from->to`",
      col = "Direction", id = direction_in_words },
   { "modifier", trial.MODIFIERS, "where the stream was not the plain one: its type", optional = true,
      col = "Stream", id = "%s" },
}
local THEORETICAL = { "theoretical_fps", "number", "most frames per second the line can carry, floor(rate / (8 (size + 20))); null when the line rate is not known", null = true }
local LOST = { "lost", "count", "frames lost in these trials", col = "Lost", unit = "frames", at = "html" }
local TRIALS = { "trials", "count", "how many trials the row took, repeated ones included; rows of one frame size share them", col = "Trials", at = "terminal html" }
local REPETITIONS = { "repetitions", "ordinal", "how often" }

local function source(key, what)
   return { key, { "throughput", "plan" }, what .. " came from: the search of `rfc2544.throughput`, or the key `rate` of the test's group" }
end

local EVIDENCE = record("evidence", "the worst of the trials that decided", {
   { "late", "count", "as in a trial", null = true }, { "refused", "count", "as in a trial", null = true },
   { "tester_drops", "count", "as in a trial", null = true }, { "lag_max_ns", "number", "as in a trial",
      null = true },
   { "poll_gap_max_ns", "number", "as in a trial", null = true },
})

local LIMITS = { "maximum", "loss", "tester", "invalid", "max_trials", "time_limit" }

M.THROUGHPUT = record("throughput", "The highest load that the device carries (RFC 2544, 26.1)", HEAD, {
   { "goal", "text", "with `search: mlr`: the goal this row is about; every goal has its row",
      optional = true, col = "Goal", id = "goal %s" },
   rows.with({ THEORETICAL }, { theoretical_fps = { col = "Theoretical", at = "terminal html",
      unless = "goal" } })[1],
   { "throughput_fps", "number", "the throughput: a load that passed a trial of full length; null when none did",
      null = true, col = "Throughput", at = "terminal html summary", bound = ">=",
      sought = true, uncertainty = uncertainty.throughput },
   { "throughput_percent", "number", "its share of `theoretical_fps`", null = true, col = "of line",
      as = "share", at = "terminal html summary" },
   { "throughput_l1_mbps", "number", "the throughput with preamble and gap", null = true, col = "Layer 1",
      at = "terminal html", unless = "goal" },
   { "throughput_l2_mbps", "number", "the throughput of frames with their FCS", null = true, col = "Layer 2",
      at = "terminal html summary", unless = "goal" },
   { "upper_fps", "number", "lowest load above it that failed; null when the maximum passed", null = true,
      col = "Lowest failing", at = "html" },
   { "lower_fps", "number", "with a goal: the relevant lower bound, the same as `throughput_fps`",
      optional = true },
   { "conditional_fps", "number", "with a goal: what the device forwarded at the lower bound (RFC 9971, conditional throughput)", optional = true, col = "Conditional", at = "terminal html" },
   { "regular", "boolean", "with a goal: whether both bounds exist and are no further apart than the goal's width", optional = true },
   { of = function(row) return row.goal and (row.regular and "regular" or "irregular") end, col = "Result",
      hidden = true,
      at = "terminal" },
   { "resolution_fps", "positive", "how close the two had to come", col = "Resolution", at = "html" },
   { "limited_by", LIMITS, "why the search stopped: `maximum` (the highest load of the plan passed), `loss` (of the device), `tester`, `invalid` (trials that stayed invalid), `max_trials`, `time_limit`",
      col = "Limit", at = "html" },
   { "loss_tolerance_ratio", "ratio", "share of the frames that might be lost in a passing trial; 0 for RFC 2544" },
   { "trial_s", "positive", "length of the deciding trials" },
   TRIALS,
   { "lower_trial", "ordinal", "number of the trial that passed", null = true },
   { "upper_trial", "ordinal", "number of the trial above it that failed", null = true },
}, verdict.ROWS, {
   { "latency", trial.LATENCY, "of the trial that passed; null when nothing was measured", null = true },
   { "evidence", EVIDENCE, "the worst of those two trials" },
})

M.LATENCY = record("latency_test", "The latency of tagged frames at the throughput (RFC 2544, 26.2)", HEAD, {
   THEORETICAL,
   { "rate_fps", "number", "the load", null = true, col = "Load", at = "terminal html latency" },
   { "rate_percent", "number", "its share of the line", null = true, col = "of line", at = "html" },
   source("rate_source", "where the load"),
   { "trial_s", "positive", "length of each stream" },
   { "tag_after_s", "number", "when its tagged frame was sent" },
   { "repetitions", "ordinal", "how many streams" },
   { "tagged_frames", "count", "tagged frames that came back, of all streams", col = "Tagged",
      at = "terminal html", better = false },
   { "latency_mean_ns", "signed", "mean of these: the figure of RFC 2544", null = true, col = "Latency",
      unit = "mean, µs",
      at = "terminal html summary", better = "<=", uncertainty = uncertainty.latency, n = "tagged_frames" },
   { "latency_corrected_mean_ns", "signed", "the same less `tester_min_ns`; null without a current calibration",
      null = true, col = "Corrected", unit = "mean, µs", at = "terminal html",
      hidden = true, uncertainty = uncertainty.latency_corrected, n = "tagged_frames" },
   { "latency_min_ns", "signed", "the minimum of these", null = true, col = "Min", at = "html" },
   { "latency_max_ns", "signed", "the maximum of these", null = true, col = "Max", at = "html" },
   { "latency_stddev_ns", "number", "deviation of the means of the streams", null = true, col = "Deviation",
      at = "html", n = "repetitions" },
   { "latency_typical_ns", "signed", "RFC 8219, 7.2: median of a stream's tagged frames, of all streams the median; null with fewer than 500 tags in a stream", null = true, col = "Typical", at = "html",
      hidden = true, n = "tagged_frames" },
   { "latency_worst_case_ns", "signed", "RFC 8219, 7.2: 99.9th percentile of a stream's tagged frames, of all streams the median", null = true, col = "Worst case", at = "html",
      hidden = true, n = "tagged_frames" },
   { "definition", { "lifo", "fifo" }, "`lifo`: from the last bit in to the first bit out (RFC 1242 for devices that store and forward); measured from first bit to first bit, less the time the frame takes on the line, 8 size / rate; a device that cuts through may have less than 0. `fifo`: from first bit to first bit, for those that cut through", null = true, col = "Definition", at = "html" },
   { "source", "text", "what stamped the frames", null = true },
   { "error_bound_ns", "number", "how far a timestamp may be off", null = true },
   LOST, TRIALS,
}, verdict.ROWS, {
   { "every_frame_latency", trial.SIGNED_LATENCY, "of every frame of all streams", null = true },
   { "calibration", trial.CALIBRATION, "what is known of the tester's own latency" },
   { "tester_min_ns", "signed", "with a current calibration: the minimum time a frame of this size takes through the tester alone", null = true },
})

M.FRAME_LOSS = record("frame_loss", "The share of the frames lost at each load, highest first (RFC 2544, 26.3)", HEAD, {
   { "load_percent", "positive", "the load, of the line; where its rate is not known, of `rfc2544.frame_loss.max`", id = "%s %% load", as = "number" },
   THEORETICAL,
   { "intended_fps", "positive", "the load asked for" }, { "offered_fps", "number", "the load really sent" },
   { "tx", "count", "frames sent in this direction" }, { "rx", "count", "frames received" }, { "lost",
      "count", "frames lost" },
   { "loss_ratio", "ratio", "`lost` / `tx`", col = "Loss", unit = "% at full load", at = "summary",
      better = "<=", uncertainty = uncertainty.loss, n = "tx" },
   { "trial_s", "positive", "length of the trial" }, { "trial", "ordinal", "its number" },
}, verdict.ROWS)

M.BACK_TO_BACK = record("back_to_back", "The longest burst without loss (RFC 2544, 26.4, and RFC 9004)",
   HEAD, {
   THEORETICAL,
   { "throughput_fps", "number", "what the direction carries; `not-applicable` where that is the line's maximum", null = true },
   source("throughput_source", "where the throughput"),
   { "repetitions", "ordinal", "how often the longest burst was searched for", col = "Searches",
      at = "html" },
   { "step_frames", "ordinal", "the search ends this close to the answer", col = "Step", at = "html" },
   { "limit_frames", "ordinal", "the longest burst it may try", col = "Limit", at = "html" },
   { "burst_mean_frames", "number", "mean of the longest bursts that lost no frame: the benchmark",
      null = true, col = "Burst", unit = "frames", as = "frames1", at = "terminal html summary",
      bound = ">=", better = ">=", uncertainty = uncertainty.burst, n = "repetitions" },
   { "burst_min_frames", "number", "the minimum of them", null = true, col = "min", at = "terminal html",
      bound = "exact", better = ">=" },
   { "burst_max_frames", "number", "the maximum of them", null = true, col = "max", at = "terminal html",
      bound = "exact", better = ">=" },
   { "burst_stddev_frames", "number", "their deviation", null = true, col = "Deviation", as = "frames1",
      at = "terminal html", bound = "exact", n = "repetitions" },
   { "buffer_time_ns", "number", "implied buffer time, `burst_mean_frames` / `theoretical_fps`", null = true,
      col = "Buffer time", unit = "implied, µs", at = "terminal html", bound = ">=", better = ">=" },
   { "buffer_time_corrected_ns", "number", "that times (1 - `throughput_fps` / `theoretical_fps`): without the frames that left while the burst came in. Times `theoretical_fps` it is the buffer in frames",
      null = true, col = "Buffer time", unit = "corrected, µs", at = "terminal html summary", bound = ">=",
      better = ">=" },
   { "near_limit", "boolean", "whether a burst came within a tenth of the limit; the row is then `invalid`, the limit too low", null = true },
   TRIALS,
}, verdict.ROWS)

M.SYSTEM_RECOVERY = record("system_recovery", "How long the device goes on losing frames after an overload (RFC 2544, 26.5)",
   HEAD, {
   THEORETICAL,
   { "throughput_fps", "number", "what the direction carries; `not-applicable` where that is the line's maximum", null = true, col = "Throughput", at = "terminal html" },
   source("throughput_source", "where the throughput"),
   { "overload_fps", "number", "110 % of it or what the line carries", null = true, col = "Overload",
      at = "terminal html" },
   { "relief_fps", "number", "half of that, the load afterwards", null = true, col = "then", at = "html" },
   { "overload_s", "positive", "for how long the overload was sent" },
   { "watch_s", "positive", "for how long the load afterwards was sent" },
   REPETITIONS,
   { "recovery_mean_ns", "number", "from the end of the overload to when the last lost frame was due; the mean. 0: none was lost after it", null = true, col = "Recovery", as = "ms",
      at = "terminal html summary", better = "<=", uncertainty = uncertainty.recovery, n = "repetitions" },
   { "recovery_min_ns", "number", "the minimum", null = true, col = "min", as = "ms", at = "terminal html" },
   { "recovery_max_ns", "number", "the maximum", null = true, col = "max", as = "ms", at = "terminal html" },
   { "recovery_stddev_ns", "number", "their deviation", null = true, col = "Deviation", as = "ms",
      at = "html", n = "repetitions" },
   { "resolution_ns", "number", "time between two frames after the overload: no figure is finer",
      null = true, col = "Resolution", as = "time", at = "html" },
   LOST, TRIALS,
}, verdict.ROWS)

M.RESET = record("reset", "How long the device is out of service after a reset (RFC 2544, 26.6, and RFC 6201), with the smallest frame size of the plan", HEAD, {
   THEORETICAL,
   { "rate_fps", "number", "the load", null = true, col = "Load", at = "terminal html" },
   { "rate_percent", "number", "its share of the line", null = true },
   source("rate_source", "where the load"),
   { "by", { "reference device", "command", "person" }, "who reset the device", col = "Reset by",
      at = "terminal html" },
   { "command_status", "integer", "exit status of the command; where it failed the row is `invalid`",
      null = true },
   { "after_s", "number", "when it was reset" }, { "watch_s", "positive", "how long it was watched" },
   REPETITIONS,
   { "effect", { "reset", "no loss" }, "`no loss` when not a frame was lost", null = true, col = "Effect",
      at = "terminal html" },
   rows.with({ LOST }, { lost = { at = "terminal html" } })[1],
   { "reset_ns", "number", "the figure: by loss; by timestamps where the tester could not go on sending",
      null = true, col = "Reset", as = "ms", at = "html summary", better = "<=",
      uncertainty = uncertainty.reset },
   { "reset_by_loss_ns", "number", "`lost` / `rate_fps`, the mean", null = true, col = "by loss", as = "ms",
      at = "terminal html" },
   { "reset_by_timestamps_ns", "number", "longest time between two arrivals less the time between two frames, the mean",
      null = true, col = "by timestamps", as = "ms", at = "terminal html" },
   { "reset_stddev_ns", "number", "deviation of the figure between repetitions", null = true,
      col = "Deviation", as = "ms", at = "html", n = "repetitions" },
   { "resolution_ns", "number", "time between two frames", null = true, col = "Resolution", as = "time",
      at = "html" },
   rows.with({ TRIALS }, { trials = { at = "" } })[1],
}, verdict.ROWS)

-- "16 frames every 17.78 us"
local function bursts(row)
   return row.interval_ns and ("%s every %s us"):format(format.count(row.burst_frames),
      format.decimal(row.interval_ns / 1e3, 2))
      or ("%d: none found"):format(row.burst_frames)
end

M.BURSTY_TRAFFIC = record("bursty_traffic", "The shortest interval of bursts without loss, for each burst length (RFC 2544, 21). A port sends bursts at the minimum gap; directions that start from one port take turns, burst by burst. An interval reaches from the first frame of one burst to the first frame of the next and is a whole number of frame times of the line", HEAD, {
   { "burst_frames", "ordinal", "frames of a burst", col = "Burst", id = "bursts of %s frames",
      better = false },
   { of = bursts, col = "Bursts", unit = "frames", at = "summary" },
   { "theoretical_fps", "positive", "as above" },
   { "interval_frames", "ordinal", "the shortest interval at which the direction lost no frame in a trial of full length, in frame times of the line; null when even the longest lost some: then the burst is longer than the device holds", null = true, col = "Interval", unit = "frame times",
      at = "html", better = false },
   { "interval_ns", "positive", "the same in time", null = true, col = "Interval", at = "terminal html",
      bound = "<=", sought = true, better = "<=", uncertainty = uncertainty.interval },
   { "gap_ns", "number", "the pause: from the end of one burst to the next (inter-burst gap, RFC 2285, 3.4.3); 0 where the device carries the line", null = true, col = "Pause", at = "terminal html",
      bound = "exact" },
   { "load_mean_fps", "positive", "the load bursts come to at that interval", null = true, col = "Mean load",
      at = "terminal html", bound = ">=" },
   { "load_mean_percent", "positive", "its share of the line", null = true, col = "of line", as = "share",
      at = "terminal html", bound = "exact" },
   { "interval_failed_frames", "ordinal", "the longest interval below it that lost frames; null when the shortest possible lost none", null = true, col = "Lost at", unit = "frame times", at = "html",
      better = false },
   { "resolution_percent", "positive", "how near the two had to come, if not to one frame time" },
   { "limit_s", "positive", "the longest pause that was tried" },
   { "trial_s", "positive", "length of the deciding trials; they last whole intervals, and two at least" },
   { "lower_trial", "ordinal", "number of the trial that passed", null = true },
   { "upper_trial", "ordinal", "number of the trial that failed", null = true },
   TRIALS,
}, verdict.ROWS)

local function measured(row)
   return row.throughput_fps and ("%.0f frames/s"):format(math.floor(row.throughput_fps)) or "no load passed"
end

-- Tests in the order of RFC 2544 section 26, then bursty traffic (section 21).
local TESTS = {
   { "throughput", "Throughput", "RFC 2544, section 26.1", M.THROUGHPUT },
   { "latency", "Latency", "RFC 2544, section 26.2", M.LATENCY },
   { "frame_loss", "Frame loss rate", "RFC 2544, section 26.3", M.FRAME_LOSS },
   { "back_to_back", "Back-to-back frames", "RFC 2544, section 26.4; RFC 9004", M.BACK_TO_BACK },
   { "system_recovery", "System recovery", "RFC 2544, section 26.5", M.SYSTEM_RECOVERY },
   { "reset", "Reset", "RFC 2544, section 26.6; RFC 6201", M.RESET },
   { "bursty_traffic", "Bursty traffic", "RFC 2544, section 21", M.BURSTY_TRAFFIC },
}

local published = {}
M.TABLES = {}
for i, test in ipairs(TESTS) do
   local name, title, reference, of = unpack(test)
   M.TABLES[i] = {
      name = name, title = title, reference = reference, record = of, asked = "modifier",
      rows = function(results) return results[name] or {} end, measured = name == "throughput" and measured
         or nil,
   }
   published[i] = { name, list(of), title:lower() .. ", a row for each frame size and direction",
      optional = true }
end

M.RESULTS = record("rfc2544", "results of RFC 2544's tests, those that were made", published)
M.TRIAL = trial.TRIAL

return M
