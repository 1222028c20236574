-- SPDX-License-Identifier: BSD-3-Clause

-- Our HTTP/3 against other programs', both roles. Run in the tester's namespace by l4_http3.sh, with
-- the folder for files, the command that has them ask our servers, and which other programs are there; prints
-- TAP.
local here = debug.getinfo(1, "S").source:match "^@(.*/)"
local ours = dofile(here .. "ours.lua")
local job = require "framegauge.core.job"
local quic = require "framegauge.methods.l4.plan.quic"
local tls = require "framegauge.methods.l4.plan.tls"

local folder, ask = ...
local there = ours.set(select(3, ...))
local check = ours.check
local LONGEST = 120 -- seconds, on a machine that is very busy
local BODY = 20000

io.stdout:setvbuf "line"

-- What an end is told, @p with of l4.tls and @p how of l4.quic otherwise.
local function settings(ends, server, with, how)
   local groups = { tls = ours.changed(ends.l4.tls, with), quic = ours.changed(ends.l4.quic, how), seed = 7 }
   local out = quic.of(groups, server, false, "h3")
   out.tls.key_log = true
   return out
end

local function sound(q)
   return q.failed + q.undecryptable + q.closed_with_error_out + q.closed_with_error_in == 0
end

local function all_came(app, o)
   return app.total.transactions == 2 * o.requests and app.total.refused == 0 and app.quic.alpn == "h3"
      and app.total.ended.closed == 2 and sound(app.quic)
end

local function resumed(app, o)
   return all_came(app, o) and app.quic.resumed == 1 and app.quic.tickets >= 2
end

local function asked_early(app, o)
   return resumed(app, o) and app.quic.early_accepted == 1 and app.quic.early_octets > 50
end

local function after_retry(app, o)
   return all_came(app, o) and app.quic.retries == 2
end

-- Streams from number 40 on are not dealt with: no request is asked for any more, and none has failed.
local function went_in_peace(app)
   return app.total.transactions >= 10 and app.total.transactions <= 20 and app.total.refused == 0
      and app.total.ended.closed == 2 and sound(app.quic)
end

local function none_was_right(app)
   return app.total.transactions == 0 and app.total.http_4xx == 20 and app.total.ended.closed == 2
end

local function moved(app, o)
   return all_came(app, o) and app.quic.migrations >= 1 and app.quic.paths_failed == 0
      and app.quic.migration_gap ~= nil
end

-- Both ends mark, each counts what it got for the other, and Linux and its veth let it through.
local function marks_come(q)
   return q.ecn_failed == 0 and q.ect_out > 100 and q.ect_in > 100 and q.ect_counted > 100
end

local function marked(app, o)
   return all_came(app, o) and marks_come(app.quic)
end

local LARGE = { requests = 1, streams = 1, path = "/octets/8000000", response = 8000000 }
-- It lasts until a client may move, which is after four PTO, of 25 ms each where the round trip is short.
local LONG = { requests = 20, streams = 1, path = "/octets/8000000", response = 8000000 }
local GET = { requests = 30, streams = 8 }
local AIOQUIC = {
   { "one request at a time", 7470, { requests = 10, streams = 1 } },
   { "many at a time", 7470, { requests = 200, streams = 100, path = "/octets/1000", response = 1000 } },
   { "bodies sent", 7470, { requests = 4, streams = 2, request = 50000, response = 0, path = "/octets/0" } },
   { "heads alone", 7470, { requests = 10, streams = 4, head = true } },
   { "AES-256", 7470, GET, { ciphers = { "TLS_AES_256_GCM_SHA384" } } },
   { "ChaCha20", 7470, GET, { ciphers = { "TLS_CHACHA20_POLY1305_SHA256" } } },
   { "windows of 30,000 bytes", 7470, GET, {}, { window = 30000, stream_window = 20000 } },
   { "Retry", 7471, GET, look = after_retry },
   { "heads of no account, trailers and what is reserved", 7472, GET },
   { "GOAWAY under way", 7473, { requests = 50, streams = 4 }, look = went_in_peace },
   { "404", 7470, { requests = 10, streams = 4, path = "/nothing" }, look = none_was_right },
}
local GTLSSERVER = {
   { "pages", 7480, { requests = 100, streams = 32 } },
   { "a large page", 7480, LARGE },
   { "a hundred pages at a time", 7480, { requests = 200, streams = 100, path = "/octets/1000",
     response = 1000 } },
   { "a session that is resumed", 7480, { requests = 10, streams = 4, connections = 1, cycles = 2 },
     { resume = "ticket" }, look = resumed },
   { "early data", 7480, { requests = 10, streams = 4, connections = 1, cycles = 2 },
     { resume = "ticket", early_data = 16384 }, look = asked_early },
   { "from port to port with new IDs", 7480, LONG, {}, { migrate_every = 0.01 }, look = moved },
   { "from port to port as behind a NAT", 7480, LONG, {}, { rebind_every = 0.01 }, look = moved },
   { "datagrams that are marked (ECN)", 7480, LARGE, {}, { ecn = true }, look = marked },
}

