-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows of active OAM: a row for each session (framegauge.text.rows).
local rows = require "framegauge.text.rows"
local trial = require "framegauge.trial.result"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, record = rows.list, rows.record

-- A time between two clocks can be negative.
local function delay(name, help, heading)
   return record(name, help, {
      { "min_ns", "signed", "the minimum", col = heading .. " min", as = "time", at = "html" },
      { "mean_ns", "signed", "the mean", col = "mean", as = "time", at = "html csv", n = "received" },
      { "p50_ns", "signed", "half of them do not exceed it", col = heading .. " p50", as = "time",
        at = "terminal html summary", n = "received" },
      { "p99_ns", "signed", "99 % of them", col = "p99", as = "time", at = "terminal html", n = "received" },
      { "p999_ns", "signed", "99.9 % of them", n = "received" },
      { "max_ns", "signed", "the maximum", col = "max", as = "time", at = "terminal html summary",
        n = "received" },
   })
end

local SETTING = record("oam_setting", "how a session was", {
   { "peer", "text", "the reflector" },
   { "count", "ordinal", "probes" }, { "interval_s", "positive", "from one to the next" },
})

local WRONG = record("oam_wrong", "what breaks the standard in replies", {
   { "what", "text", "in words" }, { "count", "ordinal", "replies" },
})

-- Counters of a service, over the messages that were answered.
local function way(name, words)
   return {
      { name .. "_sent", "count", "its frames that were sent " .. words .. " from the first answered probe to the last one" },
      { name .. "_lost", "signed", "frames that did not come; below 0 where frames came that were not counted as sent",
        col = "Service " .. words, unit = "lost", at = "terminal html", better = "<=" },
      { name .. "_loss_ratio", "number", "their share", n = name .. "_sent", better = "<=" },
      { name .. "_most_lost", "signed", "the most from one answered probe to the next", better = "<=" },
   }
end

local SERVICE = record("oam_service", "what LMM and LMR have counted of a service", way("forward", "there"),
   way("backward", "back"))

local FIGURES = {
   { "sent", "count", "probes sent", col = "Sent", at = "terminal html summary" },
   { "received", "count", "probes whose reply came within the timeout", col = "Received", at = "html",
      better = false },
   { "lost", "count", "the others", col = "Lost", at = "terminal html summary" },
   { "loss_ratio", "ratio", "share of the probes that was lost", n = "sent" },
   { "loss_lower_ratio", "ratio", "least loss ratio of the path that is possible with 95 % (Clopper, Pearson)", n = "sent" },
   { "loss_upper_ratio", "ratio", "greatest one", col = "Loss at most", as = "ratio", at = "html",
      n = "sent" },
   { "forward_lost", "count", "probes lost on the way there, by the reflector's own count; null where it has none, and where probes were duplicated", null = true, col = "there", at = "terminal html" },
   { "backward_lost", "count", "replies lost on the way back", null = true, col = "back",
      at = "terminal html" },
   { "undecided_lost", "count", "lost after the last reply: on which way is not known", null = true },
   { "service", SERVICE, "of `loss`: frames of the service, by the counters of both ends; null elsewhere", null = true },
   { "duplicates", "count", "further replies", col = "Duplicated", at = "html" },
   { "reordered", "count", "replies behind that to a later probe", col = "Reordered", at = "html" },
   { "late", "count", "replies that came after the timeout; they are lost", col = "Late", at = "html",
      better = "<=" },
   { "stateful", "boolean", "whether the reflector counts by itself; null where its messages have no number",
      null = true },
   { "round_trip", delay("oam_round_trip", "delay there and back, without the time in the reflector where it tells that", "Round trip"), "delay there and back", null = true },
   { "forward", delay("oam_forward", "delay on the way there", "Forward"), "delay on the way there; null where clocks do not allow it, see one_way", null = true },
   { "backward", delay("oam_backward", "delay on the way back", "Backward"), "delay on the way back",
      null = true },
   { "turnaround", record("oam_turnaround", "time in the reflector, by its own clock", {
      { "min_ns", "signed", "the minimum" }, { "mean_ns", "signed", "the mean", n = "received" },
      { "p50_ns", "signed", "half of them", col = "Turnaround p50", as = "time", at = "html",
        n = "received" },
      { "p99_ns", "signed", "99 % of them", n = "received" },
      { "p999_ns", "signed", "99.9 % of them", n = "received" },
      { "max_ns", "signed", "the maximum", col = "max", as = "time", at = "html" },
   }), "time in the reflector, by its own clock", null = true },
   { "forward_variation_ns", "number", "99th percentile of the delay there less the least one, which does not depend on how far clocks are apart", null = true, col = "Variation there", as = "time",
      at = "html" },
   { "backward_variation_ns", "number", "and on the way back", null = true, col = "back", as = "time",
      at = "html" },
   { "one_way", "text", "`measured`, or why one-way delays are withheld, with what mends it" },
   { "one_way_error_ns", "number", "bound of the error of one-way delays: both clocks and both timestamps",
      null = true, col = "One way within", as = "time", at = "html" },
   { "stamp_error_ns", "number", "how late a timestamp of the tester may be: the longest gap between two polls" },
   { "clock_offset_ns", "signed", "by how much the reflector's clock is ahead, if both ways took as long for the fastest probe; null where both ends have one clock", null = true },
   { "clock_offset_error_ns", "number", "bound of its error: half that probe's round trip", null = true },
   { "ttl_min", "count", "minimum TTL or hop limit with which probes arrived; null where it is not told",
      null = true, col = "TTL", unit = "there", at = "html", better = false },
   { "ttl_max", "count", "maximum", null = true },
   { "wrong", list(WRONG), "what breaks the standard in replies; empty: nothing" },
}

M.ROW = record("oam", "A session of probes and replies", {
   { "test", "text", "stamp, twamp_light, loopback, delay, synthetic_loss or loss", id = true, col = "Test",
      at = "terminal html summary" },
   { "frame_size", "ordinal", "bytes of a probe with FCS", id = true, col = "Frame", unit = "bytes",
      at = "terminal html summary" },
   { "direction", "text", "from which port to which reflector", id = true, col = "Direction",
      at = "terminal html summary" },
   { "trial", "ordinal", "number of its trial", col = "Trial", at = "html" },
}, FIGURES, verdict.ROWS)

M.TRIAL = record("oam_trial", "one session, also one line of trials.jsonl", trial.HEAD,
   verdict.OF_TRIAL, { { "setting", SETTING, "how it was" } }, FIGURES, {
   { "tester_drops", "count", "frames that the tester's ports lost" },
   { "refused", "count", "times that a port did not take a frame at once" }, trial.CARDS,
})

M.TABLES = { {
   name = "oam", title = "Active OAM", record = M.ROW, rows = function(results) return results.oam or {} end,
   passes = "a reply came, and no reply broke the standard",
} }

M.RESULTS = record("oam_results", "results of active OAM", {
   { "oam", list(M.ROW), "a row for each session", optional = true },
})

return M
