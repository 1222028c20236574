-- SPDX-License-Identifier: BSD-3-Clause

-- Our TLS against other programs', both roles. Run in the tester's namespace by l4_tls.sh, with the
-- folder for files, the name of the other namespace, the path of tls_peers.sh and which servers are there;
-- prints TAP.
local here = debug.getinfo(1, "S").source:match "^@(.*/)"
local ours = dofile(here .. "ours.lua")
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local shell = require "framegauge.core.shell"
local tls = require "framegauge.methods.l4.plan.tls"
local uv = require "luv"

local folder, namespace, peers = ...
local there = ours.set(select(4, ...))
local check = ours.check
local LONGEST, SEED = 60, 7 -- seconds, on a machine that is very busy

io.stdout:setvbuf "line"

local function settings(ends, with)
   return { tls = ours.changed(ends.l4.tls, with), seed = SEED }
end

-- Have there been no connections for a while? For longer where none was seen yet.
local function all_have_closed()
   local begun, quiet
   return function(open)
      begun = begun or open[1] > 0
      quiet = open[1] == 0 and (quiet or uv.hrtime()) or nil
      return quiet and uv.hrtime() - quiet > (begun and 1e9 or 2e9)
   end
end

local function sound(app)
   return not app.tls or app.tls.failed + app.tls.bad_records == 0
end

local function nothing_wrong(name, counters)
   check(name, counters.wrong_octets + counters.rx_bad_checksum + counters.held_refused == 0,
      json.encode(counters))
end

-- Our client of their server, number @p i of all; without @p with in the clear.
local function client(ends, i, o, with)
   local of = with and tls.of(settings(ends, with), false, false)
   if of then
      of.key_log = true
   end
   return ends:client(i, o, { test = "HTTP", host = "fg.test", request = 0, response = 20000,
      path = "/octets/20000", cycles = 3, tls = of })
end

local function all_came(app, o)
   return app.total.transactions == 3 * (o.requests or 1) and app.total.refused == 0
end

local function resumed(app)
   return app.total.transactions == 3 and app.tls.full == 1 and app.tls.resumed == 2
end

-- what is asked first goes early wherever a ticket is there
local function asks_early(app, o)
   return all_came(app, o) and app.tls.resumed == 2 and app.tls.early_offered == 2
      and app.tls.early_accepted == 2 and app.tls.early_octets == 2 * app.total.octets_out / (3 * o.requests)
end

local function speaks_http2(app, o)
   return all_came(app, o) and app.tls.alpn == "h2"
end

local H2 = { alpn = { "h2" } }

local CLIENTS = {
   { "nginx", "TLS 1.3, connections kept", { port = 7443, requests = 5 }, {} },
   { "nginx", "TLS 1.2", { port = 7443, requests = 5 }, { versions = { "1.2" } } },
   { "nginx", "8 MB", { port = 7443, requests = 1, path = "/octets/8000000", response = 8000000 }, {} },
   { "nginx", "8 MB by ChaCha20", { port = 7443, requests = 1, path = "/octets/8000000", response = 8000000 },
     { ciphers = { "TLS_CHACHA20_POLY1305_SHA256" } } },
   { "nginx", "tickets of TLS 1.3", { port = 7443, requests = 1 }, { resume = "ticket" }, resumed },
   { "nginx", "tickets of TLS 1.2", { port = 7443, requests = 1 },
     { resume = "ticket", versions = { "1.2" } }, resumed },
   { "nginx", "early data", { port = 7449, requests = 2 }, { resume = "ticket", early_data = 16384 },
     asks_early },
   { "nginx", "early data and 8 MB", { port = 7449, requests = 1, path = "/octets/8000000",
     response = 8000000 }, { resume = "ticket", early_data = 16384, key_update_every = 7 }, asks_early },
   { "nginx", "tickets that allow no early data", { port = 7443, requests = 1 },
     { resume = "ticket", early_data = 16384 },
     function(app) return resumed(app) and app.tls.early_offered == 0 end },
   { "nginx", "keys that change", { port = 7443, requests = 50 }, { key_update_every = 7 },
     function(app) return app.total.transactions == 150 and app.tls.key_updates_out >= 15 end },
   { "nginx", "HTTP/2, 8 requests at a time", { test = "HTTP2", port = 7443, requests = 50, streams = 8 },
     H2, speaks_http2 },
   { "nginx", "HTTP/2, 8 MB by a window of 100,000 bytes", { test = "HTTP2", port = 7443, requests = 1,
     path = "/octets/8000000", response = 8000000, window = 100000 }, H2, speaks_http2 },
   { "nghttpd", "HTTP/2, 32 requests at a time", { test = "HTTP2", port = 7447, requests = 100,
     streams = 32 }, H2, speaks_http2 },
   { "nghttpd", "HTTP/2 in the clear", { test = "HTTP2", port = 7448, requests = 100 } },
   { "nghttpd", "HTTP/2, what is not there", { test = "HTTP2", port = 7448, requests = 1,
     path = "/nothing/1" }, nil,
     function(app) return app.total.http_4xx == 3 and app.total.transactions == 0 end },
   { "openssl", "a page until the connection ends", { port = 7444, requests = 1, any_body = true }, {} },
   { "openssl", "AES-256", { port = 7444, requests = 1, any_body = true },
     { ciphers = { "TLS_AES_256_GCM_SHA384" } } },
   { "openssl", "a client certificate", { port = 7446, requests = 1, any_body = true },
     { client_certificate = true } },
   { "gnutls", "TLS 1.3", { port = 7445, requests = 1, any_body = true }, {} },
   { "gnutls", "TLS 1.2", { port = 7445, requests = 1, any_body = true }, { versions = { "1.2" } } },
}

