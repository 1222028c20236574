-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows of TCP and UDP tests: a row for each test, and what their trials measure
-- (framegauge.text.rows).
local components = require "framegauge.trial.components"
local format = require "framegauge.text.format"
local kinds = require "framegauge.methods.l4.plan.kinds"
local pages = require "framegauge.methods.l4.plan.page"
local quic = require "framegauge.methods.l4.plan.quic"
local rows = require "framegauge.text.rows"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local tls = require "framegauge.methods.l4.plan.tls"
local transport_figures = require "framegauge.methods.l4.transport_figures"
local trial = require "framegauge.trial.result"
local uncertainty = require "framegauge.trial.uncertainty"
local units = require "framegauge.text.units"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, map, record = rows.list, rows.map, rows.record

M.TESTS = kinds.names()

-- Keys of the figure of a test, with the figure's unit.
local FIGURES = {
   { "concurrent_connections", " connections at a time" }, { "goodput_bps", " payload" }, { "received_bps",
      " payload" },
   { "transactions_per_s", " transactions/s" }, { "connections_per_s", " connections/s" },
   { "pages_per_s", " pages/s" },
}

--- The figure of a row, its key, and what it counts.
function M.figure(row)
   for _, one in ipairs(FIGURES) do
      if row[one[1]] then
         return row[one[1]], one[1], one[2]
      end
   end
end

--- "941.5 Mbit/s", "29,150": a value in the unit of the figure of a row.
function M.plain(row, value)
   local _, key = M.figure(row)
   return key:match "_bps$" and units.format_bits(value) or format.rate(value)
end

-- "941.5 Mbit/s payload", "29,150 transactions/s"
function M.in_words(row, value)
   return value and M.plain(row, value) .. select(3, M.figure(row))
end

--- The theoretical maximum of a row's figure, and what limits it; nil where neither is known.
function M.most(row)
   local line, trip = row.theoretical, row.round_trip_limit
   if trip and trip < (line or math.huge) then
      return trip, "round trip"
   end
   return line, line and "line"
end

--- "TCP_STREAM, IPv4, MTU 1500"
function M.name(row)
   return row.case and row.test .. ", " .. row.case or row.test
end

local function failures(row)
   local sum = 0
   for _, n in pairs(row.failures) do
      sum = sum + n
   end
   return sum
end

-- The change of a figure by one count: a datagram, a segment of payload, or an event.
local function one_of(row, o)
   local octets = (row.goodput_bps or row.received_bps) and (row.parameters.datagram or o.mtu)
   return (octets and 8 * octets or 1) / (o.duration - o.omit)
end

-- The figure is the mean of the repetitions; a single one shows nothing of others. Where all are equal (say,
-- each loses three of a hundred datagrams), the truth may still be between two counts.
local function spread(row, run)
   local n, mean = #row.figures, stats.mean(row.figures)
   local one = n > 1 and one_of(row, run.plan.l4)
   return one and uncertainty.of(mean, {
      components.repetitions(stats.stddev(row.figures), n),
      components.resolution(one, one, "what is counted is whole"), components.clock(mean, run.time),
   }, { min = 0 }) or nil
end

-- "± 0.12 Mbit/s": half of the interval that has the mean with 95 % confidence
local function confidence(row)
   return row.confidence and "± " .. M.plain(row, row.confidence)
end

M.TIMES = record("times", "a distribution of times", {
   { "count", "count", "how many" }, { "min_ns", "number", "minimum" },
   { "mean_ns", "number", "mean", n = "count" },
   { "p50_ns", "number", "median", n = "count" }, { "p90_ns", "number", "90 %", n = "count" },
   { "p99_ns", "number", "99 %", n = "count" }, { "p999_ns", "number", "99.9 %", n = "count" },
   { "max_ns", "number", "maximum" },
   { "at_least", "count", "of these, where no answer came: it would have taken at least so long",
      optional = true },
})

local function times(key, help)
   return { key, M.TIMES, help .. "; null when there were none", null = true }
end

-- A time of transactions, "≥ 2.1 s" where more than a share of all were not answered.
local function no_less(key, share)
   return function(row)
      local t = row.transaction
      return t and ((t.at_least or 0) > share * t.count and "≥ " or "") .. format.nanoseconds(t[key])
   end
