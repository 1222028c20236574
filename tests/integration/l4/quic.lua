-- SPDX-License-Identifier: BSD-3-Clause

-- Our QUIC against other programs', both roles. Run in the tester's namespace by l4_quic.sh, with the
-- folder for files, the command that has aioquic ask our servers, and which other programs are there; prints
-- TAP.
local here = debug.getinfo(1, "S").source:match "^@(.*/)"
local ours = dofile(here .. "ours.lua")
local job = require "framegauge.core.job"
local quic = require "framegauge.methods.l4.plan.quic"
local tls = require "framegauge.methods.l4.plan.tls"

local folder, ask = ...
local there = ours.set(select(3, ...))
local check = ours.check

local REQUEST, RESPONSE, EXCHANGES, BULK = 100, 2000, 3, 500000 -- as in quic_peer.py
local LONGEST = 120 -- seconds, on a machine that is very busy

io.stdout:setvbuf "line"

-- What an end is told, @p with of l4.tls and @p how of l4.quic otherwise.
local function settings(ends, server, with, how)
   local groups = { tls = ours.changed(ends.l4.tls, with), quic = ours.changed(ends.l4.quic, how), seed = 7 }
   local out = quic.of(groups, server, false)
   out.tls.key_log = true
   return out
end

local function sound(q)
   return q.failed + q.undecryptable + q.closed_with_error_out + q.closed_with_error_in == 0
end

local function came_whole(app, o)
   return app.total.ended.closed == app.total.opened and sound(app.quic)
      and app.total.octets_in == app.total.opened * (o.expected or 0)
end

local function after_retry(app, o)
   return came_whole(app, o) and app.quic.retries == app.total.opened
end

local function resumed(app, o)
   return came_whole(app, o) and app.quic.resumed == 2 and app.quic.early_offered == 0
end

local function asked_early(app, o)
   return came_whole(app, o) and app.quic.resumed == 2 and app.quic.early_accepted == 2
      and app.quic.early_octets == 2 * REQUEST
end

local function refused_version(app)
   return app.quic.versions_refused == app.total.opened and app.total.established == 0
end

local function shook_hands(app)
   return app.quic.handshakes == app.total.opened and app.quic.alpn == "h3"
end

local STREAM = { test = "TCP_STREAM", octets = BULK, port = 7450 }
local MAERTS = { test = "TCP_MAERTS", port = 7451, expected = BULK }
local RR = { test = "TCP_RR", port = 7452, requests = EXCHANGES, expected = EXCHANGES * RESPONSE }
local RETRY = { test = "TCP_RR", port = 7453, requests = EXCHANGES, expected = EXCHANGES * RESPONSE }
local CRR = { test = "TCP_CRR", port = 7452, expected = RESPONSE }
local CC = { test = "TCP_CC", port = 7452 }
-- a connection at a time, three in a row
local RESUMED = { test = "TCP_CRR", port = 7456, expected = RESPONSE, opened = 3, connections = 1,
   cycles = 3 }

local CLIENTS = {
   { "aioquic", "streams to it", STREAM },
   { "aioquic", "streams from it", MAERTS },
   { "aioquic", "requests and responses", RR },
   { "aioquic", "a connection for each request", CRR },
   { "aioquic", "handshakes alone", CC },
   { "aioquic", "Retry", RETRY, look = after_retry },
   { "aioquic", "AES-256", MAERTS, { ciphers = { "TLS_AES_256_GCM_SHA384" } } },
   { "aioquic", "ChaCha20", STREAM, { ciphers = { "TLS_CHACHA20_POLY1305_SHA256" } } },
   { "aioquic", "a group of P-256", RR, { groups = { "p256" } } },
   { "aioquic", "a window of 50,000 bytes", MAERTS, {}, { window = 50000, stream_window = 50000 } },
   { "aioquic", "datagrams of 1,200 bytes", STREAM, {}, { max_datagram = 1200 } },
   { "aioquic", "new keys of the server's", { test = "TCP_MAERTS", port = 7455, expected = BULK } },
   { "aioquic", "sessions that are resumed", RESUMED, { resume = "ticket" }, look = resumed },
   { "aioquic", "early data", RESUMED, { resume = "ticket", early_data = 16384 }, look = asked_early },
   { "aioquic", "no version in common", { test = "TCP_CC", port = 7454 }, look = refused_version },
   { "gtlsserver", "handshakes by ALPN h3", { test = "TCP_CC", port = 7460 }, { alpn = { "h3" } },
     look = shook_hands },
   { "gtlsserver", "Retry by ALPN h3", { test = "TCP_CC", port = 7461 }, { alpn = { "h3" } },
     look = function(app) return shook_hands(app) and app.quic.retries == app.total.opened end },
}

-- One after the other: aioquic would be too slow for all at a time.
local function test_clients(ends)
   for i, one in ipairs(CLIENTS) do
      local name, of, what = ("our client, %s: %s"):format(one[1], one[2]), one[3], one.look or came_whole
      if there[one[1]] then
         local results, counters = ends:run(1, { ends:client(i, of, {
            connections = 2, cycles = 1, request = REQUEST, response = RESPONSE,
            quic = settings(ends, false, one[4], one[5]),
         }) }, ours.all_have_closed())
         local app = results[1]
         check(name, app.total.opened == (of.opened or 2) and what(app, of) and counters.wrong_octets == 0,
            ours.encode(app.total), ours.encode(app.quic))
      else
         ours.skip(name, one[1])
      end
   end
end

-- Our servers, their clients.
local function test_server(ends)
   ours.write(folder .. "/ca.pem", tls.authority(false))
   os.execute(ask .. " &")
   local function server(port, test, how, with)
      return { test = test, server = true, address = "198.19.1.2", port = port, request = REQUEST,
         response = RESPONSE, octets = BULK, quic = settings(ends, true, with, how) }
   end
   local results, counters = ends:run(2, {
      server(6450, "TCP_STREAM"), server(6451, "TCP_MAERTS"), server(6452, "TCP_RR"),
      server(6453, "TCP_RR", { retry = true }), server(6454, "TCP_CC", nil, { alpn = { "h3" } }),
      server(6455, "TCP_RR", nil, { resume = "ticket", early_data = 16384 }),
   }, ours.until_written(folder .. "/peers"))
   ours.print_lines(folder .. "/peers")
   for i = 1, 4 do
      local q = results[i].quic
      check(("our server %d sees nothing wrong"):format(i), i == 3 or sound(q), ours.encode(q))
   end
   local q = results[5].quic
   check("our server has gtlsclient shake hands", not there.gtlsclient or q.handshakes == 1, ours.encode(q))
   q = results[6].quic
   check("our server takes what aioquic asks early", sound(q) and q.handshakes == 2 and q.resumed == 1
      and q.early_accepted == 1 and q.early_octets == REQUEST, ours.encode(q))
   q = results[3].quic
   check("our server names its versions to those who ask for others", q.version_negotiations >= 2,
      ours.encode(q))
   check("our servers got every byte", counters.wrong_octets == 0, ours.encode(counters))
end

job.run(function()
   local ends = ours.open("quic", "QUIC_RR", { folder = folder, seconds = LONGEST })
   ends.l4.tls.ca_file = folder .. "/cert.pem"
   test_clients(ends)
   test_server(ends)
   ends:close()
end)