-- All at a time, from ports of their own.
local function test_clients(ends)
   local apps, asked = {}, {}
   for i, one in ipairs(CLIENTS) do
      if there[one[1]] then
         apps[#apps + 1], asked[#asked + 1] = client(ends, i, one[3], one[4]), one
      else
         ours.skip(("our client, %s: %s"):format(one[1], one[2]), one[1])
      end
   end
   apps[#apps + 1] = client(ends, #CLIENTS + 1, { test = "TCP_CC", port = 7444, cycles = 1 },
      { server_name = "other.test" })
   local results, counters = ends:run(1, apps, all_have_closed(), SEED)
   for i, one in ipairs(asked) do
      local app = results[i]
      check(("our client, %s: %s"):format(one[1], one[2]), (one[5] or all_came)(app, one[3])
         and app.total.opened == 3 and app.total.ended.closed == 3 and sound(app), json.encode(app.total),
         json.encode(app.tls or {}))
   end
   local refusal = results[#results].tls
   check("our client refuses openssl's certificate for another name", refusal.refused == 1
      and refusal.failed == 1 and refusal.alerts_sent["42"] == 1, json.encode(refusal))
   nothing_wrong("our clients got every byte", counters)
end

-- Our server, their clients.
local function test_server(ends)
   ours.write(folder .. "/ca.pem", tls.authority(false))
   os.execute(shell.command { "ip", "netns", "exec", namespace, peers, folder, "198.19.1.2", "6443" } .. " &")
   local of = tls.of(settings(ends, { versions = { "1.2", "1.3" }, resume = "ticket",
      early_data = 16384 }), true, false)
   of.key_log = true
   local of_http2 = setmetatable({ alpn = "h2" }, { __index = of })
   local results, counters = ends:run(2, {
      { test = "HTTP", server = true, address = "198.19.1.2", port = 6443, tls = of },
      { test = "HTTP2", server = true, address = "198.19.1.2", port = 6444, tls = of_http2 },
      { test = "HTTP2", server = true, address = "198.19.1.2", port = 6445 },
   }, ours.until_written(folder .. "/peers"), SEED)
   ours.print_lines(folder .. "/peers")
   local app = results[1]
   check("our server sees nothing wrong", sound(app) and app.tls.resumed >= 2 and app.tls.key_updates_in >= 1
      and app.tls.early_accepted >= 1 and app.tls.early_replayed == 0,
      json.encode(app.tls))
   for i = 2, 3 do
      local total = results[i].total
      check("our server of HTTP/2 sees nothing wrong, " .. (i == 2 and "over TLS" or "in the clear"),
         sound(results[i]) and total.transactions > 2000
         and total.connection_error + total.malformed + total.stream_reset == 0, json.encode(total))
   end
   nothing_wrong("our server got every byte", counters)
end

job.run(function()
   local ends = ours.open("tls", "HTTPS", { folder = folder, seconds = LONGEST })
   ends.l4.tls.ca_file = folder .. "/cert.pem"
   test_clients(ends)
   test_server(ends)
   ends:close()
end)
