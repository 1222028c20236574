-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows of RFC 9693: for each test a list of rows (framegauge.text.rows).
local components = require "framegauge.trial.components"
local rows = require "framegauge.text.rows"
local suite = require "framegauge.methods.common.suite"
local trial = require "framegauge.trial.result"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, record = rows.list, rows.record

--- The tests in the order in which they are made: some need what others found.
M.ORDER = { "connection_rate", "throughput", "latency", "pdv", "teardown", "capacity" }

local TRANSLATION = record("rfc9693_translation", "what the gateway made of the four tuples", {
   { "external_addresses", "count", "source addresses that arrived" },
   { "ports_min", "count", "the lowest source port that arrived" },
   { "ports_max", "count", "the highest" },
   { "collisions", "count", "connections that arrived with the four tuple of another" },
   { "preserved_ports_percent", "number", "connections that kept their source port" },
})

local FAILED = { "failed_because", { "not forwarded", "not established" }, "of what did not pass: frames of the first phase were lost, or of the validation",
   optional = true, col = "Fails", unit = "because",
   at = "html" }

local words = suite.words

local TEST = { { "test", "text", "the test", id = words } }
local SIZE = { suite.FRAME_SIZE }
local CONNECTIONS = { { "connections", "ordinal", "established in each experiment", col = "Connections",
   at = "terminal html summary" } }
local ESTABLISHED = { { "establishment_fps", "number", "rate at which they were", optional = true } }
local TAIL = { { "trials", "count", "experiments that the row took", col = "Trials", at = "html" } }

-- What the device still held at the end of an experiment it had not set up in time: its longest delay shows
-- how many connections waited. Repetitions that differ say so themselves.
local function connection_rate(row, run)
   if row.connections_p1_per_s ~= row.connections_p99_per_s then
      return nil
   end
   local line = row.limited_by == "maximum" and row.theoretical or nil
   return components.sustained(row.connections_per_s, run.trial[row.lower_trial], row.upper_fps, line)
end

M.CONNECTION_RATE = record("rfc9693_connection_rate", "Maximum connection establishment rate (RFC 9693, 4.5 and 4.6)",
   TEST, rows.with(CONNECTIONS, { connections = { id = { "connection", "connections" } } }), {
   { "connections_per_s", "number", "median of the repetitions: the highest rate at which all were established, and validated", optional = true, col = "Rate", unit = "connections/s", as = "rate",
      at = "terminal html summary", bound = ">=",
      uncertainty = connection_rate },
   { "connections_p1_per_s", "number", "1st percentile of the repetitions", optional = true, col = "Rate",
      unit = "p1", as = "rate", at = "html", n = "repetitions" },
   { "connections_p99_per_s", "number", "99th percentile of the repetitions", optional = true, col = "Rate",
      unit = "p99", as = "rate", at = "html", n = "repetitions" },
   { "theoretical", "number", "frames a second that the line carries", optional = true },
   { "validated", "boolean", "whether the Responder has sent over each connection" },
   { "alpha", "ratio", "rate of that, as a share" },
   { "repetitions", "ordinal", "searches" },
   { "limited_by", "text", "why the search with the least rate ended" },
   { "upper_fps", "number", "of that search: the lowest rate above that failed", optional = true },
   FAILED,
   { "lower_trial", "ordinal", "its experiment that passed", optional = true },
   { "upper_trial", "ordinal", "and the one above that failed", optional = true },
   { "translation", TRANSLATION, "of the one that passed", optional = true },
}, TAIL, verdict.ROWS)

local function throughput(row, run)
   local line = row.limited_by == "maximum" and row.theoretical_fps or nil
   return components.sustained(row.throughput_fps, run.trial[row.lower_trial], row.upper_fps, line)
end

M.THROUGHPUT = record("rfc9693_throughput", "Throughput in established connections (RFC 9693, 4.7)", TEST,
   SIZE, CONNECTIONS, {
   { "theoretical_fps", "number", "frames a second that the line carries", optional = true },
   { "throughput_fps", "number", "frames a second each way without loss", optional = true,
      col = "Throughput", unit = "frames/s, each way", as = "rate", at = "terminal html summary",
      bound = ">=", sought = true, uncertainty = throughput },
   { "throughput_percent", "number", "its share of the line", optional = true, col = "of line", as = "share",
      at = "terminal html" },
   { "throughput_l2_mbps", "number", "bits of frames with FCS", optional = true, col = "Layer 2",
      at = "terminal html" },
   { "upper_fps", "number", "lowest load above it that failed", optional = true, col = "Lowest failing",
      at = "html" },
   { "limited_by", "text", "why the search ended", optional = true },
   { "trial_s", "positive", "length of the deciding trials" },
   { "lower_trial", "ordinal", "number of the trial that passed", optional = true },
   { "upper_trial", "ordinal", "number of the trial above it that failed", optional = true },
}, ESTABLISHED, TAIL, verdict.ROWS)

local LOAD = {
   { "direction", "text", "which way; both are loaded", col = "Direction", id = "%s" },
   { "rate_fps", "number", "the load each way", optional = true, col = "Load", at = "terminal html" },
   { "trial_s", "positive", "length of a stream" },
   { "repetitions", "ordinal", "streams" },
   { "lost", "count", "frames lost of all of them", optional = true, col = "Lost", at = "html" },
   { "samples", "count", "frames whose delay counts, of all of them", optional = true },
}

