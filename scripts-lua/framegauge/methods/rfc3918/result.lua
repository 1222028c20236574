-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows of RFC 3918: for each test a row for each frame size, or number of groups
-- (framegauge.text.rows).
local components = require "framegauge.trial.components"
local rows = require "framegauge.text.rows"
local suite = require "framegauge.methods.common.suite"
local trial = require "framegauge.trial.result"
local tunnel = require "framegauge.traffic.tunnel"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, record = rows.list, rows.record

M.EGRESS = record("multicast_egress", "what a receiver got of the load", {
   { "port", "text", "its name" },
   { "rx", "count", "different multicast frames" },
   { "lost", "count", "multicast frames that did not come" },
   { "loss_ratio", "ratio", "their share" },
   { "duplicates", "count", "further copies" },
   { "latency", trial.LATENCY, "of all its multicast frames; null when nothing was measured", null = true },
   { "size", "number", "bytes with FCS of them, in the mean; null when none came", null = true },
})

local FORMATS = tunnel.FORMATS
local LIMITS = { "maximum", "loss", "tester", "invalid", "max_trials", "time_limit" }

local SOURCE = { "source", "text", "port that sent to the groups", col = "Source", at = "html" }

local function head(with_groups)
   return {
      suite.TEST,
      suite.FRAME_SIZE,
      { "version", "text", "how receivers join", col = "By", at = "html" },
      with_groups and { "groups", "ordinal", "that were joined", col = "Groups", as = "number",
         at = "terminal html summary", id = with_groups == "id" and { "group", "groups" } or nil } or nil,
      SOURCE,
      { "receivers", "ordinal", "ports that joined", col = "Receivers", as = "number", at = "html" },
      { "monitor", "text", "port that joined nothing; null without one", null = true },
   }
end

local FLOODS = { "floods_unknown", "boolean", "whether frames of groups that nobody had joined came out at all receivers" }

local OF_LOAD = { load = true, unicast = true } -- streams of a trial; others only verify the groups

-- A trial as if it were its load alone.
local function load_of(whole, seconds)
   local out = { time = whole.time, duration_s = seconds, lost = 0, latency = { max_ns = 0 } }
   for _, one in ipairs(whole.directions) do
      if OF_LOAD[one.direction:match "^(%S+) "] then
         out.lost = out.lost + one.lost
         out.latency = out.latency and one.latency
            and { max_ns = math.max(out.latency.max_ns, one.latency.max_ns) }
      end
   end
   return out
end

-- A search that ended at the rate of the line leaves nothing above it.
local function uncertain(row, run)
   local carries_line = row.limited_by == "maximum" and row.throughput_percent >= 100 - 1e-7
   local passed = run.trial[row.lower_trial]
   return components.sustained(row.throughput_fps, passed and load_of(passed, row.trial_s), row.upper_fps,
      carries_line and row.throughput_fps or nil)
end

local SEARCHED = {
   { "throughput_fps", "number", "the highest load of the source without a lost copy; null when no load passed",
      null = true, col = "Throughput", at = "terminal html summary", bound = ">=", sought = true,
      uncertainty = uncertain },
   { "throughput_percent", "number", "its share of the slowest line", null = true, col = "of line",
      as = "share", at = "terminal html summary" },
   { "upper_fps", "number", "lowest load above it that failed; null when the maximum passed", null = true,
      col = "Lowest failing", at = "html" },
   { "aggregate_fps", "number", "what all receivers together get of it", null = true, col = "Aggregate",
      at = "terminal html summary" },
   { "theoretical_fps", "number", "most that the lines of the source and the receivers carry of such a load",
      col = "Theoretical", at = "html" },
}
local TAIL = {
   { "resolution_fps", "positive", "how close a load that passed and one that failed had to come" },
   { "limited_by", LIMITS, "why the search stopped", col = "Limit", at = "html" },
   { "trial_s", "positive", "length of the load of the deciding trials" },
   { "trials", "count", "how many trials it took, repeated ones included", col = "Trials",
      at = "terminal html" },
   { "lower_trial", "ordinal", "number of the trial that passed", null = true },
   { "upper_trial", "ordinal", "number of the trial above it that failed", null = true },
   { "egress", list(M.EGRESS), "each receiver, in the trial that passed, or else in the one that failed" },
   FLOODS,
}

M.AGGREGATED = record("aggregated_multicast", "Aggregated multicast throughput (RFC 3918, 4.3)", head(true),
   SEARCHED, TAIL, verdict.ROWS)

