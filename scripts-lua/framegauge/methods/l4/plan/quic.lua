-- SPDX-License-Identifier: BSD-3-Clause

--- The tests over QUIC: the group l4.quic of a plan with its rules, the arguments of the two ends, and the
-- figures. From the group l4.tls they take the keys of TLS 1.3.
local keys = require "framegauge.plan.keys"
local api = require "framegauge.core.api"
local ethernet = require "framegauge.core.ethernet"
local ffi = require "ffi"
local rows = require "framegauge.text.rows"
local tables = require "framegauge.core.tables"
local tls = require "framegauge.methods.l4.plan.tls"

local M = {}

local MIN_DATAGRAM = 1200 -- every path of QUIC carries this (RFC 9000, 14)

M.GROUP = keys.group("quic", "of QUIC_STREAM, QUIC_RR, HTTP3, PAGE3 and the other tests over QUIC, version 1; server_name, verify, ciphers, groups, alpn (default: perf; of HTTP3 and PAGE3 always h3), files of certificates, resume, tickets, reuse_tickets, early_data (of QUIC_RR, QUIC_CRR, HTTP3, PAGE3), refuse_early_data, handshake_timeout, handshakes_at_once and key_log are taken from l4.tls", {
   { "congestion", { "cubic", "reno", "bbr" }, "congestion control of both ends", default = "cubic" },
   { "window", "size", "bytes of a connection that either end may send unasked",
     default = "16MiB", min = "16KiB", max = "1GiB" },
   { "stream_window", "size", "window of a stream", default = "16MiB", min = "16KiB", max = "1GiB" },
   { "max_datagram", "integer", "bytes of UDP payload of the largest datagram; the path's MTU is not searched for",
     default = "1452", min = "1200", max = "9000" },
   { "ack_every", "integer", "packets to an acknowledgement", default = "2", min = "1", max = "1000" },
   { "key_update_every", "integer", "packets after which either end takes to new keys (RFC 9001, 6); three probe time-outs pass between two times at least",
     min = "1", max = "8388608", default_help = "never" },
   { "ecn", "boolean", "datagrams of both ends leave with ECT(0) (RFC 3168) while the path lets it through (RFC 9000, 13.4); CE lowers the window as a loss does",
     default = "false" },
   { "retry", "boolean", "the server validates the client's address by Retry first", default = "false" },
   { "initial_rtt", "time", "round trip that is assumed until one was measured",
     default = "333ms", min = "1us", max = "10s" },
   { "idle_timeout", "time", "a connection without a packet of the peer's for so long is lost",
     default = "30s", min = "1ms", max = "1h" },
   { "offer", "string", "version that the client offers in place of 1, as 0x1a2a3a4a. To a version that the server does not support it replies with Version Negotiation, and all handshakes fail",
     default_help = "0x00000001" },
   { "migrate_every", "time", "how often the client moves to its next port, with a new connection ID (RFC 9000, 9), when it has data to send; at least four probe time-outs pass between two moves",
     min = "10ms", max = "1h", default_help = "never" },
   { "rebind_every", "time", "the same without a new ID, as behind a NAT that has forgotten the client",
     min = "10ms", max = "1h", default_help = "never" },
   { "qlog", "integer", "this many first connections of each end of a trial leave a log (qlog) in the folder of the run",
     default = "0", min = "0", max = "100" },
   { "certificate", tls.CERTIFICATES, "key of the server's certificate; on the virtual wire ed25519 or RSA, because the length of other signatures varies",
     default = "ed25519" },
})

local function is_tested(values)
   for _, test in ipairs(values.l4.tests) do
      if test:match "^QUIC_" or test:match "3$" then
         return true
      end
   end
end

local function datagrams_fit(values, found)
   local port = values.ports[1] or {}
   local ip = port.ipv6 and not port.ipv4 and "ipv6" or "ipv4"
   local room = values.l4.mtu - ethernet.header_octets(ip, "udp")
   if room < MIN_DATAGRAM then
      found:add("l4.mtu", ("QUIC needs %d bytes of UDP payload"):format(MIN_DATAGRAM),
         "at least " .. values.l4.mtu + MIN_DATAGRAM - room)
   elseif values.l4.quic.max_datagram > room then
      found:add("l4.quic.max_datagram", ("%d bytes do not fit into an MTU of %d"):format(
         values.l4.quic.max_datagram, values.l4.mtu), "at most " .. room)
   end
end

local function suites_are_of_13(o, found)
   for _, name in ipairs(o.ciphers) do
      if name:match "^TLS_" then
         return
      end
   end
   found:add("l4.tls.ciphers", "QUIC needs a cipher suite of TLS 1.3", "one that begins with TLS_")
end