end

local DEMAND = record("service_demand", "processor time for a unit of work, in real time only", {
   { "per", { "transaction", "KiB" }, "the unit of work: a transaction, or 1024 bytes of payload" },
   { "method", { "P" }, "how it was measured: time of the polls that had something to do" },
   { "client_us", "number", "at the client" }, { "server_us", "number", "at the server", optional = true },
})

local FLOW_BLOCKED = record("flow_blocked", "how long data waited for a window of HTTP/2 or HTTP/3", {
   { "connection_ns", "number", "time in which a connection had data and its window was used up, the sum of all connections" },
   { "stream_ns", "number", "time in which a stream had data and its own window was used up, the sum of all streams" },
})

local FAILURES = record("failures", "connections by how they ended other than closed", {
   { "refused", "count", "RST to the SYN; of UDP_RR, DNS and PING requests that ICMP reported as undeliverable, and over QUIC handshakes that ended so" }, { "no_answer", "count", "no answer to the SYN" },
   { "reset", "count", "reset by the peer" }, { "lost", "count", "the peer fell silent" },
   { "aborted", "count", "by the tester" }, { "expired", "count", "requests, and closes of connections, without an answer in time" },
   { "bad_response", "count", "HTTP: not what was asked for; DNS: an answer that is malformed; FTP: a file that did not come to be, or a session that had to end" },
})

M.PATH = record("path", "a path over which flows were spread", {
   { "port", "text", "the port it ends at", col = "Path", at = "html" },
   { "received", "count", "datagrams", col = "Datagrams", at = "html" },
   { "share", "number", "their share", col = "Share", as = "ratio", at = "html" },
   { "flows", "count", "flows seen there", col = "Flows", at = "html" },
   { "reordered", "count", "datagrams out of order within a flow", col = "Reordered", unit = "within a flow",
      at = "html" },
   { "duplicates", "count", "copies within a flow", col = "Duplicates", unit = "datagrams", at = "html" },
})

--- TLS of a test, by the name that other methods use, too
M.TLS = tls.record(M.TIMES)

local TLS, QUIC, PAGE = M.TLS, quic.record(M.TIMES), pages.record(M.TIMES)

-- The share of the path with the fewest frames; 0 where a path got none.
local function least_share(row)
   local least = row.paths and 1
   for _, path in ipairs(row.paths or {}) do
      least = math.min(least, path.share)
   end
   return least
end

local function split_share(row)
   return row.flows_split and row.flows_split / row.flows
end

