-- SPDX-License-Identifier: BSD-3-Clause

--- TLS under the tests of TCP: the group l4.tls of a plan with its rules, the arguments of the two ends, and
-- the figures. The rest of the method knows only whether a kind has TLS.
local keys = require "framegauge.plan.keys"
local api = require "framegauge.core.api"
local ffi = require "ffi"
local named_file = require "framegauge.core.named_file"
local rows = require "framegauge.text.rows"
local tables = require "framegauge.core.tables"

local M = {}

local CIPHERS = {
   "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
   "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
   "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
}
--- Kinds of keys for certificates that the tester makes.
M.CERTIFICATES = { "p256", "p384", "ed25519", "rsa2048", "rsa3072", "rsa4096" }
local GROUPS = { "x25519", "p256", "p384", "x25519mlkem768" }
-- as libssl names them
local GROUP_NAMES = { x25519 = "X25519", p256 = "P-256", p384 = "P-384", x25519mlkem768 = "X25519MLKEM768" }
local VERSIONS = { ["1.2"] = 0x0303, ["1.3"] = 0x0304 }
local MLKEM_SINCE = 3.5

M.GROUP = keys.group("tls", "of TLS_STREAM, TLS_RR, HTTPS and the other tests over TLS", {
   { "versions", "list", "that both ends speak",
     unique = true, least = 1, default = { "1.3" }, of = { type = "enum", values = { "1.2", "1.3" } } },
   { "ciphers", "list", "cipher suites, the preferred one first. Those with TLS_ are of TLS 1.3",
     unique = true, least = 1, of = { type = "enum", values = CIPHERS }, default = CIPHERS },
   { "groups", "list", "for the key agreement, the preferred one first; x25519mlkem768 needs OpenSSL 3.5",
     unique = true, least = 1, of = { type = "enum", values = GROUPS }, default = { "x25519", "p256" } },
   { "certificate", M.CERTIFICATES, "key of the server's certificate, which is made at the start",
     default = "p256" },
   { "certificate_file", "string", "the server's certificate and those that sign it, PEM; with key_file",
     longest = 4096, does = "reads the file", default_help = "one is made" },
   { "key_file", "string", "the key of certificate_file, PEM",
     longest = 4096, does = "reads the file", default_help = "one is made" },
   { "client_certificate", "boolean", "the server requests a certificate of the client, and the client has one",
     default = "false" },
   { "server_name", "string", "server name that the client sends (SNI), and the name in the certificate; of DNS_HTTPS the authority of requests (:authority), too",
     longest = 200, default = "fg.test" },
   { "strict_name", "boolean", "the server refuses another name (unrecognized_name)", default = "false" },
   { "verify", { "chain", "none" }, "chain: the client checks signature, dates and name of the server's certificate",
     default = "chain" },
   { "ca_file", "string", "whose certificates are trusted in addition to the ones made here, PEM",
     longest = 4096, does = "reads the file", default_help = "only our own authority" },
   { "alpn", "list", "protocols to choose from (ALPN), such as http/1.1, the preferred one first",
     unique = true, of = { type = "string", longest = 50 }, default = {} },
   { "resume", { "none", "ticket" }, "ticket: the client resumes sessions; one ticket of TLS 1.3 is for one connection",
     default = "none" },
   { "tickets", "integer", "that the server gives after a full handshake, where l4.tls.resume is ticket",
     default = "2", min = "0", max = "10" },
   { "reuse_tickets", "boolean", "the client resumes by its first ticket of TLS 1.3 again and again",
     default = "false" },
   { "early_data", "size", "the client sends its first data before the handshake is over (0-RTT), if they have no more bytes than this and the ticket allows it; of TLS_RR, TLS_CRR, HTTPS, QUIC_RR, QUIC_CRR and HTTP3 (there this many bytes of all), with resume: ticket. 0: not",
     default = "0", max = "16KiB" },
   { "refuse_early_data", "integer", "the server refuses every n-th offer of early data; 0: none, 1: all",
     default = "0", min = "0", max = "1000000" },
   { "record", "size", "plaintext of a full record, at least 64 bytes; 0: what fills a segment, so that a lost segment delays one record",
     default = "16KiB", max = "16KiB" },
   { "key_update_every", "integer", "TLS 1.3: records of data until the keys change; 0: 8388608",
     default = "0", min = "0", max = "8388608" },
   { "hold", "size", "memory of each end for what arrives early or in part",
     default = "64MiB", min = "64KiB", max = "16GiB" },
   { "handshakes_at_once", "integer", "of each end; more wait", default = "256", min = "1", max = "1000000" },
   { "handshake_timeout", "time", "then the connection is reset", default = "10s", min = "1ms", max = "1h" },
   { "key_log", "string", "file that gets the secrets of the client's sessions, for Wireshark to decrypt captures by",
     longest = 4096, does = "writes the file", default_help = "none" },
})