--- What must hold where QUIC is tested.
function M.check(values, found)
   local o = values.l4
   if not is_tested(values) then
      return
   end
   datagrams_fit(values, found)
   suites_are_of_13(o.tls, found)
   if not tables.contains(o.tls.versions, "1.3") then
      found:add("l4.tls.versions", "QUIC has TLS 1.3 alone", "1.3 among them")
   end
   if tables.contains(o.tls.groups, "x25519mlkem768") then
      found:add("l4.tls.groups", "QUIC has no x25519mlkem768: GnuTLS makes its handshakes", "x25519 or p256")
   end
   if o.quic.offer and not o.quic.offer:match "^0x%x%x%x%x%x%x%x%x$" then
      found:add("l4.quic.offer", "no version of QUIC", "8 hexadecimal digits, such as 0x1a2a3a4a")
   end
   if o.quic.migrate_every and o.quic.rebind_every then
      found:add("l4.quic.rebind_every", "a client cannot both say and hide that it moves",
         "one of migrate_every and rebind_every")
   end
   if values.reference_device and o.quic.certificate:match "^p%d" and not o.tls.certificate_file then
      found:add("l4.quic.certificate", ("the length of signatures with %s varies, so that two runs on the virtual wire would differ"):format(o.quic.certificate), "ed25519 or one of RSA")
   end
end

--- Arguments of an end, as framegauge.traffic.l4.app takes them; as tls.of().
function M.of(o, server, seeded, alpn)
   local out, q = tls.of(o, server, seeded, alpn), o.quic
   out.certificate = out.certificate and q.certificate
   return {
      tls = out, congestion = q.congestion, retry = q.retry, ecn = q.ecn, max_datagram = q.max_datagram,
      ack_every = q.ack_every, key_update_every = q.key_update_every or 0, window = q.window,
      stream_window = q.stream_window, initial_rtt = q.initial_rtt, idle = q.idle_timeout,
      qlog = q.qlog, offer = not server and tonumber(q.offer) or 0,
      migrate_every = q.migrate_every or 0, rebind_every = q.rebind_every or 0,
   }
end

--- Write the logs in a trial's record to files of the run's folder.
-- @return the record, whose `files` are a list of { name, text }
function M.take_logs(record)
   record.files = {}
   for _, side in ipairs(record.sides) do
      local q = side.apps[1].quic or {}
      for i, text in ipairs(q.qlogs or {}) do
         table.insert(record.files, { ("trial-%d-%s-%d.sqlog"):format(record.trial, side.role, i), text })
      end
      q.qlogs = nil
   end
   return record
end

-- Overhead of a full packet: first byte, ID of 8, number of at least 1, tag of 16; of its STREAM frame: type,
-- ID, offset of at least 4 after the first few packets, length of 2.
local PACKET, FRAME = 1 + 8 + 1 + 16, 1 + 1 + 4 + 2

--- Bytes of a stream in a full packet.
function M.payload(datagram)
   return datagram - PACKET - FRAME
end

--- The maximum payload of a line, in full packets.
function M.theory(rate, ip, o)
   local wire = ethernet.wire_octets(ethernet.header_octets(ip, "udp") + o.quic_datagram, o.tags)
   return rate * M.payload(o.quic_datagram) / (wire - o.uncounted)
end

-- Counts of the client, and of both sides: keys and what they mean.
local CLIENT = {
   { "handshakes", "completed, in all trials" },
   { "resumed_handshakes", "of them, those that resumed a session", "resumed" },
   { "tickets", "session tickets that came" },
   { "early_data_offered", "those in which the client sent early data (0-RTT)", "early_offered" },
   { "early_data_accepted", "of these, those whose server took it", "early_accepted" },
   { "early_data_bytes", "payload that servers took early", "early_octets" },
   { "failed", "those that failed" },
   { "timed_out", "of them, for want of an answer" },
   { "certificates_refused", "of them, because a certificate was not accepted" },
   { "versions_refused", "of them, because the peer speaks no version of ours" },
   { "deferred", "times that an open had to wait for handshakes under way" },
   { "retries", "Retry packets that the client followed" },
}
local SIDES = {
   { "datagrams_out", "datagrams sent" }, { "datagrams_in", "datagrams received" },
   { "packets_out", "packets with 1-RTT keys sent" }, { "packets_in", "the same received" },
   { "packets_lost", "packets whose payload was sent again" },
   { "packets_spurious", "of these, packets that were acknowledged after all" },
   { "bytes_sent_again", "payload bytes that were sent more than once", "octets_sent_again" },
   { "key_updates", "times that packets began to leave with newer keys, whichever end began it" },
   { "migrations", "times that the client took another port, or that the server followed it" },
   { "paths_validated", "paths that answered PATH_CHALLENGE; a server asks a second time where a datagram was too small to prove the path's MTU" },
   { "paths_failed", "paths that did not answer it" },
   { "ect_out", "datagrams sent with ECT(0)" },
   { "ect_in", "datagrams received with ECT(0) or ECT(1)" }, { "ce_in", "datagrams received with CE" },
   { "ect_counted", "packets that the peer's ACK frames counted with ECT(0)" },
   { "ce_counted", "packets that they counted with CE" },
   { "ecn_failed", "paths of connections that failed validation of ECN: packets that left with ECT(0) were acknowledged without counts" },
   { "stateless_resets_out", "stateless resets that the server sent for datagrams of no connection", "resets_out" },
   { "stateless_resets_in", "connections of the client that one ended", "resets_in" },
   { "acks_out", "ACK frames sent" }, { "acks_in", "ACK frames received" },
   { "undecryptable", "packets that could not be opened" },
   { "discarded", "datagrams of no connection, or that began none" },
   { "closed_with_error", "connections that this end closed with an error", "closed_with_error_out" },
}