M.ROW = record("l4", "A test of TCP or UDP, by the name of netperf", {
   { "test", M.TESTS, "by the name of netperf" },
   { "case", "text", "what is different in it where a campaign has the test several times: `IPv4, MTU 1500`",
      optional = true },
   { of = M.name, col = "Test", as = "plain", at = "terminal summary details transports" },
   { "direction", "text", "from client to server", col = "Direction", at = "summary" },
   { of = function(row) return M.in_words(row, (M.figure(row))) end, col = "Measured", left = false,
      at = "terminal summary" },
   { "goodput_bps", "number", "TCP_STREAM, TCP_MAERTS, and over TLS or QUIC: bits of payload a second that arrived in order, from `omit` to the end; FTP: of files, which the client has received or the server acknowledged",
      optional = true, uncertainty = spread },
   { "received_bps", "number", "UDP_STREAM: bits of payload a second at the server", optional = true,
      criterion = "goodput", uncertainty = spread },
   { "sent_bps", "number", "UDP_STREAM: bits of payload a second at the client", optional = true },
   { "reverse_bps", "number", "of a peer with `direction: both`: bits of payload a second that were received the other way at the same time", optional = true },
   { "transactions_per_s", "number", "TCP_RR, UDP_RR, TCP_CRR, HTTP, and over TLS or QUIC: responses; DNS: answers; PING: replies",
      optional = true, uncertainty = spread, as = "number" },
   { "connections_per_s", "number", "TCP_CC, TLS_CC, QUIC_CC: connections closed after a complete exchange",
      optional = true, uncertainty = spread, as = "number" },
   { "pages_per_s", "number", "PAGE, TLS_PAGE, PAGE2, PAGE3: pages that came whole", optional = true,
      uncertainty = spread },
   { "concurrent_connections", "number", "of concurrency: the most connections at a time that passed",
      optional = true },
   { "figures", list "number", "of each repetition; the figure is their mean" },
   { "confidence", "number", "with 95 % confidence the true mean is no further from the figure than this (Student's t); null for a single repetition", null = true },
   { of = confidence, col = "95 %", unit = "confidence", hidden = true, left = false, at = "summary" },
   { "theoretical", "number", "the most that the line allows, in the unit of the figure; null without the rate of the line, with `http.any_body`, and of HTTP3 without bodies", null = true },
   { "round_trip_limit", "number", "where each transaction waits for the one before on its connection: the most that the round trip allows, `connections` / (round trips of a transaction × the shortest of `rtt`, for UDP of `transaction`, + its mean pauses of `load.think`); not where clients come and go by `load.rate`, `per_second`, `cycles` or `hold`", optional = true },
   { of = function(row) return M.most(row) and M.plain(row, (M.most(row))) end, col = "Possible", left = false,
      at = "terminal summary" },
   { of = function(row) return select(2, M.most(row)) end, col = "Limit", at = "terminal summary" },
   { "theoretical_percent", "number", "the share that was reached of the lesser of both limits", null = true,
      col = "Share", at = "terminal summary" },
   { "theoretical_legacy", "number", "of mtu-sweep: by the formula that l4-campaigns.md warns of",
      optional = true, as = "bits", col = "Legacy formula", at = "summary" },
   { "window_bps", "number", "of buffer-sweep: a buffer's worth each of the shortest round trips",
      optional = true },
   { "load", "number", "of searches: the highest load that passed a trial of the full length",
      optional = true, uncertainty = function(row, run)
         return components.searched(row.load, row.upper_load, not row.concurrent_connections and run.time)
      end, better = ">=" },
   { "upper_load", "number", "of searches: the lowest above it that did not", optional = true },
   { "limited_by", "text", "of searches: why the search stopped", optional = true },
   { "upper_trial", "ordinal", "of searches: the trial of that load", optional = true },
   { "fell_short", list "text", "of searches: where it fell short", optional = true },
   { "trials_made", "ordinal", "of searches: how many trials it took", optional = true },
   { "trials", list "ordinal", "numbers of the trials it is of" },
   { "parameters", "object", "of the plan, as far as the test has them" },
   { "failures", FAILURES, "connections by how they ended other than closed" },
   { of = function(row) return failures(row) + row.wrong_bytes end, criterion = "failures" },
   { of = failures, col = "Failures", as = "count", at = "terminal details" },
   { "bad_responses", map "ordinal", "HTTP, where there were any: by what was wrong: a status that is not good (`http_4xx`, `http_5xx`, `http_other`), another length (`http_length`), or cut off (`http_cut`); of HTTP/2 also streams that the server reset (`stream_reset`), `malformed` messages, connections that ended by our GOAWAY (`connection_error`), or by the server's with an error (`goaway`)", optional = true },
   { "dns_answers", map "ordinal", "DNS: answers by response code (`noerror`, `nxdomain`, `servfail`, `other_rcode`), of these `truncated`, and what was none: another question (`mismatched`), too late (`late`), a second time (`duplicates`), to no query (`unexpected`) or no message (`malformed`). Over TCP and TLS also how many `queries` were sent, and those whose connection ended before the answer (`cut`); over UDP those that were `asked_again` over TCP, and with cookies those that had one (`cookies`), that asked for one (`bad_cookie`), and that lacked the right one (`wrong_cookie`)", optional = true },
   { "flow_blocked", FLOW_BLOCKED, "HTTP2, HTTPS2 and HTTP3, where there was any, of the last repetition from `omit` to the end, at the end that sends the bodies: our server, or with POST the client", optional = true },
   { "flow_blocked.connection_ns", col = "Blocked by the window", unit = "of a connection", hidden = true,
      at = "details" },
   { "flow_blocked.stream_ns", col = "Blocked by the window", unit = "of a stream", hidden = true, at = "details" },
   { "hol_ns", "number", "HTTP2 and HTTPS2, and their pages: time in which data of a stream had arrived, with all of the stream before it, and waited behind a gap of TCP in which data of others was missing (head-of-line blocking); the sum of all streams, at both ends where both are ours, of the last repetition from `omit` to the end. Not of HTTP3: QUIC has a position for each stream",
      optional = true, col = "Head-of-line blocking", unit = "of all streams", hidden = true, at = "details" },
   { "flood_frames", "count", "HTTP2, HTTPS2 and HTTP3 with `http.flood`: frames that were sent for it", optional = true,
      better = false },
   { "ping_replies", map "ordinal", "PING, where there were any: replies that came after their request was given up (`late`), a second time (`duplicates`), behind the reply to a later request (`reordered`), or to no request (`malformed`)", optional = true },
   { "files_per_s", "number", "FTP: files a second, whole and with a good reply", optional = true,
      col = "Files", unit = "a second", hidden = true, as = "number",
      at = "details" },
   { "ftp_counts", map "ordinal", "FTP: `file_bytes` on data connections, and what was wrong: replies (`reply_4xx`, `reply_5xx`, `reply_other`: one that does not belong there, `reply_malformed`, `line_too_long`), the address of a third host in one (`foreign_address`), data connections that never came (`no_data_connection`) or that nobody waits for (`stray_connection`), files of another length (`file_length`), connections that ended in the middle (`cut`), and sessions in which nothing came in time (`silent`). The client's; each file or session counts once", optional = true },
   { "ftp_replies", map "ordinal", "FTP, where there were any: replies that were not what was waited for, by their code", optional = true },
   { "ftp_reply", "text", "FTP: the last of them", optional = true },
   { "answered_ratio", "ratio", "DNS: the share of queries that were answered in time", optional = true,
      col = "Answered", as = "ratio", hidden = true, at = "details",
      better = ">=", n = "queries" },
   { "queries", "count", "DNS: queries sent", optional = true, better = false },
   { "opened", "count", "TCP: connections that the client opened in all trials", optional = true },
   { "closed", "count", "of these, closed by both sides", optional = true },
   { "open", "count", "of these, open when the drain was over, and not given up", optional = true },
   { "concurrent_max", "count", "the most of these at a time, in any trial", optional = true },
   { "outstanding", "count", "of tests that give up what gets no answer: connections, requests and closes that waited for one when the drain was over, for less than `timeout`", optional = true,
      col = "Outstanding", hidden = true, as = "count", at = "details",
      better = "<=" },
   { "retransmitted_segments", "count", "segments of data that were retransmitted, of both sides",
      col = "Retransmitted", unit = "segments", at = "terminal details" },
   { "fast_retransmits", "count", "entries into fast recovery" },
   { "timeouts", "count", "retransmission time-outs", col = "Time-outs", at = "details" },
   { "syn_retransmits", "count", "SYNs that were retransmitted" },
   { "known_ports", "count", "SYNs that a peer took for an older connection's with the same ports; that was reset and the SYN sent again at once" },
   { "wrong_bytes", "count", "received bytes that differ from those sent; more than 0 makes the test invalid", col = "Wrong", unit = "bytes", at = "details" },
   { "lost", "integer", "UDP_STREAM: datagrams by number; PING: requests without a reply in time, or reported as undeliverable",
      optional = true, col = "Datagrams lost",
      at = "details", as = "count" },
   { "datagrams", "count", "datagrams, or echo requests, sent", optional = true },
   { "loss_ratio", "signed", "their share", optional = true, n = "datagrams" },
   { "reordered", "count", "datagrams, or replies, out of order", optional = true },
   { "duplicates", "count", "further copies", optional = true },
   { "jitter_ns", "number", "RFC 3550's jitter, mean of the streams", optional = true, n = "datagrams" },
   { "setup.mean_ns", col = "Set-up mean", hidden = true, at = "details" },
   { "transaction.min_ns", col = "Transaction min", hidden = true, at = "details" },
   { of = no_less("mean_ns", 0), col = "Mean", hidden = true, left = false, at = "terminal details" },
   { of = no_less("p99_ns", 0.01), col = "p99", hidden = true, left = false, at = "terminal details" },
   { of = no_less("max_ns", 0), col = "Max", hidden = true, left = false, at = "details" },
   { "page.load.p50_ns", col = "Page load median", hidden = true, at = "terminal details",
      criterion = "load" },
   { "page.load.max_ns", col = "Page load max", hidden = true, at = "details" },
   { "page.setup_ratio", col = "Page set-up", hidden = true, at = "details", criterion = "page_setup_ratio",
      better = "either" },
   { "page.waiting_ratio", col = "Page waiting", hidden = true, at = "details", criterion = "page_waiting_ratio",
      better = "either" },
   { "page.transfer_ratio", col = "Page transfer", hidden = true, at = "details", criterion = "page_transfer_ratio",
      better = "either" },
   { "page", PAGE, "of PAGE, TLS_PAGE, PAGE2 and PAGE3", optional = true },
   times("setup", "of the last repetition: SYN to established; with `load.rate` from when the connection was due"),
   times("transaction", "request to whole response (TCP_CRR, TCP_CC: SYN to closed; FTP: from PASV or its like to the file and its last reply)"),
   times("first_byte", "from the SYN to the first byte of the first response (TTFB of RFC 9411); of pages from their begin to the document's"),
   times("last_byte", "the same to its last byte (TTLB)"),
   times("rtt", "round trips as TCP measured them"),
   { "busy_polls", "ratio", "share of its polls that the busiest worker of them had something to do in" },
   { "tls.handshake.mean_ns", col = "TLS handshake mean", hidden = true, at = "terminal details" },
   { "tls", TLS, "of tests over TLS", optional = true },
   { "quic.handshake.mean_ns", col = "QUIC handshake mean", hidden = true, at = "terminal details" },
   { "quic.client.packets_lost", col = "QUIC packets lost", unit = "by the client", hidden = true,
      at = "details" },
   { "quic", QUIC, "of tests over QUIC", optional = true },
   { "service_demand", DEMAND, "in real time only, since on the virtual wire nothing may depend on the machine. What netperf takes from the load of the machine is here the time of the polls that had something to do, from their first frame to their end, in the whole of all trials: lcores poll and are never idle", optional = true },
   { "connection_memory_bytes", "number", "memory that a connection took at most at either end, with its share of the table that finds it and what its losses needed; absent for UDP", optional = true },
   { "peer", "object", "what a peer that runs `iperf3 -s` has counted; null is what it does not know. Goodput is then of what the receiver had by the end, over its time; `lost`, `reordered` and `jitter_ns` are as iperf3 counts them, and `duplicates` is not counted", optional = true },
   { "transport", transport_figures.RECORD, "of transports: compared with the others on the same path",
      optional = true },
   { "flows", "ordinal", "of balance: how many flows", optional = true },
   { "flows_split", "count", "how many of them were seen on more than one path", optional = true },
   { "spreading", { "one path", "per flow", "per packet", "mixed" }, "what follows", optional = true },
   { "paths", list(M.PATH), "the paths", optional = true },
   { of = least_share, criterion = "share_ratio", as = "ratio", better = ">=", optional = true },
   { of = split_share, criterion = "split_ratio", as = "ratio", better = "<=", optional = true },
}, transport_figures.COLUMNS, verdict.ROWS)
M.ROW.one_of = tables.map(FIGURES, function(one) return one[1] end)
M.ROW.together = {
   { "lost", "datagrams", "loss_ratio" }, { "answered_ratio", "queries" },
   { "flows", "flows_split", "spreading", "paths" },
}