-- A figure with its 1st and 99th percentile over the streams.
local function spread(key, heading, help, o)
   local figure = { key .. "_ns", "signed", help, optional = true, col = heading, as = "time",
      at = "terminal html summary", criterion = o.criterion, better = "<=", n = "samples" }
   return { figure,
      { key .. "_p1_ns", "signed", "1st percentile of the streams", optional = true, col = heading,
         unit = "p1", as = "time", at = "html", n = "repetitions" },
      { key .. "_p99_ns", "signed", "99th percentile of the streams", optional = true, col = heading,
         unit = "p99", as = "time", at = "html", n = "repetitions" },
   }
end

M.LATENCY = record("rfc9693_latency", "Latency in established connections (RFC 9693, 4.7; RFC 8219, 7.2)",
   TEST, SIZE, CONNECTIONS, LOAD,
   spread("latency_typical", "Typical", "typical latency: median of a stream's tagged frames, of all streams the median", { criterion = "latency" }),
   spread("latency_worst_case", "Worst case", "worst case latency: by the 99.9th percentile; of up to 1000 tags that is the greatest", { criterion = "worst_case" }), {
   { "tags", "count", "tagged frames of a stream", optional = true },
   { "definition", { "lifo", "fifo" }, "as in rfc2544: `lifo` last bit in to first bit out, `fifo` where the rate of the line is not known", optional = true },
}, ESTABLISHED, TAIL, verdict.ROWS)

M.PDV = record("rfc9693_pdv", "Packet delay variation in established connections (RFC 9693, 4.7; RFC 8219, 7.3.1)", TEST, SIZE, CONNECTIONS, LOAD,
   spread("pdv", "PDV", "99.9th percentile of the delays of a stream less the least, of all streams the median", {}), ESTABLISHED, TAIL, verdict.ROWS)

M.TEARDOWN = record("rfc9693_teardown", "Connection tear-down rate (RFC 9693, 4.8)", TEST,
   rows.with(CONNECTIONS, { connections = { id = { "connection", "connections" } } }), {
   { "teardown_per_s", "number", "connections by the time of the command `clear`", optional = true,
      col = "Tear-down", unit = "connections/s", as = "rate", at = "terminal html summary" },
   { "teardown_net_per_s", "number", "the same less the time that it takes for an empty table",
      optional = true, col = "Tear-down", unit = "net", as = "rate", at = "terminal html" },
   { "teardown_s", "number", "time of the command", optional = true, col = "Time", unit = "s", as = "number",
      at = "terminal html" },
   { "empty_s", "number", "and for an empty table", optional = true, col = "Empty", unit = "s", as = "number",
      at = "html" },
   { "left", "count", "connections over which frames of the Responder still arrived after it",
      optional = true, col = "Left", at = "html", better = "<=" },
   { "trial", "ordinal", "number of the experiment", optional = true },
}, ESTABLISHED, TAIL, verdict.ROWS)

local STEP = record("rfc9693_step", "a number of connections that was tried", {
   { "connections", "ordinal", "how many" }, { "passed", "boolean", "whether all were established" },
   { "rate", "number", "the highest rate at which they were, or at which they were not" }, FAILED,
})

M.CAPACITY = record("rfc9693_capacity", "Connection tracking table capacity (RFC 9693, 4.9)", TEST, {
   { "capacity", "ordinal", "the most connections at which the rate had not collapsed", optional = true,
      col = "Capacity", unit = "connections", as = "number", at = "terminal html summary", bound = ">=",
      uncertainty = function(row)
         return row.limited_by == "collapse" and components.searched(row.capacity, row.upper) or nil
      end, better = ">=" },
   { "upper", "ordinal", "fewest above it at which it had", optional = true, col = "Collapses",
      unit = "from", as = "number", at = "terminal html" },
   { "rate_at_capacity", "number", "connections a second at the capacity", optional = true, col = "Rate",
      unit = "connections/s", as = "rate", at = "terminal html" },
   { "start", "ordinal", "connections of the first search" },
   { "start_rate", "number", "rate that it found", optional = true, col = "First rate", as = "rate",
      at = "html", better = false },
   { "method", { "search", "fixed" }, "how each number of connections was judged" },
   { "limited_by", "text", "collapse; tuples: no more of them could be tried; or what the tester fell short of" },
   FAILED,
   { "steps", list(STEP), "all that were tried" },
}, TAIL, verdict.ROWS)

M.TABLES, M.RESULTS = suite.results("rfc9693", "RFC 9693", {
   { "connection_rate", M.CONNECTION_RATE, "Connection establishment rate",
      "RFC 9693, sections 4.5 and 4.6" },
   { "throughput", M.THROUGHPUT, "Throughput", "RFC 9693, section 4.7" },
   { "latency", M.LATENCY, "Latency", "RFC 9693, section 4.7" },
   { "pdv", M.PDV, "Packet delay variation", "RFC 9693, section 4.7" },
   { "teardown", M.TEARDOWN, "Connection tear-down rate", "RFC 9693, section 4.8" },
   { "capacity", M.CAPACITY, "Connection tracking table capacity", "RFC 9693, section 4.9" },
})

M.TRIAL = record("rfc9693_trial", "one experiment, also one line of trials.jsonl", trial.TRIAL.rows, {
   { "setting", record("rfc9693_setting", "what was asked for", {
      { "connections", "ordinal", "how many" },
      { "alpha", "ratio", "rate of the validation, as a share of `intended_fps`", optional = true },
      { "establishment_fps", "number", "rate at which they were established for a load", optional = true },
   }), "what was asked for" }, FAILED,
   { "translation", TRANSLATION, "where all were forwarded", optional = true },
   { "teardown", record("rfc9693_removal", "removal of all connections", {
      { "connections", "ordinal", "how many" }, { "seconds", "number", "time of the command" },
      { "empty_s", "number", "for an empty table" }, { "left", "count", "that were still there",
         better = "<=" },
   }), "of the test teardown", optional = true },
})

return M
