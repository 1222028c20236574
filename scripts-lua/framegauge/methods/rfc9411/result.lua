-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows of RFC 9411: for each test a list of rows (framegauge.text.rows).
local components = require "framegauge.trial.components"
local l4 = require "framegauge.methods.l4.result"
local rows = require "framegauge.text.rows"
local suite = require "framegauge.methods.common.suite"
local tables = require "framegauge.core.tables"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, record = rows.list, rows.record

--- The tests in the order in which they are made: some need what others found.
M.ORDER = { "connections", "http_throughput", "latency", "concurrent" }

local words = suite.words

local function kibibytes(bytes)
   return bytes % 1024 == 0 and ("%d KiB"):format(bytes / 1024) or ("%d bytes"):format(bytes)
end

local CRITERION = record("rfc9411_criterion", "a criterion of the sustain phase (RFC 9411, 7.1.3.4)", {
   { "name", "text", "failed_transactions, reset_connections, transactions_per_s, rate_deviation, concurrency_deviation or least_open_connections" },
   { "value", "number", "measured value" }, { "limit", "number", "limit of the value" },
   { "met", "boolean", "whether it holds" },
})

local SAMPLE = record("rfc9411_sample", "figures of a part of the sustain phase", {
   { "from_s", "number", "when it begins" },
   { "connections_per_s", "number", "connections established" },
   { "transactions_per_s", "number", "responses" },
   { "throughput_bps", "number", "bits of frames with FCS that both ends received" },
   { "concurrent", "count", "connections open at its end" },
})

-- By the samples of the sustain phase, each with a rate of its own: function(row, run).
-- @param unit  change of a row's figure by one count
local function sampled(key, unit)
   return function(row, run)
      return row.samples and row.sustain_s and components.mean_rate(row[key],
         tables.field(row.samples, key), unit(row) / row.sustain_s, run.time) or nil
   end
end

local function of_one()
   return 1
end

-- Throughput: a frame at either end, with the overhead of the line.
local function both_ends()
   return 2 * 8 * 1538
end

-- What was searched for. The load that passes is offered by the tester's clock.
local function searched(row, run)
   return components.searched(row.load, row.upper_load, row.test ~= "concurrent" and run.time)
end

local HEAD = {
   { "test", "text", "the test", col = "Test", id = words },
   { "object", "ordinal", "bytes of the body of a response", id = kibibytes },
   { of = function(row) return kibibytes(row.object) end, col = "Object", at = "terminal html summary",
      left = false },
   { "ip", "text", "version of IP" },
}
local STEPS = {
   { "target", "number", "what the device was to reach, in the unit of `load`", col = "Target", as = "rate",
      at = "html" },
   { "initial_passed", "boolean", "step 1: whether a tenth of it met all criteria" },
   { "target_reached", "boolean", "step 2: whether the target did", col = "Reached", at = "html" },
   { "load", "number", "step 3: the highest load that met them for a whole sustain phase: transactions a second, of concurrent connections", optional = true, uncertainty = searched, better = ">=" },
   { "upper_load", "number", "the lowest load above it that did not", optional = true },
   { "limited_by", "text", "why the search ended", optional = true },
   { "failed_because", list "text", "what was not met at `upper_load`", optional = true },
}
local FIGURES = {
   { "throughput_bps", "number", "inspected throughput: bits of frames with FCS that left the device a second, both ways, in the sustain phase", optional = true, col = "Throughput", as = "bits",
      at = "terminal html",
      uncertainty = sampled("throughput_bps", both_ends) },
   { "transactions_per_s", "number", "responses a second, in the sustain phase", optional = true,
      col = "Transactions", unit = "1/s", as = "rate", at = "terminal html",
      uncertainty = sampled("transactions_per_s", of_one) },
   { "concurrent_mean", "number", "connections open, mean of the samples", optional = true,
      col = "Concurrent", as = "number", at = "html", criterion = "concurrent",
      better = ">=" },
   { "ttfb", l4.TIMES, "from the SYN to the first byte of the first response of a connection",
      optional = true },
   { "ttlb", l4.TIMES, "and to its last byte", optional = true },
}
local TLS = {
   { "tls", l4.TLS, "over TLS: of the trial that the figures are of", optional = true },
   { "tls.handshake.mean_ns", col = "TLS handshake", unit = "mean", as = "time", hidden = true, at = "html" },
}
local LATENCIES = {
   { "ttfb.min_ns", col = "TTFB", unit = "min", as = "time", hidden = true, at = "html" },
   { "ttfb.mean_ns", col = "TTFB", unit = "mean", as = "time", hidden = true, at = "terminal html summary" },
   { "ttfb.max_ns", col = "TTFB", unit = "max", as = "time", hidden = true, at = "html" },
   { "ttlb.min_ns", col = "TTLB", unit = "min", as = "time", hidden = true, at = "html" },
   { "ttlb.mean_ns", col = "TTLB", unit = "mean", as = "time", hidden = true, at = "terminal html" },
   { "ttlb.max_ns", col = "TTLB", unit = "max", as = "time", hidden = true, at = "html" },
   { of = function(row) return row.ttfb and row.ttfb.mean_ns end, criterion = "ttfb_ns" },
   { of = function(row) return row.ttlb and row.ttlb.mean_ns end, criterion = "ttlb_ns" },
}
local TAIL = {
   { "criteria", list(CRITERION), "of the trial that the figures are of" },
   { "samples", list(SAMPLE), "of the same", optional = true },
   { "sustain_s", "number", "length of its sustain phase", optional = true },
   { "trial", "ordinal", "its number", optional = true },
   { "trials", "count", "how many trials it took", col = "Trials", at = "html" },
   { "first_trial", "ordinal", "number of the first of them" },
}