M.MIXED = record("mixed_class", "Mixed class throughput (RFC 3918, 4.1)", head(true), SEARCHED, {
   { "unicast_ratio", "ratio", "the part of the load that is unicast", col = "Unicast",
      at = "terminal html", better = false },
   { "unicast_fps", "number", "unicast frames of the throughput", null = true, col = "Unicast", at = "html" },
   { "multicast_fps", "number", "multicast frames of it", null = true, col = "Multicast", at = "html" },
   { "offered_unicast_frames", "count", "unicast frames of the trial that passed", null = true },
   { "offered_multicast_frames", "count", "multicast frames of it; all receivers are to get each",
      null = true },
   { "upper_lost_unicast_frames", "count", "unicast frames lost in the trial that failed", null = true,
      col = "Lost above", unit = "unicast", at = "html" },
   { "upper_lost_multicast_frames", "count", "copies of multicast frames lost in it", null = true,
      col = "Lost above", unit = "multicast", at = "html" },
}, TAIL, verdict.ROWS)

local function tunnelled(name, title, section)
   return record(name, ("%s throughput (RFC 3918, %s)"):format(title, section), head(true), {
      { "ingress_tunnel", FORMATS, "in which the source sends; null: in none", null = true,
         col = "Ingress", at = "terminal html", none = "none" },
      { "egress_tunnel", FORMATS, "in which receivers are to get them; null: in none", null = true,
         col = "Egress", at = "terminal html", none = "none" },
      { "tunnels", "ordinal", "one to each port that has one", col = "Tunnels", as = "number", at = "html" },
      { "groups_per_tunnel", "ordinal", "that are sent through each", col = "Groups", unit = "each",
         as = "number", at = "html" },
      { "offered_size", "ordinal", "bytes with FCS of a frame as the source sends it", col = "Offered",
         unit = "bytes", as = "label", at = "terminal html" },
      { "forwarded_size", "number", "bytes with FCS of a frame as receivers got it, mean of all; null when none came", null = true, col = "Forwarded", unit = "bytes", as = "label",
         at = "terminal html", better = false },
   }, SEARCHED, TAIL, verdict.ROWS)
end
M.ENCAPSULATION = tunnelled("encapsulation", "Encapsulation", "4.4.1")
M.DECAPSULATION = tunnelled("decapsulation", "Decapsulation", "4.4.2")
M.RE_ENCAPSULATION = tunnelled("re_encapsulation", "Re-encapsulation", "4.4.3")

M.MATRIX = record("group_matrix", "What is forwarded of a number of groups (RFC 3918, 4.2)", head "id", {
   { "offered_fps", "number", "load of the source", col = "Offered", at = "html" },
   { "aggregate_fps", "number", "frames per second that all receivers got, over the time of sending",
      col = "Forwarded", at = "terminal html summary", criterion = "forwarded" },
   { "per_egress_fps", "number", "the mean of a receiver", col = "Forwarded", unit = "each", at = "html" },
   { "tx", "count", "copies that were due, of all receivers" },
   { "loss_ratio", "ratio", "share of the copies that were lost", col = "Loss", at = "terminal html summary",
      n = "tx" },
   { "trial_s", "positive", "length of the load" },
   { "trials", "count", "how many trials it took" },
   { "trial", "ordinal", "number of the trial" },
   { "egress", list(M.EGRESS), "each receiver" },
   FLOODS,
}, verdict.ROWS)

local DEFINITION = { "definition", { "lifo", "fifo" }, "`lifo`: from the last bit in to the first bit out (RFC 1242 for devices that store and forward); a device that cuts through may have less than 0. `fifo`: from first bit to first bit, for those that cut through", col = "Definition", at = "html" }

M.EGRESS_LATENCY = record("multicast_egress_latency", "how long frames take to a receiver", {
   { "port", "text", "its name" },
   { "tagged_frames", "count", "frames whose delay counts, one of each trial" },
   { "latency_min_ns", "signed", "minimum of these", null = true },
   { "latency_mean_ns", "signed", "mean of these", null = true, n = "tagged_frames" },
   { "latency_max_ns", "signed", "maximum of these", null = true },
   { "every_frame_latency", trial.LATENCY, "of every frame of the last trial; null when nothing was measured",
      null = true },
})

