-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows of RFC 2889: for each test a row for each frame size (framegauge.text.rows).
local patterns = require "framegauge.traffic.patterns"
local components = require "framegauge.trial.components"
local flow_control = require "framegauge.trial.flow_control"
local rows = require "framegauge.text.rows"
local suite = require "framegauge.methods.common.suite"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.trial.result"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, record = rows.list, rows.record

M.POINT = record("forwarding_point", "what the switch forwarded of a load", {
   { "iload_percent", "number", "the load of a port that was asked for, as a share of the slowest line",
      col = "Load", unit = "% of line", as = "number", at = "series", better = false },
   { "oload_fps", "number", "the load of all ports that was offered", col = "Offered", at = "series" },
   { "forwarding_fps", "number", "frames per second that arrived where they belong, over the time of sending, at most what its lines carry. A switch that holds Q frames at the end still sends these: high by at most Q over that time",
      col = "Forwarded", at = "series" },
   { "tx", "count", "frames sent; of broadcasts the copies that are due" },
   { "loss_ratio", "ratio", "share of the frames lost", col = "Loss", at = "series", n = "tx" },
   { "flood", "count", "frames at ports that they were not for", col = "Flood", unit = "frames",
      at = "series" },
   { "trial", "ordinal", "number of the trial" },
})

local LIMITS = { "maximum", "loss", "tester", "invalid", "max_trials", "time_limit" }

-- A search that ended at the rate of the line leaves nothing above it.
local function uncertain(row, run)
   local carries_line = row.limited_by == "maximum" and row.throughput_percent >= 100 - 1e-7
   local failed = components.too_much(row.upper_fps, run.trial[row.upper_trial],
      run.plan.rfc2889.learning_wait)
   return components.sustained(row.throughput_fps, run.trial[row.lower_trial], failed,
      carries_line and row.throughput_fps or nil)
end

local MESH = {
   { "test", "text", "the pattern", col = "Test", id = suite.words },
   suite.FRAME_SIZE,
   { "ports", "ordinal", "ports of the switch", col = "Ports", as = "number", at = "html" },
   { "senders", "ordinal", "how many of them send, each the same load" },
   { "addresses", "ordinal", "stations behind each port", better = false },
   { "stagger", "count", "the seed by which ports began late; 0: all at one instant" },
   { "throughput_fps", "number", "the highest load of a port without loss; null when no load passed",
      null = true, col = "Throughput", at = "terminal html summary", bound = ">=", sought = true,
      uncertainty = uncertain },
   { "throughput_percent", "number", "its share of the slowest line", null = true, col = "of line",
      as = "share", at = "terminal html summary" },
   { "upper_fps", "number", "lowest load above it that failed; null when the maximum passed", null = true,
      col = "Lowest failing", at = "html" },
   { "aggregate_fps", "number", "the throughput of all ports together, at most what the lines of the receiving ports carry", null = true, col = "Aggregate",
      at = "terminal html", bound = ">=" },
   { "theoretical_fps", "number", "most frames per second that the lines of all receiving ports carry, each floor(rate / (8 (size + 20)))", col = "Theoretical", at = "html" },
   { "mol_fps", "number", "maximum offered load: of all ports together", col = "MOL", at = "html" },
   { "frmol_fps", "number", "what the switch forwarded of that (FRMOL, RFC 2285)", col = "FRMOL",
      at = "terminal html summary", bound = ">=" },
   { "mol_tx", "count", "frames sent at that load; of broadcasts the copies that are due" },
   { "mol_loss_ratio", "ratio", "share lost of it", col = "Loss at MOL",
      at = "terminal html summary", bound = "exact", n = "mol_tx" },
   { "mfr_fps", "number", "maximum forwarding rate: the highest of the series; between two of its loads it is not known", col = "MFR", at = "terminal html summary", bound = ">=" },
   { "mfr_oload_fps", "number", "at which offered load of all ports", col = "at", unit = "offered",
      at = "html" },
   { "step_fps", "positive", "how far two loads of the series are apart, for a port" },
   { "series", list(M.POINT), "from the throughput to the maximum offered load" },
   { "flood", "count", "frames at ports that they were not for, at most in a trial", col = "Flood",
      unit = "frames", at = "html" },
   { "worst_pair", "text", "`from->to` that lost the greatest share at the maximum offered load; null without loss", null = true },
   { "resolution_fps", "positive", "how close a load that passed and one that failed had to come" },
   { "limited_by", LIMITS, "why the search stopped", col = "Limit", at = "html" },
   { "trial_s", "positive", "length of the deciding trials" },
   { "trials", "count", "how many trials it took, repeated ones included", col = "Trials",
      at = "terminal html" },
   { "lower_trial", "ordinal", "number of the trial that passed", null = true },
   { "upper_trial", "ordinal", "number of the trial above it that failed", null = true },
}
local MESH_LATENCY = {
   { "latency", trial.LATENCY, "of the trial that passed; null when nothing was measured", null = true },
}