local RATE = {
   { "connections_per_s", "number", "connections that were established, exchanged data and were closed by FIN, a second, in the sustain phase", optional = true, col = "Connections", unit = "1/s",
      as = "rate", at = "terminal html",
      uncertainty = sampled("connections_per_s", of_one) },
}

-- The figure of a test stands in its summary, too.
local function summed(all, key)
   return rows.with(all, { [key] = { at = "terminal html summary" } })
end

local THEORY = {
   { "theoretical", "number", "transactions a second that the line allows", optional = true },
   { "theoretical_percent", "number", "the share of it that was reached", optional = true, col = "Share",
      unit = "% of line", as = "number", at = "terminal html" },
}

M.CONNECTIONS = record("rfc9411_connections", "TCP connections a second (RFC 9411, 7.2)", HEAD,
   summed(RATE, "connections_per_s"), FIGURES, TLS, THEORY, STEPS, TAIL, verdict.ROWS)
M.THROUGHPUT = record("rfc9411_throughput", "HTTP throughput (RFC 9411, 7.3)", HEAD,
   summed(FIGURES, "throughput_bps"), RATE, TLS, THEORY, STEPS, TAIL, verdict.ROWS)
M.LATENCY = record("rfc9411_latency", "Transaction latency (RFC 9411, 7.4)", HEAD, {
   { "half_of", "text", "the test whose load it is half of", col = "Half of", id = words, as = "key",
      at = "terminal html" },
   { "load", "number", "transactions a second" },
}, FIGURES, LATENCIES, RATE, TLS, TAIL, verdict.ROWS)
M.CONCURRENT = record("rfc9411_concurrent", "Concurrent connections (RFC 9411, 7.5)", HEAD, FIGURES, {
   { "concurrent_mean", col = "Concurrent", unit = "connections", as = "number", at = "terminal summary",
      better = ">=" },
}, TLS, STEPS, TAIL, verdict.ROWS)

M.TABLES, M.RESULTS = suite.results("rfc9411", "RFC 9411", {
   { "connections", M.CONNECTIONS, "TCP connections per second", "RFC 9411, section 7.2" },
   { "http_throughput", M.THROUGHPUT, "HTTP throughput", "RFC 9411, section 7.3" },
   { "latency", M.LATENCY, "HTTP transaction latency", "RFC 9411, section 7.4" },
   { "concurrent", M.CONCURRENT, "Concurrent TCP connections", "RFC 9411, section 7.5" },
})

M.TRIAL = record("rfc9411_trial", "one trial, also one line of trials.jsonl", l4.TRIAL.rows, {
   { "criteria", list(CRITERION), "of its sustain phase" },
   { "samples", list(SAMPLE), "of the same" },
})

return M