local MIN_RECORD = 64

--- "OpenSSL 3.0.19 ..." as a number: 3.0
local function library_version()
   return tonumber(M.library():match "(%d+%.%d+)") or 0
end

--- The library that makes the handshakes, by its own version text.
function M.library()
   return ffi.string(api.C.fg_tls_library())
end

--- The certificate of the authority that signs the tester's certificates, PEM.
-- @param wire  derive it from a seed: on the virtual wire only; else each process has its own
function M.authority(wire)
   local text = api.C.fg_tls_authority(wire)
   return text ~= nil and ffi.string(text) or error "libcrypto makes no certificate"
end

local function has_suite_for(o, version)
   for _, name in ipairs(o.ciphers) do
      if (name:match "^TLS_" ~= nil) == (version == "1.3") then
         return true
      end
   end
end

-- The signature of a suite of TLS 1.2 must match the certificate.
local function signs(o)
   local wanted = o.certificate:match "^rsa" and "RSA" or "ECDSA"
   for _, name in ipairs(o.ciphers) do
      if name:match("^ECDHE%-" .. wanted) then
         return true
      end
   end
end

local function ciphers_fit(o, found, at)
   for i, version in ipairs(o.versions) do
      if not has_suite_for(o, version) then
         found:add(found:item(at .. ".versions", i), ("no cipher suite is of TLS %s"):format(version),
            ("one in %s.ciphers, or not this version"):format(at))
         return
      end
   end
   if not tables.contains(o.versions, "1.2") or o.certificate_file then
      return
   end
   if not signs(o) then
      found:add(at .. ".certificate", ("no cipher suite of TLS 1.2 signs with %s"):format(o.certificate),
         ("a suite for it in %s.ciphers"):format(at))
   elseif o.certificate:match "^p%d" and not tables.contains(o.groups, o.certificate) then
      found:add(at .. ".groups", ("TLS 1.2 needs the curve of the certificate (%s)"):format(o.certificate),
         o.certificate .. " among them")
   end
end

local function files_are_two(o, found, at)
   local unread = found:has(at .. ".certificate_file") or found:has(at .. ".key_file")
   if not unread and (o.certificate_file == nil) ~= (o.key_file == nil) then
      found:add(at .. (o.key_file and ".key_file" or ".certificate_file"),
         "a certificate and its key belong together", "both certificate_file and key_file")
   end
end

local function early_data_has_tickets(o, found, at)
   if o.early_data > 0 and o.resume ~= "ticket" then
      found:add(at .. ".early_data", "early data needs a session to resume", at .. ".resume: ticket")
   elseif o.early_data > 0 and not tables.contains(o.versions, "1.3") then
      found:add(at .. ".early_data", "early data is of TLS 1.3", ("1.3 in %s.versions"):format(at))
   end
end

--- What must hold in the group.
-- @param o   its values
-- @param at  where it is: "l4.tls"
function M.check_group(o, found, at)
   ciphers_fit(o, found, at)
   early_data_has_tickets(o, found, at)
   files_are_two(o, found, at)
   if o.record > 0 and o.record < MIN_RECORD then
      found:add(at .. ".record", ("a record of %d bytes"):format(o.record), "0, or at least " .. MIN_RECORD)
   end
   if tables.contains(o.groups, "x25519mlkem768") and library_version() < MLKEM_SINCE then
      found:add(at .. ".groups", ("%s has no x25519mlkem768"):format(M.library()),
         "OpenSSL 3.5 or later, as Debian 13 has it")
   end
