-- SPDX-License-Identifier: BSD-3-Clause

--- Applications of the L4 engine (lib/apps/fg_l4_app.h) from plain tables, and what came of them as tables.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local json = require "framegauge.text.json"
local octets = require "framegauge.core.octets"
local reports = require "framegauge.iperf3.reports"

local C = api.C
local M = {}

--- How connections end (enum fg_l4_end).
M.ENDS = { [0] = "closed", "refused", "no_answer", "reset", "lost", "aborted" }

local CONGESTION = { newreno = C.FG_L4_NEWRENO, cubic = C.FG_L4_CUBIC }

local function nanoseconds(seconds)
   return math.floor(seconds * 1e9 + 0.5)
end

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

--- Fill in a struct fg_l4_app.
-- @param o.test         name of a kind (fg_l4_kind_name())
-- @param o.server       which side it is
-- @param o.address      our first address; o.addresses: how many (1)
-- @param o.port         the server's port
-- @param o.remote       client: the server's first address; o.remotes: how many (1)
-- @param o.next_hop     client: MAC, six octets
-- @param o.port_first, o.port_last  client: ports to connect from
-- @param o.connections  at a time (1); o.connections_start, o.connections_per_s: the ramp
-- @param o.cycles       connections that each client opens, one after the other; nil: until the stop
-- @param o.opens_per_s  open loop: connections opened each second, whatever becomes of them
-- @param o.requests     of RR and HTTP, on a connection; nil: until the stop. o.hold: it stays open till then
-- @param o.think        seconds between a response and the next request; o.think_max: drawn evenly up to this
-- @param o.octets       of each stream; nil: until the stop
-- @param o.message      bytes of each write of a stream; nil: all at once
-- @param o.file         of TCP_SENDFILE, both sides
-- @param o.path, o.host HTTP client: what to ask for; o.head: by HEAD; o.any_body: compare neither the body
--                       nor its length
-- @param o.request, o.response, o.datagram  octets; o.datagrams_per_s: nil: as fast as it goes
-- @param o.host, o.params  of IPERF, client: the cookie, 36 octets of text, and JSON as iperf3's client sends
--                       it; keep both while the worker lives
-- @param o.timeout      seconds, of UDP_RR
-- @param o.tcp          fields of struct fg_l4_tcp; congestion by name
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
   out.hold, out.message, out.file = o.hold == true, o.message or 0, o.file
   out.think_ns, out.think_ns_max = nanoseconds(o.think or 0), nanoseconds(o.think_max or 0)
   out.path, out.host, out.params = o.path, o.host, o.params
   out.head, out.any_body = o.head == true, o.any_body == true
   out.datagrams_per_s, out.timeout_ns = o.datagrams_per_s or 0, nanoseconds(o.timeout or 1)
end

--- Octets of a request and of the response to it, heads and bodies, of a client of HTTP.
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

--- Names of what a kind counts beside the common sums, in order.
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
   for _, name in ipairs(SUMS) do
      out[name] = tonumber(t[name])
   end
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

local function series_of(l4, index)
   local n = C.fg_l4_series(l4, index, nil, 0)
   local raw, list = ffi.new("struct fg_l4_interval[?]", n), {}
   C.fg_l4_series(l4, index, raw, n)
   for i = 0, n - 1 do
      list[i + 1] = {
         octets_in = tonumber(raw[i].octets_in), octets_out = tonumber(raw[i].octets_out),
         transactions = tonumber(raw[i].transactions), established = tonumber(raw[i].established),
         retransmitted = tonumber(raw[i].retransmitted), datagrams_in = tonumber(raw[i].datagrams_in),
         datagrams_out = tonumber(raw[i].datagrams_out), open = raw[i].open, sampled = raw[i].sampled,
         cwnd = raw[i].cwnd, window = raw[i].window, flight = raw[i].flight, rtt_us = raw[i].rtt_us,
      }
   end
   return list
end

-- iperf3 says -1 for what it does not know; versions before 3.14 write it without its sign, as 2^64 - 1.
local function without_unknown(value)
   if value == -1 or value == 2 ^ 64 then
      return json.null
   end
   for key, one in pairs(type(value) == "table" and value or {}) do
      value[key] = without_unknown(one)
   end
   return value
end

--- Results of iperf3's server from its JSON; what it does not know is null. nil: it said nothing of use.
function M.peer_results(text)
   local ok, value = pcall(json.decode, text)
   return ok and without_unknown(value) or nil
end

--- What came of application @p index (from 0) of a worker, of kind @p test.
function M.read(l4, index, test)
   local r = ffi.new "struct fg_l4_result"
   C.fg_l4_read(l4, index, r)
   local iperf = reports.read(l4, index)
   return {
      measured = tally_of(test, r.measured), total = tally_of(test, r.total),
      measured_s = tonumber(r.measured_ns) / 1e9, first_s = tonumber(r.first_ns) / 1e9,
      last_s = tonumber(r.last_ns) / 1e9, concurrent_max = r.concurrent_max, setup = times_of(r.setup),
      transaction = times_of(r.transaction), first_byte = times_of(r.first_octet),
      last_byte = times_of(r.last_octet), rtt = times_of(r.rtt),
      lost = tonumber(r.lost), duplicates = tonumber(r.duplicates),
      reordered = tonumber(r.reordered), jitter_ns = r.jitter_ns, series = series_of(l4, index),
      peer = M.peer_results(ffi.string(C.fg_l4_peer_results(l4, index))), iperf = iperf[1] and iperf or nil,
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
