-- SPDX-License-Identifier: BSD-3-Clause

--- Applications of the L4 engine (lib/apps/fg_l4_app.h) from plain tables, and their results as tables.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local json = require "framegauge.text.json"
local octets = require "framegauge.core.octets"
local pages = require "framegauge.traffic.l4.page"

local C, nanoseconds = api.C, api.nanoseconds
local M = {}

--- How connections end (enum fg_l4_end).
M.ENDS = { [0] = "closed", "refused", "no_answer", "reset", "lost", "aborted", "expired" }

local KEY_LOG_LINES = 65536 -- of an application; five for each handshake of TLS 1.3

local CONGESTION = { newreno = C.FG_L4_NEWRENO, cubic = C.FG_L4_CUBIC }

local FTP_MODES = {
   ["extended-passive"] = C.FG_L4_FTP_EXTENDED_PASSIVE, passive = C.FG_L4_FTP_PASSIVE,
   ["extended-active"] = C.FG_L4_FTP_EXTENDED_ACTIVE, active = C.FG_L4_FTP_ACTIVE,
}

local function set_tcp(out, tcp)
   C.fg_l4_tcp_defaults(out)
   for key, value in pairs(tcp or {}) do
      if key == "congestion" then
         out.congestion = CONGESTION[value]
      elseif key:match "_ms$" or type(value) ~= "number" then
         out[key] = value
      else
         out[key] = math.floor(value)
      end
   end
end