end

function M.check(values, found)
   M.check_group(values.l4.tls, found, "l4.tls")
end

local function bounds(versions)
   local oldest, newest = math.huge, 0
   for _, name in ipairs(versions) do
      oldest, newest = math.min(oldest, VERSIONS[name]), math.max(newest, VERSIONS[name])
   end
   return oldest, newest
end

--- Arguments of an end, as framegauge.traffic.l4.app takes them.
-- @param o       settings of a test
-- @param seeded  derive random numbers from the seed of the trial: on the virtual wire only
-- @param alpn    the protocol of the test; nil: the plan's
function M.of(o, server, seeded, alpn)
   local t = o.tls
   local oldest, newest = bounds(t.versions)
   return {
      server = server, oldest = oldest, newest = newest, seeded = seeded, seed = o.seed,
      ciphers = table.concat(t.ciphers, ":"),
      groups = table.concat(tables.map(t.groups, function(name) return GROUP_NAMES[name] end), ":"),
      certificate = (server or t.client_certificate) and t.certificate or nil,
      certificate_file = server and t.certificate_file or nil, key_file = server and t.key_file or nil,
      ca_file = t.ca_file, server_name = t.server_name, strict_name = t.strict_name,
      verify = server and t.client_certificate or not server and t.verify == "chain",
      alpn = alpn or t.alpn[1] and table.concat(t.alpn, ",") or nil, resume = t.resume == "ticket",
      tickets = t.resume == "ticket" and t.tickets or 0, reuse = t.reuse_tickets,
      early_data = t.early_data, refuse_every = t.refuse_early_data, record = t.record,
      key_update_every = t.key_update_every, hold = t.hold, handshakes_at_once = t.handshakes_at_once,
      timeout = t.handshake_timeout, key_log = not server and t.key_log ~= nil,
   }
end

--- Append a trial's key log to the file of l4.tls.key_log, and take it out of the results.
function M.keep_keys(o, sides)
   for _, side in ipairs(sides) do
      local tls = side.apps[1].tls or side.apps[1].quic
      local log = tls and tls.key_log
      if tls then
         tls.key_log = nil
      end
      if log and log ~= "" and o.tls.key_log then
         local written, err = named_file.write(o.tls.key_log, log, true)
         if not written then
            error({ user = true, message = ("l4.tls.key_log: %s"):format(err) }, 0)
         end
      end
   end
end

local OVERHEAD = 22 -- of a record of TLS 1.3

--- The share of plaintext in TCP's payload, in full records.
function M.share(o)
   local full = o.tls.record > 0 and o.tls.record or o.mtu - 60 - OVERHEAD
   return full / (full + OVERHEAD)
end

local count = rows.map "count"

