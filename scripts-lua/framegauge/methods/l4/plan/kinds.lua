-- SPDX-License-Identifier: BSD-3-Clause

--- The tests of TCP and UDP: one row for each. Everything about a single test in the method, its keys, rules
-- and reports follows from the row:
--
--    name        of the test in a plan
--    kind        of its applications in lib/apps (default: the same)
--    tls         its streams go through TLS
--    quic        they go through QUIC
--    alpn        the protocol of both ends; nil: the protocols of l4.tls.alpn
--    help        what it measures, a phrase
--    figure      key of its figure in a row of results
--    count(client, server)  the count whose rate the figure is, and the result with its time (default: the
--                transactions of the client)
--    theory(rate, ip, o, client)  the maximum on a line; client() makes the client's application; nil:
--                not known
--    trips(o)    round trips of a transaction, where each waits for the one before on its connection; nil:
--                they do not wait
--    pauses(o)   pauses (load.think) of a transaction; nil: none
--    receiver    of payload that goes one way: the side that receives it, 1 the client, 2 the server
--    udp         it uses datagrams
--    short       its connections come and go
--    campaigns   the campaigns open to it, in addition to battery and clients
--    peers       kinds of hosts that can act as its server
--    rate(o)     datagrams a second that its client is to send; nil: as fast as possible
--    datagrams   keys of sizes that must fit into a datagram
--    pages       its client loads pages
--    requests(o) requests on a connection; 0: no limit
--    parameters  keys of its own in the parameters of a row, in addition to TCP's: list of { key, key of o }
--    fill(client, o, remote)      sets the client's arguments in addition to the common ones
--    nodelay     Nagle's algorithm is off unless the plan switches it on: no message waits for a delayed
--                acknowledgement
--    closes      allowed values of l4.close in addition to fin
--    gives_up    its client gives up a request without an answer (lib/apps/patience.c)
--    counts      key of the row with the client's counts of responses (default: bad_responses)
--    figures(row, list)  puts figures of its own into a row, of the records of its trials; or nil
--    group       its own rows in the group l4 of a plan, or nil
--    check(values, found)         a rule of its own for that group, or nil
--
-- A test is added by a row here; its C side is in lib/apps.
local app = require "framegauge.traffic.l4.app"
local dns = require "framegauge.methods.l4.plan.dns"
local ftp = require "framegauge.methods.l4.plan.ftp"
local http = require "framegauge.methods.l4.plan.http"
local pages = require "framegauge.methods.l4.plan.page"
local ping = require "framegauge.methods.l4.plan.ping"
local quic = require "framegauge.methods.l4.plan.quic"
local tables = require "framegauge.core.tables"
local theory = require "framegauge.traffic.l4.theory"

local M = {}

local SWEEPS = { ["mtu-sweep"] = true, ["buffer-sweep"] = true }
local STREAMS = { ["mtu-sweep"] = true, ["buffer-sweep"] = true, transports = true }
local RESET, ANY_CLOSE = { reset = true }, { reset = true, ["half-close"] = true }
local ANY_HOST = { discard = true, web = true, dns = true, ftp = true }
local MTU = { ["mtu-sweep"] = true }
local HTTP = { ["connection-rate"] = true, ["transaction-rate"] = true, concurrency = true,
   transports = true, ["mtu-sweep"] = true }

-- The bytes that the server has received, or that a server that is not ours has acknowledged.
local function to_server(client, server)
   if server then
      return server.measured.octets_in * 8, server
   end
   return client.measured.octets_out * 8, client
end

local function one() return 1 end

-- Pauses of a transaction: one after each group of concurrent transactions, except the last of a connection.
-- @param requests  of a connection; 0: no limit
local function pauses(requests, at_a_time)
   return requests > 0 and (math.ceil(requests / at_a_time) - 1) / requests or 1 / at_a_time
end

local SIZES = { { "request", "request" }, { "response", "response" } }

local MANY_AT_A_TIME = { "HTTP2", "HTTPS2", "HTTP3", "PAGE2", "PAGE3" }
local MOST_STREAMS = 4000000 -- of all connections; a worker reserves the memory for them

local function streams_have_room(values, found)
   local o = values.l4
   local streams = o.connections * o.http.streams
   for _, test in ipairs(MANY_AT_A_TIME) do
      if streams > MOST_STREAMS and tables.contains(o.tests, test) then
         found:add("l4.http.streams", ("%.0f requests at a time on %d connections"):format(streams,
            o.connections), ("at most %d in all"):format(MOST_STREAMS))
         return
      end
   end
