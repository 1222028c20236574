-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows of a mesh: a row for each direction of each pair (framegauge.text.rows).
local components = require "framegauge.trial.components"
local rows = require "framegauge.text.rows"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.trial.result"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, record = rows.list, rows.record

-- The share of the frames that is lost at this load however long it lasts.
local function of_loss(row, run)
   local one = run.trial[row.trial or 0]
   local counts = one and tables.find(one.directions, "direction", row.direction)
   return counts and components.loss_ratio(row.loss_ratio, counts, one.duration_s)
end

M.CELL = record("mesh_cell", "one direction of a pair of ports. Figures are the trial's; without one nothing was measured, and `reasons` says why", {
   { "direction", "text", "`from->to`, its ports", col = "Direction", id = "%s" },
   { "from", "text", "the port that sends" },
   { "to", "text", "the port that receives" },
   { "round", "ordinal", "in which round", col = "Round", as = "number", at = "html" },
   { "again", "boolean", "whether the pair was asked once more, at the end", optional = true },
   { "frame_size", "ordinal", "bytes with FCS" },
   { "duration_s", "positive", "how long it was sent", null = true },
   { "line_fps", "positive", "frames per second of the slower line of the pair", null = true },
   { "throughput_fps", "number", "highest load without loss", null = true },
   { "throughput_percent", "number", "its share of the line",
      null = true, col = "Throughput", unit = "% of line", at = "terminal html summary", hidden = true, bound = ">=" },
   { "throughput_l2_mbps", "number", "its bits with FCS", null = true },
   { "shared", "boolean", "whether frames were lost while all pairs of the round had their throughputs at once", optional = true },
   { "offered_fps", "number", "frames per second that really left", null = true, col = "Load",
      at = "html" },
   { "offered_percent", "number", "their share of the line", null = true, col = "Load",
      unit = "% of line", at = "terminal html summary" },
   { "received_l2_mbps", "number", "bits of the frames that arrived (FCS included), over the duration",
      null = true, col = "Received", at = "html" },
   { "tx", "count", "frames sent", null = true, col = "Sent", unit = "frames", at = "html" },
   { "rx", "count", "different frames received", null = true, col = "Received", unit = "frames",
      at = "html" },
   { "lost", "count", "frames lost", null = true, col = "Lost", unit = "frames", at = "terminal html" },
   { "loss_ratio", "ratio", "their share of those sent", null = true, col = "Loss",
      at = "terminal html summary", better = "<=",
      uncertainty = of_loss, n = "tx" },
   { "duplicates", "count", "further copies received", null = true },
   { "reordered", "count", "frames out of order by RFC 4737; null where that is not known", null = true },
   { "latency.mean_ns", col = "Delay", unit = "mean, µs", at = "terminal html summary",
      criterion = "delay" },
   { "latency", trial.LATENCY, "of every frame; null when nothing arrived, or the clocks do not tell",
      null = true },
   { "no_latency", "text", "why there is no latency", optional = true },
   { "trial", "ordinal", "number of the trial, with the evidence; null: not measured", null = true },
}, verdict.ROWS)

M.TABLES = { {
   name = "mesh", title = "Pairs", record = M.CELL, suite = "pairs",
   rows = function(results) return results.mesh or {} end,
} }

M.RESULTS = record("mesh_results", "results of the test mesh", {
   { "mesh", list(M.CELL), "a row for each direction of each pair", optional = true },
})

local DIRECTION = record("mesh_direction", "counts of one direction of a trial, and its own verdict",
   trial.DIRECTION.rows, verdict.OF_TRIAL)

M.TRIAL = record("mesh_trial", "one trial of a mesh, also one line of trials.jsonl",
   rows.with(trial.TRIAL.rows, {
      directions = { "directions", list(DIRECTION, { least = 1 }),
         "counts of each direction, each with its own verdict" },
   }))

return M