local TALLY = record("tally", "sums of an application", {
   { "octets_in", "count", "bytes received over TCP" }, { "octets_out", "count", "bytes sent over TCP" },
   { "datagrams_in", "count", "datagrams received" }, { "datagrams_out", "count", "datagrams sent" },
   { "datagram_octets_in", "count", "bytes of datagrams received" },
   { "transactions", "count", "transactions that ended" }, { "opened", "count", "connections begun" },
   { "established", "count", "connections established" }, { "refused", "count", "connections refused" },
   { "expired", "count", "connections given up" },
   { "ended", map "count", "connections by what ended them" },
})
TALLY.open = true -- and counts of single applications

local INTERVAL = record("interval", "an application in an interval (`l4.interval`)", {
   { "octets_in", "count", "bytes received" }, { "octets_out", "count", "bytes sent" },
   { "datagrams_in", "count", "datagrams received" }, { "datagrams_out", "count", "datagrams sent" },
   { "line_octets", "count", "bytes of frames on the line" },
   { "transactions", "count", "transactions that ended" }, { "established", "count", "connections established" },
   { "retransmitted", "count", "segments retransmitted" }, { "open", "count", "connections open at its end" },
   { "sampled", "count", "connections behind the next four means" }, { "cwnd", "count", "congestion window, bytes" },
   { "window", "count", "window of the peer, bytes" }, { "flight", "count", "bytes in flight" },
   { "rtt_us", "count", "round trip time, us" },
})

