-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows of the test traffic: a row for each stream of the plan (framegauge.text.rows).
local rows = require "framegauge.text.rows"
local trial = require "framegauge.trial.result"
local uncertainty = require "framegauge.methods.traffic.uncertainty"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, record = rows.list, rows.record

local HEAD = {
   { "stream", "text", "its name", col = "Stream", id = "%s" },
   { "direction", "text", "`from->to`, its ports", col = "Direction", id = "%s" },
}

-- Frames of a map of counts.
local function total(counts)
   local sum = 0
   for _, frames in pairs(counts or {}) do
      sum = sum + frames
   end
   return sum
end

M.STREAM = record("stream", "What became of a stream of the plan, sent for `traffic.duration` at once with all others", HEAD, {
   { "frame_size", "positive", "bytes with FCS; of several sizes the mean", col = "Frame",
      unit = "bytes", at = "terminal summary" },
   { "duration_s", "positive", "how long the streams were sent" },
   { "intended_fps", "number", "frames per second that were planned" },
   { "offered_fps", "number", "frames per second that really left", col = "Load", at = "terminal summary",
      uncertainty = uncertainty.load },
   { "offered_percent", "number", "share of the line that is; null when the line has no rate", null = true },
   { "offered_l1_mbps", "number", "the same with preamble and gap", col = "Layer 1",
      at = "terminal summary" },
   { "offered_l2_mbps", "number", "the same without" },
   { "received_l2_mbps", "number", "bits of the different frames that arrived, as long as they arrived (FCS included), over the duration" },
   { "tx", "count", "frames sent", col = "Sent", unit = "frames", at = "terminal loss" },
   { "rx", "count", "frames received, by sequence number, after the drain", col = "Received",
      unit = "frames", at = "loss" },
   { "lost", "count", "`tx` less `wrong_tx` less `rx`", col = "Lost", unit = "frames",
      at = "terminal summary loss" },
   { "loss_ratio", "number", "its share of `tx` less `wrong_tx`", col = "Loss",
      at = "terminal summary loss", better = "<=", uncertainty = uncertainty.loss, n = "tx" },
}, rows.with(trial.COUNTS, {
   expired = { optional = false }, wrong_tx = { optional = false }, wrong_rx = { optional = false },
}), {
   { "reordering_extent_unknown_frames", "ordinal", "late frames whose extent is not known: the maximum is then a lower bound; null without such frames", null = true },
   { of = function(row) return total(row.altered) end, col = "Altered", unit = "frames", as = "count",
      at = "loss amiss" },
   { of = function(row) return total(row.measured and row.measured.misdirected) end, col = "Misdirected",
      unit = "frames",
      as = "count", at = "loss amiss" },
   { "latency.mean_ns", col = "Latency", unit = "mean, µs", at = "terminal summary",
      uncertainty = uncertainty.delay },
   { "latency", trial.LATENCY, "of every frame; null when nothing arrived", null = true },
   { "trial", "ordinal", "number of the trial, with the evidence" },
}, verdict.ROWS)

--- Errors on purpose, a row for each kind of each stream.
M.ERRORS = record("stream_errors", "errors on purpose of all streams, in errors.csv", HEAD, trial.ERROR.rows)

M.TABLES = { {
   name = "traffic", title = "Streams", record = M.STREAM, suite = "streams",
   rows = function(results) return results.traffic or {} end,
} }

--- All errors on purpose of a result.
function M.errors(results)
   local found = {}
   for _, row in ipairs(results.traffic or {}) do
      for _, one in ipairs(row.errors or {}) do
         found[#found + 1] = setmetatable({ stream = row.stream, direction = row.direction },
            { __index = one })
      end
   end
   return found
end

M.RESULTS = record("traffic_results", "results of the test traffic", {
   { "traffic", list(M.STREAM), "a row for each stream", optional = true },
})
M.TRIAL = trial.TRIAL

return M