end

local LOADING = { PAGE = true, TLS_PAGE = true, PAGE2 = true, PAGE3 = true }

local function page_can_be_loaded(values, found)
   pages.check(LOADING, values, found)
end

local function pages_of(client)
   return client.page.load and client.page.load.count or 0, client
end

local LIST = {
   -- Payload one way over TCP, by the names of netperf.
   {
      name = "TCP_STREAM", help = "payload from client to server", figure = "goodput_bps",
      count = to_server, theory = theory.stream, receiver = 2, campaigns = STREAMS,
      peers = { discard = true, iperf3 = true },
      closes = RESET, gives_up = true,
   },
   {
      name = "TCP_MAERTS", help = "the other way", figure = "goodput_bps",
      count = function(client) return client.measured.octets_in * 8, client end,
      theory = theory.stream, receiver = 1, campaigns = STREAMS, peers = { iperf3 = true },
      closes = RESET, gives_up = true,
   },
   {
      name = "TCP_SENDFILE", help = "as TCP_STREAM, but the bytes are a file's", figure = "goodput_bps",
      count = to_server, theory = theory.stream, receiver = 2, campaigns = SWEEPS,
      peers = { discard = true },
      fill = function(client, o) client.file = o.file end,
      closes = RESET, gives_up = true,
   },

   -- Requests and responses over TCP, and connections without either, by the names of netperf.
   {
      name = "TCP_RR", help = "requests and responses", figure = "transactions_per_s", theory = theory.rr,
      trips = function(o) return theory.round_trips(1, o.load.requests, o.close) end,
      pauses = function(o) return pauses(o.load.requests, 1) end,
      short = true, campaigns = { ["transaction-rate"] = true, concurrency = true }, parameters = SIZES,
      gives_up = true,
      closes = ANY_CLOSE,
   },
   {
      name = "TCP_CRR", help = "a connection for each", figure = "transactions_per_s", theory = theory.crr,
      trips = function(o) return theory.round_trips(1, 1, o.close) end,
      short = true, campaigns = { ["connection-rate"] = true }, parameters = SIZES, gives_up = true,
      closes = ANY_CLOSE,
   },
   {
      name = "TCP_CC", help = "only connect and close", figure = "connections_per_s", theory = theory.cc,
      trips = function(o) return theory.round_trips(0, 1, o.close) end,
      short = true, campaigns = { ["connection-rate"] = true }, peers = { discard = true },
      gives_up = true,
      closes = RESET,
   },

   -- HTTP/1.1.
   {
      name = "HTTP", help = "GET or POST of HTTP/1.1", figure = "transactions_per_s", short = true,
      gives_up = true,
      theory = function(rate, ip, o, client)
         local request, response = app.http_octets(client())
         return theory.http(rate, ip, o, request, response)
      end,
      trips = function(o) return theory.round_trips(1, o.http.requests, o.close) end,
      pauses = function(o) return pauses(o.http.requests, 1) end,
      campaigns = HTTP,
      peers = { web = true }, fill = http.fill, check = http.check,
      requests = function(o) return o.http.requests end,
      parameters = { { "http", "http" } },
      group = http.GROUP,
      closes = ANY_CLOSE,
   },

   -- HTTP/2, with prior knowledge.
   {
      name = "HTTP2", help = "the same by HTTP/2, http.streams requests at a time on a connection",
      figure = "transactions_per_s", short = true, gives_up = true, nodelay = true,
      theory = function(rate, ip, o, client)
         return theory.http2(rate, ip, o, app.http_octets(client()))
      end,
      trips = function(o) return 1 / o.http.streams end,
      pauses = function(o) return pauses(o.http.requests, o.http.streams) end,
      campaigns = HTTP,
      peers = { web = true }, fill = http.fill, check = streams_have_room,
      requests = function(o) return o.http.requests end, parameters = { { "http", "http" } },
      closes = RESET,
   },

   -- Files.
   {
      name = "FTP", help = "files by FTP, a data connection for each", figure = "goodput_bps",
      count = ftp.count, theory = ftp.theory, short = true, peers = { ftp = true }, fill = ftp.fill,
      check = ftp.check, campaigns = MTU, requests = function(o) return o.ftp.files end,
      counts = "ftp_counts", figures = ftp.figures, parameters = { { "ftp", "ftp" } }, group = ftp.GROUP,
   },

   -- Pages. HTTP/2 is over TLS only, as in browsers.
   {
      name = "PAGE", help = "pages by HTTP/1.1, page.connections at a time for each", figure = "pages_per_s",
      count = pages_of, pages = true, short = true, peers = { web = true }, fill = pages.fill,
      check = page_can_be_loaded, group = pages.GROUP, parameters = { { "page", "page" } },
      closes = RESET, gives_up = true,
   },
   {
      name = "PAGE2", kind = "HTTP2", tls = true, alpn = "h2",
      help = "the same by HTTP/2 over TLS, on one connection each", figure = "pages_per_s", count = pages_of,
      pages = true, short = true, peers = { web = true }, fill = pages.fill,
      parameters = { { "http", "http" }, { "page", "page" } },
      gives_up = true,
   },

   -- UDP, by the names of netperf.
   {
      name = "UDP_STREAM", help = "as TCP_STREAM, in datagrams", figure = "received_bps",
      count = function(_, server) return server.measured.datagram_octets_in * 8, server end,
      theory = theory.udp_stream, receiver = 2, udp = true, datagrams = { "datagram" },
      rate = function(o) return o.datagram_rate end,
      campaigns = { ["mtu-sweep"] = true, ["buffer-sweep"] = true, policer = true, balance = true },
      peers = { iperf3 = true },
      parameters = { { "datagram", "datagram" }, { "datagrams_per_s", "datagram_rate" } },
   },
   {
      name = "UDP_RR", help = "as TCP_RR, in datagrams", figure = "transactions_per_s",
      theory = theory.udp_rr, trips = one, udp = true, datagrams = { "request", "response" },
      parameters = { { "request", "request" }, { "response", "response" }, { "timeout_s", "timeout" } },
   },

   -- Echo of ICMP, which every host answers.
   {
      name = "PING", help = "echo requests of ICMP or ICMPv6, and their replies",
      figure = "transactions_per_s", udp = true, theory = ping.theory, trips = one, rate = ping.rate,
      campaigns = MTU, peers = ANY_HOST, fill = ping.fill, check = ping.check,
      counts = "ping_replies", figures = ping.figures,
      parameters = { { "ping", "ping" }, { "timeout_s", "timeout" } }, group = ping.GROUP,
   },

   -- DNS over UDP.
   {
      name = "DNS", help = "queries and their answers over UDP", figure = "transactions_per_s", udp = true,
      trips = one,
      theory = function(rate, ip, o, client)
         return theory.dns(rate, ip, o, app.dns_sizes(client()))
      end,
      rate = function(o) return o.dns.rate end,
      peers = { dns = true }, fill = dns.fill, check = dns.check, counts = "dns_answers",
      parameters = { { "dns", "dns" }, { "timeout_s", "timeout" } }, group = dns.GROUP,
   },

   -- And over TCP.
   {
      name = "DNS_TCP", help = "the same over TCP, dns.pipeline queries at a time on a connection",
      figure = "transactions_per_s", short = true,
      theory = function(rate, ip, o, client)
         return theory.dns_tcp(rate, ip, o, app.dns_sizes(client(), true))
      end,
      rate = function(o) return o.dns.rate end, requests = function(o) return o.dns.requests end,
      peers = { dns = true }, fill = dns.fill_tcp, check = dns.check_tcp, counts = "dns_answers",
      parameters = { { "dns", "dns" }, { "timeout_s", "timeout" } },
   },

   -- And over HTTPS.
   {
      name = "DNS_HTTPS", kind = "DOH", tls = true, alpn = "h2",
      help = "the same by HTTP/2 over TLS (RFC 8484)", figure = "transactions_per_s", short = true,
      gives_up = true, requests = function(o) return o.dns.requests end,
      peers = { dns = true }, fill = dns.fill_https, counts = "dns_answers",
      parameters = { { "dns", "dns" } },
   },
}