M.MESH = record("mesh", "Throughput and forwarding rates of a pattern of traffic (RFC 2889, 5.1 to 5.4)",
   MESH, flow_control.ROWS, verdict.ROWS, MESH_LATENCY)

local function of_ports(row, least_or_greatest, key)
   local best
   for _, one in ipairs(row.receivers) do
      local value = one.latency and one.latency[key]
      best = value and least_or_greatest(best or value, value) or best
   end
   return best
end

M.RECEIVER = record("broadcast_receiver", "a port that receives broadcasts", {
   { "port", "text", "its name" },
   { "mol_loss_ratio", "ratio", "share of the broadcasts that it did not get, at the maximum offered load" },
   { "latency", trial.LATENCY, "of single broadcasts, 100 ms apart; null when nothing was measured",
      null = true },
})

M.BROADCAST = record("broadcast", "Throughput, forwarding rates and latency of broadcasts (RFC 2889, 5.10). Loads are of broadcasts; forwarding rates, losses and the aggregate of all their copies", MESH, {
   { "receivers", list(M.RECEIVER), "the ports that receive" },
   { of = function(row) return of_ports(row, math.min, "min_ns") end, col = "Latency", unit = "min",
      as = "time", at = "html" },
   { of = function(row) return of_ports(row, math.max, "max_ns") end, col = "Latency", unit = "max",
      as = "time", at = "terminal html" },
   { "skew_ns", "number", "from the least mean latency of a port to the greatest; null when nothing was measured", null = true, col = "Skew", as = "time", at = "terminal html" },
}, flow_control.ROWS, verdict.ROWS, MESH_LATENCY)

local TITLES = {
   fully_meshed = { "Fully meshed", "RFC 2889, section 5.1" },
   one_to_many = { "One to many", "RFC 2889, section 5.2" },
   many_to_one = { "Many to one", "RFC 2889, section 5.2" },
   one_many_both = { "One to many and many to one", "RFC 2889, section 5.2" },
   multiple_devices = { "Multiple devices", "RFC 2889, section 5.3" },
   unidirectional = { "Unidirectional", "RFC 2889, section 5.4" },
}

local ITERATION = record("address_iteration", "a trial with a number of addresses, at a rate of learning", {
   { "addresses", "ordinal", "addresses that were to be learned" },
   { "intended_fps", "positive", "frames to learn from, per second" },
   { "learning_received", "count", "how many of these came out at the test port" },
   { "tested", "count", "frames sent to the addresses" },
   { "correct_learning", "count", "how many came out at the learning port" },
   { "flood_monitor", "count", "how many came out at the monitoring port" },
   { "passed", "boolean", "whether all did where they should, and nowhere else" },
   { "trial", "ordinal", "number of the trial" },
})

local ENDS = { "flood", "loss", "learning", "maximum", "tester", "invalid", "max_trials" }
local HEAD = {
   suite.TEST,
   { "order", { "sequential", "random" }, "of the addresses", col = "Order", id = "%s addresses" },
}
local TAIL = {
   { "limited_by", ENDS, "what the trial above failed by: `flood` at the monitoring port, `loss`, `learning` frames that were lost; `tester`: the switch may have more; `maximum`: nothing above was tried",
      col = "Limit",
      at = "terminal html" },
   { "ageing_s", "positive", "the ageing time that was waited for before each trial" },
   { "iterations", list(ITERATION), "all trials, in order" },
   { "trials", "count", "how many", col = "Trials", at = "terminal html" },
}

