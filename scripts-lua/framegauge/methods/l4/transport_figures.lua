-- SPDX-License-Identifier: BSD-3-Clause

--- What the campaign transports adds to its rows: goodput in the same unit for all tests, the limits by
-- headers, window and loss of the path, retransmissions, and the ratio to TCP and to TLS over TCP on the same
-- path. A repetition has the same losses in all tests. So a ratio is computed in each repetition, and its
-- interval is the interval of the mean of the ratios.
local app = require "framegauge.traffic.l4.app"
local kinds = require "framegauge.methods.l4.plan.kinds"
local quic = require "framegauge.methods.l4.plan.quic"
local records = require "framegauge.tester.l4.record"
local rows = require "framegauge.text.rows"
local settings = require "framegauge.methods.l4.settings"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local theory = require "framegauge.traffic.l4.theory"
local tls = require "framegauge.methods.l4.plan.tls"
local uncertainty = require "framegauge.trial.uncertainty"

local M = {}

--- Figures of a row.
M.RECORD = rows.record("l4_transport", "of the campaign transports: a transport on a path", {
   { "path", "ordinal", "number of the path in the plan" },
   { "goodput_bps", "number", "payload bits a second that arrived in order: of streams, or of responses with the share that bodies have of them, of HTTP3 all of it" },
   { "goodputs_bps", rows.list "number", "of each repetition; goodput_bps is their mean" },
   { "theoretical_bps", "number", "the most of it that the headers of full packets, records and messages leave of the path's rate. Frames and fields of HTTP3 are not counted", better = false },
   { "theoretical_percent", "number", "the share of it that was reached" },
   { "window_bps", "number", "a window each round trip: of TCP the smaller of both buffers, of QUIC the smaller of the windows of connection and stream, of all connections together; null without a delay, and for HTTP", null = true, better = false },
   { "loss_bps", "number", "the mean with this share of random losses and this round trip: of Reno MSS/RTT * sqrt(3/2)/sqrt(p) (Mathis), of CUBIC by RFC 9438, 5; null without random loss or delay, for HTTP and BBR", null = true, better = false },
   { "tcp_ratio", "number", "goodput divided by TCP's on the same path, mean of the repetitions: of streams TCP_STREAM or TCP_MAERTS; of HTTPS HTTP; of HTTPS2 and HTTP3 HTTP2 with as many streams; null where that is not in the plan, or one of both is not valid", null = true },
   { "tcp_ratio_confidence", "number", "the true mean lies with 95 % confidence within this distance (Student's t); null for a single repetition", null = true },
   { "tls_ratio", "number", "goodput divided by TLS over TCP's: TLS_STREAM, TLS_MAERTS, HTTPS or HTTPS2",
      null = true },
   { "tls_ratio_confidence", "number", "as tcp_ratio_confidence", null = true },
   { "retransmitted_bytes", "count", "payload that the sender sent more than once, in all repetitions" },
   { "spurious", "count", "of TCP recoveries that were taken back, because nothing was lost; of QUIC packets that were held for lost and acknowledged after all", better = false },
   { "back_frames_ratio", "number", "frames that the receiver of the payload sent for each of the sender's" },
})

-- "0.995 ± 0.003"
local function ratio(key)
   return function(row)
      local value, half = row.transport and row.transport[key], row.transport
         and row.transport[key .. "_confidence"]
      if value == 1 and half == 0 then
         return "1"
      end
      return value and ("%.3f"):format(value) .. (half and (" ± %.3f"):format(half) or "")
   end
end

local function column(key, heading, unit, as)
   return { "transport." .. key, col = heading, unit = unit, as = as, hidden = true, at = "transports" }
end

--- Columns of the table of the report, of a row of results.
M.COLUMNS = {
   column("goodput_bps", "Goodput", "", "bits"), column("theoretical_bps", "Headers allow", "",
      "bits"),
   column("window_bps", "Window allows", "", "bits"),
   column("loss_bps", "Loss, mean", "", "bits"),
   { of = ratio "tcp_ratio", col = "Of TCP", unit = "95 %", hidden = true, left = false, at = "transports" },
   { of = ratio "tls_ratio", col = "Of TLS", unit = "95 %", hidden = true, left = false, at = "transports" },
   { "hol_ns", col = "Waited for others", unit = "ms", as = "ms", hidden = true, at = "transports" },
   column("retransmitted_bytes", "Sent again", "bytes"), column("spurious", "Spurious", "", "count"),
   { of = function(row) return row.transport and ("%.1f"):format(100 * row.transport.back_frames_ratio) end,
      col = "Frames back", unit = "%", hidden = true, left = false, at = "transports" },
   { of = function(row) return row.transport and row.validity end, col = "Verdict", as = "validity",
      hidden = true, at = "transports" },
   { of = function(row) return row.transport and row.transport.tcp_ratio end,
      criterion = "tcp_ratio", plain = true, as = "number3", better = ">=",
      optional = true },
   { of = function(row) return row.transport and row.transport.tls_ratio end,
      criterion = "tls_ratio", plain = true, as = "number3", better = ">=",
      optional = true },
}

-- The tests over TCP, and over TLS, that the others are compared with.
local BASES = {}
for _, base in ipairs {
   { "TCP_STREAM", "TLS_STREAM", "QUIC_STREAM" }, { "TCP_MAERTS", "TLS_MAERTS", "QUIC_MAERTS" },
   { "HTTP", "HTTPS" }, { "HTTP2", "HTTPS2", "HTTP3" },
} do
   for _, test in ipairs(base) do
      BASES[test] = base
   end
end

-- Payload bits of one unit of a test's figure.
local function bits_of(test, o)
   return kinds.is_http(test) and 8 * o.http.body or 1
