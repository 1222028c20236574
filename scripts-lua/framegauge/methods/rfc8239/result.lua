-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows of RFC 8239: for each test a list of rows (framegauge.text.rows).
local components = require "framegauge.trial.components"
local flow_control = require "framegauge.trial.flow_control"
local rows = require "framegauge.text.rows"
local suite = require "framegauge.methods.common.suite"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.trial.result"
local uncertainty = require "framegauge.trial.uncertainty"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, record = rows.list, rows.record

local words = suite.words

local HEAD = { suite.TEST, suite.FRAME_SIZE }
local TAIL = tables.joined({
   { "iterations", "ordinal", "how often it was measured", col = "Iterations", as = "number", at = "html" },
   { "pv_percent", "signed", "percentage variance (RFC 8239, 1.3.4): by how much an iteration differs from the one before, the greatest", optional = true, col = "PV", unit = "%", as = "number", at = "html" },
   { "rsd_percent", "number", "relative standard deviation of the iterations", optional = true, col = "RSD",
      unit = "%", as = "number", at = "html", n = "iterations" },
   { "repeatable", "boolean", "whether that is no more than the plan's max_rsd", optional = true },
   { "trials", "count", "how many trials it took", col = "Trials", at = "html" },
   { "first_trial", "ordinal", "number of the first of them" },
}, flow_control.ROWS)

local JITTER = record("jitter_pdv", "delay less the least one", {
   { "range_ns", "number", "greatest less least", col = "Jitter", unit = "range", as = "time",
      at = "terminal html", n = "latency.count" },
   { "p99_ns", "number", "99th percentile less least", optional = true, col = "Jitter", unit = "p99",
      as = "time", at = "html", n = "latency.count" },
})
local MEANS = record("latency_means", "the mean latency of the iterations", {
   { "min_ns", "number", "minimum" }, { "mean_ns", "number", "mean", n = "iterations" },
   { "max_ns", "number", "maximum" },
})
local LATENCY = {
   { "latency", trial.LATENCY, "of the iteration with the greatest loss; null when nothing was measured",
      null = true },
   { "latency.min_ns", col = "Latency", unit = "min", as = "time", at = "html" },
   { "latency.mean_ns", col = "Latency", unit = "mean", as = "time", at = "terminal html summary" },
   { "latency.max_ns", col = "Latency", unit = "max", as = "time", at = "terminal html summary" },
   { "jitter", JITTER, "of the same frames: packet delay variation (RFC 8238, 3)", null = true },
}
-- The trials of a row that count: { directions =, duration_s = } of each.
-- @param wanted  function(direction) -> whether it counts; nil: all do
local function trials_of(row, run, wanted)
   local found = {}
   for _, one in ipairs(run.trials) do
      if one.trial >= row.first_trial and #found < row.iterations and one.phase ~= "control"
         and one.test == "rfc8239." .. row.test then
         found[#found + 1] = { duration_s = one.duration_s, latency = one.latency,
            directions = tables.map(one.directions or {}, function(counts)
               return (not wanted or wanted(counts.direction)) and counts or nil
            end) }
      end
   end
   return found
end

local function of_losses(row, run)
   return components.worst_loss_ratio(row.loss_ratio, trials_of(row, run))
end

-- Of a group of ports the last one is congested.
local function of_flows(key, congested)
   return function(row, run)
      return components.worst_loss_ratio(row[key], trials_of(row, run, function(direction)
         local to, is = direction:match "%->(.*)$", false
         for _, ports in ipairs(row.ports) do
            is = is or ports:match "(%S+)$" == to
         end
         return is == congested
      end))
   end
end

-- The mean of iterations; the row has their relative deviation.
local function of_iterations(row, value)
   return components.repetitions(row.rsd_percent and row.rsd_percent / 100 * value, row.iterations)
end

-- The wait of a frame that found the buffer full, times the rate of the egress in the last quarter: that rate
-- is known to two frames. Which frame filled it, and how far the one that was sent had come, is not seen.
local function of_buffer(by)
   return function(row, run)
      local made = trials_of(row, run)[1]
      local latency = made and made.latency
      if row.finding ~= "plain" or not row.buffer_frames or not latency then
         return nil
      end
      local fps = row.buffer_frames / (row.latency_max_ns - row.latency_min_ns) * 1e9
      local frames, scale = row.buffer_frames, by(row)
      local rate = 2 / (fps * row.trial_s / 4) * frames
      local stamp = 2 * (latency.error_bound_ns or 0) / 1e9 * fps
      return uncertainty.of(frames * scale, {
         components.resolution(2 * scale, 2 * scale, "the frame that fills it, and the one that is sent"),
         { name = "search", type = "B", below = rate * scale, above = rate * scale,
            source = "the rate of the egress in the last quarter of the trial, to two frames" },
         { name = "stamp", type = "B", below = stamp * scale, above = stamp * scale,
            source = "error bound of the least and of the greatest latency" },
         components.clock(frames * scale, run.time), of_iterations(row, frames * scale),
      }, { min = 0 })
   end