M.CACHING = record("address_caching", "How many addresses the switch remembers (RFC 2889, 5.7)", HEAD, {
   { "addresses", "count", "the most addresses without a flooded or lost frame", col = "Addresses",
      at = "terminal html", bound = ">=",
      uncertainty = function(row)
         local failed = row.limited_by == "flood" or row.limited_by == "loss"
         return components.searched(row.addresses, failed and row.addresses + 1 or nil)
      end, better = ">=" },
   { "with_own", "count", "and the test port's address: the figure to compare with a data sheet",
      col = "With own", unit = "addresses", at = "terminal html", bound = ">=", better = ">=" },
   { "learned_at_max", "count", "of the most that were tried: how many were not flooded; null when not all of that trial was sent and came back", null = true, col = "At most", unit = "learned",
      at = "html", better = ">=" },
   { "intended_fps", "positive", "frames to learn from, per second" },
}, TAIL, verdict.ROWS)

M.LEARNING = record("learning_rate", "How fast the switch learns addresses (RFC 2889, 5.8)", HEAD, {
   { "addresses", "count", "that are learned", col = "Addresses", at = "terminal html", better = false },
   { "learning_fps", "number", "the highest rate at which none was flooded or lost; null when no rate passed",
      null = true, col = "Learning", at = "terminal html", bound = ">=", sought = true, plain = true,
      uncertainty = function(row, run)
         return components.searched(row.learning_fps, row.upper_fps, run.time)
      end },
   { "upper_fps", "number", "lowest rate above it that failed; null when the line's rate passed", null = true,
      col = "Lowest failing", at = "html" },
}, TAIL, verdict.ROWS)

M.ERRORED = record("errored_frames", "Whether the switch forwards frames with errors (RFC 2889, 5.9)", {
   suite.TEST,
   { "kind", { "oversize", "undersize", "crc", "dribble", "alignment" }, "what is wrong with them",
      col = "Kind", id = "%s" },
   { "frame_size", "ordinal", "their bytes with FCS", optional = true, col = "Frame", unit = "bytes",
      id = "%s bytes" },
   { "iload_percent", "number", "the load of the line, wrong and good frames", optional = true, col = "Load",
      unit = "% of line", as = "number", id = "%s %%", better = false },
   { "sent", "count", "wrong frames sent", optional = true, col = "Sent", at = "terminal html" },
   { "received", "count", "how many came out of the switch, with the wrong FCS they had or another one",
      optional = true, col = "Arrived", at = "terminal html", better = false },
   { "laundered", "count", "how many with a wrong FCS came out with one that is right", optional = true,
      col = "FCS repaired", at = "terminal html", better = false },
   { "good_size", "ordinal", "bytes of the good frames among which they were sent", optional = true },
   { "good_sent", "count", "good frames sent", optional = true, col = "Good", unit = "sent", at = "html",
      better = false },
   { "good_lost", "count", "how many of these were lost", optional = true, col = "Good", unit = "lost",
      at = "terminal html" },
   { "trial", "ordinal", "number of the trial", optional = true },
}, verdict.ROWS)