-- In these tests a TLS or QUIC handshake is not part of a transaction. Its round trips depend on its
-- settings.
local LASTING = { TCP_RR = true, HTTP2 = true }

-- The same over TLS: the differences to the row of a test over TCP. The certificates decide the size of a
-- handshake, so a share of the line is known only where connections last: the share that full records leave.
local function secured(name, plain, help, with)
   for _, kind in ipairs(LIST) do
      if kind.name == plain then
         local row = tables.copy(kind)
         row.name, row.kind, row.tls, row.help, row.group, row.check = name, kind.kind or plain, true, help,
            nil, nil
         row.closes, row.trips = kind.closes and RESET, LASTING[plain] and kind.trips
         row.campaigns, row.peers = kind.campaigns, with.peers
         row.theory = (kind.receiver or LASTING[plain]) and function(rate, ip, o, client)
            return kind.theory(rate, ip, o, client) * o.tls_share
         end or nil
         row.alpn = with.alpn
         LIST[#LIST + 1] = row
      end
   end
end

secured("TLS_STREAM", "TCP_STREAM", "TCP_STREAM over TLS", { peers = { discard = true } })
secured("TLS_MAERTS", "TCP_MAERTS", "TCP_MAERTS over TLS", {})
secured("TLS_RR", "TCP_RR", "TCP_RR over TLS", {})
secured("TLS_CRR", "TCP_CRR", "TCP_CRR over TLS", {})
secured("TLS_CC", "TCP_CC", "connect, handshake of TLS and close", { peers = { discard = true } })
secured("HTTPS", "HTTP", "HTTP over TLS", { peers = { web = true } })
secured("HTTPS2", "HTTP2", "HTTP2 over TLS, by ALPN h2", { peers = { web = true }, alpn = "h2" })
secured("TLS_PAGE", "PAGE", "PAGE over TLS", { peers = { web = true } })
secured("DNS_TLS", "DNS_TCP", "DNS_TCP over TLS, by ALPN dot", { peers = { dns = true }, alpn = "dot" })

-- And over QUIC, with one stream a connection except for HTTP/3. The certificates decide the size of a
-- handshake, too.
local function over_quic(name, plain, help, most)
   for _, kind in ipairs(LIST) do
      if kind.name == plain then
         local row = tables.copy(kind)
         row.name, row.kind, row.quic, row.help, row.group, row.check = name, kind.kind or plain, true, help,
            nil, nil
         row.campaigns = (kind.campaigns or {}).transports and { transports = true }
         row.peers, row.theory, row.closes, row.nodelay = nil, most, nil, nil
         row.trips = LASTING[plain] and kind.trips
         LIST[#LIST + 1] = row
         return row
      end
   end
end

over_quic("QUIC_STREAM", "TCP_STREAM", "payload from client to server over QUIC, on a stream of each connection", quic.theory)
over_quic("QUIC_MAERTS", "TCP_MAERTS", "the other way", quic.theory)
over_quic("QUIC_RR", "TCP_RR", "TCP_RR over QUIC", function(rate, ip, o)
   return quic.theory(rate, ip, o) / (8 * math.max(o.request, o.response))
end)
over_quic("QUIC_CRR", "TCP_CRR", "TCP_CRR over QUIC")
over_quic("QUIC_CC", "TCP_CC", "connect, handshake of QUIC and close")
local http3 = over_quic("HTTP3", "HTTP2", "the same as HTTP2 by HTTP/3, over QUIC", function(rate, ip, o)
   return o.body > 0 and quic.theory(rate, ip, o) / (8 * o.body) or nil -- of bodies only
end)
http3.kind, http3.alpn, http3.peers = nil, "h3", { web = true }
local page3 = over_quic("PAGE3", "PAGE2", "the same as PAGE2 by HTTP/3, over QUIC")
page3.kind, page3.tls, page3.alpn, page3.peers = "HTTP3", nil, "h3", { web = true }

local by_name = {}
for _, kind in ipairs(LIST) do
   by_name[kind.name] = kind
end

--- All rows, in order.
M.LIST = LIST

--- The row of a test.
-- @usage kinds.of("TCP_RR").figure --> transactions_per_s
function M.of(name)
   return by_name[name]
end

--- Does a test make HTTP requests, of any version?
function M.is_http(test)
   return test:match "^HTTP" ~= nil
end

--- Name of the kind of applications of a test in lib/apps.
function M.kind(name)
   return by_name[name].kind or name
end

-- Kinds whose ends need only numbers as arguments: no files, texts and keys.
local BY_NUMBERS = { TCP_STREAM = true, TCP_MAERTS = true, TCP_RR = true, TCP_CRR = true, TCP_CC = true,
   UDP_STREAM = true, UDP_RR = true }

--- Whether the ends of a test may be at agents (framegauge.fleet.l4), which receive numbers only. Their
-- applications have the test's name.
function M.is_for_agents(name)
   return BY_NUMBERS[name] == true
end

--- Names of the tests for which a function is true, in order; of all without it.
function M.names(is_one)
   return tables.map(LIST, function(kind) return (not is_one or is_one(kind)) and kind.name or nil end)
end

return M