end

-- What arrived, over the time of the load.
local function of_goodput(row, run)
   local one = 8 * row.frame_size / run.trial[row.first_trial].duration_s
   return uncertainty.of(row.goodput_bps, { components.resolution(one, one, "frames are whole"),
      components.clock(row.goodput_bps, run.time) }, { min = 0 })
end

local LOSS = {
   { "tx", "count", "frames sent" },
   { "lost", "count", "of them, in the iteration with the greatest loss", col = "Lost", unit = "frames",
      at = "terminal html" },
   { "loss_ratio", "ratio", "their share", col = "Loss", at = "terminal html summary",
      uncertainty = of_losses, n = "tx" },
}

M.LINE_RATE = record("dc_line_rate", "Line rate on all ports (RFC 8239, 2): does the switch lose nothing?",
   HEAD, {
   { "pattern", "text", "pairs of ports, or a full mesh", col = "Pattern", id = words },
   { "ports", "ordinal", "ports of the switch", col = "Ports", as = "number", at = "html" },
   { "load_percent", "number", "line rate as the plan has it: a share of the line", col = "Load",
      unit = "% of line", as = "number", at = "html" },
   { "received_percent", "number", "frames that arrived, as a share of what the line carries",
      col = "Received",
      unit = "% of line", as = "number", at = "html" },
   { "throughput_percent", "number", "frames that arrived of those sent; the least of the iterations",
      col = "Throughput", unit = "% of sent", as = "number", at = "terminal html summary" },
}, LOSS, LATENCY, {
   { "latency_mean", MEANS, "over the iterations", optional = true },
   { "trial_s", "positive", "length of the load" },
}, TAIL, verdict.ROWS)

local PROCEDURES = { "efficiency", "port", "pairs", "many_to_one" }

M.BUFFER = record("dc_buffer", "Buffer before an egress (RFC 8239, 3), with FCS", HEAD, {
   { "procedure", PROCEDURES, "how the ports were arranged", col = "Procedure", id = words, as = "key" },
   { "ingress", "text", "ports that sent", col = "Ingress", at = "html" },
   { "egress", "text", "the congested port", col = "Egress", id = "to %s" },
   { "dscp", "count", "code point of the frames", col = "DSCP", as = "number", at = "html", id = "DSCP %s" },
   { "oversubscription_percent", "positive", "by how much of its line the egress was congested" },
   { "buffer_octets", "number", "what it holds, with FCS: `by_latency_frames` times the frame size",
      optional = true,
      col = "Buffer", unit = "bytes", at = "terminal html summary", none = "not reached",
      uncertainty = of_buffer(function(row) return row.frame_size end), better = ">=" },
   { "buffer_frames", "number", "the same in frames", optional = true, col = "Buffer", unit = "frames",
      as = "frames1", at = "terminal html summary", uncertainty = of_buffer(function() return 1 end),
      better = ">=" },
   { "at_least_octets", "count", "where the buffer did not fill: what it holds at least", optional = true,
      col = "At least", unit = "bytes", hidden = true, at = "terminal html", better = ">=" },
   { "by_count_frames", "number", "frames of the surplus until the first loss, as the RFC counts",
      optional = true,
      col = "by count", unit = "frames", as = "frames1", at = "html", better = ">=" },
   { "by_balance_frames", "number", "frames that came less those that left until then", optional = true,
      col = "by balance", unit = "frames", as = "frames1", at = "html", better = ">=" },
   { "by_latency_frames", "number", "greatest less least latency, times the rate at which the egress sent",
      optional = true, col = "by latency", unit = "frames", as = "frames1", at = "terminal html",
      better = ">=" },
   { "latency_min_ns", "number", "first bit in to first bit out, minimum", optional = true },
   { "latency_max_ns", "number", "and maximum", optional = true, col = "Latency", unit = "max",
      as = "time",
      at = "html" },
   { "inflection_s", "number", "when the first frame left that was lost: then latency grows no more",
      optional = true, col = "First loss", unit = "after, s", as = "number", at = "html" },
   { "is_efficient", "boolean", "whether the most bytes were held with this frame size", optional = true },
   { "finding", { "plain", "not_reached", "disagreement", "unrepeatable" }, "what became of it: `plain` figures; the buffer did not fill; the three figures disagree, so that the device is no plain queue; or they vary",
      col = "Finding", at = "terminal html" },
   { "trial_s", "positive", "length of the last load" },
}, TAIL, verdict.ROWS)