M.LATENCY = record("multicast_latency", "Multicast forwarding latency (RFC 3918, 5.1 and 5.2)", head(true), {
   { "offered_fps", "positive", "load of the source", col = "Load", at = "html" },
   { "load_of", { "throughput", "line" }, "what the load is a share of" },
   DEFINITION,
   { "latency_min_ns", "signed", "minimum of a tagged frame at a receiver; null when none came", null = true,
      col = "Latency", unit = "min", as = "time", at = "terminal html" },
   { "latency_max_ns", "signed", "maximum", null = true, col = "Latency", unit = "max", as = "time",
      at = "terminal html summary", criterion = "latency" },
   { "spread_mean_ns", "number", "from the earliest copy of a tagged frame to the latest, the mean of the trials",
      null = true, col = "Spread", unit = "mean", as = "time", at = "html", n = "spread_samples" },
   { "spread_samples", "count", "tagged frames with a copy at every receiver" },
   { "spread_max_ns", "number", "the maximum", null = true, col = "Spread", unit = "max", as = "time",
      at = "terminal html summary", criterion = "spread" },
   { "earliest_port", "text", "where a copy came first, in the last trial", null = true, col = "Earliest",
      at = "html" },
   { "latest_port", "text", "where one came last", null = true, col = "Latest", at = "html" },
   { "samples", "count", "latencies that were measured, of all receivers and trials", optional = true },
   { "trial_s", "positive", "length of the stream" },
   { "repetitions", "ordinal", "trials that were to be made" },
   { "trials", "count", "how many were made", col = "Trials", at = "terminal html" },
   { "egress", list(M.EGRESS_LATENCY), "each receiver" },
}, verdict.ROWS)

M.EGRESS_DELAY = record("membership_egress", "the delay of a port", {
   { "port", "text", "its name" },
   { "delay_min_ns", "signed", "minimum", null = true },
   { "delay_mean_ns", "signed", "mean", null = true },
   { "delay_max_ns", "signed", "maximum", null = true },
   { "net_mean_ns", "signed", "mean without the latency of the frames", null = true },
})

-- A row without delays, and one of an earlier version, has none.
local DEFINITION_OF_NET = rows.with({ DEFINITION }, { definition = { optional = true } })[1]

local RESOLUTION = { "resolution_ns", "positive", "from one frame to the next: so well a delay is known",
   col = "Resolution", as = "time", at = "terminal html" }

local function delay_head(methods)
   return {
      suite.TEST,
      { "method", methods, "what is measured. Of joins, new: a group that the device does not know (A); known: one that another port has joined before (B). Of leaves, all: of all receivers",
         col = "Group", id = "%s" },
      suite.FRAME_SIZE,
      { "version", "text", "how receivers join and leave", col = "By", at = "html" },
      SOURCE,
      { "receivers", "count", "ports that were measured", col = "Receivers", as = "number", at = "html" },
      { "offered_fps", "positive", "frames of the group", col = "Load", at = "html" },
   }
end

local function delay(name, title, criterion, help)
   return record(name, title, delay_head { "new", "known", "all" }, {
      { "delay_min_ns", "signed", "minimum; null when none was measured", null = true, col = "Delay",
         unit = "min", as = "time", at = "html" },
      { "delay_mean_ns", "signed", "mean: " .. help, null = true, col = "Delay", unit = "mean", as = "time",
         at = "terminal html summary", n = "samples" },
      { "delay_max_ns", "signed", "maximum", null = true, col = "Delay", unit = "max", as = "time",
         at = "terminal html summary", criterion = criterion },
      RESOLUTION,
      { "net_mean_ns", "signed", "mean without the latency of the frames: what the device took to change its table, to the resolution", null = true, col = "Net", unit = "mean", as = "time",
         at = "terminal html", n = "samples" },
      DEFINITION_OF_NET,
      { "samples", "count", "delays that were measured, of all ports and trials" },
      { "queries_seen", "count", "queries that the ports heard, of all trials", col = "Queries",
         as = "number",
         at = "html", better = false },
      { "repetitions", "ordinal", "trials that were to be made" },
      { "trials", "count", "how many were made", col = "Trials", at = "html" },
      { "egress", list(M.EGRESS_DELAY), "each port" },
   }, verdict.ROWS)
end

M.JOIN = delay("join_delay", "Group join delay (RFC 3918, 6.1)", "join_delay",
   "from the last bit of the report to the first bit of the first frame")
M.LEAVE = delay("leave_delay", "Group leave delay (RFC 3918, 6.2)", "leave_delay",
   "from the last bit of the leave to the last bit of the last frame")