--- Figures of the TLS of a row.
function M.record(times)
   return rows.record("l4_tls", "TLS of a test, of the client where it is not said otherwise", {
      { "version", "text", "that was agreed on last" }, { "cipher", "text", "cipher suite" },
      { "group", "text", "of the key agreement" }, { "alpn", "text", "protocol (ALPN); empty: none" },
      { "certificate_bytes", "count", "of the server's chain" },
      { "full_handshakes", "count", "handshakes with a certificate, in all trials" },
      { "resumed_handshakes", "count", "handshakes that resumed a session" },
      { "failed_handshakes", "count", "those that failed" },
      { "failures", count, "of these: `timed_out`, `cut` by the end of a connection, `refused` certificates, `malformed`: no TLS" },
      { "alerts_sent", count, "other than close_notify, by number" },
      { "alerts_received", count, "other than close_notify, by number" },
      { "handshake", times, "of the last trial: ClientHello to the server's Finished; null when there was none", null = true },
      { "handshake_bytes_out", "count", "sent in handshakes" },
      { "handshake_bytes_in", "count", "received in handshakes" },
      { "records_out", "count", "records of data, laid out to be sent" },
      { "records_in", "count", "records received after handshakes" },
      { "bad_records", "count", "records with a wrong tag, of both sides" },
      { "truncated", "count", "connections that ended without close_notify, of both sides" },
      { "tickets", "count", "that came" },
      { "early_data_offered", "count", "handshakes in which the client sent early data (0-RTT)" },
      { "early_data_accepted", "count", "of these, those whose server took it" },
      { "early_data_bytes", "count", "payload that servers took early" },
      { "early_data_replayed", "count", "offers with a ticket that came with an offer before, as our server counts them" },
      { "key_updates", "count", "KeyUpdate messages, of both sides" },
      { "deferred", "count", "times that an open had to wait for handshakes under way" },
      { "overhead_ratio", "number", "bytes that TCP carried for each byte of plaintext, of both directions; null without plaintext", null = true },
      { "crypto_time", "text", "`real`, or `0`: on the virtual wire cryptography takes no time, so that rates of handshakes say nothing about a machine" },
      { "library", "text", "that made the handshakes" },
      { "reason", "text", "why the last handshake that failed did, in the library's words", optional = true },
   })
end

local SUMS = {
   full_handshakes = "full", resumed_handshakes = "resumed", failed_handshakes = "failed",
   handshake_bytes_out = "handshake_octets_out", handshake_bytes_in = "handshake_octets_in",
   records_out = "records_out", records_in = "records_in", tickets = "tickets", deferred = "deferred",
   early_data_offered = "early_offered", early_data_accepted = "early_accepted",
   early_data_bytes = "early_octets",
}
local OF_BOTH = { bad_records = { "bad_records" }, truncated = { "truncated" },
   key_updates = { "key_updates_in" }, early_data_replayed = { "early_replayed" } }
local FAILURES = { "timed_out", "cut", "refused", "malformed" }

local function add_map(to, from)
   for key, value in pairs(from) do
      to[key] = (to[key] or 0) + value
   end
end

local function add_side(out, tls)
   for key, names in pairs(OF_BOTH) do
      for _, name in ipairs(names) do
         out[key] = out[key] + tls[name]
      end
   end
end

local function add_client(out, side)
   local tls = side.apps[1].tls
   for key, name in pairs(SUMS) do
      out[key] = out[key] + tls[name]
   end
   for _, name in ipairs(FAILURES) do
      out.failures[name] = tls[name] > 0 and (out.failures[name] or 0) + tls[name] or out.failures[name]
   end
   add_map(out.alerts_sent, tls.alerts_sent)
   add_map(out.alerts_received, tls.alerts_received)
   local total = side.apps[1].total
   out.plain = out.plain + total.octets_in + total.octets_out
   out.carried = out.carried + tls.carried_in + tls.carried_out
end

--- The figures of a row from the records of its trials.
-- @param wire  whether they were made on the virtual wire
function M.figures(list, wire)
   local json = require "framegauge.text.json"
   local last = list[#list].sides[1].apps[1].tls
   local out = {
      version = last.version, cipher = last.cipher, group = last.group, alpn = last.alpn,
      certificate_bytes = last.certificate_bytes, failures = json.object {}, alerts_sent = json.object {},
      alerts_received = json.object {}, handshake = last.handshake, library = M.library(),
      crypto_time = wire and "0" or "real", reason = last.reason ~= "" and last.reason or nil,
      plain = 0, carried = 0,
   }
   for key in pairs(SUMS) do
      out[key] = 0
   end
   for key in pairs(OF_BOTH) do
      out[key] = 0
   end
   for _, record in ipairs(list) do
      add_client(out, record.sides[1])
      for _, side in ipairs(record.sides) do
         add_side(out, side.apps[1].tls)
      end
   end
   out.overhead_ratio = out.plain > 0 and out.carried / out.plain or nil
   out.plain, out.carried = nil, nil
   return out
end

return M