M.MICROBURST = record("dc_microburst", "Longest burst of several ports at one instant without loss (RFC 8239, 4)",
   HEAD, {
   { "ingresses", "ordinal", "ports that sent", col = "Ingresses", as = "number", id = { "ingress", "ingresses" } },
   { "egresses", "ordinal", "ports that received", col = "Egresses", as = "number", id = { "egress", "egresses" } },
   { "burst_frames", "count", "frames of each ingress: the least of all rotations and iterations",
      col = "Burst",
      unit = "frames", as = "number", at = "terminal html summary",
      uncertainty = function(row)
         local longer = row.limited_by == "loss" and row.burst_frames + 1 or nil
         return components.searched(row.burst_frames, longer)
      end, better = ">=" },
   { "burst_mean_frames", "number", "their mean", col = "mean", as = "frames1", at = "html", better = ">=",
      n = "iterations" },
   { "burst_max_frames", "count", "their maximum", col = "max", as = "number", at = "html", better = ">=" },
   { "burst_total_frames", "count", "of all ingresses", col = "All ports", unit = "frames", as = "count",
      at = "terminal html", better = ">=" },
   { "burst_octets", "count", "the same in bytes with FCS", col = "All ports", unit = "bytes", as = "count",
      at = "html", better = ">=" },
   { "intensity_percent", "positive", "load within the burst; 100: minimum gaps" },
   { "implied_buffer_frames", "number", "what an egress held of it: the burst (ingresses / egresses - 1)",
      col = "Buffer", unit = "implied, frames", as = "frames1", at = "terminal html summary", better = ">=" },
   { "limited_by", { "loss", "limit" }, "whether a longer burst lost frames, or none was tried",
      col = "Limit",
      at = "html" },
   { "worst_port", "text", "the egresses where the burst was shortest", col = "Worst at", at = "html" },
}, TAIL, verdict.ROWS)

M.HEAD_OF_LINE = record("dc_head_of_line", "Head of line blocking (RFC 8239, 5)", HEAD, {
   { "arrangement", "text", "two groups of four ports, all groups, or groups of six with four egresses",
      col = "Groups", id = words, as = "key" },
   { "groups", "ordinal", "how many" },
   { "shift", "count", "with which port, from 0, the first group begins", col = "Shift", as = "number",
      id = "shift %s" },
   { "ports", list "text", "of each group: two ingresses, then the egresses; the last one is congested" },
   { "innocent_tx", "count", "frames sent to ports without congestion, in the iteration with that loss" },
   { "innocent_loss_ratio", "ratio", "lost of what went to ports without congestion", col = "Innocent",
      unit = "loss, %", at = "terminal html summary", criterion = "innocent",
      uncertainty = of_flows("innocent_loss_ratio", false), n = "innocent_tx" },
   { "congested_tx", "count", "frames sent to the congested port, in the iteration with that loss" },
   { "congested_loss_ratio", "ratio", "lost of what went to the congested port", col = "Congested",
      unit = "loss, %",
      at = "terminal html", uncertainty = of_flows("congested_loss_ratio", true), n = "congested_tx" },
   { "control_tx", "count", "frames sent without congestion" },
   { "control_loss_ratio", "ratio", "lost without congestion: none may be", n = "control_tx" },
   { "head_of_line_blocking", "boolean", "whether congestion harmed traffic to other ports", col = "Blocking",
      at = "terminal html summary" },
}, TAIL, verdict.ROWS)

M.INCAST = record("dc_incast", "Incast of senders without a state (RFC 8239, 6): bursts at one instant", HEAD,
   {
   { "senders", "ordinal", "ports that sent to one", col = "Senders", as = "number", id = { "sender", "senders" } },
   { "receiver", "text", "that one", col = "Receiver", at = "html" },
   { "burst_frames", "ordinal", "of each sender", col = "Burst", unit = "frames", as = "number",
      at = "html", better = false },
   { "burst_interval_s", "positive", "from one burst to the next" },
   { "load_percent", "number", "of all senders, as a share of the receiver's line", col = "Load",
      unit = "% of line", as = "number", at = "terminal html" },
   { "lost_per_burst", "number", "frames of all senders lost of a burst", col = "Lost", unit = "per burst",
      as = "frames1", at = "terminal html" },
   { "goodput_bps", "number", "bits of frames that arrived, with FCS", col = "Goodput", as = "bits",
      at = "terminal html", uncertainty = of_goodput },
}, LOSS, LATENCY, {
   { "latency_mean_max_ns", "number", "the maximum latency of all iterations", optional = true },
}, TAIL, verdict.ROWS)