M.CONGESTION = record("congestion_control", "What the switch does when an egress is overloaded (RFC 2889, 5.5). Frames per second are over the time of sending, which pauses prolong; frames that waited in the switch arrive after it and count", {
   suite.TEST,
   suite.FRAME_SIZE,
   { "split", "text", "the port that sends to the uncongested and the congested port in turn", col = "Split",
      id = "from %s" },
   { "single", "text", "the port that sends to the congested port only" },
   { "uncongested", "text", "the port that is offered half of its line" },
   { "congested", "text", "the port that is offered one and a half times its line" },
   { "tx_frames", "count", "frames that each source was to send", col = "Frames", unit = "of a source",
      at = "html" },
   { "uncongested_tx", "count", "frames sent to the uncongested port" },
   { "uncongested_loss_ratio", "ratio", "share lost of the frames for the uncongested port", col = "Loss",
      unit = "%, uncongested", at = "terminal html", plain = true, n = "uncongested_tx" },
   { "uncongested_fps", "number", "frames per second that it received", col = "Uncongested",
      at = "terminal html" },
   { "congested_tx", "count", "frames sent to the congested port" },
   { "congested_loss_ratio", "ratio", "share lost of the frames for the congested port", col = "Loss",
      unit = "%, congested", at = "terminal html", n = "congested_tx" },
   { "congested_fps", "number", "frames per second that it received", col = "Congested", at = "html" },
   { "congested_received_ratio", "number", "frames that it received for each that a source was to send: 1 to 1.5 where nothing is kept back" },
   { "split_oload_fps", "number", "the load that the split source offered", col = "Split", unit = "offered",
      at = "html" },
   { "single_oload_fps", "number", "offered load of the other source", col = "Single", unit = "offered",
      at = "html" },
   { "pause_received", "count", "how often the sources were told to pause; 0 also where ports do not tell",
      col = "Pauses", at = "terminal html", better = false },
   { "split_paused_ns", "count", "how long due frames of the split source waited for the end of a pause",
      better = false },
   { "single_paused_ns", "count", "time for which the other source was paused", better = false },
   { "honoured_pause", "boolean", "whether the tester's ports paused; null where they were not told to",
      null = true },
   { "head_of_line_blocking", "boolean", "whether frames for the uncongested port were lost; null where the trial does not tell", null = true },
   { "back_pressure", "boolean", "whether no frame was lost and the sources were kept back" },
   { "conclusion", { "none", "head-of-line-blocking", "back-pressure", "absorbed", "throttled",
      "input-limited", "engine-limited" }, "`none`: the congested port alone loses; `absorbed`: the buffer took all, in the longest trial too; `throttled`: nothing for the uncongested port is lost, but it gets less; `input-limited`: the split source loses by itself; `engine-limited`: both sources lose together where no egress is overloaded",
      col = "Conclusion", at = "terminal html" },
   { "buffer_estimate_frames", "count", "with `none`: frames that waited for the congested port at the end, by what it received", optional = true, col = "Buffer", unit = "frames", at = "html",
      better = "either" },
   { "uneven_tx", "count", "frames sent to the uncongested port then", optional = true },
   { "uneven_loss_ratio", "ratio", "share lost of the frames for the uncongested port when the split source sends two to the congested one for each of them", optional = true, col = "Loss", unit = "%, uneven",
      at = "html", n = "uneven_tx" },
   { "trial_s", "positive", "length of the deciding trial" },
   { "trials", "count", "how many it took" },
   { "trial", "ordinal", "number of the deciding one" },
}, verdict.ROWS)

M.PRESSURE = record("forward_pressure", "Whether the switch sends with less than 96 bits between frames when it is offered more than the line carries (RFC 2889, 5.6)", {
   suite.TEST,
   suite.FRAME_SIZE,
   { "gap_bits", "ordinal", "between the frames that were sent", optional = true },
   { "mol_fps", "number", "what the line carries with 96 bits between frames", optional = true, col = "Line",
      at = "terminal html" },
   { "offered_fps", "number", "what was sent", optional = true, col = "Offered", at = "terminal html" },
   { "forwarding_span_fps", "number", "what arrived, from the first arrival to the last", optional = true,
      col = "Forwarded", at = "terminal html" },
   { "excess_ppm", "signed", "how much more that is than the line carries, in millionths", optional = true,
      col = "Excess", unit = "ppm", at = "terminal html", better = false },
   { "tolerance_ppm", "number", "how much more it may be by the clocks of both sides and the time stamps",
      optional = true, col = "Allowed", unit = "ppm", at = "html", better = false },
   { "forward_pressure", "boolean", "whether it is more than that", optional = true },
   { "trial", "ordinal", "number of the trial", optional = true },
}, verdict.ROWS)

local of_patterns = tables.map(patterns.NAMES, function(key)
   return { key, M.MESH, TITLES[key][1], TITLES[key][2] }
end)
M.TABLES, M.RESULTS = suite.results("rfc2889", "RFC 2889", tables.joined(of_patterns, {
   { "congestion_control", M.CONGESTION, "Congestion control", "RFC 2889, section 5.5" },
   { "forward_pressure", M.PRESSURE, "Forward pressure", "RFC 2889, section 5.6",
      passes = "no more frames than the line carries" },
   { "address_caching", M.CACHING, "Address caching capacity", "RFC 2889, section 5.7" },
   { "learning_rate", M.LEARNING, "Address learning rate", "RFC 2889, section 5.8" },
   { "errored_frames", M.ERRORED, "Errored frames", "RFC 2889, section 5.9",
      passes = "no wrong frame arrived, and no good one was lost" },
   { "broadcast", M.BROADCAST, "Broadcasts", "RFC 2889, section 5.10" },
}))
M.TRIAL = trial.TRIAL

return M