end

-- The maximum payload of a stream under a test, in full packets.
local function carried(test, o, line, rate)
   local kind = kinds.of(test)
   if kind.quic then
      return quic.theory(rate, o.ip, line)
   end
   return theory.stream(rate, o.ip, line) * (kind.tls and tls.share(o) or 1)
end

-- Bytes of an HTTP response with its head and frames; unknown for HTTP3.
local function response_octets(plan, tester, test, o)
   if kinds.of(test).quic then
      return o.http.body
   end
   return (select(2, app.http_octets((settings.apps(plan, tester, test, o, 1)))))
end

-- Payload bits a second of each repetition. Transactions whose responses end together would come in lumps.
local function goodputs(plan, tester, test, o, row, list)
   if not kinds.is_http(test) then
      return row.figures
   end
   local share = o.http.body / response_octets(plan, tester, test, o)
   return tables.map(list, function(record)
      local client = record.sides[1].apps[1]
      return client.measured_s > 0 and 8 * client.measured.octets_in * share / client.measured_s or 0
   end)
end

-- The maximum payload that headers leave.
local function most(plan, tester, test, o)
   local rate, kind, line = o.path.rate_bps, kinds.of(test), theory.of(o)
   line.quic_datagram = o.quic.max_datagram
   if not kinds.is_http(test) then
      return carried(test, o, line, rate)
   end
   if test == "HTTP" then
      local client = settings.apps(plan, tester, test, o, 1)
      return kind.theory(rate, o.ip, line, function() return client end) * bits_of(test, o)
   end
   return carried(test, o, line, rate) * o.http.body / response_octets(plan, tester, test, o)
end

-- The congestion control of a test: the formula, and payload bytes of a full packet.
local function response_of(test, o)
   if kinds.of(test).quic then
      return ({ cubic = theory.cubic, reno = theory.mathis })[o.quic.congestion],
         quic.payload(o.quic.max_datagram)
   end
   local mss = theory.mss(o.ip, theory.of(o))
   return o.tcp.congestion == "cubic" and theory.cubic or theory.mathis,
      mss * (kinds.of(test).tls and tls.share(o) or 1)
end

local function window_of(test, o)
   local a, b = o.tcp.receive_buffer, o.tcp.send_buffer
   if kinds.of(test).quic then
      a, b = o.quic.window, o.quic.stream_window
   end
   return math.min(a, b)
end

-- What limits a stream in addition to headers: its window, and its losses.
local function add_limits(out, test, o)
   local path = o.path
   if kinds.is_http(test) or path.delay_s == 0 then
      return
   end
   out.window_bps = o.connections * 8 * window_of(test, o) / path.delay_s
   local response, mss = response_of(test, o)
   if response and path.loss_ratio > 0 and not path.bursts then
      out.loss_bps = o.connections * response(mss, path.delay_s, path.loss_ratio)
   end
end

local function add_repairs(out, test, list)
   local sender = kinds.of(test).receiver == 2 and 1 or 2
   local frames = { 0, 0 }
   out.retransmitted_bytes, out.spurious = 0, 0
   for _, record in ipairs(list) do
      local side = record.sides[sender]
      local q = side.apps[1].quic
      out.retransmitted_bytes = out.retransmitted_bytes
         + (q and q.octets_sent_again or records.count(side, "octets_retransmitted"))
      out.spurious = out.spurious + (q and q.packets_spurious or records.count(side, "spurious_recoveries"))
      for i, one in ipairs(record.sides) do
         frames[i] = frames[i] + one.station.tx_frames
      end
   end
   out.back_frames_ratio = frames[sender] > 0 and frames[3 - sender] / frames[sender] or 0
end

--- The figures of a row, but for the ratios.
-- @param list  records of its trials
function M.of(plan, tester, case, row, list)
   local test, o = case.test, settings.of(plan, case.set)
   local unit = bits_of(test, o)
   local out = { path = case.path, goodputs_bps = goodputs(plan, tester, test, o, row, list),
      theoretical_bps = most(plan, tester, test, o) }
   out.goodput_bps = stats.mean(out.goodputs_bps)
   out.theoretical_percent = 100 * out.goodput_bps / out.theoretical_bps
   add_limits(out, test, o)
   add_repairs(out, test, list)
   row.theoretical = out.theoretical_bps / unit
   row.theoretical_percent = 100 * stats.mean(row.figures) / row.theoretical
   return out
end

-- The row of a test on a path with the same number of streams.
local function base_of(list, row, which)
   local base = BASES[row.test][which]
   for _, other in ipairs(list) do
      if other.test == base and (base == "HTTP" or base == "HTTPS" or not kinds.is_http(base)
         or other.parameters.http.streams == row.parameters.http.streams) then
         return other
      end
   end
end

local function add_ratio(row, base, key)
   local ratios = {}
   local known = base and base.validity == "valid" and row.validity == "valid"
   for i, value in ipairs(known and row.transport.goodputs_bps or {}) do
      ratios[i] = base.transport.goodputs_bps[i] > 0 and value / base.transport.goodputs_bps[i] or nil
   end
   local n = #ratios
   if n > 0 and n == #row.trials then
      row.transport[key] = stats.mean(ratios)
      row.transport[key .. "_confidence"] = n > 1
         and uncertainty.student(n - 1) * stats.stddev(ratios) / math.sqrt(n) or nil
   end
end

--- Compare rows of one path with each other.
function M.compare(list)
   for _, row in ipairs(list) do
      add_ratio(row, base_of(list, row, 1), "tcp_ratio")
      add_ratio(row, base_of(list, row, 2), "tls_ratio")
   end
end

return M