M.STATEFUL_INCAST = record("dc_stateful_incast", "Incast of senders by TCP with bursts (RFC 8239, 6)",
   HEAD, {
   { "tcp_ports", "ordinal", "ports that sent by TCP to one", col = "TCP", unit = "ports", as = "number",
      id = "%s by TCP" },
   { "udp_ports", "ordinal", "ports that sent bursts to it", col = "Bursts", unit = "ports", as = "number",
      id = "%s with bursts" },
   { "receiver", "text", "the one", col = "Receiver", at = "html" },
   { "connections", "ordinal", "of TCP, of all ports together", col = "Connections", as = "number",
      at = "html" },
   { "burst_frames", "ordinal", "of each port with bursts", col = "Burst", unit = "frames", as = "number",
      at = "html", better = false },
   { "burst_interval_s", "positive", "from one burst to the next" },
   { "load_percent", "number", "of the bursts, as a share of the receiver's line", col = "Bursts",
      unit = "% of line", as = "number", at = "terminal html" },
   { "goodput_bps", "number", "payload of TCP that arrived in order, of all ports together; the mean of the iterations", col = "Goodput", as = "bits", at = "terminal html", bound = ">=",
      uncertainty = function(row, run)
         local spread = of_iterations(row, row.goodput_bps)
         return spread and uncertainty.of(row.goodput_bps, { spread, components.clock(row.goodput_bps,
            run.time) }, { min = 0 }) or nil
      end },
   { "ideal_goodput_bps", "number", "the most that the line has room for next to the bursts that arrived meanwhile",
      col = "Ideal", as = "bits", at = "html" },
   { "goodput_percent", "number", "goodput as a share of that; left out where bursts fill the line",
      optional = true, col = "Goodput", unit = "% of ideal", as = "number", at = "terminal html",
      bound = ">=" },
   { "fairness", "ratio", "Jain's index of the goodputs of the ports: 1 where all have the same; the least of the iterations", col = "Fairness", as = "number", at = "html" },
   { "retransmitted_segments", "count", "of TCP, in all iterations", col = "Retransmitted", unit = "segments",
      at = "terminal html" },
   { "timeouts", "count", "retransmission time-outs, in all iterations", col = "Time-outs", at = "html" },
   { "tcp_lost", "count", "frames of TCP to the receiver that did not arrive, in all iterations",
      col = "TCP lost", unit = "frames", at = "html" },
}, LOSS, LATENCY, TAIL, verdict.ROWS)

M.TABLES, M.RESULTS = suite.results("rfc8239", "RFC 8239", {
   { "line_rate", M.LINE_RATE, "Line rate", "RFC 8239, section 2", passes = "no frame was lost" },
   { "buffer", M.BUFFER, "Buffers", "RFC 8239, section 3", passes = "what the plan asks for" },
   { "microburst", M.MICROBURST, "Microbursts", "RFC 8239, section 4" },
   { "head_of_line", M.HEAD_OF_LINE, "Head of line blocking", "RFC 8239, section 5",
      passes = "no frame to ports without congestion was lost" },
   { "incast", M.INCAST, "Incast, stateless", "RFC 8239, section 6" },
   { "stateful_incast", M.STATEFUL_INCAST, "Incast, stateful", "RFC 8239, section 6" },
})

local POINTS = record("buffer_points", "an egress's buffer, as one stream to it saw it over time", {
   { "interval_s", "positive", "of sampling" },
   { "first_lost_s", "number", "when the first frame left that was lost, the middle of its interval",
      optional = true },
   { "before_ns", "number", "greatest latency in the third quarter of the load" },
   { "last_ns", "number", "and in the last" },
   { "rx", "count", "frames received of those sent in the last quarter" },
   { "quarter_s", "number", "length of that" },
})

local SENDER = record("tcp_sender", "what a port sent by TCP", {
   { "port", "text", "its name" },
   { "goodput_bps", "number", "payload that arrived in order, without what is omitted" },
   { "retransmitted_segments", "count", "segments of data" },
   { "timeouts", "count", "retransmission time-outs" },
   { "tx", "count", "frames, with those without payload" },
})
local TCP = record("tcp_beside", "what was sent by TCP next to test frames", {
   { "senders", list(SENDER), "of each port" },
   { "lost", "count", "of their frames, those that the receiver did not get" },
})

--- Trials of frames, with what was seen of buffers over time, and of TCP beside them.
M.TRIAL = record("rfc8239_trial", "one trial, also one line of trials.jsonl", trial.TRIAL.rows, {
   { "tcp", TCP, "of stateful_incast", optional = true },
   { "buffers", list(POINTS), "of the streams of a buffer test", optional = true },
   { "setting", "text", "what tells it from others of its test", optional = true },
})

return M