local BURDEN = {
   { "burden_ports", "ordinal", "ports that sent to each other", col = "Burden", unit = "ports",
      as = "number", at = "html" },
   { "burden_fps", "positive", "what each of them sent", col = "Burden", unit = "each", at = "html" },
   { "burden_tx", "count", "frames that they sent, in all trials" },
   { "burden_loss_ratio", "ratio", "share of their frames that was lost", col = "Burden", unit = "lost",
      at = "html", n = "burden_tx" },
}
local BURDENED_TAIL = {
   { "baseline_samples", "count", "delays that were measured without the burden, of all ports and trials" },
   { "burdened_samples", "count", "the same with the burden" },
   { "repetitions", "ordinal", "trials that were to be made, without the burden and as many with it" },
   { "trials", "count", "how many were made", col = "Trials", at = "html" },
}

M.EGRESS_BURDENED_LATENCY = record("multicast_egress_burdened_latency", "how long frames take to a receiver without the burden and with it", {
   { "port", "text", "its name" },
   { "baseline_latency_mean_ns", "signed", "mean of the tagged frames without the burden", null = true },
   { "burdened_latency_mean_ns", "signed", "the same with the burden", null = true },
   { "added_ns", "signed", "what the burden added", null = true },
   { "every_frame_added_ns", "signed", "what the burden added to the mean of every frame of the last trials",
      null = true },
   { "baseline_every_frame_latency", trial.LATENCY, "of every frame of the last trial without the burden; null when nothing was measured", null = true },
   { "burdened_every_frame_latency", trial.LATENCY, "the same with the burden", null = true },
})

M.BURDENED_LATENCY = record("multicast_burdened_latency", "Forwarding burdened multicast latency (RFC 3918, 8.1)", head(true), {
   { "offered_fps", "positive", "load of the source", col = "Load", at = "html" },
   { "load_of", { "throughput", "line" }, "what the load is a share of" },
}, BURDEN, {
   DEFINITION,
   { "baseline_latency_mean_ns", "signed", "of the tagged frames without the burden, mean of all receivers",
      null = true, col = "Alone", unit = "mean", as = "time", at = "terminal html", better = false,
      n = "baseline_samples" },
   { "baseline_latency_max_ns", "signed", "the maximum", null = true, col = "Alone", unit = "max",
      as = "time", at = "html", better = false },
   { "burdened_latency_mean_ns", "signed", "the same with the burden", null = true, col = "Burdened",
      unit = "mean", as = "time", at = "terminal html", n = "burdened_samples" },
   { "burdened_latency_max_ns", "signed", "the maximum", null = true, col = "Burdened", unit = "max",
      as = "time", at = "html", criterion = "burdened_latency" },
   { "added_mean_ns", "signed", "what the burden added to the latency of the tagged frames, mean of all receivers",
      null = true, col = "Added", unit = "mean", as = "time", at = "terminal html summary",
      criterion = "added_latency", n = "burdened_samples" },
   { "every_frame_added_mean_ns", "signed", "the same by every frame of the last trials", null = true,
      col = "Added", unit = "every frame", as = "time", at = "html", n = "every_frame_samples" },
   { "every_frame_samples", "count", "frames of the last trial with the burden, of all receivers" },
   { "trial_s", "positive", "length of the stream" },
}, BURDENED_TAIL, {
   { "egress", list(M.EGRESS_BURDENED_LATENCY), "each receiver" },
}, verdict.ROWS)

M.EGRESS_BURDENED_DELAY = record("membership_egress_burdened", "the join delay of a port without the burden and with it", {
   { "port", "text", "its name" },
   { "baseline_delay_mean_ns", "signed", "mean without the burden", null = true },
   { "burdened_delay_mean_ns", "signed", "mean with the burden", null = true },
   { "added_ns", "signed", "what the burden added", null = true },
})