local function set_address(field, text)
   local bytes = text:find(":", 1, true) and octets.ipv6(text) or octets.ipv4(text)
   ffi.copy(field, bytes, #bytes)
end

local function set_tls_config(tls, t)
   for _, key in ipairs { "server", "verify", "resume", "reuse", "strict_name", "seeded" } do
      tls[key] = t[key] == true
   end
   for _, key in ipairs { "tickets", "oldest", "newest", "seed", "ciphers", "groups", "certificate",
      "certificate_file", "key_file", "ca_file", "server_name", "alpn", "early_data", "refuse_every" } do
      tls[key] = t[key]
   end
   tls.key_log = t.key_log and KEY_LOG_LINES or 0
end

local function set_tls(t)
   local out = ffi.new "struct fg_secure_config"
   set_tls_config(out.tls, t)
   out.record, out.key_update_every, out.hold = t.record, t.key_update_every, t.hold
   out.handshakes_at_once, out.timeout_ns = t.handshakes_at_once, nanoseconds(t.timeout)
   return out
end

local LEAST_STREAMS = 256 -- that a client of HTTP/3 may have open at a time, as of HTTP/2
local QUIC_CONGESTION = { reno = C.FG_QUIC_RENO, cubic = C.FG_QUIC_CUBIC, bbr = C.FG_QUIC_BBR }

local function set_quic(q, app)
   local out = ffi.new "struct fg_quic_config"
   set_tls_config(out.tls, q.tls)
   for _, key in ipairs { "retry", "ecn", "max_datagram", "ack_every", "key_update_every", "window",
      "stream_window", "qlog" } do
      out[key] = q[key]
   end
   out.congestion = QUIC_CONGESTION[q.congestion]
   out.initial_rtt_ns, out.idle_ns = nanoseconds(q.initial_rtt), nanoseconds(q.idle)
   out.offer = q.offer
   out.migrate_ns, out.rebind_ns = nanoseconds(q.migrate_every), nanoseconds(q.rebind_every)
   out.handshake_ns, out.handshakes_at_once = nanoseconds(q.tls.timeout), q.tls.handshakes_at_once
   out.port_first, out.port_last = app.port_first, app.port_last
   out.streams = math.max(app.streams, LEAST_STREAMS)
   return out
end

local FLOODS = {
   rst = C.FG_L4_FLOOD_RST, ping = C.FG_L4_FLOOD_PING, settings = C.FG_L4_FLOOD_SETTINGS,
   empty = C.FG_L4_FLOOD_EMPTY,
}

--- Fill in a struct fg_l4_app.
-- @param o.test         name of a kind (fg_l4_kind_name())
-- @param o.server       which side it is
-- @param o.address      our first address; o.addresses: how many (1)
-- @param o.port         the server's port
-- @param o.remote       client: the server's first address; o.remotes: how many (1)
-- @param o.next_hop     client: MAC, six bytes
-- @param o.port_first, o.port_last  client: ports to connect from
-- @param o.connections  at a time (1); o.connections_start, o.connections_per_s: the ramp
-- @param o.cycles       connections that each client opens, one after the other; nil: until the stop
-- @param o.opens_per_s  open loop: connections opened each second, whatever becomes of them; o.ramp_up:
--                       seconds in which that grows from 0
-- @param o.ramp_down    seconds in which connections that are idle at the stop are closed one after the other
-- @param o.requests     of RR, HTTP and DNS_TCP, on a connection; nil: until the stop. o.hold: it stays open
--                       till then. o.half_close: a FIN goes with the last
-- @param o.think        seconds between a response and the next request; o.think_max: drawn evenly up to this
-- @param o.octets       of each stream; nil: until the stop
-- @param o.message      bytes of each write of a stream; nil: all at once
-- @param o.file         of TCP_SENDFILE, both sides
-- @param o.path, o.host HTTP client: what to ask for; o.head: by HEAD; o.any_body: compare neither the body
--                       nor its length; o.range: bytes of it, as the field Range has them behind "bytes=",
--                       which begin at o.range_first; o.statuses: those that are good (200; of a range 206)
-- @param o.user, o.password, o.ftp_mode  of FTP, client: who logs in; the mode by name; o.ftp_rest: the byte
--                       at which files are resumed
-- @param o.streams      of HTTP2 and HTTP3: requests at a time on a connection
-- @param o.window       of HTTP2: bytes a peer may send unasked
-- @param o.flood        of HTTP2, client: the frame that it sends over and over, by name; o.flood_per_s: its
--                       rate on each connection
-- @param o.request, o.response, o.datagram  bytes; o.datagrams_per_s: nil: as fast as it goes
-- @param o.host, o.params  of IPERF, client: the cookie, 36 bytes of text, and JSON as iperf3's client sends
--                       it, for framegauge.tester.iperf3.control
-- @param o.timeout      seconds, of UDP_RR, PING, DNS and DNS_TCP; o.requests_per_s: of the same, whatever is
--                       answered; nil: each follows an answer
-- @param o.patience     seconds; what gets no answer for so long is given up; nil: never. Not of FTP, DNS_TCP
--                       and IPERF
-- @param o.dns          of DNS and DNS_TCP, both sides: fields of struct fg_l4_dns
-- @param o.page         of PAGE, HTTP2 and HTTP3, client: what it loads, as traffic.l4.page takes it; nil:
--                       no page
-- @param o.tcp          fields of struct fg_l4_tcp; congestion by name
-- @param o.tls          as framegauge.methods.l4.plan.tls makes it; nil: none
-- @param o.quic         as framegauge.methods.l4.plan.quic makes it; nil: none
-- @return what must be kept until the worker is made
function M.fill(out, o)
   out.kind, out.server, out.ipv6 = o.test, o.server == true, o.address:find(":", 1, true) ~= nil
   set_address(out["local"], o.address)
   out.locals, out.port = o.addresses or 1, o.port
   set_tcp(out.tcp, o.tcp)
   if not o.server then
      set_address(out.remote, o.remote)
      ffi.copy(out.next_hop, o.next_hop, 6)
   end
   out.remotes = o.remotes or 1
   out.port_first, out.port_last = o.port_first or 1024, o.port_last or 65535
   out.connections = o.connections or 1
   out.connections_start, out.connections_per_s = o.connections_start or 0, o.connections_per_s or 0
   out.octets = o.octets or 0
   out.request, out.response, out.datagram = o.request or 1, o.response or 1, o.datagram or 0
   out.cycles, out.opens_per_s, out.requests = o.cycles or 0, o.opens_per_s or 0, o.requests or 0
   out.ramp_up_ns, out.ramp_down_ns = nanoseconds(o.ramp_up or 0), nanoseconds(o.ramp_down or 0)
   out.hold, out.message, out.file = o.hold == true, o.message or 0, o.file
   out.half_close = o.half_close == true
   out.think_ns, out.think_ns_max = nanoseconds(o.think or 0), nanoseconds(o.think_max or 0)
   out.streams, out.window = o.streams or 0, o.window or 0
   out.flood, out.flood_per_s = FLOODS[o.flood] or 0, o.flood_per_s or 0
   out.path, out.host = o.path, o.host
   out.user, out.password, out.ftp_mode = o.user, o.password, FTP_MODES[o.ftp_mode or "passive"]
   out.ftp_rest = o.ftp_rest or 0
   out.head, out.any_body = o.head == true, o.any_body == true
   out.range, out.range_first = o.range, o.range_first or 0
   for i, status in ipairs(o.statuses or {}) do
      out.statuses[i - 1] = status
   end
   out.datagrams_per_s, out.timeout_ns = o.datagrams_per_s or 0, nanoseconds(o.timeout or 1)
   out.requests_per_s, out.patience_ns = o.requests_per_s or 0, nanoseconds(o.patience or 0)
   local tls, dns = o.tls and set_tls(o.tls), o.dns and ffi.new("struct fg_l4_dns", o.dns)
   local quic = o.quic and set_quic(o.quic, out)
   local page, objects
   if o.page then
      page, objects = pages.config(o.page)
   end
   out.tls, out.dns, out.quic, out.page = tls, dns, quic, page
   return { tls, dns, quic, page, objects }
end

--- Bytes of a mean query and of our server's answer to it, of a client of DNS.
-- @param o  as fill() takes it
-- @param stream  over TCP, each behind its length
function M.dns_sizes(o, stream)
   local one, query, answer = ffi.new "struct fg_l4_app", ffi.new "double[1]", ffi.new "double[1]"
   local kept = M.fill(one, o)
   C.fg_l4_dns_sizes(one, stream == true, query, answer)
   assert(kept) -- not collected before
   return query[0], answer[0]
end

--- Bytes of a request and of the response to it, heads and bodies, of a client of HTTP or HTTP2.
-- @param o  as fill() takes it
function M.http_octets(o)
   local one = ffi.new "struct fg_l4_app"
   local request, response = ffi.new "uint32_t[1]", ffi.new "uint32_t[1]"
   M.fill(one, o)
   C.fg_l4_http_octets(one, request, response)
   return request[0], response[0]
end

local SUMS = {
   "opened", "established", "transactions", "octets_in", "octets_out", "datagrams_in", "datagrams_out",
   "datagram_octets_in", "expired", "refused",
}

--- Names of what a kind counts in addition to the common sums, in order.
function M.own_sums(test)
   local names = {}
   for i = 0, C.FG_L4_OWN_SUMS - 1 do
      local name = C.fg_l4_own_name(test, i)
      names[i + 1] = name ~= nil and ffi.string(name) or nil
   end
   return names
end

local function tally_of(test, t)
   local out = { ended = {} }
   for i = 0, C.FG_L4_ENDS - 1 do
      out.ended[M.ENDS[i]] = tonumber(t.ended[i])
   end
   api.numbers(t, SUMS, out)
   for i, name in ipairs(M.own_sums(test)) do
      out[name] = tonumber(t.own[i - 1])
   end
   return out
end

local function times_of(t)
   if t.count == 0 then
      return nil
   end
   return {
      count = tonumber(t.count), min_ns = tonumber(t.min), mean_ns = t.mean, p50_ns = tonumber(t.p50),
      p90_ns = tonumber(t.p90), p99_ns = tonumber(t.p99), p999_ns = tonumber(t.p999),
      max_ns = tonumber(t.max),
   }
end

local function alerts_of(counts)
   local out = {}
   for i = 0, C.FG_SECURE_ALERTS - 1 do
      out[tostring(i)] = counts[i] > 0 and counts[i] or nil
   end
   return json.object(out)
end

-- Add the sums of a tally under their names.
local function add_sums(out, tally, name_of)
   local i, name = 0, name_of(0)
   while name ~= nil do
      local key = ffi.string(name)
      out[key] = tonumber(tally[key])
      i = i + 1
      name = name_of(i)
   end
end

local function tls_of(t)
   if not t.used then
      return nil
   end
   local out = {
      version = ffi.string(t.agreed.version), cipher = ffi.string(t.agreed.cipher),
      group = ffi.string(t.agreed.group), alpn = ffi.string(t.agreed.alpn),
      certificate_bytes = t.agreed.certificate_octets, handshake = times_of(t.handshake),
      carried_out = tonumber(t.carried_out), carried_in = tonumber(t.carried_in), sessions = t.sessions,
      alerts_sent = alerts_of(t.tally.alerts_out), alerts_received = alerts_of(t.tally.alerts_in),
      reason = ffi.string(t.reason), key_log = ffi.string(t.key_log),
      key_log_lost = tonumber(t.key_log_lost),
   }
   add_sums(out, t.tally, C.fg_secure_sum_name)
   return out
end

-- Logs of the first connections, and how many records had no room in them; nil: there is no log.
local function qlogs_of(l4, index)
   local list, lost, sum = {}, ffi.new "uint64_t[1]", 0
   local log = C.fg_l4_qlog(l4, index, 0, lost)
   while log ~= nil do
      list[#list + 1], sum = ffi.string(log), sum + tonumber(lost[0])
      log = C.fg_l4_qlog(l4, index, #list, lost)
   end
   if list[1] then
      return list, sum
   end
end

local function quic_of(l4, index, q)
   if not q.used then
      return nil
   end
   local out = {
      cipher = ffi.string(q.agreed.cipher), group = ffi.string(q.agreed.group),
      alpn = ffi.string(q.agreed.alpn), certificate_bytes = q.agreed.certificate_octets,
      handshake = times_of(q.handshake), migration_gap = times_of(q.gap),
      memory = tonumber(q.memory), sessions = q.sessions,
      reason = ffi.string(q.reason), versions = ffi.string(q.versions),
      key_log = ffi.string(q.key_log), key_log_lost = tonumber(q.key_log_lost),
   }
   out.qlogs, out.qlog_lost = qlogs_of(l4, index)
   add_sums(out, q.tally, C.fg_quic_sum_name)
   return out
end

local INTERVAL = {
   "octets_in", "octets_out", "transactions", "established", "retransmitted", "datagrams_in", "datagrams_out",
   "line_octets", "open", "sampled", "cwnd", "window", "flight", "rtt_us",
}

local function series_of(l4, index)
   local n = C.fg_l4_series(l4, index, nil, 0)
   local raw, list = ffi.new("struct fg_l4_interval[?]", n), {}
   C.fg_l4_series(l4, index, raw, n)
   for i = 0, n - 1 do
      list[i + 1] = api.numbers(raw[i], INTERVAL)
   end
   return list
end

-- How long windows of HTTP/2 and HTTP/3 kept data back; nil: they did not.
local function flow_blocked_of(ns)
   local connection, stream = tonumber(ns[C.FG_L4_WINDOW_CONNECTION]), tonumber(ns[C.FG_L4_WINDOW_STREAM])
   return connection + stream > 0 and { connection_ns = connection, stream_ns = stream } or nil
end

-- Replies of FTP that were not what was waited for, by code, and the last of them; nil: there were none.
local function replies_of(r)
   local codes
   for code = 0, r.replies ~= nil and C.FG_L4_FTP_CODES - 1 or -1 do
      if r.replies[code] > 0 then
         codes = codes or {}
         codes[tostring(code)] = tonumber(r.replies[code])
      end
   end
   local last = r.reply ~= nil and ffi.string(r.reply) or ""
   return codes, last ~= "" and last or nil
end

--- Results of application @p index (from 0) of a worker, of kind @p test.
function M.read(l4, index, test)
   local r = ffi.new "struct fg_l4_result"
   C.fg_l4_read(l4, index, r)
   local replies, reply = replies_of(r)
   local transaction = times_of(r.transaction)
   if transaction and r.at_least > 0 then
      transaction.at_least = tonumber(r.at_least)
   end
   return {
      open = r.open, outstanding = tonumber(r.outstanding),
      replies = replies, reply = reply,
      measured = tally_of(test, r.measured), total = tally_of(test, r.total),
      measured_s = tonumber(r.measured_ns) / 1e9, first_s = tonumber(r.first_ns) / 1e9,
      last_s = tonumber(r.last_ns) / 1e9, concurrent_max = r.concurrent_max, setup = times_of(r.setup),
      transaction = transaction, first_byte = times_of(r.first_octet),
      last_byte = times_of(r.last_octet), rtt = times_of(r.rtt),
      flow_blocked = flow_blocked_of(r.flow_blocked_ns),
      hol_ns = tonumber(r.hol_ns), flooded = r.flooded > 0 and tonumber(r.flooded) or nil,
      lost = tonumber(r.lost), duplicates = tonumber(r.duplicates),
      reordered = tonumber(r.reordered), jitter_ns = r.jitter_ns, series = series_of(l4, index),
      off_schedule = tonumber(r.off_schedule), lag_max_ns = tonumber(r.lag_max_ns),
      tls = tls_of(r.tls), quic = quic_of(l4, index, r.quic), page = pages.read(l4, index, r.page, times_of),
   }
end

--- Counters of a worker by name, and the severity of each by name.
function M.counters(l4)
   local raw, values, severities, i = ffi.new "struct fg_l4_counters", {}, {}, 0
   local severity = ffi.new "int[1]"
   C.fg_l4_read_counters(l4, raw)
   local name = C.fg_l4_counter_name(0, severity, nil)
   while name ~= nil do
      local key = ffi.string(name)
      values[key], severities[key] = tonumber(raw[key]), severity[0]
      i = i + 1
      name = C.fg_l4_counter_name(i, severity, nil)
   end
   return values, severities
end

return M