local function side_record(role)
   local fields = tables.map(SIDES, function(row) return { row[1], "count", row[2] } end)
   fields[#fields + 1] = { "memory_bytes", "count", "most bytes that the library had at a time" }
   return rows.record("l4_quic_" .. role, "what the " .. role .. " of a test over QUIC counted", fields)
end

--- Figures of the QUIC of a row.
function M.record(times)
   local fields = {
      { "version", "text", "of QUIC" }, { "cipher", "text", "cipher suite" },
      { "group", "text", "of the key agreement" }, { "alpn", "text", "protocol (ALPN)" },
      { "certificate_bytes", "count", "of the server's chain" },
      { "handshake", times, "of the last trial: first Initial to the server's Finished; null when there was none", null = true },
   }
   fields[#fields + 1] = { "migration_gap", times, "of the last trial: the client takes another port to the first datagram of the server's that comes there; absent without", optional = true }
   for _, row in ipairs(CLIENT) do
      fields[#fields + 1] = { row[1], "count", "handshakes: " .. row[2] }
   end
   for _, field in ipairs {
      { "client", side_record "client", "what the client counted" },
      { "server", side_record "server", "what the server counted; absent where it is not ours",
        optional = true },
      { "crypto_time", "text", "`real`, or `0`: on the virtual wire cryptography takes no time, so that rates of handshakes say nothing about a machine" },
      { "ecn", "text", "`validated`, or `failed validation` where it did on any path; absent without `l4.quic.ecn`, or where nothing was acknowledged", optional = true },
      { "library", "text", "that speaks QUIC" },
      { "reason", "text", "why the last connection that ended with an error did", optional = true },
      { "offered_versions", "text", "that the server named by Version Negotiation; absent where it did not", optional = true },
   } do
      fields[#fields + 1] = field
   end
   return rows.record("l4_quic", "QUIC of a test, of the client where it is not said otherwise", fields)
end

local function add(out, list, counts)
   for _, row in ipairs(list) do
      out[row[1]] = (out[row[1]] or 0) + counts[row[3] or row[1]]
   end
end

local function of_side(list, i)
   local out = { memory_bytes = 0 }
   for _, record in ipairs(list) do
      local q = record.sides[i].apps[1].quic
      add(out, SIDES, q)
      out.memory_bytes = math.max(out.memory_bytes, q.memory)
   end
   return out
end

-- What the path does to the ECN marks of both ends; nil: not known.
local function ecn_of(client, server)
   local function sum(key)
      return client[key] + (server and server[key] or 0)
   end
   return sum "ecn_failed" > 0 and "failed validation"
      or sum "ect_counted" + sum "ce_counted" > 0 and sum "ect_out" > 0 and "validated" or nil
end

--- The figures of a row from the records of its trials.
-- @param wire  whether they were made on the virtual wire
function M.figures(list, wire)
   local ends = list[#list].sides
   local last, other = ends[1].apps[1].quic, ends[2] and ends[2].apps[1].quic
   local reason = last.reason ~= "" and last.reason or other and other.reason ~= "" and other.reason or nil
   local out = {
      version = "1", cipher = last.cipher, group = last.group, alpn = last.alpn,
      certificate_bytes = last.certificate_bytes, handshake = last.handshake,
      migration_gap = last.migration_gap,
      client = of_side(list, 1), server = other and of_side(list, 2) or nil,
      crypto_time = wire and "0" or "real", library = "ngtcp2 " .. ffi.string(api.C.fg_quic_library()),
      reason = reason, offered_versions = last.versions ~= "" and last.versions or nil,
   }
   out.ecn = ecn_of(out.client, out.server)
   for _, record in ipairs(list) do
      add(out, CLIENT, record.sides[1].apps[1].quic)
   end
   return out
end

return M