M.BURDENED_JOIN = record("burdened_join_delay", "Forwarding burdened group join delay (RFC 3918, 8.2)",
   delay_head { "new", "known" }, BURDEN, {
   { "baseline_delay_mean_ns", "signed", "mean without the burden, from the last bit of the report to the first bit of the first frame; null when none was measured", null = true, col = "Alone",
      unit = "mean", as = "time", at = "terminal html", better = false, n = "baseline_samples" },
   { "baseline_delay_max_ns", "signed", "maximum", null = true, col = "Alone", unit = "max",
      as = "time", at = "html", better = false },
   { "burdened_delay_mean_ns", "signed", "the same with the burden", null = true, col = "Burdened",
      unit = "mean", as = "time", at = "terminal html", n = "burdened_samples" },
   { "burdened_delay_max_ns", "signed", "maximum", null = true, col = "Burdened", unit = "max",
      as = "time", at = "html", criterion = "burdened_join_delay" },
   { "added_mean_ns", "signed", "what the burden added to the mean, to the resolution", null = true,
      col = "Added", unit = "mean", as = "time", at = "terminal html summary",
      criterion = "added_join_delay", n = "burdened_samples" },
   RESOLUTION,
   { "baseline_net_mean_ns", "signed", "mean without the burden and without the latency of the frames",
      null = true, better = false, n = "baseline_samples" },
   { "burdened_net_mean_ns", "signed", "the same with the burden", null = true, n = "burdened_samples" },
   DEFINITION_OF_NET,
}, BURDENED_TAIL, {
   { "egress", list(M.EGRESS_BURDENED_DELAY), "each port" },
}, verdict.ROWS)

M.ITERATION = record("group_iteration", "a trial with a number of groups", {
   { "groups", "ordinal", "that were joined", col = "Groups", at = "iterations" },
   { "tx", "count", "frames sent to them" },
   { "rx", "count", "copies that came, of all receivers" },
   { "missing", "count", "groups from which a receiver got no frame, at least", col = "Missing",
      at = "iterations" },
   { "flooded", "count", "frames at the monitor", col = "Flooded", at = "iterations" },
   { "passed", "boolean", "whether there were none of either" },
   { "trial", "ordinal", "number of the trial" },
})

-- The least number of groups that failed; nil: none did.
local function fewest_failed(iterations)
   local fewest
   for _, one in ipairs(iterations) do
      if not one.passed then
         fewest = math.min(fewest or one.groups, one.groups)
      end
   end
   return fewest
end

M.CAPACITY = record("group_capacity", "Multicast group capacity (RFC 3918, 7.1)", {
   suite.TEST,
   suite.FRAME_SIZE,
   { "version", "text", "how receivers join", col = "By", at = "html" },
   { "groups", "count", "the most groups whose frames every receiver got, and no other port", col = "Groups",
      as = "count", at = "terminal html summary",
      uncertainty = function(row)
         return components.searched(row.groups, fewest_failed(row.iterations))
      end, better = ">=" },
   SOURCE,
   { "receivers", "ordinal", "ports that joined", col = "Receivers", as = "number", at = "html" },
   { "monitor", "text", "port that joined nothing; null without one: then floods are not seen", null = true,
      col = "Monitor", at = "terminal html", none = "none" },
   { "limited_by", { "missing", "flooded", "maximum" }, "what the trial above failed by; `maximum`: nothing above was tried", col = "Limit", at = "terminal html" },
   { "trials", "count", "how many", col = "Trials", at = "terminal html" },
   { "iterations", list(M.ITERATION), "all trials, in order" },
   FLOODS,
}, verdict.ROWS)

M.TABLES, M.RESULTS = suite.results("rfc3918", "RFC 3918", {
   { "mixed_class", M.MIXED, "Mixed class throughput", "RFC 3918, section 4.1" },
   { "group_matrix", M.MATRIX, "Scaled group forwarding matrix", "RFC 3918, section 4.2" },
   { "aggregated", M.AGGREGATED, "Aggregated multicast throughput", "RFC 3918, section 4.3" },
   { "encapsulation", M.ENCAPSULATION, "Encapsulation throughput", "RFC 3918, section 4.4.1" },
   { "decapsulation", M.DECAPSULATION, "Decapsulation throughput", "RFC 3918, section 4.4.2" },
   { "re_encapsulation", M.RE_ENCAPSULATION, "Re-encapsulation throughput", "RFC 3918, section 4.4.3" },
   { "latency", M.LATENCY, "Multicast forwarding latency", "RFC 3918, sections 5.1 and 5.2" },
   { "join_delay", M.JOIN, "Group join delay", "RFC 3918, section 6.1" },
   { "leave_delay", M.LEAVE, "Group leave delay", "RFC 3918, section 6.2" },
   { "group_capacity", M.CAPACITY, "Multicast group capacity", "RFC 3918, section 7.1" },
   { "burdened_latency", M.BURDENED_LATENCY, "Forwarding burdened multicast latency",
      "RFC 3918, section 8.1" },
   { "burdened_join_delay", M.BURDENED_JOIN, "Forwarding burdened group join delay",
      "RFC 3918, section 8.2" },
})
M.TRIAL = trial.TRIAL

return M