-- One after the other: aioquic would be too slow for all at a time.
local function test_clients(ends, of, list, first)
   for i, one in ipairs(list) do
      local name, o = ("our client, %s: %s"):format(of, one[1]), one[3]
      if there[of] then
         local results, counters = ends:run(1, { ends:client(first + i, o, {
            test = "HTTP3", port = one[2], connections = 2, cycles = 1, request = 0, response = BODY,
            path = "/octets/" .. BODY, host = "fg.test", quic = settings(ends, false, one[4], one[5]),
         }) }, ours.all_have_closed())
         local app = results[1]
         check(name, app.total.opened == 2 and (one.look or all_came)(app, o) and counters.wrong_octets == 0,
            ours.encode(app.total), ours.encode(app.quic))
      else
         ours.skip(name, of)
      end
   end
end

-- Our servers, their clients.
local function test_server(ends)
   ours.write(folder .. "/ca.pem", tls.authority(false))
   os.execute(ask .. " &")
   local function server(port, how)
      return { test = "HTTP3", server = true, address = "198.19.1.2", port = port,
         quic = settings(ends, true, { resume = "ticket", early_data = 16384 }, how) }
   end
   local results, counters = ends:run(2, { server(6470), server(6471, { retry = true }),
      server(6472, { stream_window = 16384, window = 20000 }),
      server(6473, { ecn = true }) }, ours.until_written(folder .. "/peers"))
   ours.print_lines(folder .. "/peers")
   for i, result in ipairs(results) do
      check(("our server %d sees nothing wrong"):format(i), result.quic.undecryptable == 0
         and result.total.malformed == 0
         and result.total.connection_error == (i == 1 and there.aioquic and 2 or 0),
         ours.encode(result.total), ours.encode(result.quic))
   end
   check("our server takes what gtlsclient asks early", not there.gtlsclient
      or results[1].quic.resumed == 1 and results[1].quic.early_accepted == 1,
      ours.encode(results[1].quic))
   check("our server follows gtlsclient to other ports", not there.gtlsclient
      or results[1].quic.migrations == 2 and results[1].quic.paths_failed == 0,
      ours.encode(results[1].quic))
   check("our server and gtlsclient count each other's marks", not there.gtlsclient
      or marks_come(results[4].quic), ours.encode(results[4].quic))
   check("our servers were asked", results[1].total.transactions >= (there.aioquic and 300 or 40),
      ours.encode(results[1].total))
   check("our servers saw no frame that was wrong", counters.rx_bad_checksum + counters.rx_malformed == 0,
      ours.encode(counters))
end

job.run(function()
   local ends = ours.open("http3", "HTTP3", { folder = folder, seconds = LONGEST })
   ends.l4.tls.ca_file = folder .. "/cert.pem"
   test_clients(ends, "aioquic", AIOQUIC, 0)
   test_clients(ends, "gtlsserver", GTLSSERVER, #AIOQUIC)
   test_server(ends)
   ends:close()
end)
