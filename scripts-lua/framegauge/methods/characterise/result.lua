-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows of a characterisation: what the device is, a row for each direction, and what its model
-- predicted of trials that it was not fitted to (framegauge.text.rows).
local format = require "framegauge.text.format"
local rows = require "framegauge.text.rows"
local trial = require "framegauge.trial.result"
local units = require "framegauge.text.units"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, record = rows.list, rows.record

-- How a value is written, by its unit.
local WRITTEN = {
   fps = format.count, bps = function(value) return units.format_bits(value) end, frames = format.count,
   bytes = format.count, ns = format.nanoseconds,
   ratio = function(value) return value == 0 and "0" or ("%.3g %%"):format(value * 100) end,
}

-- A parameter with its range, in a unit: an object, null where it is not told.
local function estimate(unit, type, name)
   return record(name or "estimate_" .. unit, "a parameter of the device, and between what bounds it is", {
      { unit, type, "what the model has; null where only a bound is known", null = true },
      { "min_" .. unit, type, "it is not less" },
      { "max_" .. unit, type, "it is not more; null: nothing bounds it", null = true },
      { "coverage", "ratio", "how often the bounds hold the truth: 1 where they follow from whole frames" },
   })
end

local OF_UNIT = {
   fps = estimate("fps", "number"), bps = estimate("bps", "number"), frames = estimate("frames", "count"),
   bytes = estimate("bytes", "count"), ns = estimate("ns", "number"), ratio = estimate("ratio", "ratio"),
}

--- An estimate as a person reads it.
-- @usage result.text({ ns = 5000, min_ns = 4999, max_ns = 5001 }, "ns") --> 5 us (4.999 us to 5.001 us)
-- @usage result.text({ min_frames = 7 }, "frames") --> ≥ 7
function M.text(value, unit)
   local write = WRITTEN[unit]
   local low, high = value["min_" .. unit], value["max_" .. unit]
   if not high then
      return "≥ " .. write(low)
   elseif value[unit] == 0 and low == 0 and high > 0 then
      return "0, at most " .. write(high)
   elseif not value[unit] then
      return write(low) .. " to " .. write(high)
   end
   local a, b, text = write(low), write(high), write(value[unit])
   return a == b and text or ("%s (%s to %s)"):format(text, a, b)
end

local SHOWN = { fps = "frames/s", frames = "frames", bytes = "bytes" } -- below a heading

local DETAIL = "terminal html" -- not in the summary

-- A figure, and the column that shows it with its range.
local function parameter(key, unit, help, col, at)
   return { key, OF_UNIT[unit], help, null = true }, {
      col = col, unit = SHOWN[unit], as = "plain", at = at or "terminal summary html",
      hidden = true,
      of = function(row)
         return row[key] and M.text(row[key], unit)
      end,
   }
end

local LIMITS = { "line", "frames", "bits", "both", "policer", "linear", "unclear", "other" }
local BUFFERS = { "frames", "bytes", "cells", "unclear", "other" }
local JITTERS = { "none", "uniform", "normal", "exponential", "pareto", "other" }
local TOGETHER = { "independent", "shared", "not tried" }

local function words(key, values, help, col, at)
   return { key, values, help, null = true, col = col, as = "plain", at = at or "html" }
end

