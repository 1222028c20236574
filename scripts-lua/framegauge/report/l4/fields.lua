-- SPDX-License-Identifier: BSD-3-Clause

--- What a row of the TCP and UDP tests holds, in the order a person reads it. docs/results.md says what the
-- keys mean.
local nulls = require "framegauge.report.nulls"

local M = {}

M.ORDER = {
   "l4", "test", "title", "case", "direction", "goodput_bps", "transactions_per_s", "connections_per_s",
   "sent_bps", "received_bps", "reverse_bps",
   "confidence", "theoretical", "theoretical_legacy", "window_bps", "percent", "verdict", "reasons",
   "trials", "parameters", "setting", "ip", "mtu",
   "connections", "duration_s", "omit_s", "request", "response", "datagram", "datagrams_per_s",
   "timeout_s", "tcp", "figures", "opened", "closed", "failures", "refused", "no_answer", "reset", "lost",
   "aborted",
   "expired", "bad_response", "bad_responses", "http_4xx", "http_5xx", "http_other", "http_length",
   "http_cut", "http", "retransmitted_segments", "fast_retransmits", "timeouts",
   "syn_retransmits", "wrong_octets", "busy_polls", "service_demand", "per", "method", "client_us",
   "server_us", "loss_ratio", "reordered", "duplicates", "jitter_ns", "setup",
   "transaction", "first_octet", "last_octet", "rtt", "count", "min_ns", "mean_ns", "p50_ns", "p90_ns",
   "p99_ns", "p999_ns", "max_ns",
}

local NULLS = {
   "confidence", "theoretical", "percent", "setup", "transaction", "first_octet", "last_octet", "rtt",
}

--- The results as result.json has them.
function M.published(results)
   return { l4 = nulls.each(results.l4 or {}, function(row)
      local copy = nulls.fill(row, NULLS)
      if row.test == "UDP_STREAM" then
         copy.parameters = nulls.fill(row.parameters, { "datagrams_per_s" })
      end
      return copy
   end) }
end

local FIGURES = { "concurrent_connections", "goodput_bps", "received_bps", "transactions_per_s",
   "connections_per_s" }

--- The figure of a row and the key it stands under.
function M.figure(row)
   for _, key in ipairs(FIGURES) do
      if row[key] then
         return row[key], key
      end
   end
end

--- Columns of the CSV file.
M.CSV = {
   "test", "case", "direction", "goodput_bps", "received_bps", "reverse_bps", "sent_bps",
   "transactions_per_s",
   "connections_per_s", "confidence", "theoretical", "theoretical_legacy", "percent", "verdict",
   "parameters.connections",
   "parameters.duration_s", "parameters.mtu", "parameters.ip", "parameters.request",
   "parameters.response", "parameters.datagram", "failures.refused", "failures.no_answer",
   "failures.reset", "failures.lost", "failures.aborted", "failures.expired", "failures.bad_response",
   "retransmitted_segments", "wrong_octets", "loss_ratio", "jitter_ns", "setup.mean_ns", "setup.p99_ns",
   "transaction.count", "transaction.min_ns", "transaction.mean_ns", "transaction.p50_ns",
   "transaction.p99_ns", "transaction.max_ns", "first_octet.mean_ns", "last_octet.mean_ns", "rtt.min_ns",
   "rtt.mean_ns", "rtt.max_ns", "busy_polls", "window_bps", "parameters.message",
   "parameters.tcp.receive_buffer", "service_demand.client_us", "service_demand.server_us",
   "service_demand.per",
}

return M
