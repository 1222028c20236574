-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows of a characterisation: what the device is, a row for each direction, and what its model
-- predicted of trials that it was not fitted to (framegauge.text.rows).
local format = require "framegauge.text.format"
local rows = require "framegauge.text.rows"
local trial = require "framegauge.trial.result"
local uncertainty = require "framegauge.trial.uncertainty"
local units = require "framegauge.text.units"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, record = rows.list, rows.record

-- How a value is written, by its unit.
local WRITTEN = {
   fps = format.count, bps = function(value) return units.format_bits(value) end, frames = format.count,
   bytes = format.count, ns = format.nanoseconds, addresses = format.count,
   ratio = function(value) return value == 0 and "0" or ("%.3g %%"):format(value * 100) end,
}

-- A parameter with its range, in a unit: an object, null where it is not told.
-- @param n  key of the count on which it rests
local function estimate(unit, type, name, n)
   return record(name or "estimate_" .. unit, "a parameter of the device, and between what bounds it is", {
      { unit, type, "what the model has; null where only a bound is known", null = true, n = n },
      { "min_" .. unit, type, "it is not less" },
      { "max_" .. unit, type, "it is not more; null: nothing bounds it", null = true },
      { "coverage", "ratio", "how often the bounds hold the truth: 1 where they follow from whole frames" },
   })
end