local APP_TLS = record("app_tls", "TLS of an application; an end over TLS only", {
   { "alerts_sent", map "count", "other than close_notify, by number" },
   { "alerts_received", map "count", "the same" },
})
APP_TLS.open = true

local APP = record("app", "what an application of a side counted", {
   { "measured", TALLY, "from `omit` to the end" }, { "measured_s", "number", "for how long that was" },
   { "total", TALLY, "in all" }, { "concurrent_max", "count", "the most connections at a time" },
   { "series", list(INTERVAL), "its intervals", optional = true },
   { "rtt", M.TIMES, "round trips as TCP measured them", optional = true },
   { "jitter_ns", "number", "of datagrams received, RFC 3550's", optional = true },
   { "reordered", "integer", "of these, out of order", optional = true },
   { "iperf", "object", "what both sides told iperf3, of a client whose peer runs it", optional = true },
   { "tls", APP_TLS, "of tests over TLS", optional = true },
})
APP.open = true -- and distributions of times, and fields of single applications

local LOAD = record("l4_load", "what clients do", {
   { "rate", "number", "connections or requests a second", optional = true },
   { "requests", "count", "of a connection", optional = true },
})
LOAD.open = true

local SETTING = record("l4_setting", "the parameters of a trial", {
   { "duration_s", "number", "seconds", optional = true }, { "omit_s", "number", "of these, left out at the begin", optional = true },
   { "connections", "count", "at a time", optional = true }, { "load", LOAD, "what clients do", optional = true },
   { "datagram", "count", "bytes of a datagram", optional = true },
   { "message", "count", "bytes that are written at once", optional = true },
   { "request", "count", "bytes of a request", optional = true },
})
SETTING.open = true -- and fields of single applications