-- Rows of one figure each, and pairs of a figure and its column, in one list.
local function flat(...)
   local out = {}
   for _, one in ipairs { ... } do
      for _, row in ipairs(one[1] and type(one[1]) == "table" and one or { one }) do
         out[#out + 1] = row
      end
   end
   return out
end

M.DIRECTION = record("characterisation", "What the device is in one direction", flat(
   { "direction", "text", "`from->to`", col = "Direction", id = "%s" },
   words("limit", LIMITS, "what its rate is limited by: nothing but the `line`; `frames` per second; "
      .. "`bits` per "
      .. "second; `both`; a `policer`; a time for each frame and each byte (`linear`); `unclear` where "
      .. "several "
      .. "of them explain the trials, `other` where none does", "Limited by", "terminal summary html"),
   { parameter("capacity", "fps", "frames it can forward; with a bound only below: what it was seen to carry",
      "Capacity") },
   { parameter("bandwidth", "bps", "bits of frames with FCS it can forward", "Bandwidth") },
   { parameter("time_per_frame", "ns", "`linear`: the part of a frame's service time that is the same for "
      .. "all",
      "Time per frame",
      DETAIL) },
   { parameter("time_per_byte", "ns", "`linear`: the part for each byte", "Time per byte",
      DETAIL) },
   { parameter("cir", "bps", "`policer`: committed information rate, bits of frames with FCS", "CIR",
      DETAIL) },
   { parameter("cbs", "bytes", "`policer`: committed burst size", "CBS",
      DETAIL) },
   words("buffer_unit", BUFFERS, "what the buffer holds: `frames`, `bytes`, or `cells` of memory", nil),
   { parameter("buffer", "frames", "frames that can wait, besides the one that is forwarded", "Buffer") },
   { parameter("buffer_memory", "bytes", "bytes that can wait", "Buffer") },
   { "buffer_cell_bytes", "ordinal", "`cells`: a frame takes a whole number of so many bytes", null = true },
   words("switching", { "store-and-forward", "cut-through" }, "`store-and-forward` where the delay grows "
      .. "with the "
      .. "frame as the line's time does, or more: a device that cuts through and needs as long for a byte "
      .. "cannot be told from it", "Switching"),
   { parameter("base_latency", "ns", "time a frame spends in it besides waiting: from the last bit in "
      .. "(`cut-through`: from the header) to the first bit out", "Latency") },
   { parameter("latency_per_byte", "ns", "further time for each byte", "Latency per byte",
      DETAIL) },
   words("jitter", JITTERS, "distribution of further delay at a low load that comes nearest", "Jitter",
      "html"),
   { "jitter_mean_ns", "number", "its mean, above the shortest delay", null = true, col = "Mean jitter",
      as = "time", at = "html" },
   { parameter("loss", "ratio", "share of frames lost at a low load, as if independent", "Loss at rest",
      DETAIL) },
   { parameter("recovery", "ns", "for how long after an overload it goes on losing frames; null where it "
      .. "cannot "
      .. "be overloaded, or loses frames at rest", "Recovery",
      DETAIL) },
   words("both_ways", TOGETHER, "whether it forwards less when the other direction is overloaded, too",
      "Both ways"),
   { "trials", "count", "trials of this direction", col = "Trials", as = "number", at = "html" },
   { "remarks", list "text", "what the model does not explain, and what no trial could tell" }
), verdict.ROWS)

M.PREDICTION = record("prediction", "A trial that the model was not fitted to, and what it predicted", {
   { "direction", "text", "`from->to`", col = "Direction", id = "%s" },
   { "frame_size", "ordinal", "bytes with FCS", col = "Frame", unit = "bytes", as = "number", id = "%s "
      .. "bytes" },
   { "load", { "overload", "step", "below" }, "the line's rate throughout; a `step` of the line's rate, "
      .. "longer "
      .. "than the buffer lasts, within half of the capacity; or `below` the capacity throughout",
      col = "Load", id = "%s" },
   { "tx", "count", "frames sent", col = "Sent", unit = "frames", at = "html" },
   { "rx", "count", "frames received", col = "Received", unit = "frames", at = "terminal html" },
   { "rx_predicted_min", "count", "the model's least", col = "Predicted", unit = "from", at = "terminal html",
      as = "count" },
   { "rx_predicted_max", "count", "the model's most", col = "Predicted", unit = "to", at = "terminal html",
      as = "count" },
   { "delay_max_ns", "number", "longest delay", null = true, col = "Longest delay", as = "time",
      at = "html" },
   { "delay_predicted_min_ns", "number", "the model's least; null with jitter", null = true,
      col = "Predicted",
      unit = "delay from", as = "time", at = "html" },
   { "delay_predicted_max_ns", "number", "the model's most", null = true, col = "Predicted", unit = "delay "
      .. "to",
      as = "time", at = "html" },
   { "holds", "boolean", "whether both lie within" },
   { col = "Holds", as = "plain", at = "terminal html", of = function(row)
      return row.holds and "yes" or "no"
   end },
   { "trial", "ordinal", "number of the trial" },
}, verdict.ROWS)

--- What can be expected: bounds that are sure.
M.EXPECTED = {
   { "capacity.min_fps", expect = { "capacity", ">=", "number" } },
   { "bandwidth.min_bps", expect = { "bandwidth", ">=", "bits" } },
   { "buffer.min_frames", expect = { "buffer", ">=", "number" } },
   { "base_latency.max_ns", expect = { "latency", "<=", "time" } },
   { "loss.max_ratio", expect = { "loss", "<=", "ratio" } },
   { "recovery.max_ns", expect = { "recovery", "<=", "time" } },
}

M.TABLES = {
   { name = "characterisation", title = "What the device is", record = M.DIRECTION,
      rows = function(results) return results.characterisation or {} end },
   { name = "predictions", title = "What its model predicts", record = M.PREDICTION,
      rows = function(results) return results.predictions or {} end },
}

M.RESULTS = record("characterise_results", "results of a characterisation", {
   { "characterisation", list(M.DIRECTION), "a row for each direction", optional = true },
   { "predictions", list(M.PREDICTION), "a row for each trial that was held out", optional = true },
})

--- Trials of frames.
M.TRIAL = trial.TRIAL

return M