local OF_UNIT = {
   fps = estimate("fps", "number"), bps = estimate("bps", "number"), frames = estimate("frames", "count"),
   addresses = estimate("addresses", "count"),
   bytes = estimate("bytes", "count"), ns = estimate("ns", "number"),
   ratio = estimate("ratio", "ratio", nil, "rest_tx"),
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

local SHOWN = { fps = "frames/s", frames = "frames", bytes = "bytes",
   addresses = "addresses" } -- below a heading

-- How a value is written beside its unit, for `compare`.
local KINDS = { addresses = "count",
   fps = "fps", bps = "bits", frames = "frames", bytes = "bytes", ns = "time", ratio = "loss" }

-- The bounds of a parameter as its uncertainty, so that two devices can be compared: function(row).
local function bounds(key, unit)
   return function(row)
      local one = row[key]
      local value, high = one[unit], one["max_" .. unit] or math.huge
      return uncertainty.of(value, { { name = unit == "ratio" and "sample" or "resolution",
         type = unit == "ratio" and "A" or "B", below = value - one["min_" .. unit], above = high - value,
         coverage = one.coverage, source = "the trials that the model was fitted to" } })
   end
end

local DETAIL = "terminal html" -- not in the summary

local NAMED = { base_latency = "latency" } -- in criteria

-- A figure, the column that shows it with its range, and the bound that a criterion asks for.
-- @param better  as in framegauge.methods.common.figures
local function parameter(key, unit, help, col, at, better)
   return { key, OF_UNIT[unit], help, null = true }, {
      col = col, unit = SHOWN[unit], as = "plain", at = at or "terminal summary html",
      hidden = true,
      of = function(row)
         return row[key] and M.text(row[key], unit)
      end,
   }, {
      key .. "." .. unit, col = col, as = KINDS[unit], better = better, criterion = false,
      uncertainty = bounds(key, unit),
   }, {
      key .. (better == "<=" and ".max_" or ".min_") .. unit, as = KINDS[unit], better = better,
      criterion = better ~= "either" and (NAMED[key] or key) or nil, plain = unit == "fps",
      coverage = function(row) return row[key] and row[key].coverage or 0 end,
   }
end

local LIMITS = { "line", "load", "frames", "bits", "both", "policer", "shaper", "linear", "unclear", "other" }
local BUFFERS = { "frames", "bytes", "cells", "unclear", "other" }
local JITTERS = { "none", "uniform", "normal", "exponential", "pareto", "other" }
local TOGETHER = { "independent", "shared", "not tried" }

-- How a limit is called in a table.
local CALLED = { frames = "frame rate", bits = "bit rate", both = "frame rate and bit rate" }

--- What limits a direction, in words.
function M.limit(row)
   return CALLED[row.limit] or row.limit
end

local function words(key, values, help, col, at)
   return { key, values, help, null = true, col = col, as = "plain", at = at or "html" }
end

-- A parameter is both a figure and a column, so each has its own list.
M.DIRECTION = record("characterisation", "What was found of the device in one direction", {
   { "direction", "text", "`from->to`", col = "Direction", id = "%s" },
   words("limit", LIMITS, "what its rate is limited by: nothing but the `line`; nothing that the `load` of `max` met, and of more nothing is known; `frames` per second; `bits` per second; `both`; a `policer`; a `shaper`, which lets frames wait for tokens; a time for each frame and each byte (`linear`); `unclear` where several of them explain the trials, `other` where none does",
      nil, ""),
   { of = M.limit, col = "Limited by", as = "plain", at = "terminal summary html" },
}, {
   parameter("capacity", "fps", "frames it can forward; with a bound only below: what it was seen to carry",
      "Capacity", nil, ">="),
}, {
   parameter("bandwidth", "bps", "bits it can forward, of what `counted` says", "Bandwidth", nil, ">="),
}, {
   parameter("time_per_frame", "ns", "`linear`: the part of a frame's service time that is the same for all",
      "Time per frame", DETAIL, "<="),
}, {
   parameter("time_per_byte", "ns", "`linear`: the part for each byte", "Time per byte", DETAIL, "<="),
}, {
   parameter("cir", "bps", "`policer`, `shaper`: committed information rate, bits of what `counted` says",
      "CIR", DETAIL, ">="),
}, {
   parameter("cbs", "bytes", "`policer`, `shaper`: committed burst size", "CBS", DETAIL, "either"),
}, {
   words("counted", { "frame", "without FCS", "layer 3", "layer 1", "unclear" }, "what of a frame counts in a limit of bits: with FCS (`frame`), without it, from the IP header on, or with preamble and gap; `unclear` where several explain the rates",
      "Counted"),
}, {
   words("buffer_unit", BUFFERS, "what the buffer holds: `frames`, `bytes`, or `cells` of memory", nil),
   { "buffer_cell_bytes", "ordinal", "`cells`: a frame takes whole cells of this size", null = true },
}, {
   parameter("buffer", "frames", "frames that can wait, besides the one that is forwarded", "Buffer", nil,
      ">="),
}, {
   parameter("buffer_memory", "bytes", "bytes that can wait", "Buffer", nil, "either"),
}, {
   words("switching", { "store-and-forward", "cut-through", "unclear" }, "`store-and-forward` where the delay grows with the frame as the line's time does, or more: a device that cuts through and needs as long for a byte cannot be told from it; `unclear` where it may grow so or less", "Switching"),
}, {
   parameter("base_latency", "ns", "time a frame spends in it besides waiting: from the last bit in (`cut-through`: from the header; `unclear`: bounds hold both) to the first bit out", "Latency", nil, "<="),
}, {
   parameter("latency_per_byte", "ns", "further time for each byte", "Latency per byte", DETAIL, "<="),
}, {
   words("jitter", JITTERS, "distribution of further delay at a low load that comes nearest", "Jitter"),
   { "jitter_mean_ns", "number", "its mean, above the shortest delay", null = true, col = "Mean jitter",
      as = "time", at = "html", n = "jitter_frames" },
   { "jitter_frames", "count", "frames of the smallest size whose delay was measured there", null = true },
   { "rest_tx", "count", "frames sent at a low load, of all sizes", null = true },
}, {
   parameter("loss", "ratio", "share of frames lost at a low load, as if independent", "Loss at low load",
      DETAIL, "<="),
}, {
   parameter("recovery", "ns", "for how long after an overload it goes on losing frames; null where it cannot be overloaded, or where that differs from trial to trial", "Recovery", DETAIL, "<="),
}, {
   words("both_ways", TOGETHER, "whether it forwards less when the other direction is overloaded, too",
      "Directions"),
   { "trials", "count", "trials of this direction", col = "Trials", as = "number", at = "html" },
   { "remarks", list "text", "what the model does not explain, and what no trial could tell" },
}, verdict.ROWS)

M.PREDICTION = record("prediction", "A trial that the model was not fitted to, and what it predicted", {
   { "direction", "text", "`from->to`", col = "Direction", id = "%s" },
   { "frame_size", "ordinal", "bytes with FCS", col = "Frame", unit = "bytes",
      id = "%s bytes" },
   { "load", { "overload", "step", "below" }, "the highest load throughout; a `step` of it, longer than the buffer lasts, within half of the capacity; or `below` the capacity throughout",
      col = "Load", id = "%s" },
   { "tx", "count", "frames sent", col = "Sent", unit = "frames", at = "html" },
   { "rx", "count", "frames received", col = "Received", unit = "frames", at = "terminal html" },
   { "rx_predicted_min", "count", "the model's minimum", col = "Predicted", unit = "from", at = "terminal html",
      as = "count" },
   { "rx_predicted_max", "count", "the model's most", col = "Predicted", unit = "to", at = "terminal html",
      as = "count" },
   { "delay_max_ns", "number", "longest delay", null = true, col = "Longest delay", as = "time",
      at = "html" },
   { "delay_predicted_min_ns", "number", "the model's minimum; null with jitter", null = true,
      col = "Predicted",
      unit = "delay from", as = "time", at = "html" },
   { "delay_predicted_max_ns", "number", "the model's most", null = true, col = "Predicted", unit = "delay to",
      as = "time", at = "html" },
   { "holds", "boolean", "whether both lie within; null where the trial is not `valid`, which proves nothing",
      null = true },
   { col = "Confirmed", as = "plain", at = "terminal html summary", none = "not decided", of = function(row)
      return row.holds and "yes" or row.holds == false and "no" or nil
   end },
   { "trial", "ordinal", "number of the trial" },
}, verdict.ROWS)

M.MAC_TABLE = record("mac_table", "The table of addresses of a switch, of a plan with three ports", {
   { "ports", "text", "the port that asked, the one behind which the addresses were, and the one that saw floods", col = "Ports", id = "%s" },
   { "learns", "boolean", "whether it knew addresses that it had heard; null: not told", null = true },
}, {
   parameter("addresses", "addresses", "that it holds, with the three ports' own", "Addresses", nil, ">="),
}, {
   parameter("ageing", "ns", "after which it forgets an address that it does not hear", "Ageing", nil,
      "either"),
}, {
   parameter("learning", "fps", "addresses that it learns a second", "Learning", nil, ">="),
}, {
   parameter("learning_queue", "addresses", "that may wait to be learned", "Waiting", DETAIL, "either"),
}, {
   words("when_full", { "keeps", "evicts", "unclear" }, "`keeps`: a full table learns none; `evicts`: it forgets others for them; null where it was not full", "When full"),
   { "trials", "count", "of the table", col = "Trials", as = "number", at = "html" },
   { "remarks", list "text", "what no trial could tell" },
}, verdict.ROWS)

M.TABLES = {
   { name = "characterisation", title = "Device model", record = M.DIRECTION, by_place = true,
      rows = function(results) return results.characterisation or {} end },
   { name = "predictions", title = "What its model predicts", record = M.PREDICTION,
      rows = function(results) return results.predictions or {} end },
   { name = "mac_table", title = "Its table of addresses", record = M.MAC_TABLE, by_place = true,
      rows = function(results) return results.mac_table or {} end },
}

M.RESULTS = record("characterise_results", "results of a characterisation", {
   { "characterisation", list(M.DIRECTION), "a row for each direction", optional = true },
   { "predictions", list(M.PREDICTION), "a row for each trial that was held out", optional = true },
   { "mac_table", list(M.MAC_TABLE), "a row, of a plan with three ports", optional = true },
})

--- Trials of frames.
M.TRIAL = trial.TRIAL

return M