local STATION = record("station", "how a side was at its port", {
   { "tx_frames", "count", "frames sent" }, { "rx_frames", "count", "frames received" },
   { "refused", "count", "times that the port refused one" }, { "no_mbuf", "count", "times that there was no buffer" },
   { "busy", "ratio", "share of its looks at the port in which there was something to do" },
   { "busy_s", "number", "in real time, how long these took", optional = true },
})
STATION.open = true

local SIDE = record("side", "a side of a trial of TCP or UDP", {
   { "role", "text", "`client`, `server`, or the port of a path" }, { "apps", list(APP, { least = 1 }),
      "its applications" },
   { "flows", list(map "count"), "of balance: datagrams by flow", optional = true },
   { "counters", map "ordinal", "counters that counted something (`framegauge help counters`)" },
   { "open", "count", "connections open at the end" },
   { "station", STATION, "how it was at its port" },
   { "memory", map "count", "memory of connections and how many there were" },
})

M.TRIAL = record("l4_trial", "one trial of TCP or UDP, also one line of trials.jsonl",
   trial.HEAD_WITHOUT_SIZE, verdict.OF_TRIAL, {
   { "setting", SETTING, "the parameters it was made with" },
   { "fell_short", list "text", "of a search where the load fell short, in sentences, absent where it passed", optional = true },
   { "tester_drops", "count", "frames that the tester's ports lost" },
   { "poll_gap_max_ns", "count", "longest time no worker looked at them", optional = true },
   trial.CARDS, { "sides", list(SIDE, { least = 1 }), "of the client and of the server" },
})

M.TABLES = { {
   name = "l4", title = "TCP and UDP, client to server", record = M.ROW, case = M.name,
   rows = function(results) return results.l4 or {} end,
} }

M.RESULTS = record("l4_results", "results of TCP and UDP tests", {
   { "l4", list(M.ROW), "a row for each test", optional = true },
})

return M
